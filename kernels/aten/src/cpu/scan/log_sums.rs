//! Running logarithms of sums of exponentials, block by block.
//!
//! An element at a time would take an exponential and a logarithm, each of which waits for the one before. Relative to
//! the largest element so far, the exponentials of a block do not depend on each other, nor do the logarithms of their
//! sums.

use torch_library::{DType, Element};

use crate::cpu::special::LogOfSum;
use crate::functions::Functions;
use crate::inlined::zip;
use crate::loops::on_vectors;

/// The number of elements that are computed together.
const BLOCK: usize = 32;

/// The largest distance between elements of a block: `exp` of it, and the sums, keep all digits in `f64`.
const FAR: f64 = 64.0;

/// The sum so far: `scale * exp(largest)`. It is kept in `f64`: in `f32`, adding to a large sum would round each
/// element.
#[derive(Clone, Copy)]
struct Sum {
    largest: f64,
    scale: f64,
}

impl Sum {
    fn logarithm(self) -> f64 {
        self.largest + self.scale.ln()
    }
}

on_vectors! {
    /// Writes the logarithm of the sum of exponentials up to each element.
    pub(super) fn of_line<T: Element>(line: &[T], sums: &mut [T]) {
        let mut sum = Sum { largest: f64::NEG_INFINITY, scale: 0.0 };
        for (sums, line) in sums.chunks_mut(BLOCK).zip(line.chunks(BLOCK)) {
            let mut block = [f64::NEG_INFINITY; BLOCK];
            for (to, x) in zip(&mut block, line) {
                *to = x.cast();
            }
            sum = match T::DTYPE {
                // Elements of this type show the last digits, which depend on the order of the sums.
                DType::Float64 => one_by_one(sum, &mut block[..line.len()]),
                _ => of_block(sum, &mut block, line.len()),
            };
            for (to, x) in zip(sums, &block) {
                *to = x.cast();
            }
        }
    }
}

/// Replaces the first `len` elements of a block by the logarithms of the sums up to each, and returns the last sum.
#[inline(always)]
fn of_block(before: Sum, block: &mut [f64; BLOCK], len: usize) -> Sum {
    let (mut least, mut largest) = (block[0], block[0]);
    for x in &block[..len] {
        least = least.min(*x);
        largest = largest.max(*x);
    }
    let largest = largest.max(before.largest);
    // An infinite element makes the distance infinite or NaN. `min` and `max` drop NaN, which is looked for.
    let are_near = largest - least < FAR && !block[..len].iter().any(|x| x.is_nan());
    if !are_near || (before.largest != f64::NEG_INFINITY && largest - before.largest >= FAR) {
        return one_by_one(before, &mut block[..len]);
    }
    for x in block.iter_mut() {
        *x = (*x - largest).exponential();
    }
    let mut scale = before.scale * (before.largest - largest).exponential();
    for x in &mut block[..len] {
        scale += *x;
        *x = scale;
    }
    for x in block.iter_mut() {
        *x = largest + x.natural_logarithm();
    }
    Sum { largest, scale }
}

/// Like [`of_block`], for any elements.
#[inline(always)] // else its multiplications with additions would be calls
fn one_by_one(before: Sum, elements: &mut [f64]) -> Sum {
    let mut sum = before.logarithm();
    for x in elements {
        sum = x.log_of_sum(sum);
        *x = sum;
    }
    Sum { largest: sum, scale: 1.0 }
}
