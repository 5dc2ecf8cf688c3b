use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU)]
mod cpu {
    pub fn add(_: &crate::Tensor, _: f64) -> crate::Result<crate::Tensor> { todo!() }
}

fn main() {}
