torch_library::torch_library! { pub mod ops { NAMESPACE(int x) -> int; } }
fn main() {}
