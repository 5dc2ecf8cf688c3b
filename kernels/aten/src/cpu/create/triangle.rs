//! Triangles of matrices.
#![expect(unsafe_code, reason = "shares lines of tensors among threads")]

use std::ops::Range;

use torch_library::match_dtype;
use torch_library::prelude::*;

use crate::aten;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::unsupported;
use crate::loops::{self, parallel};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn tril(this: &Tensor, diagonal: i64) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        triangle(aten::tril::NAME, this, |row| 0..row.saturating_add(diagonal).saturating_add(1))
    }

    fn triu(this: &Tensor, diagonal: i64) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        triangle(aten::triu::NAME, this, |row| row.saturating_add(diagonal)..i64::MAX)
    }
}

/// A copy of matrices in which each row is zero outside of a range of columns.
fn triangle(operator: &str, this: &Tensor, kept: impl Fn(i64) -> Range<i64> + Sync) -> Result<Tensor> {
    let &[.., rows, columns] = this.sizes() else {
        bail!(Shape, "{operator}: sizes {:?}, expected matrices", this.sizes())
    };
    let out = Tensor::empty(this.sizes(), this.dtype(), this.device())?;
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    match_dtype!(this.dtype(), T: NotFloat8 => {
        let (from, to) = (Parts::<T>::row_major(this, columns as usize)?, PartsMut::<T>::of(&out, columns as usize)?);
        parallel::shares(to.count(), (parallel::GRAIN / columns as usize).max(1), |lines| {
            for line in lines {
                let Range { start, end } = kept(line as i64 % rows);
                let (start, end) = (start.clamp(0, columns) as usize, end.clamp(0, columns) as usize);
                // SAFETY: the tensor was created with zeros; each line is written by one thread, which has this one
                // slice of it.
                let (from, to) = unsafe { (from.get(line), to.get_mut(line)) };
                to[start..end.max(start)].copy_from_slice(&from[start..end.max(start)]);
            }
        });
    }, else => return Err(unsupported(operator, this.dtype())));
    Ok(out)
}
