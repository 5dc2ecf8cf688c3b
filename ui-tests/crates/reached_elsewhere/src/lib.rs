//! Kernels for operators of another crate, as single functions.
#![forbid(unsafe_code)]
#![deny(warnings)]

use reached::reached;
use torch_library::prelude::*;

#[torch_impl(reached, CPU)]
fn inner(this: &Tensor) -> Result<Tensor> {
    Tensor::from_vec(this.to_vec::<f32>()?.iter().map(|x| 2.0 * x).collect(), this.sizes())
}

#[torch_impl(reached, CPU)]
fn named(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

#[torch_impl(reached, CPU, override)]
fn replaced(this: &Tensor) -> Result<Tensor> {
    reached::inner(this)
}

#[torch_impl(reached, CPU)]
fn beyond(this: &Tensor) -> Result<Tensor> {
    println!("UNREACHED KERNEL BY ITSELF");
    Ok(this.clone())
}

// At a key for which operators have no symbol: always linked.
#[torch_impl(reached, XPU)]
fn outer(this: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}
