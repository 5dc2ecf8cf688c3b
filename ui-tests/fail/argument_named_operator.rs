torch_library::torch_library! { pub mod ops { f(int OPERATOR) -> int; } }
fn main() {}
