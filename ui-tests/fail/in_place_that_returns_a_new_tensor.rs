torch_library::torch_library! {
    pub mod ops { add_(Tensor(a!) self, Tensor other) -> Tensor; }
}

fn main() {}
