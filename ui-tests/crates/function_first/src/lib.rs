//! Declares the operators, and has kernels of its own, as single functions.
#![forbid(unsafe_code)]
#![deny(warnings)]

torch_library::torch_library! {
    /// Operators of three crates.
    pub mod in_function {
        /// One.
        one(Tensor self) -> int;
        /// Two.
        two(Tensor self) -> int;
    }
}

#[torch_library::torch_impl(in_function, CPU, Meta)]
fn one(_: &torch_library::Tensor) -> torch_library::Result<i64> {
    Ok(1)
}
