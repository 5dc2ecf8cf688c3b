torch_library::torch_library! {
    pub mod ops {
        f(int a) -> (int, int, int, int, int, int, int, int, int, int, int);
    }
}

fn main() {}
