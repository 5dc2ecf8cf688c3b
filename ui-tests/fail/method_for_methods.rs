torch_library::torch_library! {
    #[method(PictureMethods)]
    pub mod pictures {
        sharpen(Tensor self) -> Tensor;
    }
}

fn main() {}
