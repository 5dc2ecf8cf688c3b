//! Layer norm of dense lines: each line is read into the cache once.
#![expect(unsafe_code, reason = "promises that kernels write every element of a line")]

use std::mem::MaybeUninit;

use num_traits::Float;
use torch_library::{Element, Result, Tensor};

use crate::cpu::folds::Moments;
use crate::inlined::zip;
use crate::loops;
use crate::loops::lines::{Line, fill, fold_line, lines};
use crate::number::Number;

/// The layer norm of lines; their means and reciprocal standard deviations go to `notes`.
pub(super) fn layer_norm<T: Float + Number>(
    input: &Tensor,
    len: usize,
    notes: [&Tensor; 2],
    [weight, bias]: [Option<&Tensor>; 2],
    eps: f64,
) -> Result<Tensor> {
    let parameter = |tensor: &&Tensor| loops::has_elements(input) && loops::has_elements(tensor);
    let elements = |tensor: Option<&Tensor>| tensor.filter(parameter).map(loops::elements::<T>).transpose();
    let norm = LayerNorm { weight: elements(weight)?, bias: elements(bias)?, eps: eps.cast() };
    // SAFETY: `LayerNorm` fills the line, or goes along it with a weight and a bias for each element, whose number
    // `outer_dims` has checked and the kernel's lease preserves; it writes initialised values.
    unsafe { lines(input, len, notes, &norm) }
}

struct LayerNorm<T> {
    weight: Option<Vec<T>>,
    bias: Option<Vec<T>>,
    eps: T,
}

impl<T: Float + Number> Line<T, 2> for LayerNorm<T> {
    #[inline(always)]
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; 2] {
        let moment = fold_line(&Moments, input);
        let (mean, count): (T, T) = (moment.mean, (input.len() as i64).cast());
        let rstd = (moment.squares / count + self.eps).sqrt().recip();
        let normal = |x: T| (x - mean) * rstd;
        match (&self.weight, &self.bias) {
            (Some(weight), Some(bias)) => {
                for ((out, x), (weight, bias)) in zip(zip(out, input), zip(weight, bias)) {
                    out.write(normal(*x) * *weight + *bias);
                }
            }
            (weight, bias) => {
                let out = fill(out, input, normal);
                if let Some(weight) = weight {
                    for (out, weight) in zip(&mut *out, weight) {
                        *out = *out * *weight;
                    }
                }
                if let Some(bias) = bias {
                    for (out, bias) in zip(out, bias) {
                        *out = *out + *bias;
                    }
                }
            }
        }
        [mean, rstd]
    }
}
