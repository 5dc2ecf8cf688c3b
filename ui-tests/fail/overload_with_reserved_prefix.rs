torch_library::torch_library! {
    pub mod ops {
        f.__x(Tensor x) -> Tensor;
    }
}

fn main() {}
