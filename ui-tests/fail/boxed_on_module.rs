torch_library::torch_library! {
    #[boxed]
    pub mod ops {
        f(Tensor x) -> ();
    }
}
fn main() {}
