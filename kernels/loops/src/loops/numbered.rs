//! Filling a tensor with a function of each element's index.
#![expect(unsafe_code, reason = "shares the elements among threads, and writes to memory without values")]

use std::mem::MaybeUninit;

use torch_library::{Device, Element, Result, Tensor};

use super::parts::PartsMut;
use super::{has_elements, on_vectors, parallel};

/// A new contiguous tensor of `T`, whose element `i` is `number(i)`.
///
/// # Errors
/// Invalid sizes, no memory, or a device whose memory the host cannot access.
pub fn of_numbers<T: Element>(
    sizes: &[i64],
    device: Device,
    number: impl Fn(i64) -> T + Sync,
) -> Result<Tensor> {
    // SAFETY: `numbered` writes every element; if it fails, the tensor is dropped.
    let out = unsafe { Tensor::uninit(sizes, T::DTYPE, device)? };
    numbered(&out, number)?;
    Ok(out)
}

/// Writes `number(i)` to element `i` of a contiguous tensor of `T`.
///
/// # Errors
/// A tensor that is not in row-major order, of another type, or in use.
pub fn numbered<T: Element>(out: &Tensor, number: impl Fn(i64) -> T + Sync) -> Result<()> {
    if !has_elements(out) {
        return Ok(());
    }
    let elements = PartsMut::<T>::of(out, 1)?;
    parallel::ranges(elements.count(), |range| {
        // SAFETY: the range lies within the elements, which the lease reserves for this call, and only this thread has
        // this range; `MaybeUninit<T>` has the layout of `T` and may be uninitialised, and `write` writes initialised
        // values.
        let part = unsafe {
            std::slice::from_raw_parts_mut(elements.at(range.start).cast::<MaybeUninit<T>>(), range.len())
        };
        write(part, range.start as i64, &number);
    });
    Ok(())
}

/// Lends the elements of a contiguous int64 tensor to a closure, run by run, for values that are computed faster
/// together than one by one: `write(start, run)` gets elements `start..start + run.len()`.
///
/// # Errors
/// A tensor of another type, one that is not contiguous or that is in use, or memory that the host cannot access.
pub fn in_runs(out: &Tensor, write: impl Fn(usize, &mut [i64]) + Sync) -> Result<()> {
    if !has_elements(out) {
        return Ok(());
    }
    let elements = PartsMut::<i64>::of(out, 1)?;
    parallel::ranges(elements.count(), |range| {
        // SAFETY: the range lies within the elements, which the lease reserves for this call, and only this thread has
        // this range; any initialised memory holds values of `i64`.
        let run = unsafe { std::slice::from_raw_parts_mut(elements.at(range.start), range.len()) };
        write(range.start, run);
    });
    Ok(())
}

on_vectors! {
    fn write<T: Element, F: Fn(i64) -> T>(part: &mut [MaybeUninit<T>], start: i64, number: &F) {
        for (i, to) in part.iter_mut().enumerate() {
            to.write(number(start + i as i64));
        }
    }
}
