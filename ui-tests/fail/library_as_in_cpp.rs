torch_library::torch_library! {
    ops, m,
    f(Tensor x) -> Tensor;
}

fn main() {}
