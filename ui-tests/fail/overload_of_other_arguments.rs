torch_library::torch_library! {
    #[overloads]
    pub mod ops { add.Tensor(Tensor self, Tensor other) -> Tensor; add.int(Tensor self, int other) -> Tensor; }
}

fn main() {
    let _ = ops::add(&torch_library::Tensor::from([1.0]), "two");
}
