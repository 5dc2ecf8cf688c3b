torch_library::torch_library! {
    pub mod ops {
        f(Tensor x) -> Tensor
        g(Tensor x) -> Tensor;
    }
}

fn main() {}
