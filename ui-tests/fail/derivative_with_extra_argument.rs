torch_library::torch_library! {
    pub mod ops { scale_(Tensor(a!) self) -> Tensor(a!); }
}
torch_library::derivatives! {
    in ops;
    scale_(Tensor(a!) self, float by) -> Tensor(a!) { self => grad.clone() }
}
fn main() {}
