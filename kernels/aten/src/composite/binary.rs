//! Arithmetic with a scalar, as a wrapped-number tensor, which has lower priority in type promotion.

use torch_library::prelude::*;

use crate::aten;

mod compare;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn add_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        aten::add_Tensor::call(this, &Tensor::wrapped_number(other), alpha)
    }

    fn add__Scalar(this: &mut Tensor, other: Scalar, alpha: Scalar) -> Result<&mut Tensor> {
        aten::add__Tensor::call(this, &Tensor::wrapped_number(other), alpha)
    }

    fn sub_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        aten::sub_Tensor::call(this, &Tensor::wrapped_number(other), alpha)
    }

    fn sub__Scalar(this: &mut Tensor, other: Scalar, alpha: Scalar) -> Result<&mut Tensor> {
        aten::sub__Tensor::call(this, &Tensor::wrapped_number(other), alpha)
    }

    fn rsub_Tensor(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        aten::sub_Tensor::call(other, this, alpha)
    }

    fn rsub_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        aten::sub_Tensor::call(&Tensor::wrapped_number(other), this, alpha)
    }

    fn mul_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::mul_Tensor::call(this, &Tensor::wrapped_number(other))
    }

    fn mul__Scalar(this: &mut Tensor, other: Scalar) -> Result<&mut Tensor> {
        aten::mul__Tensor::call(this, &Tensor::wrapped_number(other))
    }

    fn div_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        aten::div_Tensor::call(this, &Tensor::wrapped_number(other))
    }

    fn div__Scalar(this: &mut Tensor, other: Scalar) -> Result<&mut Tensor> {
        aten::div__Tensor::call(this, &Tensor::wrapped_number(other))
    }

    fn div_Scalar_mode(this: &Tensor, other: Scalar, rounding_mode: Option<&str>) -> Result<Tensor> {
        aten::div_Tensor_mode::call(this, &Tensor::wrapped_number(other), rounding_mode)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn _add_relu_Tensor(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        positive(aten::_add_relu_Tensor::NAME, &aten::add_Tensor::call(this, other, alpha)?)
    }

    fn _add_relu_Scalar(this: &Tensor, other: Scalar, alpha: Scalar) -> Result<Tensor> {
        positive(aten::_add_relu_Scalar::NAME, &aten::add_Scalar::call(this, other, alpha)?)
    }
}

/// Zero where a sum is not positive, or not a number.
fn positive(operator: &str, sum: &Tensor) -> Result<Tensor> {
    let types = [DType::Float32, DType::Float64, DType::Int8, DType::Int32, DType::Int64];
    ensure!(types.contains(&sum.dtype()), DType, "{operator} is not implemented for {}", sum.dtype());
    aten::where_self(&aten::gt_Scalar(sum, 0.into())?, sum, &aten::zeros_like(sum)?)
}
