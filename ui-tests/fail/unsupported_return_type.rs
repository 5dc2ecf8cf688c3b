torch_library::torch_library! {
    pub mod ops {
        f(Tensor x) -> (Tensor, Dict(str, int));
    }
}

fn main() {}
