torch_library::torch_library! {
    pub mod ops {
        ops::f(Tensor x) -> Tensor;
    }
}

fn main() {}
