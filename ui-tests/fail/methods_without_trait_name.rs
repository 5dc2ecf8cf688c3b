torch_library::torch_library! {
    #[methods]
    pub mod pictures {
        sharpen(Tensor self) -> Tensor;
    }
}

fn main() {}
