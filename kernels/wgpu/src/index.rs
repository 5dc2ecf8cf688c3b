//! Elements at places that other tensors say.

mod put;
mod take;

use torch_library::prelude::*;

use crate::call::{is_here, is_small};
use crate::shader::Shader;

/// Whether a tensor of indices can be read by kernels beside another tensor.
fn is_index(index: &Tensor, beside: &Tensor) -> bool {
    matches!(index.dtype(), DType::Int64 | DType::Int32)
        && is_here(index)
        && is_small(index)
        && index.device() == beside.device()
}

/// Whether all of a contiguous tensor of indices are from `low` to below `high`, or are one other number. One word comes back from the device:
/// this waits for it. Whoever finds one outside leaves the call to the CPU, whose error says which.
pub(crate) fn are_within(index: &Tensor, low: i64, high: i64, or: Option<i64>) -> Result<bool> {
    let found = Tensor::zeros(&[1], DType::Int32, index.device())?;
    Shader::new("indices")
        .signed("low", low)
        .signed("high", high)
        .signed("other", or.unwrap_or(low))
        .input("index", index)
        .result("found", &found)
        .threads(
            index.numel(),
            "    let i = index(n);
    if (!index_fits(n) || (i < p.low || i >= p.high) && i != p.other) { set_found(0u, 1); }",
        )?;
    Ok(found.to_vec::<i32>()? == [0])
}
