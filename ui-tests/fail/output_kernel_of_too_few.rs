use torch_library::prelude::*;

torch_library! { pub mod pictures { #[variants(out)] blur(Tensor self) -> Tensor; } }

#[torch_impl(pictures, CPU)]
fn blur(_: Output<'_>) -> Result<Tensor> { todo!() }

fn main() {}
