torch_library::torch_library! {
    pub mod ops {
        #[tags(pointwize)]
        f(Tensor x) -> Tensor;
    }
}

fn main() {}
