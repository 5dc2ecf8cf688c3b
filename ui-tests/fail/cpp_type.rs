torch_library::torch_library! {
    pub mod ops {
        f(Tensor x, int64_t size) -> Tensor;
    }
}

fn main() {}
