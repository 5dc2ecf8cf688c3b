use torch_library::prelude::*;

torch_library! { #[methods(M)] pub mod ops { clone(Tensor self) -> Tensor; copy(Tensor self, Tensor src) -> Tensor; } }

fn main() {}
