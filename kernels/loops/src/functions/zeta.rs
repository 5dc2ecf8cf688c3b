//! The Riemann and Hurwitz zeta functions, in double precision.

/// Like [`hurwitz_zeta`]; where that sum does not exist, PyTorch's value.
#[inline]
pub fn zeta(s: f64, x: f64) -> f64 {
    let is_pole = x <= 0.0 && x == x.floor();
    if s == 1.0 || is_pole && (s > 1.0 || s.is_nan()) {
        f64::INFINITY
    } else if s == f64::INFINITY && x <= 1.0 {
        if x < 1.0 { f64::INFINITY } else { 1.0 }
    } else if s > 1.0 && s.is_finite() && x.is_finite() && (x > 0.0 || s == s.floor()) {
        hurwitz_zeta(s, x)
    } else {
        f64::NAN
    }
}

/// The sum of `(x + k)^-s` over all integers `k` from 0: some terms, and the Euler-Maclaurin formula for the rest.
#[inline]
pub fn hurwitz_zeta(s: f64, x: f64) -> f64 {
    if x <= 0.0 && x == x.trunc() {
        return f64::INFINITY;
    }
    if x < 0.0 {
        // The terms with a positive base are a sum of their own. Those with a negative base are, up to their sign, a
        // full sum without the terms further from zero than `x`.
        let below = hurwitz_zeta(s, x.ceil() - x) - hurwitz_zeta(s, 1.0 - x);
        return hurwitz_zeta(s, x - x.floor()) + if s % 2.0 == 0.0 { below } else { -below };
    }
    let power = |x: f64| x.powf(-s);
    let (mut x, mut sum) = (x, 0.0);
    // Up to where the derivatives of the terms decrease, unless the terms become negligible before that.
    while x <= 12.0 + 2.0 * s {
        let term = power(x);
        sum += term;
        x += 1.0;
        if term <= sum * 1e-18 {
            return sum;
        }
    }
    // Bernoulli numbers over factorials.
    const SERIES: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
    ];
    let first = power(x);
    if first == 0.0 {
        return sum;
    }
    let (mut tail, mut factor) = (first * (x / (s - 1.0) + 0.5), first * s / x);
    for (k, coefficient) in SERIES.iter().enumerate() {
        tail += coefficient * factor;
        let at = s + 2.0 * k as f64;
        factor *= (at + 1.0) * (at + 2.0) / (x * x);
    }
    sum + tail
}
