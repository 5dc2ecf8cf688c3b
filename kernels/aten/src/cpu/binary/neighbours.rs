//! The kernel of `nextafter`, which gives the neighbours of floating-point numbers.

use torch_library::match_dtype;
use torch_library::prelude::*;

use crate::aten;
use crate::loops::Pointwise;

#[torch_impl(aten, CPU, Meta)]
fn nextafter(output: Output<'_>, this: &Tensor, other: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting(output, [this, other])?;
    match_dtype!(call.dtype, T: Float | Half => {
        call.compute(None, call.dtype, |[a, b]: [T; 2]| a.next_towards(b))
    }, else => Err(call.unsupported()))
}

/// A floating-point number of any width.
trait NextTowards {
    /// The next representable number in the direction of another.
    fn next_towards(self, other: Self) -> Self;
}

macro_rules! next_towards {
    ($($ty:ty),+) => { $(
        impl NextTowards for $ty {
            #[inline(always)]
            fn next_towards(self, other: $ty) -> $ty {
                let (zero, bits) = (<$ty>::from_bits(0), self.to_bits());
                // Among numbers of one sign, larger magnitudes have larger bits.
                let next = if (self < other) == (self > zero) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
                let next = if self == zero { <$ty>::from_bits(1).copysign(other) } else { <$ty>::from_bits(next) };
                let next = if self == other { other } else { next };
                if self.is_nan() | other.is_nan() { <$ty>::NAN } else { next } // without branches, for vectorisation
            }
        }
    )+ };
}

next_towards!(f32, f64, torch_library::element::f16, torch_library::element::bf16);
