use torch_library::prelude::*;

torch_library! { #[methods(A)] #[methods(B)] pub mod ops { double(Tensor self) -> Tensor; } }

fn main() {}
