torch_library::torch_library! {
    pub mod pictures {
        #[variants(out)]
        row(Tensor(a) self, int index) -> Tensor(a);
    }
}

fn main() {}
