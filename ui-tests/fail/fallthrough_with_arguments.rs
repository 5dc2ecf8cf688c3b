use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, AutocastCPU, fallthrough)]
fn add(_: &Tensor);

fn main() {}
