torch_library::torch_library! {
    pub mod imgops extends imgops::imgops {
        f(Tensor x) -> Tensor;
    }
}

fn main() {}
