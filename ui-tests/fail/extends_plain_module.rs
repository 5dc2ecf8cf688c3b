mod plain {}

torch_library::torch_library! {
    pub mod ops extends plain {}
}

fn main() {}
