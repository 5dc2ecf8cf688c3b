//! Rounded quotients of 16-bit floats. PyTorch divides these in their own precision, which rounds every step; so it is
//! done here, but in `f32`, which has vectors.

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use super::{Rounding, floor_quotient};
use crate::functions::Divisible;
use crate::loops::{Pointwise, Usually};

/// The rounded quotients of two tensors that promote to `H`.
pub(super) fn divided<H: Element + Float>(call: Pointwise<'_, 2>, rounding: Rounding) -> Result<Tensor> {
    let is_usual = |[a, b]: [f32; 2]| is_usual(a, b);
    match rounding {
        Rounding::Truncate => call.compute_elements(
            None,
            H::DTYPE,
            Usually {
                is_usual,
                fast: |[a, b]: [f32; 2]| rounded::<H>(a / b).trunc(),
                any: |[a, b]: [f32; 2]| (a.cast::<H>() / b.cast()).trunc().cast::<f32>(),
            },
        ),
        Rounding::Floor => call.compute_elements(
            None,
            H::DTYPE,
            Usually {
                is_usual,
                fast: |[a, b]: [f32; 2]| floor_quotient(a, b, a.rest(b), rounded::<H>),
                any: |[a, b]: [f32; 2]| {
                    let [a, b] = [a.cast::<H>(), b.cast()];
                    floor_quotient(a, b, a % b, |x| x).cast::<f32>()
                },
            },
        ),
    }
}

/// Whether the divisor is of moderate size, and no step exceeds the range of a 16-bit float.
#[inline(always)]
fn is_usual(a: f32, b: f32) -> bool {
    const LARGE: f32 = (1u64 << 40) as f32;
    const MOST: f32 = (1u32 << 14) as f32;
    (b.abs() > 1.0 / LARGE) & (b.abs() < LARGE) & (a.abs() < MOST * b.abs())
}

/// Rounds to a number of `H`, to the nearest, of two to the even one; for numbers that do not exceed its range.
#[inline(always)]
fn rounded<H: Element>(x: f32) -> f32 {
    // The digits of a number of `H`, and the smallest number that has all of them.
    let (digits, least) = match H::DTYPE {
        DType::BFloat16 => (8, f32::MIN_POSITIVE),
        _ => (11, 1.0 / (1u32 << 14) as f32),
    };
    let power = f32::from_bits(x.to_bits() & 0x7f80_0000).max(least);
    // Beside a number that is so much larger, there is room for as many digits.
    let large = power * (3u32 << (f32::MANTISSA_DIGITS - digits - 1)) as f32;
    ((x + large) - large).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<H: Element + Float>() {
        let numbers = (0..4000u32).map(|i| f32::from_bits(i.wrapping_mul(1_073_741_827)));
        for x in numbers.filter(|x| x.abs() < 30_000.0) {
            assert_eq!(rounded::<H>(x).to_bits(), x.cast::<H>().cast::<f32>().to_bits(), "{x}");
        }
        let halves =
            (0..160u32).map(|i| f32::from_bits(i.wrapping_mul(28_000_003)).cast::<H>().cast::<f32>());
        let halves = halves.chain((0..80).map(|i| ((i - 40) as f32 * 0.37).cast::<H>().cast::<f32>()));
        let (mut usual, mut pairs) = (0, 0);
        for (a, b) in halves.clone().flat_map(|a| halves.clone().map(move |b| (a, b))) {
            pairs += 1;
            if !is_usual(a, b) {
                continue;
            }
            usual += 1;
            let [x, y] = [a.cast::<H>(), b.cast()];
            let floor = floor_quotient(x, y, x % y, |x| x).cast::<f32>();
            let found = floor_quotient(a, b, a.rest(b), rounded::<H>);
            assert_eq!(found.to_bits(), floor.to_bits(), "{a} by {b}");
            let cut = (x / y).trunc().cast::<f32>();
            assert_eq!(rounded::<H>(a / b).trunc().to_bits(), cut.to_bits(), "{a} by {b}");
        }
        assert!(usual > pairs / 8, "{usual} of {pairs}");
    }

    #[test]
    fn steps_are_those_of_16_bit_floats() {
        check::<half::bf16>();
        check::<half::f16>();
    }
}
