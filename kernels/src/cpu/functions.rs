//! Functions of real and complex numbers, those of `f32` without branches so that loops over them vectorise.

use num_complex::Complex;

/// The functions that kernels spend their time in.
pub(super) trait Functions: Sized {
    /// *e* to the power of this.
    fn exponential(self) -> Self;

    /// The hyperbolic tangent.
    fn hyperbolic_tangent(self) -> Self;

    /// `1 / (1 + exp(-x))`.
    fn logistic(self) -> Self;
}

/// The error function, of real numbers only.
pub(super) trait ErrorFunction {
    /// Twice the integral of the bell curve from 0 to here.
    fn error_function(self) -> Self;

    /// One less that; precise where it is small.
    fn complementary_error_function(self) -> Self;
}

impl Functions for f32 {
    /// Within one unit of the last place.
    ///
    /// # How it works
    /// `exp(x) = 2^n exp(r)` with `n` whole and `r` at most half a `ln 2` from zero, where a polynomial (that of Cephes)
    /// serves. Adding 1.5 · 2^23 rounds to a whole number, and leaves it in the lowest bits. The power of two is made in
    /// two steps, so that each is a normal number.
    #[inline(always)]
    fn exponential(self) -> f32 {
        const ROUNDER: f32 = 12_582_912.0;
        let x = self.clamp(-104.0, 89.0); // what is beyond is 0 or infinite
        let rounded = x * std::f32::consts::LOG2_E + ROUNDER;
        let n = rounded - ROUNDER;
        let r = x - n * (355.0 / 512.0) + n * 2.121_944_4e-4;
        let mut p = 1.987_569_1e-4;
        for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
            p = p * r + coefficient;
        }
        let exponent = rounded.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32;
        let half = exponent >> 1;
        let power = |exponent: i32| f32::from_bits((exponent.wrapping_add(127) as u32) << 23);
        (p * r * r + r + 1.0) * power(half) * power(exponent - half)
    }

    #[inline(always)]
    fn hyperbolic_tangent(self) -> f32 {
        let square = self * self;
        let mut p = -5.704_988_7e-3;
        for coefficient in [2.063_909e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328e-1] {
            p = p * square + coefficient;
        }
        let near = p * square * self + self;
        let far = 1.0 - 2.0 / ((2.0 * self.abs()).exponential() + 1.0);
        (if self.abs() < 0.625 { near } else { far }).copysign(self) // also that of a zero
    }

    #[inline(always)]
    fn logistic(self) -> f32 {
        1.0 / (1.0 + (-self).exponential())
    }
}

impl ErrorFunction for f32 {
    /// A quotient of polynomials, within a few units of the last place. Beyond four it is one.
    #[inline(always)]
    fn error_function(self) -> f32 {
        let x = self.clamp(-3.832_507, 3.832_507);
        let square = x * x;
        let mut p = 2.290_506_6e-4;
        for coefficient in [3.408_291e-3, 5.095_569_5e-2, 1.852_083_2e-1, std::f32::consts::FRAC_2_SQRT_PI] {
            p = p * square + coefficient;
        }
        let mut q = -1.179_160_3e-7;
        for coefficient in [2.354_796_6e-5, 1.017_962_5e-3, 1.407_047e-2, 1.109_850_5e-1, 4.974_692_5e-1, 1.0]
        {
            q = q * square + coefficient;
        }
        (x * p / q).clamp(-1.0, 1.0)
    }

    fn complementary_error_function(self) -> f32 {
        libm::erfcf(self)
    }
}

impl ErrorFunction for f64 {
    fn error_function(self) -> f64 {
        libm::erf(self)
    }

    fn complementary_error_function(self) -> f64 {
        libm::erfc(self)
    }
}

macro_rules! functions_of_std {
    ($($ty:ty: $one:expr;)+) => { $(
        impl Functions for $ty {
            #[inline]
            fn exponential(self) -> Self {
                self.exp()
            }

            #[inline]
            fn hyperbolic_tangent(self) -> Self {
                self.tanh()
            }

            #[inline]
            fn logistic(self) -> Self {
                $one / ((-self).exp() + $one)
            }
        }
    )+ };
}

functions_of_std! {
    f64: 1.0;
    Complex<f32>: Complex::<f32>::ONE;
    Complex<f64>: Complex::<f64>::ONE;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error relative to the larger of 1 and the value, over the whole line.
    fn largest_error(f: fn(f32) -> f32, want: fn(f64) -> f64) -> f64 {
        let inputs = (-1_200_000..1_200_000).map(|i| i as f32 * 1e-4);
        let error = |x: f32| {
            let (got, want) = (f64::from(f(x)), want(f64::from(x)));
            if got == f64::from(want as f32) {
                0.0
            } else {
                (got - want).abs() / want.abs().max(f64::MIN_POSITIVE)
            }
        };
        inputs.filter(|x| want(f64::from(*x)).abs() > 1.2e-38).map(error).fold(0.0, f64::max)
    }

    #[test]
    fn exponentials_are_within_a_unit_of_the_last_place() {
        let error = largest_error(f32::exponential, f64::exp);
        assert!(error < 1.3e-7, "{error}");
    }

    #[test]
    fn the_other_functions_are_within_a_few() {
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        for (name, error) in [
            ("tanh", largest_error(f32::hyperbolic_tangent, f64::tanh)),
            ("logistic", largest_error(f32::logistic, logistic)),
            ("erf", largest_error(f32::error_function, libm::erf)),
        ] {
            assert!(error < 6e-7, "{name}: {error}");
        }
    }

    #[test]
    fn the_ends_of_the_line_are_kept() {
        assert_eq!([f32::INFINITY, 89.0, 1e30].map(f32::exponential), [f32::INFINITY; 3]);
        assert_eq!([f32::NEG_INFINITY, -104.0, -1e30].map(f32::exponential), [0.0; 3]);
        assert!((-100f32).exponential() > 0.0, "a subnormal number");
        assert_eq!([f32::INFINITY, f32::NEG_INFINITY].map(f32::hyperbolic_tangent), [1.0, -1.0]);
        assert_eq!([f32::INFINITY, f32::NEG_INFINITY].map(f32::logistic), [1.0, 0.0]);
        assert_eq!([f32::INFINITY, f32::NEG_INFINITY].map(f32::error_function), [1.0, -1.0]);
        for f in [f32::exponential, f32::hyperbolic_tangent, f32::logistic, f32::error_function] {
            assert!(f(f32::NAN).is_nan());
        }
        assert!((-0f32).hyperbolic_tangent().is_sign_negative());
    }
}
