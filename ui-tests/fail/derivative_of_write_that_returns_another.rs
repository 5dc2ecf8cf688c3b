use torch_library::{derivatives, prelude::*};

torch_library! { pub mod ops { copy_and_zero(Tensor(a!) self) -> Tensor; } }
derivatives! { in ops; copy_and_zero(Tensor(a!) self) -> Tensor { self => grad.clone() } }

fn main() {}
