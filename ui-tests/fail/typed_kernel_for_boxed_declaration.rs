torch_library::torch_library! {
    pub mod ops { #[boxed] f(Dict(str, Tensor) all) -> int; }
}
#[torch_library::torch_impl(ops, CPU)]
fn f() -> torch_library::Result<i64> { Ok(0) }
fn main() {}
