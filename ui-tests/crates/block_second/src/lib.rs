//! Kernels for the operators of another crate, in a block, and nothing else.
#![forbid(unsafe_code)]
#![deny(warnings)]

#[torch_library::torch_impl(block_first::in_block, CPU)]
mod block {
    use torch_library::prelude::*;

    fn two(_: &Tensor) -> Result<i64> {
        Ok(2)
    }
}
