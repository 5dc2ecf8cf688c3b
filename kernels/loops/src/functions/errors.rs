//! Measuring the errors of functions, for tests.

/// The larger of two errors.
pub(super) use crate::number::larger as worse;

/// The distance of `got` from `want`, in units of the last place of `want`.
#[inline]
pub(super) fn units(got: f32, want: f64) -> f64 {
    if got == want as f32 || got.is_nan() && want.is_nan() {
        return 0.0;
    }
    let unit = (want as f32).abs().clamp(f32::MIN_POSITIVE, f32::MAX.next_down());
    (f64::from(got) - want).abs() / f64::from(unit.next_up() - unit)
}

/// Like [`units`], in double precision, where `want` itself may have an error.
#[inline]
pub(super) fn units_double(got: f64, want: f64) -> f64 {
    if got == want || got.is_nan() && want.is_nan() {
        return 0.0;
    }
    let unit = want.abs().clamp(f64::MIN_POSITIVE, f64::MAX.next_down());
    (got - want).abs() / (unit.next_up() - unit)
}

/// The largest error of a function, over as many arguments of all magnitudes as a test has time for, and more of them
/// between -32 and 32.
#[inline]
pub(super) fn largest(f: impl Fn(f32) -> f32, want: impl Fn(f64) -> f64) -> f64 {
    let all = (1..f32::INFINITY.to_bits()).step_by(16_001).map(f32::from_bits);
    let usual = (0..80_000).map(|i| i as f32 * 4e-4);
    let error = |x: f32| units(f(x), want(f64::from(x)));
    worst(all.chain(usual).flat_map(|x| [x, -x]).map(error))
}

/// Like [`largest`], in double precision.
#[inline]
pub(super) fn largest_double(f: impl Fn(f64) -> f64, want: impl Fn(f64) -> f64) -> f64 {
    let all = (1..f64::INFINITY.to_bits()).step_by(159_999_999_999_999).map(f64::from_bits);
    let usual = (0..80_000).map(|i| f64::from(i) * 4e-4);
    let error = |x: f64| units_double(f(x), want(x));
    worst(all.chain(usual).flat_map(|x| [x, -x]).map(error))
}

/// The largest error, or NaN if there is one.
#[inline]
pub(super) fn worst(errors: impl Iterator<Item = f64>) -> f64 {
    errors.fold(0.0, worse)
}

#[test]
#[inline]
fn an_error_that_is_no_number_is_the_worst() {
    for errors in [[f64::NAN, 1.0, 2.0], [1.0, f64::NAN, 2.0], [1.0, 2.0, f64::NAN]] {
        assert!(worst(errors.into_iter()).is_nan(), "{errors:?}");
    }
    assert_eq!(worst([1.0, 3.0, 2.0].into_iter()), 3.0);
    assert!(largest(|_| f32::NAN, f64::exp).is_nan() && largest_double(|_| f64::NAN, f64::exp).is_nan());
}
