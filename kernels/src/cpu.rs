//! Kernels that touch elements in host memory.
//!
//! They serve meta tensors too: those have no elements, so all that is done for them is to work out the result.

mod binary;
mod compare;
mod copy;
mod create;
mod folds;
mod index;
pub(crate) mod loops;
mod loss;
mod matmul;
mod norm;
pub(crate) mod number;
mod reduce;
mod unary;
mod window;

use torch_library::prelude::*;

/// The end of an in-place kernel: reports the write, unless it failed.
///
/// The version counter belongs to the layer above (`ADInplaceOrView`), which is to take this over.
fn written(this: &mut Tensor, result: Result<Tensor>) -> Result<&mut Tensor> {
    result?;
    this.bump_version();
    Ok(this)
}
