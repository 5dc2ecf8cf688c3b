torch_library::torch_library! {
    pub mod pictures {
        #[variants(in_place = "2nd")]
        blur(Tensor self) -> Tensor;
    }
}

fn main() {}
