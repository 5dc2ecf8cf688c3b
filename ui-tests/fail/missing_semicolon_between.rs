torch_library::torch_library! {
    pub mod ops {
        f(Tensor x) -> Tensor
        /// Another.
        g.Other(Tensor x) -> Tensor;
    }
}

fn main() {}
