use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
fn add(self: &Tensor, other: &Tensor) -> Result<Tensor> { todo!() }

fn main() {}
