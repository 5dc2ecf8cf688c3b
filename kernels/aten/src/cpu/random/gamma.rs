//! Random numbers from gamma and Dirichlet distributions.
//!
//! A gamma number is drawn by the method of Marsaglia and Tsang: the cube of a normal number, moved and scaled, is kept
//! if it lies below the distribution.

use std::convert::identity;

use num_traits::Float;
use torch_library::prelude::*;
use torch_library::{Element, Words};

use super::counts::rounding;
use super::{drawn_by_word, pairs, uniform};
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::loops::{self, Pointwise};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _standard_gamma(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        let round = rounding(aten::_standard_gamma::NAME, this.dtype())?;
        let least = match this.dtype() {
            DType::Float64 => f64::MIN_POSITIVE,
            _ => f32::MIN_POSITIVE.into(),
        };
        let out = Tensor::empty(this.sizes(), this.dtype(), this.device())?;
        fill(&out, this, generator, |shape, numbers| gamma(shape, round, numbers).max(least))?;
        Ok(out)
    }

    fn _sample_dirichlet(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        const OPERATOR: &str = aten::_sample_dirichlet::NAME;
        rounding(OPERATOR, this.dtype())?;
        // In double precision, where few numbers are so small that they become zero.
        let numbers = Tensor::empty(this.sizes(), DType::Float64, this.device())?;
        fill(&numbers, this, generator, |shape, numbers| {
            gamma(shape, identity, numbers).max(f64::MIN_POSITIVE)
        })?;
        let sums =
            below_autograd(|| aten::sum_dim_IntList::with(&numbers, Some(&[-1])).keepdim(true).call())?;
        let call = Pointwise::promoting(OPERATOR, [&numbers, &sums])?;
        match this.dtype() {
            DType::Float64 => call.compute(None, DType::Float64, |[x, sum]: [f64; 2]| share::<f64>(x, sum)),
            _ => call.compute(None, DType::Float32, |[x, sum]: [f64; 2]| share::<f32>(x, sum)),
        }
    }
}

/// A part of a sum, above 0 and below 1.
fn share<T: Float + Element>(part: f64, sum: f64) -> T {
    let below_one = T::one() - T::epsilon() / (T::one() + T::one());
    (part / sum).cast::<T>().max(T::min_positive_value()).min(below_one)
}

/// Fills a new tensor with numbers drawn for the shapes of gamma distributions.
fn fill(
    out: &Tensor,
    shapes: &Tensor,
    generator: Option<&Generator>,
    number: impl Fn(f64, &mut Numbers<'_, '_>) -> f64,
) -> Result<()> {
    if !loops::has_elements(out) {
        return Ok(());
    }
    let shapes = loops::elements::<f64>(shapes)?;
    drawn_by_word(out, generator, |out: &mut [f64], words, spare| {
        let mut numbers = Numbers { words, spare };
        out.iter_mut().zip(shapes).for_each(|(out, shape)| *out = number(shape, &mut numbers));
    })
}

/// A random stream, with the spare number of the last pair of normal numbers.
struct Numbers<'a, 'b> {
    words: &'a mut Words<'b>,
    spare: &'a mut Option<f64>,
}

impl Numbers<'_, '_> {
    /// A number between 0 and 1.
    fn uniform(&mut self) -> f64 {
        uniform(self.words)
    }

    fn normal(&mut self) -> f64 {
        self.spare.take().unwrap_or_else(|| {
            let mut pair = [[self.uniform(), self.uniform()]];
            pairs::transform_exactly(&mut pair);
            *self.spare = Some(pair[0][1]);
            pair[0][0]
        })
    }
}

/// A number from the gamma distribution of this shape and scale 1; NaN if there is none.
///
/// PyTorch: `sample_gamma`, which uses these constants in single precision and does not end without a distribution.
fn gamma(shape: f64, round: fn(f64) -> f64, numbers: &mut Numbers<'_, '_>) -> f64 {
    const THIRD: f64 = (1f32 / 3f32) as f64;
    const SURELY: f64 = 0.0331f32 as f64;
    let (shape, scale) = match shape {
        0.0 => return 0.0,
        // Shapes above 1 are accepted more often.
        shape if shape < 1.0 => (round(shape + 1.0), (1.0 - numbers.uniform()).powf(round(1.0 / shape))),
        shape => (shape, 1.0),
    };
    let d = round(shape - THIRD);
    if d.is_nan() || d <= 0.0 {
        return f64::NAN;
    }
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = numbers.normal();
        let y = 1.0 + c * x;
        if y <= 0.0 {
            continue;
        }
        let (v, u, square) = (y * y * y, 1.0 - numbers.uniform(), x * x);
        if u < 1.0 - SURELY * square * square || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
            return scale * d * v;
        }
    }
}
