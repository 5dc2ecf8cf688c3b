torch_library::torch_library! {
    pub mod pictures {
        #[variants(out)]
        row(Tensor(a) self, int index) -> Tensor(a);
        #[variants(in_place)]
        size(Tensor self) -> int;
        #[variants(out)]
        clear_(Tensor(a!) self) -> Tensor(a!);
        #[variants(out)]
        halves(Tensor self) -> (Tensor, Tensor);
    }
}

fn main() {}
