use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, Vmap)]
fn add(_: &Tensor, _: &Tensor) -> Result<Tensor> { todo!() }

fn main() {}
