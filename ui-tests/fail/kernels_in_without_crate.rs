torch_library::torch_library! {
    #[kernels_in("cpu")]
    pub mod ops {}
}

fn main() {}
