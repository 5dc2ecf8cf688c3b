//! Functions of whole lines of elements, for operators that read a line more than once, such as softmax and norms.
#![expect(unsafe_code, reason = "lends lines of tensors as slices")]

use std::mem::MaybeUninit;
use std::ops::Range;

use torch_library::geometry::contiguous_strides;
use torch_library::{Element, Lease, Result, Tensor, ensure};

use super::convert::{self, Loader, Storer};
use super::{CHUNK, has_elements, is_plain, parallel};
use crate::inlined::zip;
use crate::loops::reduce::Fold;

/// A function that computes a line, and returns `K` numbers about it.
pub trait Line<T, const K: usize>: Sync {
    /// Writes **every** element of `out`, which is as long as `input`.
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; K];
}

/// Makes a tensor like `input`, which is contiguous, and computes it line by line in the opmath type; the `K`
/// numbers about each line are written to `notes`, which are contiguous and of that type.
///
/// # Safety
/// - `line` writes every element of each `out` that it is given, with initialised values only.
///
/// # Errors
/// Memory that the host cannot access.
pub unsafe fn lines<T: Element, const K: usize>(
    input: &Tensor,
    len: usize,
    notes: [&Tensor; K],
    line: &impl Line<T, K>,
) -> Result<Tensor> {
    let (dtype, geometry) = (input.dtype(), input.geometry());
    let strides = contiguous_strides(geometry.sizes());
    // SAFETY: each line is written below before any element is read, as the lines make up the tensor by the check; if
    // that fails, the tensor is dropped here.
    let out = unsafe { Tensor::uninit_strided(geometry.sizes(), &strides, dtype, input.device())? };
    if !has_elements(&out) {
        return Ok(out);
    }
    // SAFETY: `out` is new, and no other code has it before this function returns; `line` gets slices of it, not a
    // handle.
    let lease = unsafe { Lease::with_new(&out, [input])? };
    let noting = Lease::new(notes, [])?;
    let count = out.numel() as usize / len.max(1);
    ensure!(
        input.geometry() == geometry
            && geometry.is_contiguous()
            && count * len == out.numel() as usize
            && notes.iter().all(|note| note.numel() as usize >= count && note.geometry().is_contiguous()),
        Shape,
        "lines of {len} elements of sizes {:?}, and the numbers for them, are not contiguous",
        input.sizes()
    );
    let mut addresses = [std::ptr::null_mut(); K];
    for (address, note) in zip(&mut addresses, &notes) {
        *address = note.data_ptr_mut::<T>(&noting)?;
    }
    let memory = Memory::<T, K> {
        input: input.address(&lease)?,
        out: out.address_mut(&lease)?,
        notes: addresses,
        size: dtype.size(),
        is_plain: is_plain::<T>(dtype),
        load: convert::loader::<T>(dtype),
        store: convert::storer::<T>(dtype),
    };
    parallel::shares(count, (parallel::GRAIN / len).max(1), |range| {
        // SAFETY: lines `range` of `count`, so in bounds of both tensors and of the notes by the check above, and this
        // thread's alone; the lease excludes all other access. The caller vouches for `line`.
        unsafe {
            if memory.is_plain { memory.plain(range, len, line) } else { memory.converted(range, len, line) }
        }
    });
    drop(lease);
    Ok(out)
}

struct Memory<T, const K: usize> {
    input: *const u8,
    out: *mut u8,
    notes: [*mut T; K],
    size: usize,
    is_plain: bool,
    load: Loader,
    store: Storer,
}

// SAFETY: the addresses are dereferenced only in `unsafe` functions, whose callers give each line to one
// thread.
unsafe impl<T: Sync, const K: usize> Sync for Memory<T, K> {}

impl<T: Element, const K: usize> Memory<T, K> {
    /// Computes lines of elements that need no conversion.
    ///
    /// # Safety
    /// - There are lines `range` of `len` elements in the input and in the result, and places `range` in the notes.
    /// - Nothing writes to these lines of the input during the call, and nothing else uses those lines of the result or
    ///   those places of the notes.
    /// - `line` writes every element of the slices that it is given.
    /// - `is_plain`.
    unsafe fn plain(&self, range: Range<usize>, len: usize, line: &impl Line<T, K>) {
        let (offset, count) = (range.start * len * self.size, range.len() * len);
        // SAFETY: the caller vouches for these lines, which are values of `T`, and for as many places in the notes; as
        // `MaybeUninit`, the elements of the result need not be initialised.
        unsafe {
            let from = std::slice::from_raw_parts(self.input.add(offset).cast(), count);
            let to = std::slice::from_raw_parts_mut(self.out.add(offset).cast(), count);
            run_each(line, len, from, to, self.notes.map(|note| note.add(range.start)));
        }
    }

    /// Computes lines of elements that are converted when they are read and when they are written.
    ///
    /// # Safety
    /// - As for [`plain`](Self::plain), but for the last requirement.
    unsafe fn converted(&self, range: Range<usize>, len: usize, line: &impl Line<T, K>) {
        // Short lines are converted several at a time.
        let together = (CHUNK / len).max(1);
        let (mut from, mut to) =
            (Vec::<T>::with_capacity(together * len), Vec::<T>::with_capacity(together * len));
        for first in range.clone().step_by(together) {
            let (offset, count) = (first * len * self.size, together.min(range.end - first) * len);
            // SAFETY: the caller vouches for these lines in both, of `len` elements of `size` bytes, and for a place
            // for each in the notes. The buffers have room for `count` elements: `from` is loaded before it is read,
            // and `line` writes all of `to`, as the caller vouches, before that is stored.
            unsafe {
                (self.load)(self.input.add(offset), 1, count, from.as_mut_ptr().cast());
                let loaded = std::slice::from_raw_parts(from.as_ptr(), count);
                let notes = self.notes.map(|note| note.add(first));
                run_each(line, len, loaded, &mut to.spare_capacity_mut()[..count], notes);
                (self.store)(to.as_ptr().cast(), count, self.out.add(offset), 1);
            }
        }
    }
}

/// Computes lines of `len` elements, one after the other in memory, with the widest vectors that the processor has.
/// (They are slices, so that the compiler knows that the two do not overlap.)
///
/// # Safety
/// - Each of the notes has a place for every line, which nothing else uses during the call.
unsafe fn run_each<T: Copy, const K: usize>(
    line: &impl Line<T, K>,
    len: usize,
    from: &[T],
    to: &mut [MaybeUninit<T>],
    notes: [*mut T; K],
) {
    // SAFETY: as the caller vouches; `has_avx512` and `has_avx2` found the features that these are compiled for.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if super::has_avx512() {
            return each_widest(line, len, from, to, notes);
        } else if super::has_avx2() {
            return each_wide(line, len, from, to, notes);
        }
        each(line, len, from, to, notes);
    }
}

/// # Safety
/// - As for [`run_each`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn each_wide<T: Copy, const K: usize>(
    line: &impl Line<T, K>,
    len: usize,
    from: &[T],
    to: &mut [MaybeUninit<T>],
    notes: [*mut T; K],
) {
    // SAFETY: as the caller vouches.
    unsafe { each(line, len, from, to, notes) };
}

/// # Safety
/// - As for [`run_each`], on a processor that has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn each_widest<T: Copy, const K: usize>(
    line: &impl Line<T, K>,
    len: usize,
    from: &[T],
    to: &mut [MaybeUninit<T>],
    notes: [*mut T; K],
) {
    // SAFETY: as the caller vouches.
    unsafe { each(line, len, from, to, notes) };
}

/// # Safety
/// - As for [`run_each`].
#[inline(always)]
unsafe fn each<T: Copy, const K: usize>(
    line: &impl Line<T, K>,
    len: usize,
    from: &[T],
    to: &mut [MaybeUninit<T>],
    notes: [*mut T; K],
) {
    for (index, (from, to)) in from.chunks_exact(len).zip(to.chunks_exact_mut(len)).enumerate() {
        for (note, noted) in zip(&notes, &line.line(from, to)) {
            // SAFETY: the caller vouches for a place for this line in each note.
            unsafe { note.add(index).write(*noted) };
        }
    }
}

/// Computes a line with the widest vectors that the processor has.
pub fn run<T, const K: usize>(line: &impl Line<T, K>, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; K] {
    #[cfg(target_arch = "x86_64")]
    if super::has_avx512() {
        // SAFETY: `has_avx512` found the features that it is compiled for.
        return unsafe { run_widest(line, input, out) };
    } else if super::has_avx2() {
        // SAFETY: `has_avx2` found the features that it is compiled for.
        return unsafe { run_wide(line, input, out) };
    }
    line.line(input, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_wide<T, const K: usize>(line: &impl Line<T, K>, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; K] {
    line.line(input, out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
fn run_widest<T, const K: usize>(line: &impl Line<T, K>, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; K] {
    line.line(input, out)
}

/// Folds a line of any length.
#[inline(always)]
pub fn fold_line<T: Element, F: Fold<T>>(fold: &F, line: &[T]) -> F::Value {
    let mut value = fold.identity();
    for start in (0..line.len()).step_by(CHUNK) {
        let chunk = &line[start..line.len().min(start + CHUNK)];
        value = fold.merge(value, fold.slice(chunk, start));
    }
    value
}

/// Writes the function's value for each element, and returns the written line.
#[inline(always)]
pub fn fill<'a, T: Copy, S: Copy>(
    out: &'a mut [MaybeUninit<T>],
    from: &[S],
    f: impl Fn(S) -> T,
) -> &'a mut [T] {
    assert_eq!(out.len(), from.len());
    for (out, x) in zip(&mut *out, from) {
        out.write(f(*x));
    }
    // SAFETY: every element was written by the loop, as both are of one length; `MaybeUninit<T>` lies in memory as
    // `T` does, and `out` stays borrowed.
    unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<T>(), out.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Copied;

    impl Line<f32, 0> for Copied {
        fn line(&self, input: &[f32], out: &mut [MaybeUninit<f32>]) -> [f32; 0] {
            fill(out, input, |x| x);
            []
        }
    }

    #[test]
    fn lines_that_leave_a_rest_are_refused() {
        let x = Tensor::from([1f32, 2.0, 3.0, 4.0]);
        // SAFETY: `Copied` fills the line with initialised values.
        let of = |len| unsafe { lines::<f32, 0>(&x, len, [], &Copied) };
        assert_eq!(of(2).unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
        for len in [0, 3, 5] {
            let error = of(len).expect_err("elements would be left unwritten").to_string();
            assert!(error.contains(&format!("lines of {len} elements of sizes [4]")), "{error}");
        }
    }
}
