use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
fn add(_: &Tensor, _: &Tensor, _: Output<'_>) -> Result<Tensor> { todo!() }

fn main() {}
