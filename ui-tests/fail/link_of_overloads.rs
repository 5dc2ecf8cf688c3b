use torch_library::prelude::*;

torch_library! { #[overloads] pub mod ops { add.Tensor(Tensor self, Tensor other) -> Tensor; } }

fn main() {
    torch_library::link!(ops::add);
}
