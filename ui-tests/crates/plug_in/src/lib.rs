//! A plug-in: declares an operator that calls one of the program's, and has a kernel for another.

use shared_runtime as _; // so that the runtime is the shared one
use torch_library::prelude::*;

torch_library! {
    mod plugged {
        quadruple(Tensor self) -> Tensor;
    }
}

#[torch_impl(plugged, CompositeImplicitAutograd)]
fn quadruple(this: &Tensor) -> Result<Tensor> {
    ops::myops::double(&ops::myops::double(this)?)
}

#[torch_impl(ops::myops::double, CPU)]
fn double(this: &Tensor, _: &str) -> Result<Tensor> {
    Tensor::from_vec(this.to_vec::<f64>()?.into_iter().map(|x| 2.0 * x).collect(), this.sizes())
}
