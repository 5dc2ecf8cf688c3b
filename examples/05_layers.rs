//! Layers above the backend: each does its part, then calls the layers below.

use torch_library::prelude::*;
use torch_library::{autocast::Autocast, guard::IncludeDispatchKeyGuard};
use torch_library_kernels::{aten, autocast, prelude::*};

torch_library! {
    /// Operators of my library.
    pub mod myops {
        /// Adds two tensors of the same shape.
        myadd(Tensor self, Tensor other) -> Tensor;
    }
}

#[torch_impl(myops::myadd, CPU)]
fn add(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    println!("  CPU: adds {} and {}", this.dtype(), other.dtype());
    ensure!(this.dtype() == other.dtype(), DType, "cast to one type, or turn autocast on");
    aten::add_Tensor(this, other)
}

// The kernel for `Autograd` runs the operator below and records how gradients flow back; formulas generate it.
derivatives! {
    in myops;
    myadd(Tensor self, Tensor other) -> Tensor as MyAddBackward { self => grad.clone(), other => grad.clone() }
}

/// A kernel whose first parameter is the call's key set can redispatch with the remaining keys.
#[torch_impl(myops::myadd, Tracer)]
fn add_logged(keys: DispatchKeySet, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    println!("  Tracer: hands on {:?} and {:?}", this.sizes(), other.sizes());
    let below = keys & DispatchKeySet::full_after(DispatchKey::Tracer);
    let sum = myops::myadd::redispatch(below, this, other)?;
    println!("  Tracer: gets back what {:?} made", sum.grad_fn()?);
    Ok(sum)
}

/// A kernel that makes other tensors dispatches anew; a guard keeps it from calling itself.
#[torch_impl(myops::myadd, AutocastCPU)]
fn add_in_low_precision(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let _no_autocast = autocast::below(DeviceType::Cpu);
    let precision = autocast::dtype(DeviceType::Cpu);
    println!("  Autocast: makes both {precision}");
    let cast = |x| autocast::cached_cast(precision, x, DeviceType::Cpu);
    myops::myadd(&cast(this)?, &cast(other)?)
}

fn main() -> Result<()> {
    let (x, y) = (Tensor::from([1f32, 2.0]), aten::to_dtype(&Tensor::from([0.5f32, 0.25]), DType::Float16)?);
    x.set_requires_grad(true)?;

    println!("float32 and float32, with Tracer's key:");
    let traced = IncludeDispatchKeyGuard::new(DispatchKey::Tracer);
    let sum = myops::myadd(&x, &x)?;
    drop(traced);
    sum.sum()?.backward()?;
    println!("{sum}\nx.grad: {:?}", x.grad());

    println!("float32 and float16, with autocast on:");
    let float16 = Autocast::on(DeviceType::Cpu).dtype(DType::Float16);
    println!("{}", float16.run(|| myops::myadd(&x, &y))?);

    println!("the same, with autocast off:");
    println!("{}", myops::myadd(&x, &y).unwrap_err());
    Ok(())
}

// Prints:
// float32 and float32, with Tracer's key:
//   Tracer: hands on [2] and [2]
//   CPU: adds float32 and float32
//   Tracer: gets back what Some(<MyAddBackward>) made
// tensor([2., 4.], grad_fn=<MyAddBackward>)
// x.grad: Some(tensor([2., 2.]))
// float32 and float16, with autocast on:
//   Autocast: makes both float16
//   CPU: adds float16 and float16
// tensor([1.5000, 2.2500], dtype=torch.float16, grad_fn=<MyAddBackward>)
// the same, with autocast off:
//   CPU: adds float32 and float16
// myops::myadd: cast to one type, or turn autocast on
