//! Gradients of softmax along dense lines: each line is read into the cache once.
#![expect(unsafe_code, reason = "promises that kernels write every element")]

use std::ops::Range;

use num_traits::Float;
use torch_library::prelude::*;
use torch_library_aten::cpu::softmax::exponentials;

use crate::cpu::norm::backward::lines::{Lines, run, sums, uninit};
use crate::functions::Functions;
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
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
    let lines = Softmax { grads, outputs, out: PartsMut::<T>::of(&out, len)?, is_log };
    run(&lines, lines.out.count(), len, 1);
    Ok(out)
}

struct Softmax<T> {
    grads: Parts<T>,
    outputs: Parts<T>,
    out: PartsMut<T>,
    is_log: bool,
}

impl<T: Float + Functions + Number> Lines for Softmax<T> {
    #[inline(always)]
    fn run(&self, lines: Range<usize>) {
        for n in lines {
            let (grads, outputs) = (self.grads.get(n), self.outputs.get(n));
            // SAFETY: ranges of `run` have no line in common, so this line is only this thread's, which has one slice
            // of it and writes initialised values.
            let out = unsafe { self.out.uninit(n) };
            if self.is_log {
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
}
