torch_library::torch_library! {
    pub mod ops {
        f(Tensor x, *, int a, *, int b) -> Tensor;
    }
}

fn main() {}
