//! The normal distribution in double precision: its tails, which the error function does not resolve, and quantiles.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use super::ErrorFunction;
use super::error::{CENTRE, SIDE, TAIL, both, scaled_double};
use super::exponential::Power;

/// `erfcx(x) = exp(x²) erfc(x)`.
#[inline(always)]
pub fn scaled_complement(x: f64) -> f64 {
    if x < -27.0 {
        f64::INFINITY
    } else if x < 0.0 {
        let square = x * x;
        Power::<f64, _>::of(square).scaling(2.0, x.mul_add(x, -square)) - of_positive(-x)
    } else {
        of_positive(x)
    }
}

/// [`scaled_complement`] from zero up, and of NaN.
#[inline(always)]
fn of_positive(x: f64) -> f64 {
    if x > 30.0 {
        let half = 0.5 / (x * x);
        let series = 1.0 - half * (1.0 - 3.0 * half * (1.0 - 5.0 * half * (1.0 - 7.0 * half)));
        0.5 * FRAC_2_SQRT_PI / x * series
    } else {
        let [value, excess] = scaled_double(x); // NaN passes through
        excess.mul_add(value, value)
    }
}

/// The logarithm of the probability that a standard normal variable is below `x`.
#[inline(always)]
pub fn log_probability(x: f64) -> f64 {
    let place = x * FRAC_1_SQRT_2;
    if x < -1.0 {
        (0.5 * scaled_complement(-place)).ln() - 0.5 * x * x
    } else {
        (-0.5 * place.complementary_error_function()).ln_1p()
    }
}

/// The quantile of the standard normal distribution: the number that a variable is below with this probability, as in
/// AS 241.
#[inline(always)]
pub fn quantile(probability: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    let distance = probability - 0.5;
    if distance.abs() <= 0.425 {
        let [above, below] = both(0.180_625 - distance * distance, CENTRE);
        return distance * above / below;
    }
    let tail = if distance < 0.0 { probability } else { 1.0 - probability };
    let root = (-tail.ln()).sqrt();
    let [above, below] = if root <= 5.0 { both(root - 1.6, SIDE) } else { both(root - 5.0, TAIL) };
    let value = if tail == 0.0 { f64::INFINITY } else { above / below };
    value.copysign(distance)
}
