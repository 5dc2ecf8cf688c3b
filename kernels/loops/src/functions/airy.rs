//! The Airy function Ai, the one that decays for positive arguments, in double precision.
//!
//! It solves y'' = x y. Up to about 9 in magnitude it is the Taylor series at the nearest integer, whose terms follow
//! from the equation and from the value and slope there; further out it is the asymptotic series in inverse powers.

use std::f64::consts::{FRAC_PI_4, PI};

/// For larger arguments the function is smaller than any `f64`.
const VANISHES: f64 = 103.892;

/// The Airy function Ai; NaN at both infinities, as in PyTorch.
#[inline]
pub fn airy_ai(x: f64) -> f64 {
    if x.is_nan() || x.is_infinite() {
        f64::NAN
    } else if x > VANISHES {
        0.0
    } else if x.abs() <= FURTHEST + 0.5 {
        near(x)
    } else {
        far(x)
    }
}

/// The sum of the Taylor series at the nearest integer.
#[inline]
fn near(x: f64) -> f64 {
    let center = x.round().clamp(-FURTHEST, FURTHEST);
    let (step, (value, slope)) = (x - center, KNOWN[(center + FURTHEST) as usize]);
    let (mut terms, mut power) = ([value, slope, center * value / 2.0], step * step);
    let mut sum = value + slope * step + terms[2] * power;
    for k in 3..40 {
        // (k + 1) (k + 2) a[k + 2] = c a[k] + a[k - 1]
        let next = (center * terms[1] + terms[0]) / f64::from(k * (k - 1));
        power *= step;
        sum += next * power;
        terms = [terms[1], terms[2], next];
    }
    sum
}

#[inline]
fn far(x: f64) -> f64 {
    let size = x.abs();
    let zeta = 2.0 * size * size.sqrt() / 3.0;
    // Separate sums of the even and of the odd terms: signs alternate from term to term where the function decays, and
    // from pair to pair where it oscillates.
    let (mut sums, mut term) = ([1.0, 0.0], 1.0f64);
    for k in 1..40 {
        let number = f64::from(k);
        term *= (6.0 * number - 5.0) * (6.0 * number - 1.0) / (72.0 * number * zeta);
        let pair = if x < 0.0 && (k / 2) % 2 == 1 { -term } else { term };
        sums[k as usize % 2] += pair;
        if term < f64::EPSILON / 8.0 {
            break;
        }
    }
    let scale = 1.0 / (PI.sqrt() * size.sqrt().sqrt());
    if x > 0.0 {
        return (-zeta).exp() * scale / 2.0 * (sums[0] - sums[1]);
    }
    let angle = zeta + FRAC_PI_4;
    scale * (angle.sin() * sums[0] - angle.cos() * sums[1])
}

/// The largest integer, in magnitude, in the table [`KNOWN`].
const FURTHEST: f64 = 9.0;

/// The values and slopes at the integers from `-FURTHEST` to `FURTHEST`.
const KNOWN: [(f64, f64); 19] = [
    (-0.022133721547341403, -0.9756639809263316),
    (-0.0527050503563862, 0.9355609381983065),
    (0.18428083525050565, -0.7710081684101265),
    (-0.3291451736298231, 0.3459354872813429),
    (0.35076100902411433, 0.32719281855444315),
    (-0.07026553294928951, -0.7906285753685813),
    (-0.37881429367765806, 0.3145837692165988),
    (0.22740742820168558, 0.618259020741691),
    (0.5355608832923521, -0.01016056711664521),
    (0.3550280538878172, -0.2588194037928068),
    (0.13529241631288141, -0.1591474412967932),
    (0.03492413042327438, -0.05309038443365363),
    (0.006591139357460719, -0.011912976705951319),
    (0.0009515638512048018, -0.001958640950204179),
    (0.00010834442813607442, -0.0002474138908684625),
    (9.947694360252889e-06, -2.4765200397034955e-05),
    (7.492128863997167e-07, -2.008150894738792e-06),
    (4.6922076160992316e-08, -1.3414392979067865e-07),
    (2.47116843087249e-09, -7.480641389658946e-09),
];
