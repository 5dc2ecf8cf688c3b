torch_library::torch_library! {
    pub mod ops { firsts(Tensor(a) self) -> Tensor(a); }
}
torch_library::derivatives! {
    in ops;
    firsts(Tensor self) -> Tensor { self => grad.clone() }
}
fn main() {}
