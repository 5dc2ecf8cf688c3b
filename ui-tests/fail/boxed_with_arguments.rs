torch_library::torch_library! {
    pub mod ops {
        #[boxed(true)]
        f(Storage x) -> ();
    }
}
fn main() {}
