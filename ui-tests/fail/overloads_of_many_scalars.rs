use torch_library::prelude::*;

torch_library! { #[overloads] pub mod ops { f.s(Scalar a, Scalar b, Scalar c, Scalar d, Scalar e, Scalar g) -> Tensor; } }

fn main() {}
