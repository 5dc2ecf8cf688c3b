//! Kernels for the operators of another crate, as single functions, and nothing else.
#![forbid(unsafe_code)]
#![deny(warnings)]

#[torch_library::torch_impl(function_first::in_function::two, CPU)]
fn two(_: &torch_library::Tensor) -> torch_library::Result<i64> {
    Ok(2)
}
