//! Transforming lines of complex numbers: contiguous lines, and lines across rows.
#![expect(unsafe_code, reason = "lends lines of tensors as slices")]

use std::ops::Range;

use num_complex::Complex;
use num_traits::Zero;
use torch_library::{MemoryFormat, OwnedLease, Result, Tensor, ensure};

use super::numbers::number;
use super::plans::{Plan, Real};
#[cfg(target_arch = "x86_64")]
use super::together::Together;
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

    /// The address of some elements.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn address(&self, start: usize, len: usize) -> *mut T {
        assert!(start + len <= self.len);
        self.data.wrapping_add(start)
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
pub(super) fn groups(range: Range<usize>, len: usize, mut f: impl FnMut(usize, usize)) {
    let step = (TOGETHER / len).max(1);
    for start in range.clone().step_by(step) {
        f(start, step.min(range.end - start));
    }
}

/// Has lines transformed several at once, if the plan allows that. `transform` gets the first of them, and their
/// number. Returns the lines that are left.
#[cfg(target_arch = "x86_64")]
pub(super) fn several<'a, T: Real>(
    mut left: Range<usize>,
    plan: &'a Plan<T>,
    scale: f64,
    mut transform: impl FnMut(&mut Together<'a, T>, usize, usize),
) -> Range<usize> {
    let Some(mut together) = Together::of_neighbours(plan, number(scale)) else { return left };
    while Together::<T>::are_enough(left.len()) {
        let count = left.len().min(Together::<T>::LINES);
        transform(&mut together, left.start, count);
        left.start += count;
    }
    left
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
        #[cfg(target_arch = "x86_64")]
        let range = several(range, plan, scale, |together, start, count| {
            let [from, to] = [given, out].map(|memory| memory.address(start * len, count * len));
            // SAFETY: these lines of `out` are this thread's alone; `given` is another tensor, which nothing writes to
            // under the lease.
            unsafe { together.along(from, to, count) };
        });
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
        #[cfg(target_arch = "x86_64")]
        let range = several(range, plan, scale, |together, start, count| {
            let lines = lines.address(start * len, count * len);
            // SAFETY: results and copies are written before they are transformed in place; these lines are this
            // thread's alone.
            unsafe { together.along(lines, lines, count) };
        });
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
    let (len, across) = (plan.len, across(plan, apart));
    let (blocks, planes) = (apart.div_ceil(across), lines.len() / (len * apart));
    parallel::shares(blocks * planes, grain(len * apart.min(across)), |range| {
        #[cfg(target_arch = "x86_64")]
        let mut together = Together::of_columns(plan, apart, number(scale));
        let mut gathered = Gathered { plan, scale, scratch: Vec::new(), lines: Vec::new() };
        for at in range {
            let (plane, first) = (at / blocks, at % blocks * across);
            let width = across.min(apart - first);
            assert!((plane * len + len - 1) * apart + first + width <= lines.len);
            let rows = lines.data.wrapping_add(plane * len * apart + first);
            #[cfg(target_arch = "x86_64")]
            if let Some(together) = together.as_mut().filter(|_| Together::<T>::are_enough(width)) {
                // SAFETY: by the assertion these rows lie within the tensor; this part of each row is this thread's,
                // and was written before.
                unsafe { together.across(rows, apart, width) };
                continue;
            }
            // SAFETY: by the assertion these rows lie within the tensor; this part of each row is this thread's, and
            // was written before.
            unsafe { gathered.transform(rows, apart, width) };
        }
    });
}

/// The number of lines across rows that are transformed at a time.
fn across<T: Real>(plan: &Plan<T>, apart: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    if Together::are_for_columns(plan, apart) {
        return Together::<T>::LINES;
    }
    let _ = (plan, apart);
    ACROSS
}

/// Lines across rows that are gathered, and then transformed one by one.
struct Gathered<'a, T: Real> {
    plan: &'a Plan<T>,
    scale: f64,
    scratch: Vec<Complex<T>>,
    lines: Vec<Complex<T>>,
}

impl<T: Real> Gathered<'_, T> {
    /// # Safety
    /// - There are as many rows as a line has elements, `apart` elements apart, of `width` elements, which can be read
    ///   and written; nothing else uses them.
    unsafe fn transform(&mut self, rows: *mut Complex<T>, apart: usize, width: usize) {
        let (fft, len) = (&self.plan.fft, self.plan.len);
        // Long lines with a power of two as their length would compete for the same few cache sets.
        let room = if len <= SHORT { len } else { len + ACROSS / 2 };
        self.scratch.resize(fft.get_inplace_scratch_len(), Complex::zero());
        self.lines.resize(self.lines.len().max(width * room), Complex::zero());
        let lines = &mut self.lines[..width * room];
        // SAFETY: the caller vouches for the rows, and these are `width` lines of `room` numbers.
        unsafe { transpose(rows, apart as isize, [len, width], lines.as_mut_ptr(), room) };
        match room == len {
            true => fft.process_with_scratch(lines, &mut self.scratch),
            false => lines.chunks_exact_mut(room).for_each(|line| {
                fft.process_with_scratch(&mut line[..len], &mut self.scratch);
            }),
        }
        scaled(lines, self.scale);
        // Some rows at a time, since rows whose distance is a power of two compete for the same few cache sets.
        for n in (0..len).step_by(ROWS) {
            let (from, to) = (lines[n..].as_ptr(), rows.wrapping_add(n * apart));
            // SAFETY: these are `width` lines of `lines`, and rows that the caller vouches for.
            unsafe { transpose(from, room as isize, [width, ROWS.min(len - n)], to, apart) };
        }
    }
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
