//! Softmax of dense lines: each line is read into the cache once.
#![expect(unsafe_code, reason = "promises that kernels write every element of a line")]

use std::mem::MaybeUninit;

use num_traits::Float;
use torch_library::{Result, Tensor};
use torch_library_aten::cpu::softmax::exponentials;

use crate::cpu::folds::Largest;
use crate::functions::Functions;
use crate::loops::lines::{Line, fill, fold_line, lines};
use crate::number::Ordered;

/// The softmax of lines of `len` elements of a contiguous tensor.
pub(super) fn softmax<T: Float + Ordered + Functions>(input: &Tensor, len: usize) -> Result<Tensor> {
    // SAFETY: `Softmax` fills the line chunk by chunk, with initialised values.
    unsafe { lines::<T, 0>(input, len, [], &Softmax) }
}

/// The log-softmax of lines of `len` elements of a contiguous tensor.
pub(super) fn log_softmax<T: Float + Ordered + Functions>(input: &Tensor, len: usize) -> Result<Tensor> {
    // SAFETY: `LogSoftmax` fills the line with initialised values.
    unsafe { lines::<T, 0>(input, len, [], &LogSoftmax) }
}

struct Softmax;

impl<T: Float + Ordered + Functions> Line<T, 0> for Softmax {
    #[inline(always)]
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; 0] {
        let sum = exponentials(out, input, fold_line(&Largest, input));
        let inverse = sum.recip();
        for power in out {
            // SAFETY: `exponentials` has filled `out`, which is as long as `input`.
            let power = unsafe { power.assume_init_mut() };
            // The product with the reciprocal, corrected by its error: vector division takes several times as long.
            let product = *power * inverse;
            *power = product.mul_add(-sum, *power).mul_add(inverse, product);
        }
        []
    }
}

struct LogSoftmax;

impl<T: Float + Ordered + Functions> Line<T, 0> for LogSoftmax {
    #[inline(always)]
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; 0] {
        let largest = fold_line(&Largest, input);
        let log = exponentials(out, input, largest).ln();
        fill(out, input, |x| x - largest - log);
        []
    }
}
