//! Comparisons with scalars, within tolerances and with all elements of a tensor, and `where` with scalars.

use torch_library::prelude::*;

use crate::aten;

/// Defines kernels that compare with a scalar by comparing with a wrapped-number tensor.
macro_rules! with_number {
    ($($scalar:ident = $tensor:ident;)+) => {
        #[torch_impl(aten, CompositeExplicitAutograd)]
        mod explicit {
            use super::*;

            $(
                fn $scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
                    aten::$tensor(this, &Tensor::wrapped_number(other))
                }
            )+
        }
    };
}

with_number! {
    eq_Scalar = eq_Tensor;
    ne_Scalar = ne_Tensor;
    lt_Scalar = lt_Tensor;
    le_Scalar = le_Tensor;
    gt_Scalar = gt_Tensor;
    ge_Scalar = ge_Tensor;
}

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

    fn where_ScalarSelf(condition: &Tensor, this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::where_self(condition, &super::beside(other, this)?, other)
    }

    fn where_ScalarOther(condition: &Tensor, this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::where_self(condition, this, &super::beside(this, other)?)
    }

    fn where_Scalar(condition: &Tensor, this: Scalar, other: Scalar) -> Result<Tensor> {
        aten::where_self(condition, &Tensor::wrapped_number(this), &Tensor::wrapped_number(other))
    }

    fn isclose(this: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<Tensor> {
        const OPERATOR: &str = aten::isclose::NAME;
        ensure!(
            this.dtype() == other.dtype(),
            DType,
            "{OPERATOR}: {} and {} cannot be compared, convert one to the other by `aten::to_dtype`",
            this.dtype(),
            other.dtype()
        );
        ensure!(
            rtol >= 0.0 && atol >= 0.0,
            Argument,
            "{OPERATOR}: tolerances {rtol} and {atol}, neither may be negative"
        );
        let is_same = aten::eq_Tensor(this, other)?;
        let is_float = this.dtype().is_differentiable();
        let close = match equal_nan && is_float {
            true => {
                aten::logical_or(&is_same, &aten::logical_and(&aten::isnan(this)?, &aten::isnan(other)?)?)?
            }
            false => is_same,
        };
        if rtol == 0.0 && atol == 0.0 {
            return Ok(close);
        }
        // Integers are compared as floating-point numbers, booleans as integers.
        let number = |x: &Tensor| if is_float { Ok(x.clone()) } else { aten::to_dtype(x, DType::DEFAULT) };
        let (this, other) = (number(this)?, number(other)?);
        let allowed = aten::add_Scalar(&aten::abs(&aten::mul_Scalar(&other, rtol.into())?)?, atol.into())?;
        let distance = aten::abs(&aten::sub_Tensor(&this, &other)?)?;
        let is_near = aten::logical_and(&aten::isfinite(&distance)?, &aten::le_Tensor(&distance, &allowed)?)?;
        aten::logical_or(&close, &is_near)
    }

    fn allclose(this: &Tensor, other: &Tensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
        aten::all(&aten::isclose::call(this, other, rtol, atol, equal_nan)?)?.item()?.to()
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
        let is_found = if invert {
            aten::ne_Scalar(elements, test_element)
        } else {
            aten::eq_Scalar(elements, test_element)
        };
        // Row-major, whatever the strides of the elements.
        aten::contiguous(&is_found?)
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
        let number = aten::full::with(&[], element).dtype(element.dtype()).device(test_elements.device());
        aten::isin_Tensor_Tensor::call(&number.call()?, test_elements, assume_unique, invert)
    }
}

/// A scalar as a tensor of the dtype that it and `tensor` promote to; in a 16-bit dtype, a value that is too large
/// becomes infinite.
///
/// # Errors
/// Another dtype that cannot hold the value.
///
/// PyTorch: `at::scalar_tensor`.
fn beside(tensor: &Tensor, number: Scalar) -> Result<Tensor> {
    let operands = [tensor, &Tensor::wrapped_number(number)].map(Tensor::promotion_operand);
    let dtype = torch_library::result_type(operands)?;
    if matches!(dtype, DType::Float16 | DType::BFloat16) {
        let wide = Tensor::full(&[], number, DType::Float64, tensor.device())?;
        return aten::to_dtype(&wide, dtype);
    }
    Tensor::full(&[], number, dtype, tensor.device())
}
