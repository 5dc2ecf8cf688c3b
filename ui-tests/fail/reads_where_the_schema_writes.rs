use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
fn scale_(_: &Tensor, _: Scalar) -> Result<&mut Tensor> { todo!() }

fn main() {}
