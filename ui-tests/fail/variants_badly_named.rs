torch_library::torch_library! {
    pub mod pictures {
        #[variants(out = "no name")]
        sharpen(Tensor self) -> Tensor;
        #[variants(in_place = "2nd")]
        blur(Tensor self) -> Tensor;
        #[variants(method = "crop")]
        crop(Tensor self) -> Tensor;
    }
}

fn main() {}
