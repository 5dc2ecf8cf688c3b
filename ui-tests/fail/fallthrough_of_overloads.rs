use torch_library::prelude::*;

torch_library! { #[overloads] pub mod ops { add.Tensor(Tensor self, Tensor other) -> Tensor; } }
#[torch_impl(ops, CPU, fallthrough)]
mod kernels { fn add(); }

fn main() {}
