torch_library::torch_library! {
    #[methods(PictureMethods)]
    pub mod pictures {
        #[variants(function, method)]
        sharpen(Tensor input) -> Tensor;
    }
}

fn main() {}
