use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU, boxed, fallthrough)]
fn add();

fn main() {}
