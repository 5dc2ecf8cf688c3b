use torch_library::__private::{ErasedCode, TypedCode};
torch_library::torch_library! { pub mod ops { f(Tensor self) -> int; } }
fn main() {
    let _ = TypedCode { code: ErasedCode::never_called(), operator: || &ops::f::OPERATOR };
    let _ = ops::f::OPERATOR.spec().adapters.unbox;
}
