//! Arithmetic that every computing type has: integers wrap, truth values join with "or" and "and".

use num_complex::Complex;
use torch_library::Element;

/// A type that kernels add and multiply in.
pub(crate) trait Number: Element {
    const ZERO: Self;
    const ONE: Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! number {
    ($($ty:ty: $zero:expr, $one:expr, |$a:ident, $b:ident| $plus:expr, $minus:expr, $times:expr;)+) => { $(
        impl Number for $ty {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $plus
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $minus
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $times
            }
        }
    )+ };
}

number! {
    bool: false, true, |a, b| a | b, a ^ b, a & b;
    u8: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b);
    i8: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b);
    i16: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b);
    i32: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b);
    i64: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b);
    f32: 0.0, 1.0, |a, b| a + b, a - b, a * b;
    f64: 0.0, 1.0, |a, b| a + b, a - b, a * b;
    Complex<f32>: Complex::ZERO, Complex::ONE, |a, b| a + b, a - b, a * b;
    Complex<f64>: Complex::ZERO, Complex::ONE, |a, b| a + b, a - b, a * b;
}
