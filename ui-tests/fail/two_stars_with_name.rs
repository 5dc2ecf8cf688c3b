torch_library::torch_library! {
    pub mod ops {
        drop(Tensor self, **kwargs) -> Tensor;
    }
}

fn main() {}
