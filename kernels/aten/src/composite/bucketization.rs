//! Look-ups of elements among others, by comparisons and searches.

use torch_library::prelude::*;

use super::in_floats;
use crate::aten;

mod compressed;

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
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

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

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
