//! Elements at places that other tensors say.

mod order;
pub mod put;
pub mod take;

use torch_library::prelude::*;

use crate::backend::{GpuBackend, Tensors};
use crate::kernel::KernelBuilder;

/// Whether indices are in a range.
#[derive(Clone, Copy, Debug)]
pub struct Within {
    /// A thread for each element of `index`: writes 1 to the only element of `found`, an int32, if its index is not from `low`
    /// to below `high`, and not `other`.
    pub body: &'static str,
}

/// Whether a tensor of indices can be read by kernels beside another tensor.
fn is_index<B: GpuBackend>(index: &Tensor, beside: &Tensor) -> bool {
    matches!(index.dtype(), DType::Int64 | DType::Int32)
        && B::is_here(index)
        && index.device() == beside.device()
}

/// Whether all of a contiguous tensor of indices are from `low` to below `high`, or are one other number. One word comes back from the device:
/// this waits for it. Whoever finds one outside leaves the call to the CPU, whose error says which.
pub(crate) fn are_within<B: GpuBackend>(
    index: &Tensor,
    low: i64,
    high: i64,
    or: Option<i64>,
) -> Result<bool> {
    let found = Tensor::zeros(&[1], DType::Int32, index.device())?;
    B::Builder::new("indices")
        .signed("low", low)
        .signed("high", high)
        .signed("other", or.unwrap_or(low))
        .input("index", index)
        .result("found", &found)
        .threads(index.numel(), B::WITHIN.body)?;
    Ok(found.to_vec::<i32>()? == [0])
}
