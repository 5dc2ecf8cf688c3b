torch_library::torch_library! {
    #[overloads(add)]
    pub mod ops { add.Tensor(Tensor self, Tensor other) -> Tensor; }
}

fn main() {}
