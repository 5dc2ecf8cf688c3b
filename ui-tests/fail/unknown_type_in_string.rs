torch_library::torch_library! {
    pub mod ops {
        "f(tensor x) -> Tensor";
    }
}

fn main() {}
