//! The regularised incomplete gamma functions, in double precision.
//!
//! # How it works
//!
//! The lower and the upper function add up to 1. The smaller one is computed, since that loses no digits; with the
//! *shape* `a` and the *place* `x`:
//! 1. where the place is near a large shape, by Temme's uniform expansion;
//! 2. below the shape, the lower function by its power series;
//! 3. above the shape, the upper function by its continued fraction, or by a series if shape and place are small.

use std::f64::consts::{SQRT_2, TAU};

use super::gamma::STIRLING;
use super::polynomial;

/// The probability that a gamma-distributed variable of this shape is below `place`; where it is undefined, PyTorch's
/// value.
#[inline]
pub fn lower_gamma(shape: f64, place: f64) -> f64 {
    match part(shape, place) {
        Part::Lower(part) => part,
        Part::Upper(part) => 1.0 - part,
    }
}

/// The probability that a gamma-distributed variable of this shape is above `place`.
#[inline]
pub fn upper_gamma(shape: f64, place: f64) -> f64 {
    match part(shape, place) {
        Part::Lower(part) => 1.0 - part,
        Part::Upper(part) => part,
    }
}

/// Which of the two functions was computed.
enum Part {
    Lower(f64),
    Upper(f64),
}

/// From this shape on, Temme's expansion is exact to double precision.
const LARGE: f64 = 50.0;

#[inline]
fn part(a: f64, x: f64) -> Part {
    // At the ends of the one argument, NaN in the other does not count.
    let has_none = a < 0.0 || x < 0.0 || a == 0.0 && (x == 0.0 || x.is_nan());
    if has_none || a.is_infinite() && x.is_infinite() {
        Part::Lower(f64::NAN)
    } else if a == 0.0 {
        Part::Upper(0.0)
    } else if x == 0.0 || a.is_infinite() {
        Part::Lower(0.0)
    } else if x.is_infinite() {
        Part::Upper(0.0)
    } else if a.is_nan() || x.is_nan() {
        Part::Lower(f64::NAN)
    } else if a >= LARGE && (x - a).abs() < 0.3 * a {
        near_shape(a, x)
    } else if x > 1.1 {
        if x < a { Part::Lower(by_powers(a, x)) } else { Part::Upper(by_fraction(a, x)) }
    } else if a > least_above_median(x) {
        Part::Lower(by_powers(a, x))
    } else {
        Part::Upper(by_small_powers(a, x))
    }
}

/// An estimate of the shape whose median is `x`, for `x` up to 1.1.
#[inline]
fn least_above_median(x: f64) -> f64 {
    if x < 0.5 { -0.4 / x.ln() } else { x / 1.1 }
}

/// `x^a exp(-x) / gamma(a + 1)`.
#[inline]
fn power(a: f64, x: f64) -> f64 {
    if a < 10.0 {
        let x = x.min(3_000.0); // the result is 0 there, and not infinity times 0
        let half = (-0.5 * x).exp();
        return x.powf(a) * half / libm::tgamma(a + 1.0) * half;
    }
    // The terms that cancel are removed first.
    let stirling = polynomial((a * a).recip(), STIRLING) / a;
    (-a * excess(a, x) - stirling).exp() / (TAU * a).sqrt()
}

/// `m - ln(1 + m)`, where `m = (x - a) / a` is the relative distance of the place from the shape.
#[inline]
fn excess(a: f64, x: f64) -> f64 {
    let distance = (x - a) / a;
    if distance.abs() > 0.4 {
        return distance - (x / a).ln();
    }
    // With r = m / (2 + m), this is m r - 2 (r³ / 3 + r⁵ / 5 + ..).
    let r = distance / (2.0 + distance);
    let odd = [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0].map(f64::recip);
    r * (distance - 2.0 * r * r * polynomial(r * r, odd))
}

/// The lower function, by its series of powers of the place over rising factorials of the shape.
#[inline]
fn by_powers(a: f64, x: f64) -> f64 {
    let (mut sum, mut term, mut at) = (1.0, 1.0, a);
    while term > sum * f64::EPSILON * 0.25 {
        at += 1.0;
        term *= x / at;
        sum += term;
    }
    power(a, x) * sum
}

/// The upper function, by Legendre's continued fraction, evaluated forwards by Lentz's method.
#[inline]
fn by_fraction(a: f64, x: f64) -> f64 {
    const LIMIT: u32 = 10_000; // steps; about fifty times the most that was observed
    let front = a * power(a, x);
    if front == 0.0 {
        return 0.0;
    }
    let mut below = x + 1.0 - a;
    let (mut c, mut d) = (f64::INFINITY, below.recip());
    let mut fraction = d;
    for step in (1..LIMIT).map(f64::from) {
        let above = step * (a - step);
        below += 2.0;
        d = (above * d + below).recip();
        c = below + above / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    front * fraction
}

/// The upper function for shapes and places up to about 1, by powers of the place.
#[inline]
fn by_small_powers(a: f64, x: f64) -> f64 {
    let (mut sum, mut power, mut step) = (0.0, 1.0, 0.0);
    loop {
        step += 1.0;
        power *= -x / step;
        let term = power / (a + step);
        sum += term;
        if term.abs() <= f64::EPSILON * sum.abs() {
            break;
        }
    }
    let exponent = a * x.ln() - log_gamma_of_one_more(a);
    -exponent.exp_m1() - a * exponent.exp() * sum
}

/// `ln(gamma(1 + a))`; for small `a` by the series at 1, since `1 + a` would lose its digits.
#[inline]
fn log_gamma_of_one_more(a: f64) -> f64 {
    if a > 0.01 {
        return libm::lgamma(1.0 + a);
    }
    // Values of the zeta function, each divided by its argument, and Euler's constant.
    let coefficients = [
        1.004_077_356_197_944_3 / 8.0,
        -1.008_349_277_381_922_8 / 7.0,
        1.017_343_061_984_449 / 6.0,
        -1.036_927_755_143_37 / 5.0,
        1.082_323_233_711_138_2 / 4.0,
        -1.202_056_903_159_594_2 / 3.0,
        1.644_934_066_848_226_4 / 2.0,
        -0.577_215_664_901_532_9,
    ];
    polynomial(a, coefficients) * a
}

/// Temme's expansion: the complementary error function, and a remainder in inverse powers of the shape.
#[inline]
fn near_shape(a: f64, x: f64) -> Part {
    let excess = excess(a, x);
    let distance = (2.0 * excess).sqrt().copysign(x - a);
    let of_power = |row: &[f64; POWERS]| row.iter().rev().fold(0.0, |sum, factor| sum * distance + factor);
    let rest = REST.iter().rev().fold(0.0, |sum, row| sum / a + of_power(row));
    let rest = rest * (-a * excess).exp() / (TAU * a).sqrt();
    let tail = 0.5 * libm::erfc(distance.abs() * a.sqrt() / SQRT_2);
    if x < a { Part::Lower(tail - rest) } else { Part::Upper(tail + rest) }
}

/// The number of powers of the distance in each row of [`REST`], which has `ORDERS` rows.
const POWERS: usize = 18;
const ORDERS: usize = 9;

/// The coefficients of the remainder, by the inverse power of the shape and by the power of the distance.
const REST: [[f64; POWERS]; ORDERS] = rest();

const fn rest() -> [[f64; POWERS]; ORDERS] {
    // Stirling's series for the reciprocal of the gamma function.
    const STIRLING: [f64; ORDERS] = [
        1.0,
        -1.0 / 12.0,
        1.0 / 288.0,
        139.0 / 51_840.0,
        -571.0 / 2_488_320.0,
        -163_879.0 / 209_018_880.0,
        5_246_819.0 / 75_246_796_800.0,
        534_703_531.0 / 902_961_561_600.0,
        -4_483_131_259.0 / 86_684_309_913_600.0,
    ];
    // Each order needs two more powers of the order before it.
    const ALL: usize = POWERS + 2 * ORDERS;
    let place = place_by_distance::<{ ALL + 2 }>();
    let mut first = [0.0; ALL];
    let mut n = 0;
    while n < ALL {
        first[n] = (n + 2) as f64 * place[n + 2];
        n += 1;
    }
    first[0] = -1.0 / 3.0;
    let (mut rest, mut order, mut row) = ([[0.0; POWERS]; ORDERS], 0, first);
    while order < ORDERS {
        let mut next = [0.0; ALL];
        let mut n = 0;
        while n < ALL {
            if n < POWERS {
                rest[order][n] = row[n];
            }
            if n + 2 < ALL && order + 1 < ORDERS {
                next[n] = STIRLING[order + 1] * first[n] + (n + 2) as f64 * row[n + 2];
            }
            n += 1;
        }
        (order, row) = (order + 1, next);
    }
    rest
}

/// The relative distance `m` of the place from the shape as a power series in the distance `d`, where `d² / 2 = m -
/// ln(1 + m)`.
const fn place_by_distance<const N: usize>() -> [f64; N] {
    let mut series = [0.0; N];
    series[1] = 1.0;
    let mut n = 2;
    while n < N {
        let (mut products, mut i) = (0.0, 2);
        while i < n {
            products += series[i] * series[n + 1 - i];
            i += 1;
        }
        series[n] = series[n - 1] / (n + 1) as f64 - 0.5 * products;
        n += 1;
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_are_those_of_the_literature() {
        let near = |x: f64, want: f64| assert!((x - want).abs() < 1e-13 * want.abs(), "{x}, expected {want}");
        near(REST[0][1], 1.0 / 12.0);
        near(REST[0][2], -2.0 / 135.0);
        near(REST[1][0], -1.0 / 540.0);
        near(REST[1][1], -1.0 / 288.0);
        near(REST[2][0], 25.0 / 6048.0);
        near(REST[2][1], -139.0 / 51_840.0);
    }

    #[test]
    fn both_parts_meet_known_values() {
        let known = [
            (0.5, 0.3, 0.5614219739190002, 0.4385780260809999),
            (2.5, 0.9, 0.12393159967534005, 0.8760684003246599),
            (1e-10, 0.4, 0.999999999929762, 7.023801188917297e-11),
            (0.003, 1.05, 0.9993924571656754, 0.0006075428343246686),
            (0.02, 3.0, 0.9997290302962196, 0.0002709697037804028),
            (7.0, 2.0, 0.004533805526248867, 0.9954661944737512),
            (7.0, 12.0, 0.9541776931113489, 0.045822306888651125),
            (45.0, 44.0, 0.4600209917001805, 0.5399790082998195),
            (60.0, 55.0, 0.2673009075695575, 0.7326990924304425),
            (60.0, 75.0, 0.9669265190886953, 0.033073480911304666),
            (1e5, 100_400.0, 0.8969356187469937, 0.10306438125300638),
            (1e5, 99_000.0, 0.0007574199211747679, 0.9992425800788253),
            (200.0, 100.0, 9.34315007298839e-19, 1.0),
            (200.0, 900.0, 1.0, 3.481098517199665e-176),
            (1e10, 1e10, 0.5000013298076014, 0.4999986701923987),
        ];
        let is_near = |x: f64, want: f64| (x - want).abs() < 1e-13 * want;
        for (a, x, lower, upper) in known {
            let found = (lower_gamma(a, x), upper_gamma(a, x));
            assert!(is_near(found.0, lower) && is_near(found.1, upper), "{a} {x}: {found:?}");
        }
    }

    #[test]
    fn parts_end_where_pytorchs_do() {
        const INFINITY: f64 = f64::INFINITY;
        for (a, x) in
            [(0.0, 0.0), (INFINITY, INFINITY), (-1.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::NAN)]
        {
            assert!(lower_gamma(a, x).is_nan() && upper_gamma(a, x).is_nan(), "{a} {x}");
        }
        for (a, x, lower) in [
            (0.0, 1.0, 1.0),
            (0.0, INFINITY, 1.0),
            (-0.0, 1.0, 1.0),
            (1.0, INFINITY, 1.0),
            (1.0, f64::MAX, 1.0),
        ] {
            assert_eq!([lower_gamma(a, x), upper_gamma(a, x)], [lower, 1.0 - lower], "{a} {x}");
        }
        for (a, x) in [(1.0, 0.0), (1.0, -0.0), (INFINITY, 0.0), (INFINITY, 1.0), (f64::MAX, 1.0)] {
            assert_eq!([lower_gamma(a, x), upper_gamma(a, x)], [0.0, 1.0], "{a} {x}");
        }
    }
}
