#![forbid(unsafe_code)]
struct Kept(&'static torch_library::Tensor);
impl torch_library::__private::Argument for Kept {}
fn main() {}
