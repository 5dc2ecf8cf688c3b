use torch_library::__private::{Declaration, ErasedCode, TypedCode};
torch_library::torch_library! { pub mod ops { f(Tensor self) -> int; } }
fn paired(declaration: &'static Declaration) -> TypedCode {
    TypedCode { code: ErasedCode::never_called(), declaration }
}
fn main() {
    let _ = paired;
    let _ = ops::f::OPERATOR.spec().adapters.unbox;
}
