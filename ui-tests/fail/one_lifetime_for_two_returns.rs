use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
fn minmax<'a>(_: &Tensor, a: &'a mut Tensor, b: &'a mut Tensor) -> Result<(&'a mut Tensor, &'a mut Tensor)> { Ok((a, b)) }

fn main() {}
