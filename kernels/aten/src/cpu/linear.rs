//! The cross product of contiguous vectors of three elements.
#![expect(
    unsafe_code,
    reason = "shares a tensor among threads as slices, and takes memory that it fills at once"
)]

use std::mem::MaybeUninit;

use torch_library::prelude::*;

use crate::aten;
use crate::composite::linear::crossed;
use crate::inlined::zip;
use crate::loops;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::{has_elements, match_opmath, on_vectors, opmath_type, parallel};
use crate::number::Number;

#[torch_impl(aten, CPU)]
fn linalg_cross(this: &Tensor, other: &Tensor, dim: i64) -> Result<Tensor> {
    let _lease = loops::frozen([this, other])?;
    let dtype = this.dtype();
    let are_triples = [this, other].iter().all(|tensor| {
        let is_plain = tensor.dtype() == dtype && tensor.is_contiguous(MemoryFormat::Contiguous);
        is_plain && tensor.sizes() == this.sizes() && tensor.sizes().last() == Some(&3)
    });
    let is_last = dim == -1 || dim.checked_add(1) == Some(this.dim() as i64);
    if !are_triples || !is_last || opmath_type(dtype) != dtype || !has_elements(this) {
        return crossed(this, other, dim);
    }
    // SAFETY: `cross` writes every element next; after an error the tensor is dropped.
    let out = unsafe { Tensor::uninit(this.sizes(), dtype, this.device())? };
    match_opmath!(dtype, T: Integer | Float | Complex => {
        let (a, b, to) = (Parts::<T>::of(this, 3)?, Parts::<T>::of(other, 3)?, PartsMut::<T>::of(&out, 3)?);
        let are_alike = [a.count(), b.count()] == [to.count(); 2];
        ensure!(are_alike, Busy, "{}: a tensor was resized while it was read", aten::linalg_cross::NAME);
        parallel::shares(to.count(), parallel::GRAIN / 3, |range| {
            // SAFETY: all three have `to.count()` contiguous vectors of three elements, as ensured above; an array of
            // three has the alignment of its elements. `Parts` and `PartsMut` hold the lease; the result is new memory,
            // and only this thread uses this range of it.
            unsafe {
                let triples = |parts: &Parts<T>| std::slice::from_raw_parts(parts.at(range.start).cast(), range.len());
                let to = std::slice::from_raw_parts_mut(to.at(range.start).cast::<MaybeUninit<[T; 3]>>(), range.len());
                cross(triples(&a), triples(&b), to);
            }
        });
    }, else => return crossed(this, other, dim));
    Ok(out)
}

on_vectors! {
    fn cross<T: Number>(a: &[[T; 3]], b: &[[T; 3]], out: &mut [MaybeUninit<[T; 3]>]) {
        for (out, ([a0, a1, a2], [b0, b1, b2])) in zip(out, zip(a, b)) {
            let difference = |a: [&T; 2], b: [&T; 2]| a[0].times(*b[0]).minus(a[1].times(*b[1]));
            out.write([difference([a1, a2], [b2, b1]), difference([a2, a0], [b0, b2]), difference([a0, a1], [b1, b0])]);
        }
    }
}
