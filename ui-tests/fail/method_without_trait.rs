torch_library::torch_library! {
    pub mod pictures {
        #[variants(function, method)]
        sharpen(Tensor self) -> Tensor;
    }
}

fn main() {}
