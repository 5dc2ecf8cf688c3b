torch_library::torch_library! {
    pub mod pictures {
        #[methods(PictureMethods)]
        sharpen(Tensor self) -> Tensor;
    }
}

fn main() {}
