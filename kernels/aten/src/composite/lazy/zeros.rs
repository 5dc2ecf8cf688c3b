//! Arithmetic on zeros that take no memory: if the result is zero whatever the other operand, it takes none either.
//!
//! PyTorch: the kernels at `ZeroTensor` of `native_functions.yaml`.

use torch_library::geometry::broadcast_shapes;
use torch_library::prelude::*;
use torch_library::{DispatchKeySet, result_type};

use crate::aten;

const BELOW: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::ZeroTensor);

#[torch_impl(aten, ZeroTensor)]
mod kernels {
    use super::*;

    fn mul_Tensor(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        zeros_of([this, other], common(this, other)?)
    }

    fn mul_Scalar(this: &Tensor, other: Scalar) -> Result<Tensor> {
        let number = Tensor::wrapped_number(other);
        zeros_of([this, this], common(this, &number)?)
    }

    fn add_Tensor(keys: DispatchKeySet, this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        if are_both(this, other) {
            return zeros_of([this, other], common(this, other)?);
        }
        aten::add_Tensor::redispatch(keys & BELOW, &made(this)?, &made(other)?, alpha)
    }

    fn sub_Tensor(keys: DispatchKeySet, this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor> {
        if are_both(this, other) {
            return zeros_of([this, other], common(this, other)?);
        }
        aten::sub_Tensor::redispatch(keys & BELOW, &made(this)?, &made(other)?, alpha)
    }

    /// The quotient of zero by zero is NaN, and so is not a zero tensor.
    fn div_Tensor(keys: DispatchKeySet, this: &Tensor, other: &Tensor) -> Result<Tensor> {
        if is_zero(this) && !is_zero(other) {
            let common = common(this, other)?;
            let is_exact = common.is_floating_point() || common.is_complex();
            return zeros_of([this, other], if is_exact { common } else { DType::DEFAULT });
        }
        aten::div_Tensor::redispatch(keys & BELOW, &made(this)?, &made(other)?)
    }

    fn dot(this: &Tensor, tensor: &Tensor) -> Result<Tensor> {
        product(aten::dot::NAME, this, tensor)
    }

    fn vdot(this: &Tensor, other: &Tensor) -> Result<Tensor> {
        product(aten::vdot::NAME, this, other)
    }
}

/// The dot product of two vectors, one of which is zero.
fn product(operator: &str, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    ensure!(
        this.dim() == 1 && this.sizes() == other.sizes() && this.dtype() == other.dtype(),
        Shape,
        "{operator}: sizes {:?} of {} and {:?} of {}, expected two vectors of one length and type",
        this.sizes(),
        this.dtype(),
        other.sizes(),
        other.dtype()
    );
    zeros(&[], this.dtype(), this.device())
}

fn is_zero(tensor: &Tensor) -> bool {
    tensor.key_set().has(DispatchKey::ZeroTensor)
}

fn are_both(this: &Tensor, other: &Tensor) -> bool {
    is_zero(this) && is_zero(other)
}

/// The same elements in memory.
fn made(tensor: &Tensor) -> Result<Tensor> {
    if is_zero(tensor) { aten::zeros_like(tensor) } else { Ok(tensor.clone()) }
}

fn common(this: &Tensor, other: &Tensor) -> Result<DType> {
    result_type([this.promotion_operand(), other.promotion_operand()])
}

fn zeros_of(operands: [&Tensor; 2], dtype: DType) -> Result<Tensor> {
    let sizes = broadcast_shapes(operands.map(Tensor::sizes))?;
    zeros(&sizes, dtype, operands[0].device())
}

fn zeros(sizes: &[i64], dtype: DType, device: Device) -> Result<Tensor> {
    aten::_efficientzerotensor::with(sizes).dtype(dtype).device(device).call()
}
