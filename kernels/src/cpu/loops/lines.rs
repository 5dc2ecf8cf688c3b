//! Computing dense lines of elements, each from one of the input: for what needs a whole line more than once.
#![expect(unsafe_code, reason = "lends lines of tensors as slices")]

use std::mem::MaybeUninit;

use torch_library::geometry::contiguous_strides;
use torch_library::{Element, Result, Tensor};

use super::convert::{self, Loader, Storer};
use super::{CHUNK, data_ptr, has_elements, is_plain, parallel};
use crate::cpu::loops::reduce::Fold;

/// How a line is computed, and `K` numbers about it.
pub(crate) trait Line<T, const K: usize>: Sync {
    /// Writes **every** element of `out`, which is as long as `input`.
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; K];
}

/// A new tensor like a contiguous one, computed line by line in the computing type; the numbers about lines go to `notes`,
/// which are contiguous and of that type.
///
/// # Safety
/// The kernel keeps its word and writes every element.
///
/// # Errors
/// Memory that the host does not reach.
pub(crate) unsafe fn lines<T: Element, const K: usize>(
    input: &Tensor,
    len: usize,
    notes: [&Tensor; K],
    line: &impl Line<T, K>,
) -> Result<Tensor> {
    let dtype = input.dtype();
    let strides = contiguous_strides(input.sizes());
    // SAFETY: all elements are written below, if there are any.
    let out = unsafe { Tensor::uninit_strided(input.sizes(), &strides, dtype, input.device())? };
    if !has_elements(&out) {
        return Ok(out);
    }
    let mut addresses = [std::ptr::null_mut(); K];
    for (address, note) in addresses.iter_mut().zip(notes) {
        *address = note.data_ptr::<T>()?;
    }
    let memory = Memory::<T, K> {
        input: data_ptr(input)?,
        out: data_ptr(&out)?,
        notes: addresses,
        size: dtype.size(),
        is_plain: is_plain::<T>(dtype),
        load: convert::loader::<T>(dtype),
        store: convert::storer::<T>(dtype),
    };
    let count = out.numel() as usize / len;
    parallel::shares(count, (parallel::GRAIN / len).max(1), |range| {
        let room = if memory.is_plain { 0 } else { len };
        let (mut from, mut to) = (Vec::with_capacity(room), Vec::with_capacity(room));
        for index in range {
            // SAFETY: line `index` of both tensors is this thread's alone; the buffers have room for one.
            unsafe { memory.line(index, len, line, from.as_mut_ptr(), to.as_mut_ptr()) };
        }
    });
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

// SAFETY: plain addresses; which thread writes where is for `line` to say.
unsafe impl<T: Sync, const K: usize> Sync for Memory<T, K> {}

impl<T: Element, const K: usize> Memory<T, K> {
    /// # Safety
    /// The line lies in bounds, and nobody else uses it; where elements are converted, `from` and `to` have room for one.
    unsafe fn line(&self, index: usize, len: usize, line: &impl Line<T, K>, from: *mut T, to: *mut T) {
        let offset = index * len * self.size;
        // SAFETY: in bounds by contract.
        let (input, out) = unsafe { (self.input.add(offset), self.out.add(offset)) };
        let (from, to) = if self.is_plain {
            (input.cast::<T>(), out.cast::<T>())
        } else {
            // SAFETY: by contract.
            unsafe { (self.load)(input, 1, len, from.cast()) };
            (from.cast_const(), to)
        };
        // SAFETY: `len` elements that are there and that nobody writes to; room for as many elsewhere.
        let noted = unsafe {
            let to = std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), len);
            run(line, std::slice::from_raw_parts(from, len), to)
        };
        if !self.is_plain {
            // SAFETY: the kernel has written the buffer; the line is in bounds.
            unsafe { (self.store)(to.cast_const().cast(), len, out, 1) };
        }
        for (address, note) in self.notes.iter().zip(noted) {
            // SAFETY: there is a place for each line.
            unsafe { address.add(index).write(note) };
        }
    }
}

/// The kernel on the widest vectors.
pub(crate) fn run<T, const K: usize>(
    line: &impl Line<T, K>,
    input: &[T],
    out: &mut [MaybeUninit<T>],
) -> [T; K] {
    #[cfg(target_arch = "x86_64")]
    if super::is_widest() {
        // SAFETY: the processor has these features.
        return unsafe { run_widest(line, input, out) };
    } else if super::is_wide() {
        // SAFETY: as above.
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

/// Folds a line that is as long as it likes.
#[inline(always)]
pub(crate) fn fold_line<T: Element, F: Fold<T>>(fold: &F, line: &[T]) -> F::Value {
    let mut value = fold.identity();
    for (n, chunk) in line.chunks(CHUNK).enumerate() {
        value = fold.merge(value, fold.slice(chunk, n * CHUNK));
    }
    value
}

/// Writes what a function makes of each element, and gives back what was written.
#[inline(always)]
pub(crate) fn fill<'a, T: Copy, S: Copy>(
    out: &'a mut [MaybeUninit<T>],
    from: &[S],
    f: impl Fn(S) -> T,
) -> &'a mut [T] {
    assert_eq!(out.len(), from.len());
    for (out, x) in out.iter_mut().zip(from) {
        out.write(f(*x));
    }
    // SAFETY: every element was written; `MaybeUninit<T>` lies in memory as `T` does.
    unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<T>(), out.len()) }
}
