torch_library::torch_library! {
    pub mod ops {
        f(Tensor x, int a=1, int b) -> Tensor;
    }
}

fn main() {}
