//! Autocast, autograd, vmap and tracing around one operator, and a backend that has them all without code for them.

use torch_library::prelude::*;
use torch_library::{autocast::Autocast, autograd, tracer};
use torch_library_kernels::{aten, autocast, vmap::vmap};

/// A backend that somebody else writes, years later.
#[path = "16_all_layers/abacus.rs"]
mod abacus;

torch_library! {
    /// Operators of my library.
    pub mod myops {
        /// Adds two tensors of the same shape.
        #[tags(pointwise)]
        myadd(Tensor self, Tensor other) -> Tensor;
    }
}

#[torch_impl(myops::myadd, CPU)]
fn add(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    aten::add_Tensor(this, other)
}

derivatives! {
    in myops;
    myadd(Tensor self, Tensor other) -> Tensor as MyAddBackward { self => grad.clone(), other => grad.clone() }
}

#[torch_impl(myops::myadd, AutocastCPU)]
fn add_in_low_precision(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let _no_autocast = autocast::below(DeviceType::Cpu);
    let cast = |x| autocast::cached_cast(autocast::dtype(DeviceType::Cpu), x, DeviceType::Cpu);
    myops::myadd(&cast(this)?, &cast(other)?)
}

/// The same four layers, whatever the backend.
fn layers(x: Tensor, y: Tensor) -> Result<()> {
    println!(
        "on {}, under autocast: {}",
        x.device(),
        Autocast::on(DeviceType::Cpu).run(|| myops::myadd(&x, &y))?.dtype()
    );
    let each = vmap([&x, &y], |[x, y]| {
        println!("  (one example: {:?})", x.sizes());
        myops::myadd(&x, &y)
    })?;
    println!("vmap:     {:?}", each.sizes());
    print!("{}", tracer::trace(&[x.clone(), y.clone()], |all| Ok(vec![myops::myadd(&all[0], &all[1])?]))?.1);

    x.set_requires_grad(true)?;
    let sum = myops::myadd(&x, &y)?;
    let grads = autograd::grad(&[&sum], &[&x], &[Some(y)], Default::default())?;
    println!(
        "autograd: {:?} gives {:?}",
        sum.grad_fn()?,
        grads[0].as_ref().map(|grad| grad.device().to_string())
    );
    Ok(())
}

fn main() -> Result<()> {
    layers(Tensor::from([[1f32, 2.0], [3.0, 4.0]]), Tensor::from([[10f32, 20.0], [30.0, 40.0]]))?;
    layers(abacus::tensor(vec![1, 2, 3, 4])?, abacus::tensor(vec![10, 20, 30, 40])?)
}

// Prints:
// on cpu, under autocast: bfloat16
//   (one example: [2])
// vmap:     [2, 2]
// graph(%0: float32[2, 2], %1: float32[2, 2]) {
//   %2: float32[2, 2] = myops::myadd(self=%0, other=%1)
//   return %2
// }
// autograd: Some(<MyAddBackward>) gives Some("cpu")
//   (beads move: [2, 2])
// on privateuseone, under autocast: float64
//   (one example: [2])
//   (beads move: [2, 2])
// vmap:     [2, 2]
//   (beads move: [2, 2])
// graph(%0: float64[2, 2], %1: float64[2, 2]) {
//   %2: float64[2, 2] = myops::myadd(self=%0, other=%1)
//   return %2
// }
//   (beads move: [2, 2])
// autograd: Some(<MyAddBackward>) gives Some("privateuseone")
