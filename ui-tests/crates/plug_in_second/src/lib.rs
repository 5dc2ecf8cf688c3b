//! A second plug-in, which calls an operator of the first by its name.

use shared_runtime as _; // so that the runtime is the shared one
use torch_library::Dispatcher;
use torch_library::prelude::*;

torch_library! {
    mod plugged_in_second {
        sixteenfold(Tensor self) -> Tensor;
    }
}

#[torch_impl(plugged_in_second, CompositeImplicitAutograd)]
fn sixteenfold(this: &Tensor) -> Result<Tensor> {
    let quadruple = Dispatcher::global().find("plugged::quadruple")?.typed::<fn(&Tensor) -> Result<Tensor>, _>()?;
    quadruple.call(&quadruple.call(this)?)
}
