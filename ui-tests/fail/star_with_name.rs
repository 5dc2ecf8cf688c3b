torch_library::torch_library! {
    pub mod ops {
        lift(Tensor self, *args) -> Tensor;
        drop(Tensor self, **kwargs) -> Tensor;
    }
}

fn main() {}
