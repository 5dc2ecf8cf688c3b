//! `self` is `this` in Rust.
torch_library::torch_library! {
    pub mod ops {
        f(Tensor self, Tensor this) -> Tensor;
    }
}
fn main() {}
