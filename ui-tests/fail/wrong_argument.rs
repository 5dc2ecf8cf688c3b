use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
fn add(_: &Tensor, _: f64) -> Result<Tensor> { todo!() }

fn main() {}
