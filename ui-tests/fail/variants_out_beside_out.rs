torch_library::torch_library! {
    pub mod ops {
        #[variants(out)]
        plus(Tensor self, Tensor out) -> Tensor;
    }
}

fn main() {}
