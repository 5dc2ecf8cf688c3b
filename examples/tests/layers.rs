//! The layers that the README adds to its program.

use torch_library::prelude::*;

torch_library! {
    /// Operators of my library.
    pub mod myops {
        /// Adds two tensors of the same shape.
        myadd(Tensor self, Tensor other) -> Tensor;
    }
}

#[torch_impl(myops, CPU)]
fn myadd(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    ensure!(this.sizes() == other.sizes(), Shape, "sizes {:?} and {:?} differ", this.sizes(), other.sizes());
    let (this_values, other_values) = (this.to_vec::<f64>()?, other.to_vec::<f64>()?);
    let sums = this_values.iter().zip(&other_values).map(|(a, b)| a + b).collect();
    Tensor::from_vec(sums, this.sizes())
}

// What follows is the README's.

use torch_library::opcheck::opcheck;
use torch_library::vmap::Level;
use torch_library::{DeviceType, derivatives};
use torch_library_kernels::autocast::Policy;
use torch_library_kernels::vmap::expanded;

derivatives! {
    in myops;
    myadd(Tensor self, Tensor other) -> Tensor { self => grad.clone(), other => grad.clone() }
}

#[torch_impl(myops::myadd, Meta)] // sizes and types, without elements
fn shape(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Tensor::empty(this.sizes(), this.dtype(), this.device())
}

#[torch_impl(myops::myadd, FuncTorchBatched)] // all examples of a vmap at once
fn batched(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let level = Level::current()?;
    level.wrap(myops::myadd(&expanded(level, this)?, &expanded(level, other)?)?, 0)
}

#[torch_impl(myops::myadd, AutocastCPU, boxed)] // in the precision of the region; float64, as above, is left alone
fn cast(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    Policy::LowerPrecision.apply(DeviceType::Cpu, operator, keys, stack)
}

#[test] // all of these against the schema, and against each other
fn myadd_keeps_its_word() -> Result<()> {
    opcheck(myops::myadd::handle(), [vec![Tensor::from([1.0, 2.0]).into(), Tensor::from([3.0, 4.0]).into()]])
}
