#[torch_library::torch_impl(torch_library_ui_tests::myops, CPU)]
mod cpu {
    use torch_library::prelude::*;
    fn add(_: &Tensor, _: &Tensor) -> Result<Tensor> { todo!() }
    #[torch_impl("add")]
    fn other(_: &Tensor, _: &Tensor) -> Result<Tensor> { todo!() }
}
fn main() {}
