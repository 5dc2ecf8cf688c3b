torch_library::torch_library! {
    pub mod pictures {
        #[variants(out, in_place)]
        blank(int width, int height) -> Tensor;
    }
}

fn main() {}
