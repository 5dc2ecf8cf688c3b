torch_library::torch_library! {
    pub mod ops {
        f(Tensor x, int size=1.5) -> Tensor;
    }
}

fn main() {}
