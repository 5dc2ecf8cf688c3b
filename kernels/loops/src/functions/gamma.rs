//! The logarithm of the gamma function and its first two derivatives, by Stirling's series.
//!
//! The series is for large arguments; smaller ones are first shifted up by the recurrence. Everything is computed in
//! double precision, whose digits are needed where the functions are near zero.

use std::f64::consts::PI;

use super::{Circular, Functions, polynomial};

/// The logarithm of the gamma function, and the derivatives of that logarithm.
pub trait Gamma {
    /// The logarithm of the magnitude of the gamma function.
    fn log_gamma(self) -> Self;

    /// The derivative of [`log_gamma`](Self::log_gamma).
    fn digamma(self) -> Self;

    /// The derivative of [`digamma`](Self::digamma), with PyTorch's digits, which are about ten; infinity at the poles,
    /// which are the integers up to 0.
    fn trigamma(self) -> Self;
}

impl Gamma for f32 {
    #[inline(always)]
    fn log_gamma(self) -> f32 {
        log_gamma(f64::from(self)) as f32
    }

    #[inline(always)]
    fn digamma(self) -> f32 {
        digamma(f64::from(self)) as f32
    }

    #[inline(always)]
    fn trigamma(self) -> f32 {
        trigamma(f64::from(self)) as f32
    }
}

impl Gamma for f64 {
    #[inline]
    fn log_gamma(self) -> f64 {
        libm::lgamma(self)
    }

    #[inline(always)]
    fn digamma(self) -> f64 {
        digamma(self)
    }

    #[inline(always)]
    fn trigamma(self) -> f64 {
        trigamma(self)
    }
}

/// `ln(2π) / 2`.
const HALF_LN_TURN: f64 = 0.918_938_533_204_672_7;

/// Stirling's series for `ln(gamma(x))`, times `x`, in powers of `1 / x²`: Bernoulli numbers with their factors, the
/// highest power first.
pub(super) const STIRLING: [f64; 8] = [
    -3_617.0 / 122_400.0,
    1.0 / 156.0,
    -691.0 / 360_360.0,
    1.0 / 1_188.0,
    -1.0 / 1_680.0,
    1.0 / 1_260.0,
    -1.0 / 360.0,
    1.0 / 12.0,
];

/// The shifts of the recurrence. (An array, since a loop over a range would not be compiled for wide vectors.)
const STEPS: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];

/// The logarithm of the gamma function, to 14 decimal places.
#[inline(always)]
fn log_gamma(x: f64) -> f64 {
    let size = x.abs();
    let is_small = size < 8.0;
    let z = if is_small { size + 8.0 } else { size };
    // gamma(size + 8) / gamma(size + 1)
    let mut product = 1.0;
    for step in &STEPS[..7] {
        product *= size + step;
    }
    let product = if is_small { product } else { 1.0 / size };
    let inverse = 1.0 / z;
    let series = polynomial(inverse * inverse, STIRLING).mul_add(inverse, HALF_LN_TURN);
    let stirling = (z - 0.5).mul_add(z.natural_logarithm() - 1.0, series - 0.5);
    // gamma(x) gamma(-x) = -π / (x sin(π x))
    let sine = sine_of_half_turns(size - size.round_ties_even()).abs();
    let is_negative = x < 0.0;
    let moved = (product * if is_negative { PI / sine } else { size }).natural_logarithm();
    let value = if is_negative { moved - stirling } else { stirling - moved };
    match (size == f64::INFINITY, x == 1.0 || x == 2.0) {
        (true, _) => size,
        (_, true) => 0.0, // exactly
        (false, false) => value,
    }
}

/// `sin(π x)` for `x` up to ½ in magnitude, by the polynomial with the smallest relative error.
#[inline(always)]
fn sine_of_half_turns(x: f64) -> f64 {
    let coefficients = [
        -2.109_974_015_279_667e-5,
        4.659_581_436_802_65e-4,
        -7.370_354_673_322_553e-3,
        8.214_587_721_753_343e-2,
        -5.992_645_286_894_078e-1,
        2.550_164_039_856_375_6,
        -5.167_712_780_049_703,
        PI,
    ];
    polynomial(x * x, coefficients) * x
}

#[inline(always)]
fn digamma(x: f64) -> f64 {
    let is_reflected = x < 0.0;
    let place = if is_reflected { 1.0 - x } else { x };
    let is_small = place < 10.0;
    let z = if is_small { place + 10.0 } else { place };
    // The sum of `1 / (place + k)` for `k` from 0 to 9, as one quotient.
    let (mut above, mut below) = (1.0, place);
    for step in &STEPS {
        let next = place + step;
        (above, below) = (next.mul_add(above, below), below * next);
    }
    let moved = if is_small { above / below } else { 0.0 };
    let coefficients =
        [1.0 / 12.0, -691.0 / 32_760.0, 1.0 / 132.0, -1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0];
    let inverse = 1.0 / z;
    let square = inverse * inverse;
    let series = polynomial(square, coefficients).mul_add(square, 0.5 * inverse);
    let value = z.natural_logarithm() - series - moved;
    let distance = x - x.round_ties_even();
    let reflected = value - PI / (PI * distance).tangent();
    match (x == 0.0, is_reflected, distance == 0.0) {
        (true, ..) => f64::INFINITY.copysign(-x),
        (false, true, true) => f64::NAN,
        (false, true, false) => reflected,
        (false, false, _) => value,
    }
}

/// With PyTorch's digits, which are about ten: six terms, and the asymptotic series with three Bernoulli numbers.
#[inline(always)]
fn trigamma(x: f64) -> f64 {
    const FAR: f64 = 1e20; // beyond this, the terms do not change the result, and their product may overflow
    let is_reflected = x < 0.5;
    let place = if is_reflected { 1.0 - x } else { x };
    // The sum of `1 / (place + k)²` for `k` from 0 to 5, as one quotient.
    let (mut above, mut below) = (1.0, place * place);
    for step in &STEPS[..5] {
        let next = (place + step) * (place + step);
        (above, below) = (next.mul_add(above, below), below * next);
    }
    let moved = if place < FAR { above / below } else { 0.0 };
    let inverse = 1.0 / (place + 6.0);
    let square = inverse * inverse;
    let series = square * polynomial(square, [1.0 / 42.0, -1.0 / 30.0, 1.0 / 6.0]);
    let value = (1.0 + 0.5 * inverse + series).mul_add(inverse, moved);
    let sine = sine_of_half_turns(x - x.round_ties_even());
    if is_reflected { PI * PI / (sine * sine) - value } else { value }
}

#[cfg(test)]
mod tests {
    use super::super::errors::{units, worse};
    use super::*;

    /// Arguments of all magnitudes, without negative ones near integers or near zeros of the function.
    #[test]
    fn logarithms_of_gamma_are_within_two_units_of_the_last_place() {
        let all = (1..f32::INFINITY.to_bits()).step_by(30_011).map(f32::from_bits);
        let usual = (1..30_000).map(|i| i as f32 * 1e-3);
        let near_one = (1..1000).flat_map(|i| [1.0 + i as f32 * 1.2e-7, 2.0 - i as f32 * 1.2e-7]);
        let mut worst = [0f64; 2];
        for x in all.chain(usual).chain(near_one) {
            worst[0] = worse(worst[0], units(x.log_gamma(), libm::lgamma(f64::from(x))));
            let want = libm::lgamma(f64::from(-x));
            if want.abs() > 1e-3 {
                worst[1] = worse(worst[1], units((-x).log_gamma(), want));
            }
        }
        assert!(worst.iter().all(|error| *error < 2.0), "{worst:?}");
    }

    #[test]
    fn special_values_are_those_of_the_c_library() {
        const INFINITY: f32 = f32::INFINITY;
        for x in [0.0, -0.0, -1.0, -7.0, -1e10, INFINITY, -INFINITY, 3e38, -1e-45] {
            let want = libm::lgammaf(x);
            assert!(units(x.log_gamma(), f64::from(want)) < 1.0, "{x}: {}, expected {want}", x.log_gamma());
        }
        assert!(f32::NAN.log_gamma().is_nan());
        assert_eq!([1f32.log_gamma(), 2f32.log_gamma()].map(|x| x.abs() < 1e-14), [true; 2]);
    }

    #[test]
    fn digamma_meets_known_values() {
        let near = |x: f64, want: f64| {
            assert!((x.digamma() - want).abs() < 1e-13 * want.abs().max(1.0), "{x}: {}", x.digamma());
        };
        near(1.0, -0.577_215_664_901_532_9);
        near(0.5, -1.963_510_026_021_423_5);
        near(-0.5, 0.036_489_973_978_576_52);
        near(9.999, 2.251_647_417_205_735_3);
        near(100.0, 4.600_161_852_738_087);
        assert!(
            (-1f64).digamma().is_nan() && f64::NAN.digamma().is_nan() && f64::NEG_INFINITY.digamma().is_nan()
        );
        assert_eq!(
            [0.0, -0.0, f64::INFINITY].map(f64::digamma),
            [f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY]
        );
        assert_eq!(0.5f32.digamma(), -1.963_51);
    }

    #[test]
    fn trigamma_has_pytorchs_digits() {
        let near = |x: f64, want: f64, error: f64| {
            let found = x.trigamma();
            assert!((found - want).abs() <= error * want, "{x}: {found}, expected {want}");
        };
        near(0.733385649055246, 2.632787947689362, 1e-14);
        near(3.345405606742738, 0.3479696803445905, 1e-14);
        near(-1.0887439588938208, 129.7069530900412, 1e-13);
        near(0.5, PI * PI / 2.0, 1e-8);
        near(-0.5, PI * PI / 2.0 + 4.0, 1e-8);
        near(1e-20, 1e40, 1e-14);
        near(1e20, 1e-20, 1e-14);
        near(1e200, 1e-200, 1e-14);
        assert_eq!(
            [0.0, -0.0, -3.0, f64::INFINITY].map(f64::trigamma),
            [f64::INFINITY, f64::INFINITY, f64::INFINITY, 0.0]
        );
        assert!(f64::NAN.trigamma().is_nan() && f64::NEG_INFINITY.trigamma().is_nan());
    }
}
