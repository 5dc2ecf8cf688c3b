//! Filling a tensor with a function of each element's index.
#![expect(unsafe_code, reason = "shares the elements among threads, and writes to memory without values")]

use std::mem::MaybeUninit;
use std::ops::Range;

use torch_library::{DType, Device, Element, Lease, Result, Tensor, ensure};

use super::parts::PartsMut;
use super::{convert, has_elements, is_plain, on_vectors, parallel};

/// The number of elements that are computed before they are converted to the tensor's type.
const BLOCK: usize = 512;

/// A new contiguous tensor, whose element `i` is `number(i)`, converted to the tensor's type.
///
/// # Errors
/// Invalid sizes, no memory, or a device whose memory the host cannot access.
pub fn of_numbers<N: Element>(
    sizes: &[i64],
    dtype: DType,
    device: Device,
    number: impl Fn(i64) -> N + Sync,
) -> Result<Tensor> {
    // SAFETY: `numbered` writes every element; if it fails, the tensor is dropped.
    let out = unsafe { Tensor::uninit(sizes, dtype, device)? };
    numbered(&out, number)?;
    Ok(out)
}

/// Writes `number(i)`, converted to the tensor's type, to element `i` of a contiguous tensor.
///
/// # Errors
/// A tensor that is not in row-major order or that is in use, or memory that the host cannot access.
pub fn numbered<N: Element>(out: &Tensor, number: impl Fn(i64) -> N + Sync) -> Result<()> {
    if !has_elements(out) {
        return Ok(());
    }
    let lease = Lease::new([out], [])?;
    let geometry = out.geometry();
    ensure!(
        geometry.is_contiguous(),
        Shape,
        "numbers are written in row-major order, not to sizes {:?} with strides {:?}",
        geometry.sizes(),
        geometry.strides()
    );
    let numbers = Numbers {
        data: out.address_mut(&lease)?,
        size: out.dtype().size(),
        is_plain: is_plain::<N>(out.dtype()),
        store: convert::storer::<N>(out.dtype()),
        number,
    };
    parallel::ranges(geometry.numel() as usize, |range| {
        // SAFETY: the range lies within the elements, which are contiguous and which the lease reserves for this call;
        // only this thread has this range.
        unsafe { numbers.write(range) };
    });
    Ok(())
}

/// What a tensor is filled with.
struct Numbers<F> {
    data: *mut u8,
    /// The size of an element in bytes.
    size: usize,
    /// Whether the numbers need no conversion.
    is_plain: bool,
    store: convert::Storer,
    number: F,
}

// SAFETY: the address is dereferenced only in `write`, which is `unsafe`: its caller gives each element to one thread.
unsafe impl<F: Sync> Sync for Numbers<F> {}

impl<N: Element, F: Fn(i64) -> N> Numbers<F> {
    /// # Safety
    /// - The range lies within the elements from `data` on, which are contiguous and of the type that `store` writes;
    ///   they may be uninitialised.
    /// - Nothing else uses these elements during the call.
    unsafe fn write(&self, range: Range<usize>) {
        let at = |start: usize| self.data.wrapping_add(start * self.size);
        if self.is_plain {
            // SAFETY: the caller guarantees the elements, which are plain values of `N`; `MaybeUninit<N>` has the
            // layout of `N` and may be uninitialised, and `write` writes initialised values.
            let part = unsafe {
                std::slice::from_raw_parts_mut(at(range.start).cast::<MaybeUninit<N>>(), range.len())
            };
            return write(part, range.start as i64, &self.number);
        }
        let mut block = [const { MaybeUninit::uninit() }; BLOCK];
        for start in range.clone().step_by(BLOCK) {
            let part = &mut block[..BLOCK.min(range.end - start)];
            write(part, start as i64, &self.number);
            // SAFETY: `write` has initialised this part of the block, which is local; the caller guarantees as many
            // elements from `start` on, of the type that the storer converts to.
            unsafe { (self.store)(part.as_ptr().cast(), part.len(), at(start), 1) };
        }
    }
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
    fn write<N: Element, F: Fn(i64) -> N>(part: &mut [MaybeUninit<N>], start: i64, number: &F) {
        for (i, to) in part.iter_mut().enumerate() {
            to.write(number(start + i as i64));
        }
    }
}
