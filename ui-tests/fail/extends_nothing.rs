torch_library::torch_library! {
    pub mod ops extends {}
}

fn main() {}
