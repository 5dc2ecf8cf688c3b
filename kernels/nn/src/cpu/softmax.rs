//! Softmax and its logarithm.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use num_traits::Float;
use torch_library::geometry::wrap_dim;
use torch_library::match_dtype;
use torch_library::prelude::*;

use super::folds::{Largest, Sum};
use super::norm::{reduced_sizes, rounded};
use crate::aten;
use crate::functions::Functions;
use crate::loops::pointwise::unsupported;
use crate::loops::reduce::fold;
use crate::loops::{self, match_opmath};
use crate::number::Ordered;

mod backward;
mod lines;
mod strips;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _softmax(this: &Tensor, dim: i64, half_to_float: bool) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::_softmax::NAME;
        let exponentials = Exponentials::new(OPERATOR, this, dim, half_to_float)?;
        if this.numel() == 0 {
            return Tensor::empty(this.sizes(), this.dtype(), this.device());
        }
        match_opmath!(this.dtype(), T: Float => {
            if let Some((input, len)) = exponentials.as_lines()? {
                return match short::<T>(&input, len, false)? {
                    Some(out) => Ok(out),
                    None => lines::softmax::<T>(&input, len),
                };
            }
            if let Some(out) = strips::forward::<T>(this, exponentials.dim, false)? {
                return rounded(out, this.dtype());
            }
            let (_, powers, sum) = exponentials.compute::<T>()?;
            let out = result_in(&powers, this.dtype())?;
            loops::map(&out, [&powers, &sum], |[power, sum]: [T; 2]| power / sum)?;
            Ok(out)
        }, else => Err(unsupported(OPERATOR, this.dtype())))
    }

    fn _log_softmax(this: &Tensor, dim: i64, half_to_float: bool) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::_log_softmax::NAME;
        let exponentials = Exponentials::new(OPERATOR, this, dim, half_to_float)?;
        if this.numel() == 0 {
            return Tensor::empty(this.sizes(), this.dtype(), this.device());
        }
        match_opmath!(this.dtype(), T: Float => {
            if let Some((input, len)) = exponentials.as_lines()? {
                return match short::<T>(&input, len, true)? {
                    Some(out) => Ok(out),
                    None => lines::log_softmax::<T>(&input, len),
                };
            }
            if let Some(out) = strips::forward::<T>(this, exponentials.dim, true)? {
                return rounded(out, this.dtype());
            }
            let (largest, powers, sum) = exponentials.compute::<T>()?;
            let out = result_in(&powers, this.dtype())?;
            loops::map(&sum, [&sum], |[sum]: [T; 1]| sum.ln())?; // once for each row
            loops::map(&out, [this, &largest, &sum], |[x, largest, log]: [T; 3]| x - largest - log)?;
            Ok(out)
        }, else => Err(unsupported(OPERATOR, this.dtype())))
    }
}

/// The softmax of lines, or its logarithm, if they are short and many.
fn short<T: strips::Real>(input: &Tensor, len: usize, is_log: bool) -> Result<Option<Tensor>> {
    match_dtype!(input.dtype(), H: Half => strips::of_lines::<T, H>(input, len, is_log),
        else => strips::of_lines::<T, T>(input, len, is_log))
}

/// The arguments of a softmax or log-softmax.
struct Exponentials<'a> {
    input: &'a Tensor,
    dim: usize,
    is_reduced: Vec<bool>,
}

impl<'a> Exponentials<'a> {
    fn new(operator: &str, input: &'a Tensor, dim: i64, half_to_float: bool) -> Result<Self> {
        ensure!(!half_to_float, NotSupported, "{operator}: half_to_float is not supported on the CPU");
        let dim = wrap_dim(dim, input.dim()).map_err(|error| error.context(operator))?;
        Ok(Exponentials { input, dim, is_reduced: (0..input.dim()).map(|other| other == dim).collect() })
    }

    /// A contiguous input and the length of its lines, if the dimension is the last one.
    fn as_lines(&self) -> Result<Option<(Tensor, usize)>> {
        match (self.is_reduced.last(), self.input.sizes().last()) {
            (Some(true), Some(len)) => Ok(Some((loops::contiguous(self.input)?, *len as usize))),
            _ => Ok(None),
        }
    }

    /// The largest element along the dimension, the exponentials of each element minus it, and their sum.
    fn compute<T: Float + Ordered + Functions>(&self) -> Result<(Tensor, Tensor, Tensor)> {
        let input = self.input;
        let sizes = reduced_sizes(input, &self.is_reduced);
        let empty = |sizes: &[i64]| Tensor::empty(sizes, T::DTYPE, input.device());
        // SAFETY: `map` below writes every element before any is read; if it fails, or is not reached, the tensor is
        // dropped here.
        let powers = unsafe { loops::uninit_like(input, T::DTYPE, MemoryFormat::Contiguous)? };
        let (largest, sum) = (empty(&sizes)?, empty(&sizes)?);
        fold([&largest], input, &self.is_reduced, &Largest, |largest: T| [largest])?;
        loops::map(&powers, [input, &largest], |[x, largest]: [T; 2]| (x - largest).exponential())?;
        fold([&sum], &powers, &self.is_reduced, &Sum, |sum: T| [sum])?;
        Ok((largest, powers, sum))
    }
}

/// A tensor for the result: the intermediate `step` itself, if it has the result's type.
fn result_in(step: &Tensor, dtype: DType) -> Result<Tensor> {
    if step.dtype() == dtype { Ok(step.clone()) } else { Tensor::empty(step.sizes(), dtype, step.device()) }
}
