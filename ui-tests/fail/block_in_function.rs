use torch_library_ui_tests::myops;

fn main() {
    #[torch_library::torch_impl(myops, CPU)]
    mod cpu {
        fn nothing() -> torch_library::Result<()> { Ok(()) }
    }
}
