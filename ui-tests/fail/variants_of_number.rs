torch_library::torch_library! {
    pub mod pictures {
        #[variants(in_place)]
        size(Tensor self) -> int;
    }
}

fn main() {}
