torch_library::torch_library! {
    f(Tensor x) -> Tensor;
}

fn main() {}
