use torch_library::prelude::*;
use torch_library_ui_tests::myops;

macro_rules! kernel { ($name:ident) => { fn $name() {} } }
#[torch_impl(myops, CPU)]
mod cpu { kernel!(add); }

fn main() {}
