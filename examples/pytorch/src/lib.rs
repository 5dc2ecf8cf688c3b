//! Custom operators for PyTorch.

use torch_library::{DeviceType, DispatchKeySet, OperatorHandle, Stack, derivatives, prelude::*};
use torch_library_aten::autocast::Policy;
use torch_library_aten::{aten, prelude::*};
use torch_library_loops::{Pointwise, match_opmath};

torch_library_pytorch::export!();

torch_library! {
    /// The operators of `torch.ops.mine`.
    pub mod mine {
        /// The logarithm of the hyperbolic cosine.
        #[tags(pointwise)]
        log_cosh(Tensor self) -> Tensor;
        /// Fills a tensor with a ramp.
        ramp_(Tensor(a!) self, float step=1) -> ();
        /// Huber's loss, made of other operators.
        huber(Tensor self, Tensor other) -> Tensor;
    }
}

/// On the CPU and on `meta`, where the loop computes only sizes.
#[torch_impl(mine, CPU, Meta)]
fn log_cosh(this: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting_to_float(mine::log_cosh::NAME, [this])?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, |[x]: [T; 1]| x.cosh().ln())
    }, else => Err(call.unsupported()))
}

derivatives! {
    in mine;
    log_cosh(Tensor self) -> Tensor {
        self => grad.mul(&aten::tanh(self)?),
    }
}

/// In `float32` under autocast, where the logarithm of a `bfloat16` would lose too much.
#[torch_impl(mine::log_cosh, AutocastCPU, boxed)]
fn cast(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    Policy::Float32.apply(DeviceType::Cpu, operator, keys, stack)
}

#[torch_impl(mine, CPU, Meta)]
fn ramp_(this: &mut Tensor, step: f64) -> Result<()> {
    ensure!(this.dtype() == DType::Float32, DType, "a ramp is of float32, not of {}", this.dtype());
    if this.device() == Device::META {
        return Ok(());
    }
    this.fill_from((0..this.numel()).map(|index| (index as f64 * step) as f32))
}

/// PyTorch knows the derivatives of the operators that it calls.
#[torch_impl(mine, CompositeImplicitAutograd)]
fn huber(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    aten::mean(&mine::log_cosh(&aten::sub(this, other)?)?)
}
