torch_library::torch_library! {
    pub mod ops {
        ;
    }
}

fn main() {}
