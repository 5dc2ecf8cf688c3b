torch_library::torch_library! {
    pub mod pictures {
        #[variants(functional)]
        sharpen(Tensor self) -> Tensor;
    }
}

fn main() {}
