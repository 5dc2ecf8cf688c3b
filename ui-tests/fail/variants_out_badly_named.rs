torch_library::torch_library! {
    pub mod pictures {
        #[variants(out = "no name")]
        sharpen(Tensor self) -> Tensor;
    }
}

fn main() {}
