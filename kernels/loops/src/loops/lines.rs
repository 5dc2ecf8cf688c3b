//! Functions of whole lines of elements, for operators that read a line more than once, such as softmax and norms.
#![expect(unsafe_code, reason = "lends lines of tensors as slices")]

use std::mem::MaybeUninit;

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
        let room = if memory.is_plain { 0 } else { len };
        let (mut from, mut to) = (Vec::with_capacity(room), Vec::with_capacity(room));
        for index in range {
            // SAFETY: line `index` is one of `count`, so in bounds of both tensors and of the notes by the check above,
            // and this thread's alone; the lease excludes all other access. The buffers have room for a line.
            unsafe { memory.line(index, len, line, from.as_mut_ptr(), to.as_mut_ptr()) };
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

// SAFETY: the addresses are dereferenced only in `Memory::line`, which is `unsafe`: its caller gives each line to one
// thread.
unsafe impl<T: Sync, const K: usize> Sync for Memory<T, K> {}

impl<T: Element, const K: usize> Memory<T, K> {
    /// # Safety
    /// - There is a line `index` of `len` elements in the input and in the result, and a place `index` in the notes.
    /// - Nothing writes to the input during the call, and nothing else uses that line of the result or that place of
    ///   the notes.
    /// - Where elements are converted, `from` and `to` have room for `len` each.
    /// - `line` writes every element of the slice that it is given.
    unsafe fn line(&self, index: usize, len: usize, line: &impl Line<T, K>, from: *mut T, to: *mut T) {
        let offset = index * len * self.size;
        // SAFETY: the caller vouches for a line `index` in both, of `len` elements of `size` bytes.
        let (input, out) = unsafe { (self.input.add(offset), self.out.add(offset)) };
        let (from, to) = if self.is_plain {
            (input.cast::<T>(), out.cast::<T>())
        } else {
            // SAFETY: the caller vouches for a line of the input, dense, and for room for it in `from`, which is a
            // buffer of this thread.
            unsafe { (self.load)(input, 1, len, from.cast()) };
            (from.cast_const(), to)
        };
        // SAFETY: `len` values of `T` that nothing writes to: a plain line of the input, or one that was just loaded.
        // `to` is this thread's line of the result, or a buffer, disjoint from `from` and aligned; as `MaybeUninit`, it
        // need not be initialised.
        let noted = unsafe {
            let to = std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), len);
            run(line, std::slice::from_raw_parts(from, len), to)
        };
        if !self.is_plain {
            // SAFETY: `line` has written all `len` elements of the buffer, as the caller vouches; the line of the
            // result is in bounds and this thread's.
            unsafe { (self.store)(to.cast_const().cast(), len, out, 1) };
        }
        for (address, note) in zip(&self.notes, &noted) {
            // SAFETY: the caller vouches for a place for line `index` in each note, which nothing else uses.
            unsafe { address.add(index).write(*note) };
        }
    }
}

/// Computes a line with the widest vectors that the processor has.
pub fn run<T, const K: usize>(line: &impl Line<T, K>, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; K] {
    #[cfg(target_arch = "x86_64")]
    if super::is_widest() {
        // SAFETY: `is_widest` found the features that it is compiled for.
        return unsafe { run_widest(line, input, out) };
    } else if super::is_wide() {
        // SAFETY: `is_wide` found the features that it is compiled for.
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
