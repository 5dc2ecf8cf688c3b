//! Bessel functions in double precision: J and Y of order 0 and 1, which are those of `libm`.

/// The function `wave`, with NaN at the infinities.
#[inline]
fn finite(x: f64, wave: fn(f64) -> f64) -> f64 {
    if x.is_finite() { wave(x) } else { f64::NAN }
}

#[inline]
pub fn j0(x: f64) -> f64 {
    finite(x, libm::j0)
}

#[inline]
pub fn j1(x: f64) -> f64 {
    finite(x, libm::j1)
}

#[inline]
pub fn y0(x: f64) -> f64 {
    finite(x, libm::y0)
}

#[inline]
pub fn y1(x: f64) -> f64 {
    finite(x, libm::y1)
}

/// `sin(x) / x`.
#[inline]
pub fn spherical_j0(x: f64) -> f64 {
    match x {
        0.0 => 1.0,
        _ if x.is_infinite() => 0.0,
        _ => x.sin() / x,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_those_of_pytorch() {
        const INFINITY: f64 = f64::INFINITY;
        assert!([j0, j1, y0, y1].iter().all(|f| f(INFINITY).is_nan()));
        assert!([y0, y1].iter().all(|f| f(-1.0).is_nan() && f(f64::NAN).is_nan()));
        assert_eq!([y0, y1].map(|f| f(0.0)), [-INFINITY; 2]);
        assert_eq!(spherical_j0(-INFINITY), 0.0);
        assert_eq!([j0, j1, spherical_j0].map(|f| f(0.0)), [1.0, 0.0, 1.0]);
    }
}
