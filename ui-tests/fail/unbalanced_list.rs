torch_library::torch_library! {
    pub mod ops {
        f(Tensor x, int[] k=[1,) -> Tensor;
    }
}

fn main() {}
