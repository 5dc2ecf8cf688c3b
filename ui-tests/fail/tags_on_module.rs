torch_library::torch_library! {
    #[tags(pointwise)]
    pub mod pictures {
        sharpen(Tensor self) -> Tensor;
    }
}

fn main() {}
