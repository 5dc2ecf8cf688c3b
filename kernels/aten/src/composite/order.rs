//! Order statistics and differences, by sorting and summing.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;

mod compressed;
mod quantile;
mod running;

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

    fn isin_Tensor_Tensor(
        elements: &Tensor,
        test_elements: &Tensor,
        _assume_unique: bool,
        invert: bool,
    ) -> Result<Tensor> {
        let tests = aten::reshape(test_elements, &[-1])?;
        let found = aten::any_dim(&aten::eq_Tensor(&aten::unsqueeze(elements, -1)?, &tests)?, -1)?;
        if invert { aten::logical_not(&found) } else { Ok(found) }
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

    fn _logcumsumexp(this: &Tensor, dim: i64) -> Result<Tensor> {
        aten::logcumsumexp(this, dim)
    }

    fn isin_Tensor_Scalar(
        elements: &Tensor,
        test_element: Scalar,
        _assume_unique: bool,
        invert: bool,
    ) -> Result<Tensor> {
        for dtype in [elements.dtype(), test_element.dtype()] {
            ensure!(
                dtype != DType::Bool && !dtype.is_complex(),
                DType,
                "{}: {dtype} is not supported, expected integers or floating-point numbers",
                aten::isin_Tensor_Scalar::NAME
            );
        }
        if invert { aten::ne_Scalar(elements, test_element) } else { aten::eq_Scalar(elements, test_element) }
    }

    fn isin_Scalar_Tensor(
        element: Scalar,
        test_elements: &Tensor,
        assume_unique: bool,
        invert: bool,
    ) -> Result<Tensor> {
        ensure!(
            element.dtype() != DType::Bool && test_elements.dtype() != DType::Bool,
            DType,
            "{}: expected numbers, got bool",
            aten::isin_Scalar_Tensor::NAME
        );
        // Not a wrapped number, which would be on the CPU.
        let number =
            aten::full::with(&[], element).dtype(Some(element.dtype())).device(Some(test_elements.device()));
        aten::isin_Tensor_Tensor::call(&number.call()?, test_elements, assume_unique, invert)
    }

    fn searchsorted_Scalar(
        sorted_sequence: &Tensor,
        this: Scalar,
        out_int32: bool,
        right: bool,
        side: Option<&str>,
        sorter: Option<&Tensor>,
    ) -> Result<Tensor> {
        let (number, sequence) = number_beside(this, sorted_sequence)?;
        aten::searchsorted_Tensor::call(&sequence, &number, out_int32, right, side, sorter)
    }

    fn bucketize_Tensor(this: &Tensor, boundaries: &Tensor, out_int32: bool, right: bool) -> Result<Tensor> {
        ensure!(
            boundaries.dim() == 1,
            Shape,
            "{}: boundaries of sizes {:?}, expected a vector",
            aten::bucketize_Tensor::NAME,
            boundaries.sizes()
        );
        aten::searchsorted_Tensor::call(boundaries, this, out_int32, right, None, None)
    }

    fn bucketize_Scalar(this: Scalar, boundaries: &Tensor, out_int32: bool, right: bool) -> Result<Tensor> {
        let (number, boundaries) = number_beside(this, boundaries)?;
        aten::bucketize_Tensor::call(&number, &boundaries, out_int32, right)
    }
}

/// A scalar and a tensor in one dtype: a floating-point scalar converts integers to floating point.
fn number_beside(number: Scalar, other: &Tensor) -> Result<(Tensor, Tensor)> {
    let other = if matches!(number, Scalar::Float(_)) { in_floats(other)? } else { other.clone() };
    let number =
        aten::full::with(&[], number).dtype(Some(other.dtype())).device(Some(other.device())).call()?;
    Ok((number, other))
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
        return aten::full::with(&[], lowest).dtype(Some(this.dtype())).device(Some(this.device())).call();
    }
    let flat = aten::reshape(this, &[-1])?;
    let name = if ignores_nan { aten::nanmedian::NAME } else { aten::median::NAME };
    let of_lane = if ignores_nan { aten::nanmedian_dim::call } else { aten::median_dim::call };
    Ok(of_lane(&flat, 0, false).map_err(|error| error.context(name))?.0)
}

pub(super) fn in_floats(this: &Tensor) -> Result<Tensor> {
    if this.dtype().is_differentiable() { Ok(this.clone()) } else { aten::to_dtype(this, DType::DEFAULT) }
}
