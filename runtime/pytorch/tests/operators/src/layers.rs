//! Kernels at keys above the backend's: autocast, batching rules for vmap; kernels and a fallback for another device.

use std::sync::atomic::{AtomicI64, Ordering};

use torch_library::prelude::*;
use torch_library::vmap::Level;
use torch_library::{DeviceType, DispatchKeySet, OperatorHandle, Stack, derivatives, torch_fallback};
use torch_library_aten::autocast::Policy;
use torch_library_aten::prelude::*;
use torch_library_aten::vmap::{expanded, front};

torch_library! {
    /// Operators with layers.
    pub mod layers {
        /// A matrix product, in the precision of the autocast region.
        product(Tensor self, Tensor other, Scalar factor=1) -> Tensor;
        /// Runs in full precision under autocast.
        exact(Tensor self) -> Tensor;
        /// Refused under autocast.
        unsafe_loss(Tensor self) -> Tensor;
        /// Has a batching rule for vmap.
        scores(Tensor self, Tensor other, *, float factor=1) -> Tensor;
        /// Has a batching rule with lists.
        stacked(Tensor[] tensors, Tensor? last=None) -> (Tensor, Tensor[]);
        /// How often the two operators with batching rules have run on elements.
        runs() -> int;
        /// Has only the fallback for another device.
        elsewhere(Tensor self) -> Tensor;
        /// Has kernels in Python alone.
        halves(Tensor self) -> (Tensor, Tensor);
        /// Is made of the former.
        half(Tensor self) -> Tensor;
        /// Has a kernel for another device.
        there(Tensor self) -> str;
    }
}

static RUNS: AtomicI64 = AtomicI64::new(0);

#[torch_impl(layers::product, AutocastCPU, boxed)]
fn product_on_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    Policy::LowerPrecision.apply(DeviceType::Cpu, operator, keys, stack)
}

#[torch_impl(layers::product, AutocastCUDA, boxed)]
fn product_on_cuda(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    Policy::LowerPrecision.apply(DeviceType::Cuda, operator, keys, stack)
}

#[torch_impl(layers::exact, AutocastCPU, boxed)]
fn exact_on_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    Policy::Float32.apply(DeviceType::Cpu, operator, keys, stack)
}

#[torch_impl(layers::unsafe_loss, AutocastCPU, boxed)]
fn loss_on_cpu(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    Policy::Banned.apply(DeviceType::Cpu, operator, keys, stack)
}

#[torch_impl(layers::scores, FuncTorchBatched)]
fn scores_of_all(this: &Tensor, other: &Tensor, factor: f64) -> Result<Tensor> {
    let level = Level::current()?;
    level.wrap(layers::scores::call(&expanded(level, this)?, &expanded(level, other)?, factor)?, 0)
}

#[torch_impl(layers::stacked, FuncTorchBatched)]
fn stacked_of_all(tensors: &[Tensor], last: Option<&Tensor>) -> Result<(Tensor, Vec<Tensor>)> {
    let level = Level::current()?;
    let all = |tensor: &Tensor| expanded(level, tensor);
    let tensors = tensors.iter().map(all).collect::<Result<Vec<_>>>()?;
    let (sum, doubled) = layers::stacked::call(&tensors, last.map(all).transpose()?.as_ref())?;
    let wrapped = doubled.into_iter().map(|tensor| level.wrap(tensor, 0)).collect::<Result<_>>()?;
    Ok((level.wrap(front(level, &sum)?, 0)?, wrapped))
}

derivatives! {
    in layers;

    product(Tensor self, Tensor other, Scalar factor=1) -> Tensor {
        self => grad.mm(&other.t()?)?.mul(factor),
        other => self.t()?.mm(grad)?.mul(factor),
    }

    scores(Tensor self, Tensor other, *, float factor=1) -> Tensor {
        self => grad.mul(other)?.mul(factor),
        other => grad.mul(self)?.mul(factor),
    }
}

#[torch_impl(layers, CPU, Meta)]
mod kernels {
    use super::*;

    fn product(this: &Tensor, other: &Tensor, factor: Scalar) -> Result<Tensor> {
        this.mm(other)?.mul(factor)
    }

    fn exact(this: &Tensor) -> Result<Tensor> {
        this.mul(1.0)
    }

    fn unsafe_loss(this: &Tensor) -> Result<Tensor> {
        this.mul(1.0)
    }

    fn scores(this: &Tensor, other: &Tensor, factor: f64) -> Result<Tensor> {
        RUNS.fetch_add(1, Ordering::Relaxed); // only a counter
        this.mul(other)?.mul(factor)
    }

    fn stacked(tensors: &[Tensor], last: Option<&Tensor>) -> Result<(Tensor, Vec<Tensor>)> {
        RUNS.fetch_add(1, Ordering::Relaxed); // only a counter
        let mut sum = tensors[0].clone();
        for tensor in tensors[1..].iter().chain(last) {
            sum = sum.add(tensor)?;
        }
        Ok((sum.mul(1.0)?, tensors.iter().map(|tensor| tensor.mul(2.0)).collect::<Result<_>>()?))
    }
}

#[torch_impl(layers::runs, CompositeExplicitAutograd)]
fn runs() -> Result<i64> {
    Ok(RUNS.load(Ordering::Relaxed))
}

#[torch_impl(layers::half, CompositeImplicitAutograd)]
fn half(this: &Tensor) -> Result<Tensor> {
    Ok(layers::halves(this)?.0)
}

#[torch_impl(layers::there, PrivateUse1)]
fn there(this: &Tensor) -> Result<String> {
    Ok(format!("{:?} on {}", this.sizes(), this.device()))
}

#[torch_impl(layers::there, Conjugate)]
fn there_conjugated(_: &Tensor) -> Result<String> {
    bail!(Internal, "nothing leads here")
}

#[torch_fallback(PrivateUse1)]
fn elsewhere(operator: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> {
    bail!(NotSupported, "{operator} was given to the fallback")
}

#[torch_fallback(Tracer)]
fn traced(operator: OperatorHandle, _: DispatchKeySet, _: &mut Stack<'_>) -> Result<()> {
    bail!(Internal, "{operator}: nothing leads here")
}
