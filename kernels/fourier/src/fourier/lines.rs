//! Transforming lines of complex numbers: contiguous lines, and lines across rows.
#![expect(unsafe_code, reason = "lends lines of tensors as slices")]

use num_complex::Complex;
use num_traits::Zero;
use torch_library::{MemoryFormat, OwnedLease, Result, Tensor, ensure};

use super::plans::{Plan, Real, number};
use crate::loops::transpose::transpose;
use crate::loops::{on_vectors, parallel};

/// The number of elements that are transformed at a time if lines are shorter.
const TOGETHER: usize = 2048;

/// The number of lines across rows that are gathered at a time: two cache lines of each row.
const ACROSS: usize = 16;

/// The number of rows that gathered lines are written back to at a time.
const ROWS: usize = 8;

/// Lines of more elements are a little apart when they are gathered.
const SHORT: usize = 64;

/// The elements of a row-major tensor.
pub(super) struct Memory<T> {
    data: *mut T,
    len: usize,
    _lease: OwnedLease,
}

// SAFETY: the address is valid while the lease is held, which is as long as `self` lives; asking for slices is
// `unsafe`, and the callers argue which thread writes where.
unsafe impl<T: Sync> Sync for Memory<T> {}

impl<T> Memory<T> {
    /// The elements of a row-major tensor of `T`, for reading.
    ///
    /// # Errors
    /// Other strides, memory that the host cannot access, or that is being written.
    pub(super) fn of(tensor: &Tensor) -> Result<Self> {
        let lease = OwnedLease::shared(tensor.clone())?;
        Self::at(tensor.address(&lease)?.cast_mut(), lease)
    }

    /// Like [`of`](Self::of), for writing.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of); memory that is being read.
    pub(super) fn written(tensor: &Tensor) -> Result<Self> {
        let lease = OwnedLease::exclusive(tensor.clone())?;
        Self::at(tensor.address_mut(&lease)?, lease)
    }

    fn at(data: *mut u8, lease: OwnedLease) -> Result<Self> {
        let tensor = lease.tensor();
        ensure!(
            tensor.dtype().size() == size_of::<T>() && tensor.is_contiguous(MemoryFormat::Contiguous),
            Busy,
            "a tensor was changed to sizes {:?} and strides {:?} while it was transformed",
            tensor.sizes(),
            tensor.strides()
        );
        Ok(Memory { data: data.cast(), len: tensor.numel() as usize, _lease: lease })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// A slice of elements.
    ///
    /// # Safety
    /// - The elements were written before.
    /// - While the slice lives, no other thread, and no other slice, writes to them.
    pub(super) unsafe fn get(&self, start: usize, len: usize) -> &[T] {
        assert!(start + len <= self.len);
        // SAFETY: in bounds by the assertion, and aligned; the caller vouches that they were written, and that no
        // thread that shares `self` writes to them; the lease excludes all other writers.
        unsafe { std::slice::from_raw_parts(self.data.add(start), len) }
    }

    /// A slice of elements that were not written before. They are set to zero, since plans take no uninitialised
    /// memory; that is done line by line, in the cache.
    ///
    /// # Safety
    /// - The memory was made by [`written`](Self::written), and `T` is a number, for which all bits may be zero.
    /// - While the slice lives, no other thread, and no other slice, reads or writes them.
    #[expect(clippy::mut_from_ref, reason = "threads share the lines; who may write is the caller's promise")]
    pub(super) unsafe fn zeroed(&self, start: usize, len: usize) -> &mut [T] {
        assert!(start + len <= self.len);
        // SAFETY: in bounds by the assertion, and aligned; the caller vouches that nothing else uses them, and for the
        // type. They are written before the slice is made.
        unsafe {
            self.data.add(start).write_bytes(0, len);
            self.get_mut(start, len)
        }
    }

    /// A slice of elements, for writing.
    ///
    /// # Safety
    /// - The memory was made by [`written`](Self::written), and the elements were written before.
    /// - While the slice lives, no other thread, and no other slice, reads or writes them.
    #[expect(clippy::mut_from_ref, reason = "threads share the lines; who may write is the caller's promise")]
    pub(super) unsafe fn get_mut(&self, start: usize, len: usize) -> &mut [T] {
        assert!(start + len <= self.len);
        // SAFETY: in bounds by the assertion, and aligned; the caller vouches that they were written, and that no other
        // thread that shares `self` uses them; the exclusive lease excludes all other access.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(start), len) }
    }
}

/// The grain size, in lines: an element takes several times as long as in an addition.
pub(super) fn grain(len: usize) -> usize {
    (parallel::GRAIN / 4 / len).max(1)
}

pub(super) fn scratch<T: Real>(len: usize) -> Vec<Complex<T>> {
    vec![Complex::zero(); len]
}

/// Runs a closure over lines, several at a time if they are short: with the first of them, and their number.
pub(super) fn groups(range: std::ops::Range<usize>, len: usize, mut f: impl FnMut(usize, usize)) {
    let step = (TOGETHER / len).max(1);
    for start in range.clone().step_by(step) {
        f(start, step.min(range.end - start));
    }
}

/// Transforms contiguous lines from one tensor to another.
pub(super) fn neighbours<T: Real>(
    out: &Memory<Complex<T>>,
    given: &Memory<Complex<T>>,
    plan: &Plan<T>,
    scale: f64,
) {
    let len = plan.len;
    parallel::shares(out.len() / len, grain(len), |range| {
        let mut scratch = scratch(plan.fft.get_immutable_scratch_len());
        groups(range, len, |start, count| {
            // SAFETY: these lines of `out` are this thread's alone; `given` is another tensor, which nothing writes to
            // under the lease.
            let (from, to) =
                unsafe { (given.get(start * len, count * len), out.zeroed(start * len, count * len)) };
            plan.fft.process_immutable_with_scratch(from, to, &mut scratch);
            scaled(to, scale);
        });
    });
}

/// Transforms contiguous lines in place.
pub(super) fn in_place<T: Real>(lines: &Memory<Complex<T>>, plan: &Plan<T>, scale: f64) {
    let len = plan.len;
    parallel::shares(lines.len() / len, grain(len), |range| {
        let mut scratch = scratch(plan.fft.get_inplace_scratch_len());
        groups(range, len, |start, count| {
            // SAFETY: results and copies are written before they are transformed in place; these lines are this
            // thread's alone.
            let lines = unsafe { lines.get_mut(start * len, count * len) };
            plan.fft.process_with_scratch(lines, &mut scratch);
            scaled(lines, scale);
        });
    });
}

/// Transforms lines across rows in place: their elements are `apart` elements apart, and neighbouring lines are
/// adjacent.
pub(super) fn columns<T: Real>(lines: &Memory<Complex<T>>, apart: usize, plan: &Plan<T>, scale: f64) {
    let len = plan.len;
    let (blocks, planes) = (apart.div_ceil(ACROSS), lines.len() / (len * apart));
    // Long lines with a power of two as their length would compete for the same few cache sets.
    let room = if len <= SHORT { len } else { len + ACROSS / 2 };
    parallel::shares(blocks * planes, grain(len * apart.min(ACROSS)), |range| {
        let mut scratch = scratch(plan.fft.get_inplace_scratch_len());
        let mut gathered = vec![Complex::zero(); room * apart.min(ACROSS)];
        for at in range {
            let (plane, first) = (at / blocks, at % blocks * ACROSS);
            let width = ACROSS.min(apart - first);
            assert!(
                (plane * len + len - 1) * apart + first + width <= lines.len
                    && width * room <= gathered.len()
            );
            let rows = lines.data.wrapping_add(plane * len * apart + first);
            // SAFETY: by the assertion these rows lie within the tensor, and `gathered` has `width` lines of `room`
            // numbers. Lines are written before they are transformed in place; this part of each row is this thread's.
            unsafe { transpose(rows, apart as isize, [len, width], gathered.as_mut_ptr(), room) };
            match room == len {
                true => plan.fft.process_with_scratch(&mut gathered[..width * len], &mut scratch),
                false => gathered.chunks_exact_mut(room).take(width).for_each(|line| {
                    plan.fft.process_with_scratch(&mut line[..len], &mut scratch);
                }),
            }
            scaled(&mut gathered, scale);
            // Some rows at a time, since rows whose distance is a power of two compete for the same few cache sets.
            for n in (0..len).step_by(ROWS) {
                let (from, to) = (gathered[n..].as_ptr(), rows.wrapping_add(n * apart));
                // SAFETY: these are `width` lines of `gathered`, and rows of the tensor that are this thread's alone.
                unsafe { transpose(from, room as isize, [width, ROWS.min(len - n)], to, apart) };
            }
        }
    });
}

/// Multiplies numbers by a factor, which is often 1.
pub(super) fn scaled<T: Real>(numbers: &mut [Complex<T>], scale: f64) {
    if scale != 1.0 {
        multiplied(numbers, number(scale));
    }
}

on_vectors! {
    fn multiplied<T: Real>(numbers: &mut [Complex<T>], factor: T) {
        for x in numbers {
            *x = Complex::new(x.re * factor, x.im * factor);
        }
    }
}
