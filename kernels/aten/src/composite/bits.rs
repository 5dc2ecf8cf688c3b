//! Bitwise operators and shifts with scalars, and the operators behind Python's syntax.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn bitwise_and_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_and_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn bitwise_or_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_or_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn bitwise_xor_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_xor_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn bitwise_and_Scalar_Tensor(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_and_Tensor(&Tensor::wrapped_number(this), other)
    }

    fn bitwise_or_Scalar_Tensor(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_or_Tensor(&Tensor::wrapped_number(this), other)
    }

    fn bitwise_xor_Scalar_Tensor(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_xor_Tensor(&Tensor::wrapped_number(this), other)
    }

    fn bitwise_left_shift_Tensor_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_left_shift_Tensor(this, &Tensor::wrapped_number(other))
    }

    fn bitwise_left_shift_Scalar_Tensor(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_left_shift_Tensor(&Tensor::wrapped_number(this), other)
    }

    fn bitwise_right_shift_Scalar_Tensor(this: Scalar, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_right_shift_Tensor(&Tensor::wrapped_number(this), other)
    }

    fn bitwise_right_shift_Tensor_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_right_shift_Tensor(this, &Tensor::wrapped_number(other))
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn __and___Tensor(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_and_Tensor(this, other)
    }

    fn __and___Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_and_Scalar(this, other)
    }

    fn __or___Tensor(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_or_Tensor(this, other)
    }

    fn __or___Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_or_Scalar(this, other)
    }

    fn __xor___Tensor(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_xor_Tensor(this, other)
    }

    fn __xor___Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_xor_Scalar(this, other)
    }

    fn __lshift___Tensor(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_left_shift_Tensor(this, other)
    }

    fn __lshift___Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_left_shift_Tensor_Scalar(this, other)
    }

    fn __rshift___Tensor(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        aten::bitwise_right_shift_Tensor(this, other)
    }

    fn __rshift___Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::bitwise_right_shift_Tensor_Scalar(this, other)
    }
}
