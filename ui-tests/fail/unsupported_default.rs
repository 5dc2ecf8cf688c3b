torch_library::torch_library! {
    pub mod ops {
        f(Tensor x, ScalarType dtype=float8_e5m2) -> Tensor;
    }
}

fn main() {}
