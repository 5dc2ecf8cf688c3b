torch_library::torch_library! {
    pub mod ops {
        f(const Tensor& x) -> Tensor;
    }
}

fn main() {}
