use torch_library::prelude::*;

torch_library! { #[methods(M)] pub mod ops { to_owned(Tensor self) -> Tensor; } }

fn main() {}
