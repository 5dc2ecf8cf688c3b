//! Elements at places that other tensors say.

mod put;
mod take;

use torch_library::prelude::*;

use crate::call::is_here;
use crate::kernel::Kernel;

/// Whether a tensor of indices can be read by kernels beside another tensor.
fn is_index(index: &Tensor, beside: &Tensor) -> bool {
    matches!(index.dtype(), DType::Int64 | DType::Int32)
        && is_here(index)
        && index.device() == beside.device()
}

/// Whether all of a contiguous tensor of indices are from `low` to below `high`, or are one other number. One word comes back from the device:
/// this waits for it. Whoever finds one outside leaves the call to the CPU, whose error says which.
pub(crate) fn are_within(index: &Tensor, low: i64, high: i64, or: Option<i64>) -> Result<bool> {
    let found = Tensor::zeros(&[1], DType::Int32, index.device())?;
    Kernel::new("indices")
        .number("low", low)
        .number("high", high)
        .number("other", or.unwrap_or(low))
        .input("index", index)?
        .result("found", &found)?
        .threads(
            index.numel(),
            "    i64 i = p.index[n];
    if ((i < p.low || i >= p.high) && i != p.other) p.found[0] = 1;",
        )?;
    Ok(found.to_vec::<i32>()? == [0])
}
