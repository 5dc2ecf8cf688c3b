use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl("myops::add.Scalar", CPU)]
fn add(_: &Tensor, _: Scalar, _: Scalar) -> Result<Tensor> { todo!() }

fn main() {}
