torch_library::torch_library! {
    pub mod ops {
        f(Tensor) -> Tensor;
    }
}

fn main() {}
