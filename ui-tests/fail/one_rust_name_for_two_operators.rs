torch_library::torch_library! {
    pub mod ops {
        f.b(Tensor x) -> Tensor;
        f_b(Tensor x) -> Tensor;
    }
}

fn main() {}
