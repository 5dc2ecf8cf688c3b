//! The operators, family by family.

mod accepted;
mod activation;
mod arrange;
mod attention;
mod autocast;
mod autocast_casts;
mod autograd;
mod autograd_errors;
mod autograd_rules;
mod backward;
mod bag;
mod binary;
mod bits;
mod bucketization;
mod checkpoint;
mod constraints;
mod convolution;
mod coverage;
mod create;
mod data;
mod distributions;
mod ending;
mod factor;
mod fake;
mod fake_quantize;
mod float8;
mod foreach;
mod fourier;
mod functionalize;
mod gradcheck;
mod gradients;
mod grid_sampler;
mod histogram;
mod hostile;
mod im2col;
mod index;
mod inplace;
mod integration;
mod lazy;
mod linalg;
mod linear;
mod linear_cross_entropy;
mod lists;
mod loading;
mod loss;
mod matmul;
mod matrix_exp;
mod metadata;
mod norm;
mod opcheck;
mod out;
mod overloads;
mod packed;
mod padding;
mod parameters;
mod philox;
mod polynomial;
mod pooling;
mod random;
mod recurrent;
mod reduce;
mod reinterpreted;
mod scaler;
mod scan;
mod scatter;
mod segment;
mod short_rows;
mod sobol;
mod softmax;
mod sorting;
mod special;
mod storage;
mod tidy;
mod tracer;
mod training;
mod transformer;
mod trust;
mod unary;
mod unique;
mod upsample;
mod view;
mod view_copy;
mod vmap;
mod vmap_draws;
mod vmap_rules;
mod writes;

use torch_library::prelude::*;

/// Asserts that a tensor has these numbers, up to the rounding of `float64`.
#[track_caller]
fn assert_close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| (found - want).abs() < 1e-13;
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
    Ok(())
}
