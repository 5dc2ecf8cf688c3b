//! Functions of real and complex numbers; those of `f32` have no branches, so that loops over them vectorise.
//!
//! They use fused multiply-add: one instruction in the loops that are compiled for wide vectors, a call of the C
//! library elsewhere.

use num_complex::Complex;
use num_traits::Float;

use crate::number::{Divided, Number};

mod airy;
mod bessel;
mod circular;
mod complex;
mod conjugate;
mod error;
#[cfg(test)]
mod errors;
mod exponential;
mod gamma;
mod hyperbolic;
mod incomplete;
mod inverse;
mod logarithm;
mod modified_bessel;
mod normal;
mod power;
mod quotient;
mod registers;
mod remainder;
mod softplus;
mod tangent;
mod zeta;

pub use airy::airy_ai;
pub use bessel::{j0, j1, spherical_j0, y0, y1};
pub use circular::Circular;
use complex::Wide;
pub use complex::{ComplexFunctions, Root};
pub use conjugate::Conjugate;
pub use error::ErrorFunction;
use exponential::Power;
pub use gamma::Gamma;
pub use hyperbolic::Hyperbolic;
pub use incomplete::{lower_gamma, upper_gamma};
pub use inverse::{Coordinate, Inverse};
pub use modified_bessel::ModifiedBessel;
pub use normal::{log_probability, quantile, scaled_complement};
pub use power::Raised;
pub use quotient::Quotient;
#[cfg(target_arch = "x86_64")]
pub use registers::exponentials;
pub use registers::{
    BinaryLogarithm, ComplementaryError, DecimalLogarithm, Exponential, HyperbolicTangent, LogOdds,
    Logarithm, Registers, SquareRoot, Tangent,
};
pub use remainder::Divisible;
pub use softplus::softplus_of;
pub use tangent::Tangents;
pub use zeta::{hurwitz_zeta, zeta};

/// The functions in which kernels spend most of their time.
pub trait Functions: Sized {
    /// *e* to the power of `self`.
    fn exponential(self) -> Self;

    /// The natural logarithm.
    fn natural_logarithm(self) -> Self;

    /// The logarithm to base 2; an exact integer for powers of 2.
    fn binary_logarithm(self) -> Self;

    /// The logarithm to base 10.
    fn decimal_logarithm(self) -> Self;

    /// The hyperbolic tangent.
    fn hyperbolic_tangent(self) -> Self;

    /// `1 / (1 + exp(-x))`.
    fn logistic(self) -> Self;
}

/// Functions that stay precise where an exponential or the argument of a logarithm is near 1: `expm1` and `log1p`.
pub trait NearOne {
    /// `exp(self) - 1`.
    fn exponential_less_one(self) -> Self;

    /// `ln(1 + self)`.
    fn logarithm_of_one_more(self) -> Self;
}

/// Powers of two.
pub trait PowerOfTwo {
    /// Two to the power of `self`; exact for an integer.
    fn power_of_two(self) -> Self;
}

macro_rules! powers_of_two {
    ($($ty:ty),+) => { $(
        impl PowerOfTwo for $ty {
            #[inline(always)]
            fn power_of_two(self) -> $ty {
                Power::<$ty, _>::of_two(self).value()
            }
        }
    )+ };
}

powers_of_two!(f32, f64);

macro_rules! near_one {
    ($($ty:ty: $logarithms:path;)+) => { $(
        impl NearOne for $ty {
            #[inline(always)]
            fn exponential_less_one(self) -> $ty {
                Power::<$ty, _>::of(self).less_one().copysign(self) // zeros keep their sign
            }

            #[inline(always)]
            fn logarithm_of_one_more(self) -> $ty {
                $logarithms(self)
            }
        }
    )+ };
}

near_one! {
    f32: logarithm::single::of_one_more;
    f64: logarithm::double::of_one_more;
}

macro_rules! complex_near_one {
    ($($ty:ident),+) => { $(
        impl NearOne for Complex<$ty> {
            #[inline]
            fn exponential_less_one(self) -> Self {
                Self::narrow(complex::exp_m1(self.wide()))
            }

            #[inline]
            fn logarithm_of_one_more(self) -> Self {
                Self::narrow(complex::ln_1p(self.wide()))
            }
        }

        impl PowerOfTwo for Complex<$ty> {
            #[inline]
            fn power_of_two(self) -> Self {
                Self::narrow(complex::exp(self.wide() * std::f64::consts::LN_2))
            }
        }
    )+ };
}

complex_near_one!(f32, f64);

/// The value of a polynomial by Horner's rule, with the coefficient of the highest power first.
#[inline(always)]
fn polynomial<T: Float, const N: usize>(x: T, coefficients: [T; N]) -> T {
    let mut value = coefficients[0];
    for coefficient in &coefficients[1..] {
        value = value.mul_add(x, *coefficient);
    }
    value
}

impl Functions for f32 {
    #[inline(always)]
    fn exponential(self) -> f32 {
        Power::<f32, _>::of(self).value()
    }

    #[inline(always)]
    fn natural_logarithm(self) -> f32 {
        logarithm::single::natural(self)
    }

    #[inline(always)]
    fn binary_logarithm(self) -> f32 {
        logarithm::single::binary(self)
    }

    #[inline(always)]
    fn decimal_logarithm(self) -> f32 {
        logarithm::single::decimal(self)
    }

    #[inline(always)]
    fn hyperbolic_tangent(self) -> f32 {
        let double = 2.0 * self.abs();
        let double = if double > 20.0 { 20.0 } else { double }; // beyond this, the result is 1; NaN passes through
        let excess = Power::<f32, _>::of_usual(double).usual_less_one();
        (excess / (excess + 2.0)).copysign(self) // zeros keep their sign
    }

    #[inline(always)]
    fn logistic(self) -> f32 {
        1.0 / (1.0 + (-self).exponential())
    }
}

impl Functions for f64 {
    #[inline(always)]
    fn exponential(self) -> f64 {
        Power::<f64, _>::of(self).value()
    }

    #[inline(always)]
    fn natural_logarithm(self) -> f64 {
        logarithm::double::natural(self)
    }

    #[inline(always)]
    fn binary_logarithm(self) -> f64 {
        logarithm::double::binary(self)
    }

    #[inline(always)]
    fn decimal_logarithm(self) -> f64 {
        logarithm::double::decimal(self)
    }

    #[inline(always)]
    fn hyperbolic_tangent(self) -> f64 {
        let excess = (2.0 * self.abs()).min(64.0).exponential_less_one(); // beyond this, the result is 1
        let tangent = (excess / (excess + 2.0)).copysign(self);
        if self.is_nan() { self } else { tangent } // `min` drops NaN
    }

    #[inline(always)]
    fn logistic(self) -> f64 {
        1.0 / (1.0 + (-self).exponential())
    }
}

macro_rules! complex_functions {
    ($($ty:ty),+) => { $(
        impl Functions for Complex<$ty> {
            #[inline]
            fn exponential(self) -> Self {
                Self::narrow(complex::exp(self.wide()))
            }

            #[inline]
            fn natural_logarithm(self) -> Self {
                Self::narrow(complex::ln(self.wide()))
            }

            #[inline]
            fn binary_logarithm(self) -> Self {
                Self::narrow(complex::ln(self.wide()) * std::f64::consts::LOG2_E)
            }

            #[inline]
            fn decimal_logarithm(self) -> Self {
                Self::narrow(complex::ln(self.wide()) * std::f64::consts::LOG10_E)
            }

            #[inline]
            fn hyperbolic_tangent(self) -> Self {
                self.complex_hyperbolic_tangent()
            }

            #[inline]
            fn logistic(self) -> Self {
                Self::ONE.over((-self).exponential().plus(Self::ONE))
            }
        }
    )+ };
}

complex_functions!(f32, f64);

#[cfg(test)]
mod tests {
    use super::errors::{units, units_double, worse, worst};
    use super::*;

    /// The largest relative error, for arguments from -120 to 120.
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
        worst(inputs.filter(|x| want(f64::from(*x)).abs() > 1.2e-38).map(error))
    }

    #[test]
    fn exponentials_are_within_a_unit_of_the_last_place() {
        let error = largest_error(f32::exponential, f64::exp);
        assert!(error < 1.3e-7, "{error}");
    }

    #[test]
    fn double_exponentials_are_within_a_unit_of_the_last_place() {
        let error = |x: f64| (x.exponential() - x.exp()).abs() / x.exp();
        let largest = worst((-700_000..700_000).map(|i| error(f64::from(i) * 1.001e-3)));
        assert!(largest < 3e-16, "{largest}");
        assert_eq!([f64::INFINITY, 710.0, 1e300].map(f64::exponential), [f64::INFINITY; 3]);
        assert_eq!([f64::NEG_INFINITY, -746.0, -1e300].map(f64::exponential), [0.0; 3]);
        assert!((-740f64).exponential() > 0.0, "a subnormal number");
        assert!(f64::NAN.exponential().is_nan() && f64::exponential(0.0) == 1.0);
    }

    #[test]
    fn powers_of_two_are_within_a_unit_of_the_last_place() {
        let error = largest_error(f32::power_of_two, f64::exp2);
        assert!(error < 1.3e-7, "{error}");
        let error = |x: f64| (x.power_of_two() - x.exp2()).abs() / x.exp2();
        let largest = worst((-700_000..700_000).map(|i| error(f64::from(i) * 1.001e-3)));
        assert!(largest < 3e-16, "{largest}");
        assert!((-149..128).all(|n| (n as f32).power_of_two() == 2f64.powi(n) as f32));
        assert!((-1074..1024).all(|n| f64::from(n).power_of_two() == f64::from(n).exp2()));
        assert_eq!([f32::INFINITY, 128.0].map(f32::power_of_two), [f32::INFINITY; 2]);
        assert_eq!([f64::NEG_INFINITY, -1080.0].map(f64::power_of_two), [0.0; 2]);
        assert!(f32::NAN.power_of_two().is_nan() && f64::NAN.power_of_two().is_nan());
    }

    #[test]
    fn logarithms_are_within_a_unit_of_the_last_place() {
        let positive = (1..f32::INFINITY.to_bits()).step_by(1009).map(f32::from_bits);
        let error = |x: f32| {
            let want = f64::from(x).ln();
            (f64::from(x.natural_logarithm()) - want).abs() / want.abs().max(f64::from(f32::MIN_POSITIVE))
        };
        let largest = worst(positive.map(error));
        assert!(largest < 1.3e-7, "{largest}");
        assert_eq!([0.0, -0.0].map(f32::natural_logarithm), [f32::NEG_INFINITY; 2]);
        assert_eq!((f32::INFINITY.natural_logarithm(), 1f32.natural_logarithm()), (f32::INFINITY, 0.0));
        for x in [-1.0, f32::NEG_INFINITY, f32::NAN, -f32::MIN_POSITIVE / 2.0] {
            assert!(x.natural_logarithm().is_nan());
        }
    }

    /// The largest error in units of the last place, over as many arguments as a test has time for.
    fn largest_error_in_units(f: fn(f32) -> f32, want: fn(f64) -> f64) -> f64 {
        let all = (1..f32::INFINITY.to_bits()).step_by(1009).map(f32::from_bits);
        worst(all.flat_map(|x| [x, -x]).map(|x| units(f(x), want(f64::from(x)))))
    }

    #[test]
    fn more_functions_are_within_two_units_of_the_last_place() {
        for (name, error) in [
            ("expm1", largest_error_in_units(f32::exponential_less_one, f64::exp_m1)),
            ("log1p", largest_error_in_units(f32::logarithm_of_one_more, f64::ln_1p)),
            ("log2", largest_error_in_units(f32::binary_logarithm, f64::log2)),
            ("log10", largest_error_in_units(f32::decimal_logarithm, f64::log10)),
        ] {
            assert!(error < 2.0, "{name}: {error}");
        }
        for n in -126..128 {
            assert_eq!(2f32.powi(n).binary_logarithm(), n as f32);
        }
        assert_eq!(f32::from_bits(1).binary_logarithm(), -149.0);
        for f in [f32::exponential_less_one, f32::logarithm_of_one_more] {
            assert_eq!([f(0.0).to_bits(), f(-0.0).to_bits()], [0, 1 << 31]);
            assert!(f(f32::NAN).is_nan() && f(f32::INFINITY) == f32::INFINITY);
        }
        assert_eq!(f32::NEG_INFINITY.exponential_less_one(), -1.0);
        assert_eq!((-1f32).logarithm_of_one_more(), f32::NEG_INFINITY);
        assert!((-1.5f32).logarithm_of_one_more().is_nan());
    }

    #[test]
    fn more_double_functions_are_within_two_or_three_units_of_the_last_place() {
        let mut largest = [0f64; 6];
        for bits in (1..f64::INFINITY.to_bits()).step_by(19_999_999_999_999) {
            for x in [f64::from_bits(bits), -f64::from_bits(bits)] {
                let errors = [
                    units_double(x.natural_logarithm(), x.ln()),
                    units_double(x.exponential_less_one(), x.exp_m1()),
                    units_double(x.logarithm_of_one_more(), x.ln_1p()),
                    units_double(x.hyperbolic_tangent(), x.tanh()),
                    units_double(x.binary_logarithm(), x.log2()),
                    units_double(x.decimal_logarithm(), x.log10()),
                ];
                largest = std::array::from_fn(|k| worse(largest[k], errors[k]));
            }
        }
        assert!(largest.iter().all(|error| *error <= 3.0), "{largest:?}"); // including std's own error
        assert!((-4..23).all(|n| 10f64.powi(n).decimal_logarithm() == f64::from(n)));
        assert!((-1022..1024).all(|n| 2f64.powi(n).binary_logarithm() == f64::from(n)));
        assert!(f64::NAN.hyperbolic_tangent().is_nan() && (-0f64).hyperbolic_tangent().is_sign_negative());
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY].map(f64::hyperbolic_tangent), [1.0, -1.0]);
        assert_eq!([0.0, -0.0].map(f64::natural_logarithm), [f64::NEG_INFINITY; 2]);
        assert_eq!((f64::INFINITY.natural_logarithm(), 1f64.natural_logarithm()), (f64::INFINITY, 0.0));
        assert!((-1f64).natural_logarithm().is_nan() && f64::NAN.natural_logarithm().is_nan());
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
