torch_library::torch_library! {
    pub mod ops {
        f(self) -> Tensor;
    }
}

fn main() {}
