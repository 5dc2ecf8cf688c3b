torch_library::torch_library! {
    pub mod ops extend torch_library_ui_tests::myops {}
}

fn main() {}
