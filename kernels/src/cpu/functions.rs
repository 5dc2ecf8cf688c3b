//! Functions of real and complex numbers, those of `f32` without branches so that loops over them vectorise.
//!
//! They multiply and add in one step: an instruction in the loops that are compiled for wide vectors, and a call of the C
//! library elsewhere.

use num_complex::Complex;
use num_traits::Float;

/// The functions that kernels spend their time in.
pub(super) trait Functions: Sized {
    /// *e* to the power of this.
    fn exponential(self) -> Self;

    /// The natural logarithm.
    fn natural_logarithm(self) -> Self;

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

/// By Horner's rule, the coefficient of the highest power first.
#[inline(always)]
fn polynomial<T: Float, const N: usize>(x: T, coefficients: [T; N]) -> T {
    let mut value = coefficients[0];
    for coefficient in &coefficients[1..] {
        value = value.mul_add(x, *coefficient);
    }
    value
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
        let rounded = x.mul_add(std::f32::consts::LOG2_E, ROUNDER);
        let n = rounded - ROUNDER;
        let r = n.mul_add(2.121_944_4e-4, n.mul_add(-355.0 / 512.0, x));
        let coefficients =
            [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
        let p = polynomial(r, coefficients);
        let exponent = rounded.to_bits().wrapping_sub(ROUNDER.to_bits()) as i32;
        let half = exponent >> 1;
        let power = |exponent: i32| f32::from_bits((exponent.wrapping_add(127) as u32) << 23);
        ((p * r).mul_add(r, r) + 1.0) * power(half) * power(exponent - half)
    }

    /// Within one unit of the last place.
    ///
    /// # How it works
    /// `log(2^n m) = n ln 2 + log(m)` with `m` between `√½` and `√2`, where a polynomial (that of Cephes) serves. Numbers that
    /// are too small for a normal exponent are scaled first.
    #[inline(always)]
    fn natural_logarithm(self) -> f32 {
        const SCALE: f32 = 8_388_608.0; // 2^23
        let is_small = self < f32::MIN_POSITIVE;
        let x = if is_small { self * SCALE } else { self };
        // Bits of a mantissa from √½ on belong to the next power of two.
        let shifted = x.to_bits().wrapping_sub(std::f32::consts::FRAC_1_SQRT_2.to_bits());
        let exponent = (shifted as i32 >> 23) - if is_small { 23 } else { 0 };
        let mantissa = (shifted & 0x007f_ffff) + std::f32::consts::FRAC_1_SQRT_2.to_bits();
        let (n, f) = (exponent as f32, f32::from_bits(mantissa) - 1.0);
        let coefficients = [
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ];
        let square = f * f;
        let tail = (polynomial(f, coefficients) * f).mul_add(square, n * -2.121_944_4e-4);
        let value = n.mul_add(355.0 / 512.0, f + square.mul_add(-0.5, tail));
        match self {
            x if x > 0.0 && x < f32::INFINITY => value,
            0.0 => f32::NEG_INFINITY,
            x if x == f32::INFINITY => x,
            _ => f32::NAN, // of a negative number or itself
        }
    }

    #[inline(always)]
    fn hyperbolic_tangent(self) -> f32 {
        let square = self * self;
        let coefficients = [-5.704_988_7e-3, 2.063_909e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328e-1];
        let near = (polynomial(square, coefficients) * square).mul_add(self, self);
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
        let p = polynomial(
            square,
            [2.290_506_6e-4, 3.408_291e-3, 5.095_569_5e-2, 1.852_083_2e-1, std::f32::consts::FRAC_2_SQRT_PI],
        );
        let q = polynomial(
            square,
            [
                -1.179_160_3e-7,
                2.354_796_6e-5,
                1.017_962_5e-3,
                1.407_047e-2,
                1.109_850_5e-1,
                4.974_692_5e-1,
                1.0,
            ],
        );
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

impl Functions for f64 {
    /// Within one unit of the last place: as for `f32`, with the polynomial of Taylor.
    #[inline(always)]
    fn exponential(self) -> f64 {
        const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
        const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;
        let x = self.clamp(-746.0, 710.0);
        let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUNDER);
        let n = rounded - ROUNDER;
        let r = n.mul_add(-LN_2_REST, n.mul_add(-std::f64::consts::LN_2, x));
        let coefficients = const {
            let (mut coefficients, mut factorial, mut k) = ([0.0; 12], 1.0, 2);
            while k < 14 {
                factorial *= k as f64;
                coefficients[13 - k] = 1.0 / factorial;
                k += 1;
            }
            coefficients
        };
        let p = polynomial(r, coefficients);
        let exponent = rounded.to_bits().wrapping_sub(ROUNDER.to_bits()) as i64;
        let half = exponent >> 1;
        let power = |exponent: i64| f64::from_bits((exponent.wrapping_add(1023) as u64) << 52);
        ((p * r).mul_add(r, r) + 1.0) * power(half) * power(exponent - half)
    }

    #[inline]
    fn natural_logarithm(self) -> f64 {
        self.ln()
    }

    #[inline]
    fn hyperbolic_tangent(self) -> f64 {
        self.tanh()
    }

    #[inline(always)]
    fn logistic(self) -> f64 {
        1.0 / (1.0 + (-self).exponential())
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
            fn natural_logarithm(self) -> Self {
                self.ln()
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
    fn double_exponentials_are_within_a_unit_of_the_last_place() {
        let error = |x: f64| (x.exponential() - x.exp()).abs() / x.exp();
        let largest = (-700_000..700_000).map(|i| error(f64::from(i) * 1.001e-3)).fold(0.0, f64::max);
        assert!(largest < 3e-16, "{largest}");
        assert_eq!([f64::INFINITY, 710.0, 1e300].map(f64::exponential), [f64::INFINITY; 3]);
        assert_eq!([f64::NEG_INFINITY, -746.0, -1e300].map(f64::exponential), [0.0; 3]);
        assert!((-740f64).exponential() > 0.0, "a subnormal number");
        assert!(f64::NAN.exponential().is_nan() && f64::exponential(0.0) == 1.0);
    }

    #[test]
    fn logarithms_are_within_a_unit_of_the_last_place() {
        let positive = (1..f32::INFINITY.to_bits()).step_by(1009).map(f32::from_bits);
        let error = |x: f32| {
            let want = f64::from(x).ln();
            (f64::from(x.natural_logarithm()) - want).abs() / want.abs().max(f64::from(f32::MIN_POSITIVE))
        };
        let largest = positive.map(error).fold(0.0, f64::max);
        assert!(largest < 1.3e-7, "{largest}");
        assert_eq!([0.0, -0.0].map(f32::natural_logarithm), [f32::NEG_INFINITY; 2]);
        assert_eq!((f32::INFINITY.natural_logarithm(), 1f32.natural_logarithm()), (f32::INFINITY, 0.0));
        for x in [-1.0, f32::NEG_INFINITY, f32::NAN, -f32::MIN_POSITIVE / 2.0] {
            assert!(x.natural_logarithm().is_nan());
        }
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
