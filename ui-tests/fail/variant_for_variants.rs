torch_library::torch_library! {
    pub mod pictures {
        #[variant(out)]
        sharpen(Tensor self) -> Tensor;
    }
}

fn main() {}
