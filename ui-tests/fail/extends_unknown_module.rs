torch_library::torch_library! {
    pub mod ops extends torch_library_ui_tests::myop {
        f(Tensor x) -> Tensor;
    }
}

fn main() {}
