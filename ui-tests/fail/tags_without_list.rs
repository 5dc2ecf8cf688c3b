torch_library::torch_library! {
    pub mod ops {
        #[tags = "pointwise"]
        f(Tensor x) -> Tensor;
    }
}

fn main() {}
