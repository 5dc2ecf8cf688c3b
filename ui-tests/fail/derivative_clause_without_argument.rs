torch_library::torch_library! {
    pub mod ops { plus(Tensor self) -> Tensor; }
}
torch_library::derivatives! { in ops; plus(Tensor self) -> Tensor { => grad } }
fn main() {}
