use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
#[path = "../src/lib.rs"]
mod cpu;

fn main() {}
