//! Sorting and medians, by kernels that sort lines.

use torch_library::prelude::*;

use crate::aten;

mod quantile;

#[torch_impl(aten, CompositeExplicitAutograd)]
fn sort(this: &Tensor, dim: i64, descending: bool) -> Result<(Tensor, Tensor)> {
    aten::sort_stable::call(this, Some(false), dim, descending)
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn median(this: &Tensor) -> Result<Tensor> {
        middle_of_all(this, false)
    }

    fn nanmedian(this: &Tensor) -> Result<Tensor> {
        middle_of_all(this, true)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn msort(this: &Tensor) -> Result<Tensor> {
        Ok(aten::sort::with(this).dim(0).call()?.0)
    }

    fn argsort_stable(this: &Tensor, stable: bool, dim: i64, descending: bool) -> Result<Tensor> {
        Ok(aten::sort_stable::call(this, Some(stable), dim, descending)?.1)
    }

    fn argsort(this: &Tensor, dim: i64, descending: bool) -> Result<Tensor> {
        Ok(aten::sort::call(this, dim, descending)?.1)
    }
}

fn middle_of_all(this: &Tensor, ignores_nan: bool) -> Result<Tensor> {
    if this.numel() == 0 {
        // NaN, which as an integer of 32 or 64 bits is the lowest one, and 0 in other types.
        let lowest = match this.dtype() {
            dtype if dtype.is_differentiable() => Scalar::Float(f64::NAN),
            DType::Int32 => i64::from(i32::MIN).into(),
            DType::Int64 => i64::MIN.into(),
            _ => Scalar::Int(0),
        };
        return aten::full::with(&[], lowest).dtype(this.dtype()).device(this.device()).call();
    }
    let flat = aten::reshape(this, &[-1])?;
    let name = if ignores_nan { aten::nanmedian::NAME } else { aten::median::NAME };
    let of_lane = if ignores_nan { aten::nanmedian_dim::call } else { aten::median_dim::call };
    Ok(of_lane(&flat, 0, false).map_err(|error| error.context(name))?.0)
}
