torch_library::torch_library! {
    pub mod ops {
        use super::*;
        type(Tensor self) -> int;
    }
}

fn main() {}
