torch_library::torch_library! { pub mod ops { f(int call=1, int call_=2) -> int; } }
fn main() {}
