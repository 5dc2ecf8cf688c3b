torch_library::torch_library! {
    pub mod ops {
        f(Tensor(a!) x) -> (Tensor(a!), Tensor(a!));
    }
}

fn main() {}
