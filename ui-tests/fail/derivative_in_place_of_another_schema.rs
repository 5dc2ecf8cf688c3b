torch_library::torch_library! {
    pub mod ops { pow(Tensor self, int by) -> Tensor; pow_(Tensor(a!) self, int to) -> Tensor(a!); }
}
torch_library::derivatives! {
    in ops;
    #[in_place]
    pow(Tensor self, int by) -> Tensor { self => grad.clone() }
}
fn main() {}
