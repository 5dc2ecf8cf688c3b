//! The matrix exponential, by scaling and squaring.
//!
//! # How it works
//!
//! A matrix is halved until it is so small that a short Taylor polynomial is exact; the polynomial's value is then
//! squared as many times. Each matrix of a batch is halved as often as its own norm requires.

use torch_library::prelude::*;

use crate::arguments::square;
use crate::aten;
use crate::loops::pointwise::unsupported;
use crate::loops::{self, opmath_type};

#[torch_impl(aten, CPU, Meta)]
fn linalg_matrix_exp(this: &Tensor) -> Result<Tensor> {
    let _lease = loops::frozen([this])?;
    const OPERATOR: &str = aten::linalg_matrix_exp::NAME;
    let n = square(OPERATOR, this)?;
    if !this.dtype().is_differentiable() {
        return Err(unsupported(OPERATOR, this.dtype()));
    }
    let out = this.empty_like(this.dtype(), MemoryFormat::Contiguous)?;
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    let matrices = aten::reshape(&aten::to_dtype(this, opmath_type(this.dtype()))?, &[-1, n, n])?;
    let (halvings, factors) = halvings(&matrices)?;
    let factors = aten::to_dtype(
        &Tensor::from_vec(factors, &[halvings.len() as i64, 1, 1])?,
        matrices.dtype().to_real(),
    )?;
    let exponentials = squared(series(&aten::mul_Tensor(&matrices, &factors)?)?, &halvings)?;
    loops::assign(&out, &aten::reshape(&exponentials, this.sizes())?)?;
    Ok(out)
}

/// The number of times that each matrix is halved for the polynomial to be exact, and the corresponding factor; NaN for
/// a matrix that is not finite.
fn halvings(matrices: &Tensor) -> Result<(Vec<i32>, Vec<f64>)> {
    // Up to these norms, the polynomial is the exact exponential of a matrix that differs from the given one by less
    // than rounding errors.
    let largest = if matrices.dtype().to_real() == DType::Float64 { 0.78 } else { 2.47 };
    let columns = aten::sum_dim_IntList(&aten::abs(matrices)?, Some(&[-2]))?;
    let sizes = loops::elements::<f64>(&aten::amax::call(&columns, &[-1], false)?)?;
    let halvings = sizes.into_iter().map(|size| match size.is_finite() {
        true => {
            let count = (size / largest).log2().ceil().max(0.0);
            (count as i32, (-count).exp2())
        }
        false => (0, f64::NAN),
    });
    Ok(halvings.unzip())
}

/// The Taylor polynomial of degree 16, by six products (Paterson and Stockmeyer): groups of four coefficients, combined
/// by powers of the fourth power.
fn series(a: &Tensor) -> Result<Tensor> {
    let one = aten::eye::call(a.size(-1)?, Some(a.dtype()), None, Some(a.device()), None)?;
    let square = aten::matmul(a, a)?;
    let (cube, fourth) = (aten::matmul(&square, a)?, aten::matmul(&square, &square)?);
    let sum = |start: Tensor, first: i32| {
        let mut powers = [&one, a, &square, &cube].into_iter().zip(first..);
        powers.try_fold(start, |sum, (power, exponent)| {
            aten::add_Tensor::call(&sum, power, over_factorial(exponent))
        })
    };
    let mut whole = sum(aten::mul_Scalar(&fourth, over_factorial(16))?, 12)?;
    for first in [8, 4, 0] {
        whole = sum(aten::matmul(&whole, &fourth)?, first)?;
    }
    Ok(whole)
}

fn over_factorial(n: i32) -> Scalar {
    (1..=n).map(f64::from).product::<f64>().recip().into()
}

/// Squares each matrix the given number of times.
fn squared(mut matrices: Tensor, counts: &[i32]) -> Result<Tensor> {
    for step in 0..counts.iter().copied().max().unwrap_or(0) {
        let next = aten::matmul(&matrices, &matrices)?;
        let goes_on: Vec<bool> = counts.iter().map(|count| *count > step).collect();
        matrices = match goes_on.contains(&false) {
            true => {
                aten::where_self(&Tensor::from_vec(goes_on, &[counts.len() as i64, 1, 1])?, &next, &matrices)?
            }
            false => next,
        };
    }
    Ok(matrices)
}
