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
use crate::functions::Functions;
use crate::inlined::{from_fn, zip};
use crate::loops::convert::{loader, storer};
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::reduce::LANES;
use crate::loops::{on_vectors, parallel};
use crate::number::Number;

/// The gradient of softmax or log-softmax along lines, computed in the opmath type `T`.
pub(super) fn softmax<T: Float + Functions + Number>(
    grad: &Tensor,
    output: &Tensor,
    len: usize,
    is_log: bool,
) -> Result<Tensor> {
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

/// Like [`plain`], for 16-bit floats, of which a few lines at a time are converted: they stay in the L1 cache.
fn converted<T: Float + Functions + Number, H: Element>(
    grad: &Tensor,
    output: &Tensor,
    len: usize,
    is_log: bool,
) -> Result<Tensor> {
    let out = uninit::<H>(output, output.sizes())?;
    let [grads, outputs] = [Parts::<H>::row_major(grad, len)?, Parts::row_major(output, len)?];
    let parts = PartsMut::<H>::of(&out, len)?;
    let (load, store) = (loader::<T>(H::DTYPE), storer::<T>(H::DTYPE));
    let together = (CONVERTED / len).max(1);
    parallel::shares(parts.count(), (parallel::GRAIN / len).max(1), |range| {
        let [mut wide_grads, mut wide_outputs] = [(); 2].map(|()| vec![T::ZERO; together * len]);
        let mut wide_out = vec![MaybeUninit::<T>::uninit(); together * len];
        for start in range.clone().step_by(together) {
            let some = start..range.end.min(start + together);
            let count = some.len() * len;
            for (parts, wide) in [(&grads, &mut wide_grads), (&outputs, &mut wide_outputs)] {
                let from = parts.range(some.clone()).as_ptr();
                // SAFETY: `count` elements of `H`, and room for as many of `T`, the types that `load` takes.
                unsafe { load(from.cast(), 1, count, wide.as_mut_ptr().cast()) };
            }
            let wide_out = &mut wide_out[..count];
            lines(&wide_grads[..count], &wide_outputs[..count], wide_out, len, is_log);
            // SAFETY: `lines` has written `count` elements of `T`; these lines of the result, of the type that `store`
            // writes, are only this thread's.
            unsafe {
                let out = parts.uninit_range(some).as_mut_ptr().cast();
                store(wide_out.as_ptr().cast(), count, out, 1);
            }
        }
    });
    drop(parts); // ends its lease
    Ok(out)
}

/// The number of elements that are converted at a time, unless a line has more.
const CONVERTED: usize = 2048;

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

on_vectors! {
    /// Writes the gradients of some lines.
    fn lines<T: Real>(grads: &[T], outputs: &[T], out: &mut [MaybeUninit<T>], len: usize, is_log: bool) {
        let lines = grads.chunks_exact(len).zip(outputs.chunks_exact(len));
        for (out, (grads, outputs)) in out.chunks_exact_mut(len).zip(lines) {
            if is_log {
                let sum = sum([grads], |[grad]| grad);
                exponentials(out, outputs, T::ZERO);
                for (out, grad) in zip(out, grads) {
                    // SAFETY: `exponentials` has filled `out`, which is as long as `outputs`.
                    let probability = unsafe { out.assume_init_mut() };
                    *probability = *grad - *probability * sum;
                }
            } else {
                let sum = sum([grads, outputs], |[grad, y]| grad * y);
                write_each(out, [grads, outputs], |grad, y| (grad - sum) * y);
            }
        }
    }
}
