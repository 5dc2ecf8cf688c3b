//! Hyperbolic sines and cosines, and the inverses of these and of the tangent, without branches.

use num_complex::Complex;

use super::complex::{self, Wide};
use super::exponential::Power;
use super::{NearOne, polynomial};

/// Hyperbolic functions; the tangent is one of [`Functions`](super::Functions).
pub trait Hyperbolic {
    fn hyperbolic_sine(self) -> Self;

    fn hyperbolic_cosine(self) -> Self;

    fn inverse_hyperbolic_sine(self) -> Self;

    fn inverse_hyperbolic_cosine(self) -> Self;

    fn inverse_hyperbolic_tangent(self) -> Self;
}

/// From here on `√(x² ± 1)` equals `x` to within the precision of its logarithm.
const HUGE: f64 = (1u64 << 28) as f64;

macro_rules! hyperbolic {
    ($ty:ident, $sine:expr) => {
        impl Hyperbolic for $ty {
            /// The hyperbolic sine, by a polynomial up to 1.
            #[inline(always)]
            fn hyperbolic_sine(self) -> $ty {
                let x = self.abs();
                let square = x * x;
                let near = (polynomial(square, $sine) * square).mul_add(x, x);
                let half = Power::<$ty, _>::of(x).half();
                let far = half - 0.25 / half;
                (if x < 1.0 { near } else { far }).copysign(self)
            }

            #[inline(always)]
            fn hyperbolic_cosine(self) -> $ty {
                let half = Power::<$ty, _>::of(self.abs()).half();
                half + 0.25 / half
            }

            /// `ln(x + √(x² + 1))`.
            #[inline(always)]
            fn inverse_hyperbolic_sine(self) -> $ty {
                let x = self.abs();
                let is_huge = x >= HUGE as $ty;
                let sum = x + x * x / (1.0 + x.mul_add(x, 1.0).sqrt());
                let logarithm = (if is_huge { x - 1.0 } else { sum }).logarithm_of_one_more();
                (if is_huge { logarithm + std::$ty::consts::LN_2 } else { logarithm }).copysign(self)
            }

            /// `ln(x + √(x² - 1))`.
            #[inline(always)]
            fn inverse_hyperbolic_cosine(self) -> $ty {
                let is_huge = self >= HUGE as $ty;
                let less = self - 1.0;
                let sum = less + (less * less + 2.0 * less).sqrt();
                let logarithm = (if is_huge { less } else { sum }).logarithm_of_one_more();
                let value = if is_huge { logarithm + std::$ty::consts::LN_2 } else { logarithm };
                if self < 1.0 { $ty::NAN } else { value }
            }

            /// `ln((1 + x) / (1 - x)) / 2`.
            #[inline(always)]
            fn inverse_hyperbolic_tangent(self) -> $ty {
                let x = self.abs();
                (0.5 * (2.0 * x / (1.0 - x)).logarithm_of_one_more()).copysign(self)
            }
        }
    };
}

// Coefficients with the smallest relative error for `(sinh(√z) / √z - 1) / z` up to 1, found by the Remez algorithm.
hyperbolic! { f32, [2.782_218_9e-6, 1.984_289_6e-4, 8.333_310_5e-3, 1.666_666_7e-1] }

hyperbolic! {
    f64,
    [
        7.776_960_568_532_582e-13,
        1.605_664_936_188_535_8e-10,
        2.505_213_109_806_241_7e-8,
        2.755_731_910_629_683e-6,
        1.984_126_984_159_435_7e-4,
        8.333_333_333_332_912e-3,
        1.666_666_666_666_666_9e-1,
    ]
}

macro_rules! of_complex {
    ($($ty:ty)+) => { $(
        impl Hyperbolic for Complex<$ty> {
            #[inline]
            fn hyperbolic_sine(self) -> Self {
                Self::narrow(complex::sinh(self.wide()))
            }

            #[inline]
            fn hyperbolic_cosine(self) -> Self {
                Self::narrow(complex::cosh(self.wide()))
            }

            #[inline]
            fn inverse_hyperbolic_sine(self) -> Self {
                Self::narrow(complex::asinh(self.wide()))
            }

            #[inline]
            fn inverse_hyperbolic_cosine(self) -> Self {
                Self::narrow(complex::acosh(self.wide()))
            }

            #[inline]
            fn inverse_hyperbolic_tangent(self) -> Self {
                Self::narrow(complex::atanh(self.wide()))
            }
        }
    )+ };
}

of_complex!(f32 f64);

#[cfg(test)]
mod tests {
    use super::super::errors::{largest, largest_double};
    use super::*;

    /// NaN also for large negative numbers, for which `libm`'s is not.
    fn acosh(x: f64) -> f64 {
        if x < 1.0 { f64::NAN } else { libm::acosh(x) }
    }

    #[test]
    fn hyperbolic_functions_are_within_three_units_of_the_last_place() {
        for (name, error) in [
            ("sinh", largest(f32::hyperbolic_sine, f64::sinh)),
            ("cosh", largest(f32::hyperbolic_cosine, f64::cosh)),
            ("asinh", largest(f32::inverse_hyperbolic_sine, libm::asinh)),
            ("acosh", largest(f32::inverse_hyperbolic_cosine, acosh)),
            ("atanh", largest(f32::inverse_hyperbolic_tangent, libm::atanh)),
            ("double sinh", largest_double(f64::hyperbolic_sine, f64::sinh)),
            ("double cosh", largest_double(f64::hyperbolic_cosine, f64::cosh)),
            ("double asinh", largest_double(f64::inverse_hyperbolic_sine, libm::asinh)),
            ("double acosh", largest_double(f64::inverse_hyperbolic_cosine, acosh)),
            ("double atanh", largest_double(f64::inverse_hyperbolic_tangent, libm::atanh)),
        ] {
            assert!(error <= 3.0, "{name}: {error}");
        }
    }

    #[test]
    fn the_ends_and_the_zeros_are_right() {
        const INFINITY: f32 = f32::INFINITY;
        for x in
            [0.0, -0.0, 1.0, -1.0, 1.5, 1e-45, 89.3, 89.5, -90.0, f32::MAX, INFINITY, -INFINITY, f32::NAN]
        {
            let wide = f64::from(x);
            let pairs = [
                (x.hyperbolic_sine(), wide.sinh()),
                (x.hyperbolic_cosine(), wide.cosh()),
                (x.inverse_hyperbolic_sine(), libm::asinh(wide)),
                (x.inverse_hyperbolic_cosine(), acosh(wide)),
                (x.inverse_hyperbolic_tangent(), libm::atanh(wide)),
            ];
            for (k, (got, want)) in pairs.into_iter().enumerate() {
                let are_alike = got.to_bits().abs_diff((want as f32).to_bits()) < 4;
                assert!(are_alike || got.is_nan() && want.is_nan(), "{k} of {x}: {got}, expected {want}");
            }
        }
    }
}
