torch_library::torch_library! {
    pub mod pictures {
        #[variants(out)]
        halves(Tensor self) -> (Tensor, Tensor);
    }
}

fn main() {}
