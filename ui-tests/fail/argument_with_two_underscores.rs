torch_library::torch_library! { pub mod ops { f(int __lifetime=1) -> int; } }
fn main() {}
