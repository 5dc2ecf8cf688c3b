use torch_library::prelude::*;
use torch_library_ui_tests::myops;

#[torch_impl(myops, CPU, override = true)]
fn add(this: &Tensor, _: &Tensor) -> Result<Tensor> {
    Ok(this.clone())
}

fn main() {}
