torch_library::torch_library! { pub mod ops { f(int Some) -> int; } }
fn main() {}
