use torch_library::__private::{Declaration, ErasedCode, RecordedKernel, TypedCode};
torch_library::torch_library! { pub mod ops { f(Tensor self) -> int; } }
fn paired(declaration: &'static Declaration) -> RecordedKernel {
    RecordedKernel::Typed(TypedCode::new(ErasedCode::never_called(), declaration))
}
fn main() {
    let _ = paired;
}
