torch_library::torch_library! {
    pub mod ops extends "a::b" {}
}

fn main() {}
