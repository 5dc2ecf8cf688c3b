//! Gradients of softmax along dense lines: each line is read into the cache once.
#![expect(unsafe_code, reason = "promises that kernels write every element")]

use std::mem::MaybeUninit;

use num_traits::Float;
use torch_library::prelude::*;
use torch_library_aten::cpu::softmax::exponentials;

use crate::cpu::norm::backward::lines::{sums, uninit};
use crate::functions::Functions;
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::{on_vectors, parallel};
use crate::number::Number;

/// The gradient of softmax or log-softmax along lines.
pub(super) fn softmax<T: Float + Functions + Number>(
    grad: &Tensor,
    output: &Tensor,
    len: usize,
    is_log: bool,
) -> Result<Tensor> {
    let out = uninit::<T>(output, output.sizes())?;
    let [grads, outputs] = [Parts::row_major(grad, len)?, Parts::row_major(output, len)?];
    let parts = PartsMut::<T>::of(&out, len)?;
    parallel::shares(parts.count(), (parallel::GRAIN / len).max(1), |range| {
        for n in range {
            // SAFETY: this line is only this thread's, which has one slice of it and writes initialised values.
            line(grads.get(n), outputs.get(n), unsafe { parts.uninit(n) }, is_log);
        }
    });
    drop(parts); // ends its lease
    Ok(out)
}

/// A real type that softmax is computed in.
trait Real: Float + Functions + Number {}

impl<T: Float + Functions + Number> Real for T {}

on_vectors! {
    /// Writes the gradients of a line. (A function of slices, so that LLVM keeps the sums in registers.)
    fn line<T: Real>(grads: &[T], outputs: &[T], out: &mut [MaybeUninit<T>], is_log: bool) {
        if is_log {
            let [sum] = sums([grads], |[grad]| [grad]);
            exponentials(out, outputs, T::ZERO);
            for (out, grad) in zip(out, grads) {
                // SAFETY: `exponentials` has filled `out`, which is as long as `outputs`.
                let probability = unsafe { out.assume_init_mut() };
                *probability = *grad - *probability * sum;
            }
        } else {
            let [sum] = sums([grads, outputs], |[grad, y]| [grad * y]);
            for (out, (grad, y)) in zip(out, zip(grads, outputs)) {
                out.write((*grad - sum) * *y);
            }
        }
    }
}
