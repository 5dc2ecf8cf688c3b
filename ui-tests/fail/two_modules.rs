torch_library::torch_library! {
    pub mod a {}
    pub mod b {}
}

fn main() {}
