torch_library::torch_library! {
    pub mod ops {
        f(Tensor x, i64 size) -> Tensor;
    }
}

fn main() {}
