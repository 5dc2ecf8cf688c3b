//! Exponentials of a line's elements relative to the largest, and their sum: the common part of softmax, log-softmax
//! and attention.
#![expect(unsafe_code, reason = "reads and writes lines through pointers")]

use std::mem::MaybeUninit;

use num_traits::Float;
#[cfg(target_arch = "x86_64")]
use torch_library::{DType, Element};

use super::folds::Sum;
use crate::functions::Functions;
use crate::loops::CHUNK;
use crate::loops::reduce::Fold;
use crate::number::Number;

/// Writes `exp(x - largest)` for each element `x` to `out`, which is as long as `input`, and returns the sum.
#[inline(always)]
pub fn exponentials<T: Float + Number + Functions>(out: &mut [MaybeUninit<T>], input: &[T], largest: T) -> T {
    debug_assert_eq!(out.len(), input.len());
    // SAFETY: the length is that of the shorter slice, so both have that many elements. `out` is borrowed exclusively
    // and `input` for reading, for the whole call, so nothing else writes to them and they share no memory.
    unsafe { each(out.as_mut_ptr().cast(), input.as_ptr(), input.len().min(out.len()), largest) }
}

/// Like [`exponentials`], in place.
#[inline(always)]
pub(crate) fn exponentials_of<T: Float + Number + Functions>(line: &mut [T], largest: T) -> T {
    let (len, line) = (line.len(), line.as_mut_ptr());
    // SAFETY: the elements of one slice, which is borrowed exclusively for the whole call; `out` is `from`.
    unsafe { each(line, line, len, largest) }
}

/// # Safety
/// - `len` elements can be read from `from` on, and written from `out` on; nothing else uses them during the call.
/// - `out` is `from`, or shares no memory with it.
#[inline(always)]
unsafe fn each<T: Float + Number + Functions>(out: *mut T, from: *const T, len: usize, largest: T) -> T {
    let mut sum = T::ZERO;
    for start in (0..len).step_by(CHUNK) {
        let len = CHUNK.min(len - start);
        // SAFETY: `start` is below the number of elements that the caller vouches for at both pointers, so both stay
        // within the same memory.
        let (out, from) = unsafe { (out.add(start), from.add(start)) };
        #[cfg(target_arch = "x86_64")]
        if T::DTYPE == DType::Float32 && crate::loops::has_avx512() {
            // SAFETY: `has_avx512` found the features; `T` is `f32`, the only type of this dtype. `start + len` is at
            // most the caller's `len`, so the caller vouches for `len` elements at both, which are the same or share
            // none.
            let part =
                unsafe { crate::functions::exponentials(out.cast(), from.cast(), len, largest.cast()) };
            sum = sum + part.cast();
            continue;
        }
        for i in 0..len {
            // SAFETY: `i` is below `len`, so the caller vouches for these elements; where `out` is `from`, the element
            // is read before it is overwritten, and no later step reads it.
            unsafe { out.add(i).write((from.add(i).read() - largest).exponential()) };
        }
        // SAFETY: the loop above has written these elements.
        sum = sum + Sum.slice(unsafe { std::slice::from_raw_parts(out, len) }, 0);
    }
    sum
}
