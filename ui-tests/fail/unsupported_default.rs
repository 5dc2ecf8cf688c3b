torch_library::torch_library! {
    pub mod ops {
        f(Tensor x, ScalarType dtype=qint8) -> Tensor;
    }
}

fn main() {}
