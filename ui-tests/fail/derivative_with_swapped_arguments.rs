torch_library::torch_library! {
    pub mod ops { minus(Tensor self, Tensor other) -> Tensor; }
}
torch_library::derivatives! {
    in ops;
    minus(Tensor other, Tensor self) -> Tensor { self => grad.clone(), other => grad.clone() }
}
fn main() {}
