//! Declares the operators, and has kernels of its own, in a block.
#![forbid(unsafe_code)]
#![deny(warnings)]

torch_library::torch_library! {
    /// Operators of three crates.
    pub mod in_block {
        /// One.
        one(Tensor self) -> int;
        /// Two.
        two(Tensor self) -> int;
    }
}

#[torch_library::torch_impl(in_block, CPU, Meta)]
mod block {
    use torch_library::prelude::*;

    fn one(_: &Tensor) -> Result<i64> {
        Ok(1)
    }
}
