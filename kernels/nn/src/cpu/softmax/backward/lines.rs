//! Gradients of softmax along dense lines: each line is read into the cache once.
#![expect(
    unsafe_code,
    reason = "promises that kernels write every element, and takes several lines as one slice"
)]

use std::mem::MaybeUninit;

use num_traits::Float;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};
use torch_library_aten::cpu::softmax::exponentials;

use crate::cpu::norm::backward::lines::{sums, uninit};
use crate::cpu::softmax::strips;
use crate::functions::Functions;
use crate::inlined::{from_fn, zip};
use crate::loops::convert::{Loader, Storer, loader, storer};
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::reduce::LANES;
use crate::loops::{on_vectors, parallel};
use crate::number::Number;

/// The gradient of softmax or log-softmax along lines, computed in the opmath type `T`.
pub(super) fn softmax<T: strips::Real>(
    grad: &Tensor,
    output: &Tensor,
    len: usize,
    is_log: bool,
) -> Result<Tensor> {
    let as_columns = match_dtype!(output.dtype(), H: Half => {
        strips::backward_of_lines::<T, H>(grad, output, len, is_log)?
    }, else => strips::backward_of_lines::<T, T>(grad, output, len, is_log)?);
    if let Some(gradients) = as_columns {
        return Ok(gradients);
    }
    match_dtype!(output.dtype(), H: Half => converted::<T, H>(grad, output, len, is_log),
        else => plain::<T>(grad, output, len, is_log))
}

fn plain<T: Float + Functions + Number>(
    grad: &Tensor,
    output: &Tensor,
    len: usize,
    is_log: bool,
) -> Result<Tensor> {
    let out = uninit::<T>(output, output.sizes())?;
    let [grads, outputs] = [Parts::row_major(grad, len)?, Parts::row_major(output, len)?];
    let parts = PartsMut::<T>::of(&out, len)?;
    parallel::shares(parts.count(), (parallel::GRAIN / len).max(1), |range| {
        // SAFETY: these lines are only this thread's, which has one slice of them and writes initialised values.
        let out = unsafe { parts.uninit_range(range.clone()) };
        lines(grads.range(range.clone()), outputs.range(range), out, len, is_log);
    });
    drop(parts); // ends its lease
    Ok(out)
}

/// Like [`plain`], for 16-bit floats, of which a few lines at a time are converted, or a part of a long line: they stay
/// in the L1 cache.
fn converted<T: Float + Functions + Number, H: Element>(
    grad: &Tensor,
    output: &Tensor,
    len: usize,
    is_log: bool,
) -> Result<Tensor> {
    let out = uninit::<H>(output, output.sizes())?;
    let [grads, outputs] = [Parts::<H>::row_major(grad, len)?, Parts::row_major(output, len)?];
    let parts = PartsMut::<H>::of(&out, len)?;
    let together = (CONVERTED / len).max(1);
    parallel::shares(parts.count(), (parallel::GRAIN / len).max(1), |range| {
        let mut wide = Wide::<T>::new(H::DTYPE, CONVERTED.min(together * len));
        for start in range.clone().step_by(together) {
            let some = start..range.end.min(start + together);
            // SAFETY: these lines are only this thread's, which has one slice of them and writes initialised values.
            let out = unsafe { parts.uninit_range(some.clone()) };
            let (grads, outputs) = (grads.range(some.clone()), outputs.range(some));
            if len <= CONVERTED {
                // SAFETY: the lines that `lines` writes are all of the slices.
                unsafe { wide.write(grads, outputs, out, |x, y, out| lines(x, y, out, len, is_log)) };
                continue;
            }
            let both = || grads.chunks(CONVERTED).zip(outputs.chunks(CONVERTED));
            let mut total = T::ZERO;
            for (grads, outputs) in both() {
                let (grads, outputs) = wide.read(grads, outputs);
                add_sum(grads, outputs, &mut total, is_log);
            }
            for (out, (grads, outputs)) in out.chunks_mut(CONVERTED).zip(both()) {
                // SAFETY: `gradients` writes all elements of a part.
                unsafe { wide.write(grads, outputs, out, |x, y, out| gradients(x, y, out, total, is_log)) };
            }
        }
    });
    drop(parts); // ends its lease
    Ok(out)
}

/// The number of elements that are converted at a time.
const CONVERTED: usize = 2048;

/// Buffers for gradients and outputs of 16-bit floats, converted to `T`, and for results of `T` before they are
/// converted.
struct Wide<T> {
    load: Loader,
    store: Storer,
    grads: Vec<T>,
    outputs: Vec<T>,
    out: Vec<MaybeUninit<T>>,
}

impl<T: Real> Wide<T> {
    fn new(dtype: DType, len: usize) -> Self {
        Wide {
            load: loader::<T>(dtype),
            store: storer::<T>(dtype),
            grads: vec![T::ZERO; len],
            outputs: vec![T::ZERO; len],
            out: vec![MaybeUninit::uninit(); len],
        }
    }

    /// Converts as many elements as buffers hold, or fewer. `H` is the type that these are for.
    fn read<H: Element>(&mut self, grads: &[H], outputs: &[H]) -> (&[T], &[T]) {
        let count = grads.len();
        for (from, wide) in [(grads, &mut self.grads), (outputs, &mut self.outputs)] {
            assert!(from.len() == count && count <= wide.len(), "buffers hold what is converted");
            // SAFETY: `count` elements of `H`, and room for as many of `T`, the types that `load` takes.
            unsafe { (self.load)(from.as_ptr().cast(), 1, count, wide.as_mut_ptr().cast()) };
        }
        (&self.grads[..count], &self.outputs[..count])
    }

    /// Converts elements, and the results that a function writes for them.
    ///
    /// # Safety
    /// - The function writes each element of its last slice.
    unsafe fn write<H: Element>(
        &mut self,
        grads: &[H],
        outputs: &[H],
        out: &mut [MaybeUninit<H>],
        f: impl FnOnce(&[T], &[T], &mut [MaybeUninit<T>]),
    ) {
        let mut wide_out = std::mem::take(&mut self.out);
        let (grads, outputs) = self.read(grads, outputs);
        let wide = &mut wide_out[..grads.len()];
        f(grads, outputs, wide);
        assert!(wide.len() == out.len(), "a result for each element");
        // SAFETY: the caller vouches that `f` has written all of `wide`: elements of `T`, for each of which there is
        // room for one of `H`, the types that `store` takes.
        unsafe { (self.store)(wide.as_ptr().cast(), out.len(), out.as_mut_ptr().cast(), 1) };
        self.out = wide_out;
    }
}

/// A real type that softmax is computed in.
trait Real: Float + Functions + Number {}

impl<T: Float + Functions + Number> Real for T {}

/// The lanes of what is left of a line behind its last `LANES` elements: one vector of `f32`.
const FEW: usize = 8;

/// The sum, over all places, of the numbers that a function computes from the elements of some slices of equal length.
#[inline(always)]
fn sum<T: Real, const N: usize>(from: [&[T]; N], f: impl Fn([T; N]) -> T) -> T {
    let split = from[0].len() / LANES * LANES;
    let parts: [_; N] = from_fn(|n| from[n].split_at(split));
    let long = if split == 0 { T::ZERO } else { sums(from_fn(|n| parts[n].0), |x| [f(x)])[0] };
    let chunks: [_; N] = from_fn(|n| parts[n].1.as_chunks::<FEW>());
    let mut lanes = [T::ZERO; FEW];
    for i in 0..chunks[0].0.len() {
        let chunks: [_; N] = from_fn(|n| &chunks[n].0[i]);
        for lane in 0..FEW {
            lanes[lane] = lanes[lane].plus(f(from_fn(|n| chunks[n][lane])));
        }
    }
    let mut last = T::ZERO;
    for i in 0..chunks[0].1.len() {
        last = last.plus(f(from_fn(|n| chunks[n].1[i])));
    }
    // One lane after the other: for the sake of a tree, LLVM would keep all lanes in pairs.
    lanes.iter().fold(long.plus(last), |sum, lane| sum.plus(*lane))
}

/// Writes what a function computes from the elements of two lines. In chunks, since most of a short line would be
/// the rest of the loop that LLVM makes of one over elements.
#[inline(always)]
fn write_each<T: Real>(out: &mut [MaybeUninit<T>], from: [&[T]; 2], f: impl Fn(T, T) -> T) {
    let (out, last) = out.as_chunks_mut::<FEW>();
    let [(a, last_a), (b, last_b)] = from.map(|line| line.as_chunks::<FEW>());
    for (out, (a, b)) in zip(out, zip(a, b)) {
        for lane in 0..FEW {
            out[lane].write(f(a[lane], b[lane]));
        }
    }
    for (out, (a, b)) in zip(last, zip(last_a, last_b)) {
        out.write(f(*a, *b));
    }
}

/// What is subtracted from each gradient of a line, once the outputs are multiplied by it.
#[inline(always)]
fn line_sum<T: Real>(grads: &[T], outputs: &[T], is_log: bool) -> T {
    if is_log { sum([grads], |[grad]| grad) } else { sum([grads, outputs], |[grad, y]| grad * y) }
}

/// Writes the gradients of a line, or of a part of one.
#[inline(always)]
fn write_gradients<T: Real>(grads: &[T], outputs: &[T], out: &mut [MaybeUninit<T>], sum: T, is_log: bool) {
    if !is_log {
        return write_each(out, [grads, outputs], |grad, y| (grad - sum) * y);
    }
    exponentials(out, outputs, T::ZERO);
    for (out, grad) in zip(out, grads) {
        // SAFETY: `exponentials` has filled `out`, which is as long as `outputs`.
        let probability = unsafe { out.assume_init_mut() };
        *probability = *grad - *probability * sum;
    }
}

on_vectors! {
    /// Writes the gradients of some lines.
    fn lines<T: Real>(grads: &[T], outputs: &[T], out: &mut [MaybeUninit<T>], len: usize, is_log: bool) {
        let lines = grads.chunks_exact(len).zip(outputs.chunks_exact(len));
        for (out, (grads, outputs)) in out.chunks_exact_mut(len).zip(lines) {
            write_gradients(grads, outputs, out, line_sum(grads, outputs, is_log), is_log);
        }
    }
}

on_vectors! {
    /// Adds the sum of a part of a line.
    fn add_sum<T: Real>(grads: &[T], outputs: &[T], total: &mut T, is_log: bool) {
        *total = total.plus(line_sum(grads, outputs, is_log));
    }
}

on_vectors! {
    /// Writes the gradients of a part of a line.
    fn gradients<T: Real>(grads: &[T], outputs: &[T], out: &mut [MaybeUninit<T>], sum: T, is_log: bool) {
        write_gradients(grads, outputs, out, sum, is_log);
    }
}
