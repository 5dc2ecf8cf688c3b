torch_library::torch_library! {
    pub mod ops {
        f(Tensor x) -> Tensor;
        g(Tensor x) -> Tensor;
        f(Tensor x, int k) -> Tensor;
    }
}

fn main() {}
