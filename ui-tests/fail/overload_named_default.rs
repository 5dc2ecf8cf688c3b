torch_library::torch_library! {
    pub mod ops {
        f.default(Tensor x) -> Tensor;
    }
}

fn main() {}
