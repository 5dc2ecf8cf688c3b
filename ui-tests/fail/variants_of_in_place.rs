torch_library::torch_library! {
    pub mod pictures {
        #[variants(out)]
        clear_(Tensor(a!) self) -> Tensor(a!);
    }
}

fn main() {}
