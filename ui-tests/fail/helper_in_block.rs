use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
mod cpu {
    fn half(x: f64) -> f64 { x / 2.0 }
}
fn main() {}
