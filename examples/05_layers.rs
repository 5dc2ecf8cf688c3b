//! Layers above the backend: the kernels for autocast and autograd do their part, then call on to what is below.

use torch_library::guard::{ExcludeDispatchKeyGuard, ForceDispatchKeyGuard, LocalDispatchKeySet};
use torch_library::prelude::*;

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
    ensure!(this.sizes() == other.sizes(), Shape, "sizes {:?} and {:?} differ", this.sizes(), other.sizes());
    let sums = this.to_vec::<f32>()?.iter().zip(other.to_vec::<f32>()?).map(|(a, b)| a + b).collect();
    Tensor::from_vec(sums, this.sizes())
}

/// A kernel that takes the keys of the call first can hand on those that are left.
#[torch_impl(myops::myadd, Autograd)]
fn add_with_gradient(keys: DispatchKeySet, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    println!("  Autograd: notes that both gradients are the result's");
    let below = keys & DispatchKeySet::full_after(DispatchKey::AutogradOther);
    let sum = myops::myadd::redispatch(below, this, other)?;
    sum.set_requires_grad(this.requires_grad() || other.requires_grad())?;
    Ok(sum)
}

/// A kernel that makes other tensors starts over, and keeps out of its own way with a guard.
#[torch_impl(myops::myadd, AutocastCPU)]
fn add_in_single_precision(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let _guard = ExcludeDispatchKeyGuard::new(DispatchKey::AutocastCPU);
    println!("  Autocast: makes both float32");
    myops::myadd(&single(this)?, &single(other)?)
}

fn single(x: &Tensor) -> Result<Tensor> {
    if x.dtype() == DType::Float32 {
        return Ok(x.clone());
    }
    Tensor::from_vec(x.to_vec::<f64>()?.iter().map(|value| *value as f32).collect(), x.sizes())
}

fn main() -> Result<()> {
    let (x, y) = (Tensor::from([1f32, 2.0]), Tensor::from([0.5, 0.25]));
    x.set_requires_grad(true)?;

    println!("float32 and float32:");
    println!("{}", myops::myadd(&x, &x)?);

    println!("float32 and float64, with autocast on:");
    let keys = LocalDispatchKeySet::current();
    let excluded = keys.excluded.remove(DispatchKey::AutocastCPU);
    let autocast = ForceDispatchKeyGuard::new(LocalDispatchKeySet { excluded, ..keys });
    println!("{}", myops::myadd(&x, &y)?);
    drop(autocast);

    println!("the same, with autocast off:");
    println!("{}", myops::myadd(&x, &y).unwrap_err());
    Ok(())
}

// Prints:
// float32 and float32:
//   Autograd: notes that both gradients are the result's
//   CPU: adds float32 and float32
// tensor([2., 4.], requires_grad=True)
// float32 and float64, with autocast on:
//   Autocast: makes both float32
//   Autograd: notes that both gradients are the result's
//   CPU: adds float32 and float32
// tensor([1.5000, 2.2500], requires_grad=True)
// the same, with autocast off:
//   Autograd: notes that both gradients are the result's
//   CPU: adds float32 and float64
// myops::myadd: elements of float32 were asked of a tensor of float64, convert one to the other first
