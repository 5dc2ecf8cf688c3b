torch_library::torch_library! {
    pub mod pictures {
        #[variants(out)]
        sharpen(Tensor self) -> Tensor;
        sharpen.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!);
    }
}

fn main() {}
