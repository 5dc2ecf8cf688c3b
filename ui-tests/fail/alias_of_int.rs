torch_library::torch_library! {
    pub mod ops {
        f(int(a!) x) -> ();
    }
}

fn main() {}
