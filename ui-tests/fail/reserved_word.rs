torch_library::torch_library! {
    pub mod ops {
        f(Tensor in) -> Tensor;
    }
}

fn main() {}
