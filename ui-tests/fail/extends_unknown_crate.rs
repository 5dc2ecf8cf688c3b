torch_library::torch_library! {
    pub mod ops extends kernels::aten {
        f(Tensor x) -> Tensor;
    }
}

fn main() {}
