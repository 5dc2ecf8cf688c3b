//! Arithmetic that every opmath type has: integers wrap around, booleans use "or" and "and".

use num_complex::Complex;
use torch_library::Element;

/// A type that kernels add and multiply in.
pub trait Number: Element {
    /// The additive identity; `false` for booleans.
    const ZERO: Self;
    /// The multiplicative identity; `true` for booleans.
    const ONE: Self;

    /// The sum; integers wrap around, for booleans it is "or".
    fn plus(self, other: Self) -> Self;

    /// The difference; integers wrap around, for booleans it is "exclusive or".
    fn minus(self, other: Self) -> Self;

    /// The product; integers wrap around, for booleans it is "and".
    fn times(self, other: Self) -> Self;

    /// The negated number; integers wrap around, booleans stay the same.
    fn negated(self) -> Self;

    /// Whether this is not equal to itself, as NaN is not.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "that is how NaN is told")]
    fn is_unordered(self) -> bool {
        self != self
    }
}

macro_rules! number {
    ($($ty:ty: $zero:expr, $one:expr, |$a:ident, $b:ident| $plus:expr, $minus:expr, $times:expr,
        $negated:expr;)+) => { $(
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
            #[inline(always)]
            fn negated(self) -> Self {
                let $a = self;
                $negated
            }
        }
    )+ };
}

number! {
    bool: false, true, |a, b| a | b, a ^ b, a & b, a;
    u8: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg();
    i8: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg();
    i16: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg();
    i32: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg();
    i64: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg();
    u16: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg();
    u32: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg();
    u64: 0, 1, |a, b| a.wrapping_add(b), a.wrapping_sub(b), a.wrapping_mul(b), a.wrapping_neg();
    f32: 0.0, 1.0, |a, b| a + b, a - b, a * b, -a;
    f64: 0.0, 1.0, |a, b| a + b, a - b, a * b, -a;
    Complex<f32>: Complex::ZERO, Complex::ONE, |a, b| a + b, a - b, a * b, -a;
    Complex<f64>: Complex::ZERO, Complex::ONE, |a, b| a + b, a - b, a * b, -a;
}

/// The larger of two numbers, or NaN if one is, which `f64::max` would drop.
#[inline(always)]
pub fn larger<T: Number + PartialOrd>(a: T, b: T) -> T {
    if a > b || a.is_unordered() { a } else { b }
}

/// The smaller of two numbers, or NaN if one is, which `f64::min` would drop.
#[inline(always)]
pub fn smaller<T: Number + PartialOrd>(a: T, b: T) -> T {
    if a < b || a.is_unordered() { a } else { b }
}

/// An opmath type with division.
pub trait Divided: Number {
    /// The quotient; division by zero gives infinity or NaN.
    fn over(self, divisor: Self) -> Self;
}

macro_rules! divided {
    ($($ty:ty),+) => { $(
        impl Divided for $ty {
            #[inline(always)]
            fn over(self, divisor: Self) -> Self {
                self / divisor
            }
        }
    )+ };
}

divided!(f32, f64);

/// Complex division by Smith's method, whose intermediate results do not overflow.
macro_rules! divided_complex {
    ($($ty:ty),+) => { $(
        impl Divided for Complex<$ty> {
            #[inline]
            fn over(self, divisor: Self) -> Self {
                let (a, b, c, d) = (self.re, self.im, divisor.re, divisor.im);
                if c == 0.0 && d == 0.0 {
                    return Complex::new(a / c.abs(), b / c.abs());
                }
                if c.abs() >= d.abs() {
                    let (ratio, scale) = (d / c, 1.0 / (c + d * (d / c)));
                    Complex::new((a + b * ratio) * scale, (b - a * ratio) * scale)
                } else {
                    let (ratio, scale) = (c / d, 1.0 / (c * (c / d) + d));
                    Complex::new((a * ratio + b) * scale, (b * ratio - a) * scale)
                }
            }
        }
    )+ };
}

divided_complex!(f32, f64);

/// An opmath type with an order.
pub trait Ordered: Number + PartialOrd {
    /// The lowest value.
    const LOWEST: Self;
    /// The highest value.
    const HIGHEST: Self;
}

macro_rules! ordered {
    ($($ty:ty: $lowest:expr, $highest:expr;)+) => { $(
        impl Ordered for $ty {
            const LOWEST: Self = $lowest;
            const HIGHEST: Self = $highest;
        }
    )+ };
}

ordered! {
    bool: false, true;
    u8: u8::MIN, u8::MAX;
    i8: i8::MIN, i8::MAX;
    i16: i16::MIN, i16::MAX;
    i32: i32::MIN, i32::MAX;
    i64: i64::MIN, i64::MAX;
    f32: f32::NEG_INFINITY, f32::INFINITY;
    f64: f64::NEG_INFINITY, f64::INFINITY;
}
