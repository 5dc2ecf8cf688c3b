torch_library::torch_library! {
    pub mod ops {
        #[boxed]
        #[variants(out)]
        f(Storage x) -> Tensor;
    }
}
fn main() {}
