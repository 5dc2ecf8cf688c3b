torch_library::torch_library! {
    pub mod ops {
        lift_(Tensor self!, int by) -> Tensor(a!);
    }
}

fn main() {}
