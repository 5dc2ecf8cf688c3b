torch_library::torch_library! {
    pub mod ops {
        f(at::Tensor x) -> Tensor;
    }
}

fn main() {}
