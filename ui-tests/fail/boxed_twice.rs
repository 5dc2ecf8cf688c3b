torch_library::torch_library! {
    pub mod ops {
        f(Tensor x) -> Tensor;
        #[boxed]
        f(Storage x) -> Tensor;
    }
}
fn main() {}
