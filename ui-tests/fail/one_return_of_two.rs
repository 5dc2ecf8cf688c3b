use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
fn minmax<'a>(_: &Tensor, _: &'a mut Tensor, _: &mut Tensor) -> Result<&'a mut Tensor> { todo!() }

fn main() {}
