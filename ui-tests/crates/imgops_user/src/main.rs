//! Kernels and calls by the crate's name alone, and by the crate's and the namespace's name.
#![deny(warnings)]

use torch_library::prelude::*;

#[torch_impl(imgops, CPU)]
fn copy(this: &Tensor) -> Result<Tensor> {
    imgops::adjust(this, 1.0)
}

torch_library! {
    /// More of them, under the same name.
    pub mod more extends ::imgops::imgops {
        /// Brighter by two.
        lift(Tensor self) -> Tensor;
    }
}

#[torch_impl(more, CompositeImplicitAutograd)]
fn lift(this: &Tensor) -> Result<Tensor> {
    imgops::imgops::adjust::with(this, 1.0).bias(2.0).call()
}

fn main() -> Result<()> {
    let x = Tensor::from([1.0]);
    println!("{:?} {:?}", imgops::copy(&x)?.to_vec::<f64>()?, more::lift(&x)?.to_vec::<f64>()?);
    Ok(())
}
