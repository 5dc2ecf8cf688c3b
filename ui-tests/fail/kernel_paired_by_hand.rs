use torch_library::__private::{ErasedCode, RecordedKernel, TypedCode};
torch_library::torch_library! { pub mod ops { f(Tensor self) -> int; } }
fn main() {
    let _ = RecordedKernel::Typed(TypedCode::new(ErasedCode::never_called(), || &ops::f::OPERATOR));
}
