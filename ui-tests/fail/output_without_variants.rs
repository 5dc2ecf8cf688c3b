use torch_library::prelude::*;

torch_library! { pub mod pictures { sharpen(Tensor self) -> Tensor; } }

#[torch_impl(pictures, CPU)]
fn sharpen(_: Output<'_>, this: &Tensor) -> Result<Tensor> { Ok(this.clone()) }

fn main() {}
