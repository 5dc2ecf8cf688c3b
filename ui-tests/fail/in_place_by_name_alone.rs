torch_library::torch_library! {
    pub mod ops { add_(Tensor self, Tensor other) -> Tensor; }
}

fn main() {}
