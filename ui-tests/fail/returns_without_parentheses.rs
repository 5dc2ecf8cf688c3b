torch_library::torch_library! {
    pub mod ops {
        lift(Tensor self) -> Tensor, int;
    }
}

fn main() {}
