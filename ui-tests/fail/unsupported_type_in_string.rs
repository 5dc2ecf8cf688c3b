torch_library::torch_library! {
    pub mod ops {
        "f(Tensor x, Stream s) -> Tensor";
    }
}

fn main() {}
