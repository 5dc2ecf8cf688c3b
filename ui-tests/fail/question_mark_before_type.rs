torch_library::torch_library! { pub mod ops { f(?Tensor self) -> Tensor; } }

fn main() {}
