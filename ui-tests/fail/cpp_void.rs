torch_library::torch_library! {
    pub mod ops {
        f(Tensor x) -> void;
    }
}

fn main() {}
