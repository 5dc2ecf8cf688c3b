//! Operators that read or write elements at the positions that index tensors give.

mod order;
pub mod put;
pub mod take;

use torch_library::prelude::*;

use crate::backend::{GpuBackend, Tensors};
use crate::kernel::KernelBuilder;

/// The kernel that checks whether indices are in range.
#[derive(Clone, Copy, Debug)]
pub struct Within {
    /// One thread for each element of `index`: writes 1 to the only element of `found`, an int32, if its index is neither in `low..high` nor
    /// equal to `other`.
    pub body: &'static str,
}

/// Whether kernels can read a tensor of indices together with another tensor.
fn is_index<B: GpuBackend>(index: &Tensor, beside: &Tensor) -> bool {
    matches!(index.dtype(), DType::Int64 | DType::Int32)
        && B::is_here(index)
        && index.device() == beside.device()
}

/// Whether all elements of a contiguous tensor of indices are in `low..high`, or equal to the number `or`. This waits for one word from the
/// device. If an index is out of range, the caller leaves the call to the CPU, whose error names the index.
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
