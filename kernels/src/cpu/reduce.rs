//! Sums and what follows from them.

use torch_library::Element;
use torch_library::prelude::*;

use super::loops::match_computing;
use super::loops::reduce::{Fold, fold};
use super::number::Number;
use crate::aten;
use crate::reduction::Reduction;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn sum_dim_IntList(
        this: &Tensor,
        dim: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let reduction = Reduction::new("aten::sum.dim_IntList", this, dim, keepdim)?;
        let is_whole = this.dtype().is_integer() || this.dtype() == DType::Bool;
        let dtype = dtype.unwrap_or(if is_whole { DType::Int64 } else { this.dtype() });
        let out = reduction.output(dtype)?;
        match_computing!(dtype, T: Bool | Integer | Float | Complex => {
            fold(&out, this, reduction.is_reduced(), &Sum, |sum: T| sum)?;
        }, else => return Err(reduction.unsupported(dtype)));
        Ok(out)
    }

    fn mean_dim(this: &Tensor, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
        let reduction = Reduction::new("aten::mean.dim", this, dim, keepdim)?;
        let dtype = dtype.unwrap_or(this.dtype());
        ensure!(
            dtype.is_differentiable(),
            DType,
            "aten::mean.dim: the mean is no {dtype}, give a floating-point or complex dtype"
        );
        let out = reduction.output(dtype)?;
        let count = reduction.count();
        match_computing!(dtype, T: Float | Complex => {
            let count: T = count.cast();
            fold(&out, this, reduction.is_reduced(), &Sum, |sum: T| sum / count)?;
        }, else => return Err(reduction.unsupported(dtype)));
        Ok(out)
    }
}

struct Sum;

impl<T: Number> Fold<T> for Sum {
    type Value = T;

    #[inline(always)]
    fn identity(&self) -> T {
        T::ZERO
    }

    #[inline(always)]
    fn step(&self, sum: T, element: T, _: usize) -> T {
        sum.plus(element)
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        a.plus(b)
    }
}
