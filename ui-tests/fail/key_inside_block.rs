use torch_library_ui_tests::myops;

#[torch_library::torch_impl(myops, CPU)]
mod cpu {
    use torch_library::prelude::*;
    #[torch_impl(myops, Meta)]
    fn add(_: &Tensor, _: &Tensor) -> Result<Tensor> { todo!() }
}
fn main() {}
