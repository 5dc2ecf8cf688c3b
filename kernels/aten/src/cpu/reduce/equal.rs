//! Whether two tensors have the same sizes and elements.

use std::sync::atomic::{AtomicBool, Ordering};

use torch_library::prelude::*;
use torch_library::{Element, match_dtype, promote_types};

use crate::aten;
use crate::inlined::zip;
use crate::loops::parts::Parts;
use crate::loops::{self, parallel};

#[torch_impl(aten, CPU, Meta)]
fn equal(this: &Tensor, other: &Tensor) -> Result<bool> {
    const OPERATOR: &str = aten::equal::NAME;
    if this.sizes() != other.sizes() {
        return Ok(false);
    }
    if this.dtype() != other.dtype() {
        let common = promote_types(this.dtype(), other.dtype()).map_err(|error| error.context(OPERATOR))?;
        return aten::equal(&aten::to_dtype(this, common)?, &aten::to_dtype(other, common)?);
    }
    match_dtype!(this.dtype(), T: NotFloat8 => are_equal::<T>(this, other), else => {
        are_equal::<f32>(&loops::copy(this, DType::Float32)?, &loops::copy(other, DType::Float32)?)
    })
}

/// Compares elements until some differ.
fn are_equal<T: Element>(this: &Tensor, other: &Tensor) -> Result<bool> {
    const BLOCK: usize = 4096;
    let len = this.numel() as usize;
    if len == 0 {
        return Ok(true);
    }
    let parts = [Parts::<T>::row_major(this, len)?, Parts::<T>::row_major(other, len)?];
    if parts.iter().any(|parts| parts.count() == 0) {
        return Ok(false); // another thread has just resized it
    }
    let [a, b] = [parts[0].get(0), parts[1].get(0)];
    let differ = AtomicBool::new(false);
    parallel::ranges(len, |range| {
        for (a, b) in a[range.clone()].chunks(BLOCK).zip(b[range].chunks(BLOCK)) {
            if differ.load(Ordering::Relaxed) {
                return;
            }
            // There is no branch within a block, so that the comparison is vectorised.
            let mut are_other = false;
            for (a, b) in zip(a, b) {
                are_other |= a != b;
            }
            if are_other {
                differ.store(true, Ordering::Relaxed);
            }
        }
    });
    Ok(!differ.into_inner())
}
