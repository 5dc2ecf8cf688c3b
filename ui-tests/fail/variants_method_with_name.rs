torch_library::torch_library! {
    pub mod pictures {
        #[variants(method = "crop")]
        crop(Tensor self) -> Tensor;
    }
}

fn main() {}
