//! Elementary functions of complex numbers, within a few units of the last place of each part.
//!
//! `num_complex` goes through polar coordinates and textbook formulas, which cancel near the axes and overflow far from
//! zero. These functions follow Kahan ("Branch Cuts for Complex Elementary Functions", 1987), and C's `complex.h` at
//! infinities and zeros. All are computed in `f64`.

use std::f64::consts::{FRAC_PI_2, LN_2};

use num_complex::Complex;

type C = Complex<f64>;

/// From here on, 1 is nothing beside the number, and its square overflows only in the square of a square.
const FAR: f64 = 1e17;

/// The product, in which zero times infinity is zero.
fn times(a: f64, b: f64) -> f64 {
    if (a == 0.0 && b.is_infinite()) || (b == 0.0 && a.is_infinite()) {
        return 0f64.copysign(a.signum() * b.signum());
    }
    a * b
}

/// `exp(x) * factor`, whose exponential may overflow although the product does not.
fn grown(x: f64, factor: f64) -> f64 {
    const MOST: f64 = 700.0;
    if x > MOST && x.is_finite() {
        let half = (0.5 * x).exp();
        return times(half, times(half, factor));
    }
    times(x.exp(), factor)
}

pub(super) fn exp(z: C) -> C {
    if z.im == 0.0 {
        return Complex::new(z.re.exp(), z.im);
    }
    if z.re == f64::NEG_INFINITY {
        let (sin, cos) = if z.im.is_finite() { z.im.sin_cos() } else { (0.0, 0.0) };
        return Complex::new(0f64.copysign(cos), 0f64.copysign(sin));
    }
    if z.re == f64::INFINITY && !z.im.is_finite() {
        return Complex::new(f64::INFINITY, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    Complex::new(grown(z.re, cos), grown(z.re, sin))
}

/// The logarithm of the absolute value.
fn log_abs(z: C) -> f64 {
    let (most, least) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    if z.re.is_infinite() || z.im.is_infinite() {
        return f64::INFINITY;
    }
    if z.re.is_nan() || z.im.is_nan() {
        return f64::NAN; // the larger of NaN and a number would be the number
    }
    if (0.5..2.0).contains(&most) && least < 2.0 {
        // Near 1, where the logarithm of a rounded absolute value has few digits.
        let excess = (most - 1.0) * (most + 1.0) + least * least;
        return if excess > -0.5 { 0.5 * excess.ln_1p() } else { most.hypot(least).ln() };
    }
    // Scaled by a power of two where the absolute value would overflow, or be subnormal.
    if most > 1e300 {
        return (0.25 * most).hypot(0.25 * least).ln() + 2.0 * LN_2;
    }
    if most < 1e-290 && most > 0.0 {
        let scale = 2f64.powi(200);
        return (scale * most).hypot(scale * least).ln() - 200.0 * LN_2;
    }
    most.hypot(least).ln()
}

pub(super) fn ln(z: C) -> C {
    Complex::new(log_abs(z), z.im.atan2(z.re))
}

/// `ln(1 + z)`.
pub(super) fn ln_1p(z: C) -> C {
    let (x, y) = (z.re, z.im);
    // Near 1, `|1 + z|² - 1` is computed as `x * (2.0 + x) + y * y`, which does not cancel.
    let re = if x.hypot(y) < 0.5 {
        0.5 * (x * (2.0 + x) + y * y).ln_1p()
    } else {
        log_abs(Complex::new(1.0 + x, y))
    };
    Complex::new(re, y.atan2(1.0 + x))
}

/// `exp(z) - 1`, from the real function, so that nothing cancels in the real part. Infinities are those of PyTorch,
/// which has no cases for them.
pub(super) fn exp_m1(z: C) -> C {
    let half = (0.5 * z.im).sin();
    Complex::new(z.re.exp_m1() * z.im.cos() - 2.0 * half * half, z.re.exp() * z.im.sin())
}

pub(super) fn sqrt(z: C) -> C {
    let Complex { re: x, im: y } = z;
    if y.is_infinite() {
        return Complex::new(f64::INFINITY, y);
    }
    if x.is_infinite() && !y.is_nan() {
        let (far, near) = (f64::INFINITY, 0.0f64);
        return if x > 0.0 {
            Complex::new(far, near.copysign(y))
        } else {
            Complex::new(near, far.copysign(y))
        };
    }
    if x == 0.0 && y == 0.0 {
        return Complex::new(0.0, y);
    }
    // Scaled by a power of four where the absolute value would overflow, or be subnormal.
    let most = x.abs().max(y.abs());
    let (scale, root) = match most {
        most if most > 1e300 => (0.0625, 4.0),
        most if most < 1e-290 => (2f64.powi(200), 2f64.powi(-100)),
        _ => (1.0, 1.0),
    };
    let (x, y) = (scale * x, scale * y);
    let half = (0.5 * (x.abs() + x.hypot(y))).sqrt();
    let other = 0.5 * y.abs() / half;
    let (re, im) = if x >= 0.0 { (half, other) } else { (other, half) };
    Complex::new(root * re, (root * im).copysign(y))
}

pub(super) fn sinh(z: C) -> C {
    let (sin, cos) = if z.im == 0.0 { (z.im, 1.0) } else { z.im.sin_cos() };
    if z.re.is_infinite() && !z.im.is_finite() {
        return Complex::new(f64::INFINITY, f64::NAN);
    }
    if z.re.is_nan() && z.im == 0.0 {
        return z;
    }
    if z.re == 0.0 {
        return Complex::new(z.re.copysign(z.re.signum() * cos), sin);
    }
    if z.re.is_finite() && z.re.abs() > 22.0 {
        return Complex::new(
            grown(z.re.abs(), 0.5 * cos.copysign(cos * z.re.signum())),
            grown(z.re.abs(), 0.5 * sin),
        );
    }
    Complex::new(times(z.re.sinh(), cos), times(z.re.cosh(), sin))
}

pub(super) fn cosh(z: C) -> C {
    let (sin, cos) = if z.im == 0.0 { (z.im, 1.0) } else { z.im.sin_cos() };
    if z.re.is_infinite() && !z.im.is_finite() {
        return Complex::new(f64::INFINITY, f64::NAN);
    }
    if z.re.is_nan() && z.im == 0.0 {
        return z;
    }
    if z.re == 0.0 {
        return Complex::new(cos, z.re.copysign(z.re.signum() * sin));
    }
    if z.re.is_finite() && z.re.abs() > 22.0 {
        return Complex::new(
            grown(z.re.abs(), 0.5 * cos),
            grown(z.re.abs(), 0.5 * sin.copysign(sin * z.re.signum())),
        );
    }
    Complex::new(times(z.re.cosh(), cos), times(z.re.sinh(), sin))
}

/// Multiplied by the imaginary unit.
fn turned(z: C) -> C {
    Complex::new(-z.im, z.re)
}

/// Divided by the imaginary unit.
fn turned_back(z: C) -> C {
    Complex::new(z.im, -z.re)
}

pub(super) fn sin(z: C) -> C {
    turned_back(sinh(turned(z)))
}

pub(super) fn cos(z: C) -> C {
    cosh(turned(z))
}

fn is_far(z: C) -> bool {
    z.re.abs().max(z.im.abs()) > FAR
}

/// The square roots of `1 - z` and `1 + z`.
fn roots(z: C) -> [C; 2] {
    [sqrt(Complex::new(1.0 - z.re, -z.im)), sqrt(Complex::new(1.0 + z.re, z.im))]
}

/// The imaginary part of `conj(a) * b`.
fn cross(a: C, b: C) -> f64 {
    a.re * b.im - a.im * b.re
}

pub(super) fn asin(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return z;
    }
    if is_far(z) {
        return Complex::new(z.re.atan2(z.im.abs()), (log_abs(z) + LN_2).copysign(z.im));
    }
    let [less, more] = roots(z);
    Complex::new(z.re.atan2(less.re * more.re - less.im * more.im), libm::asinh(cross(less, more)))
}

pub(super) fn acos(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return Complex::new(FRAC_PI_2, z.im);
    }
    if is_far(z) {
        return Complex::new(z.im.abs().atan2(z.re), -(log_abs(z) + LN_2).copysign(z.im));
    }
    let [less, more] = roots(z);
    Complex::new(2.0 * less.re.atan2(more.re), libm::asinh(cross(more, less)))
}

pub(super) fn asinh(z: C) -> C {
    turned_back(asin(turned(z)))
}

pub(super) fn acosh(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return Complex::new(z.im, FRAC_PI_2);
    }
    if is_far(z) {
        return Complex::new(log_abs(z) + LN_2, z.im.atan2(z.re));
    }
    let (less, more) = (sqrt(Complex::new(z.re - 1.0, z.im)), sqrt(Complex::new(z.re + 1.0, z.im)));
    Complex::new(libm::asinh(less.re * more.re + less.im * more.im), 2.0 * less.im.atan2(more.re))
}

pub(super) fn atanh(z: C) -> C {
    if is_far(z) {
        let size = z.re.hypot(z.im);
        let re = if size.is_infinite() { 0f64.copysign(z.re) } else { z.re / size / size };
        return Complex::new(re, FRAC_PI_2.copysign(z.im));
    }
    let (x, y) = (z.re.abs(), z.im);
    let gap = 1.0 - x;
    let re = match gap {
        // Near the pole `y * y` would be zero.
        0.0 if y.abs() < 1e-100 => 0.5 * (LN_2 - y.abs().ln()),
        gap => 0.25 * (4.0 * x / (gap * gap + y * y)).ln_1p(),
    };
    Complex::new(re.copysign(z.re), 0.5 * (2.0 * y).atan2(gap * (1.0 + x) - y * y))
}

pub(super) fn atan(z: C) -> C {
    turned_back(atanh(turned(z)))
}

/// `exp(exponent * ln(base))`, as in C.
pub(super) fn pow(base: C, exponent: C) -> C {
    exp(exponent * ln(base))
}

/// Functions of complex numbers that real numbers have as methods of the standard library.
pub trait ComplexFunctions: Sized {
    /// The sine.
    #[must_use]
    fn complex_sine(self) -> Self;

    /// The cosine.
    #[must_use]
    fn complex_cosine(self) -> Self;

    /// The number to the power of another.
    #[must_use]
    fn complex_power(self, exponent: Self) -> Self;
}

/// The square root of a real or a complex number.
pub trait Root {
    /// The square root; of a complex number, the one whose real part is not negative.
    #[must_use]
    fn square_root(self) -> Self;
}

impl Root for f32 {
    #[inline(always)]
    fn square_root(self) -> f32 {
        self.sqrt()
    }
}

impl Root for f64 {
    #[inline(always)]
    fn square_root(self) -> f64 {
        self.sqrt()
    }
}

/// A complex number as one of `f64`, and back.
pub(super) trait Wide {
    fn wide(self) -> C;
    fn narrow(z: C) -> Self;
}

macro_rules! complex_functions {
    ($($ty:ty)+) => { $(
        impl Wide for Complex<$ty> {
            #[inline(always)]
            fn wide(self) -> C {
                Complex::new(self.re.into(), self.im.into())
            }

            #[inline(always)]
            fn narrow(z: C) -> Self {
                Complex::new(z.re as $ty, z.im as $ty)
            }
        }

        impl Root for Complex<$ty> {
            #[inline]
            fn square_root(self) -> Self {
                Self::narrow(sqrt(self.wide()))
            }
        }

        impl ComplexFunctions for Complex<$ty> {
            #[inline]
            fn complex_sine(self) -> Self {
                Self::narrow(sin(self.wide()))
            }

            #[inline]
            fn complex_cosine(self) -> Self {
                Self::narrow(cos(self.wide()))
            }

            #[inline]
            fn complex_power(self, exponent: Self) -> Self {
                Self::narrow(pow(self.wide(), exponent.wide()))
            }
        }
    )+ };
}

complex_functions!(f32 f64);

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_4, PI};

    use super::*;

    /// What PyTorch 2.15 computes of `complex128`: near branch cuts and poles, where formulas cancel or overflow.
    #[test]
    fn functions_have_all_digits_and_the_signs_of_c() {
        let rows = [
            (exp as fn(C) -> C, (f64::NEG_INFINITY, 1.0), (0.0, 0.0)),
            (exp, (f64::NEG_INFINITY, f64::INFINITY), (0.0, 0.0)),
            (exp, (710.0, 1.0), (1.2070325234545281e+308, f64::INFINITY)),
            (ln, (1.0, 0.0001), (4.9999999750000005e-09, 9.999999966666667e-05)),
            (ln, (1e+300, 1e+300), (691.1221014884936, FRAC_PI_4)),
            (ln, (3e-310, 2e-310), (-712.5189041494234, 0.5880026035475675)),
            (sqrt, (-1.0, 0.0), (0.0, 1.0)),
            (sqrt, (-1.0, 1e-10), (5e-11, 1.0)),
            (sqrt, (1e+300, 1e+300), (1.09868411346781e+150, 4.550898605622274e+149)),
            (sqrt, (3e-310, 2e-310), (1.8173540210239679e-155, 5.502505227003367e-156)),
            (sqrt, (f64::NEG_INFINITY, 1.0), (0.0, f64::INFINITY)),
            (sinh, (100.0, 0.0), (1.3440585709080678e+43, 0.0)),
            (sinh, (-100.0, 0.0), (-1.3440585709080678e+43, 0.0)),
            (sinh, (745.5, 3.0), (f64::NEG_INFINITY, f64::INFINITY)),
            (cosh, (710.0, 1.0), (6.035162617272641e+307, 9.399208879688905e+307)),
            (cosh, (100.0, 0.0), (1.3440585709080678e+43, 0.0)),
            (sin, (0.0, 100.0), (0.0, 1.3440585709080678e+43)),
            (cos, (0.0, 100.0), (1.3440585709080678e+43, -0.0)),
            (asin, (1e-08, 0.0), (1e-08, 0.0)),
            (asin, (0.0, 5000.0), (0.0, 9.210340381976183)),
            (asin, (2.0, 0.0), (FRAC_PI_2, 1.3169578969248166)),
            (asin, (2.0, -0.0), (FRAC_PI_2, -1.3169578969248166)),
            (asin, (1e+20, 1.0), (FRAC_PI_2, 46.74484904044086)),
            (acos, (5000.0, -5000.0), (0.7853981683974482, 9.556913962256155)),
            (acos, (-2.0, 0.0), (PI, -1.3169578969248166)),
            (acos, (0.7, -2.1), (1.27629212164896, 1.5273742561709232)),
            (atan, (0.0, 0.0001), (0.0, 0.00010000000033333334)),
            (atan, (0.0, 2.0), (FRAC_PI_2, 0.5493061443340549)),
            (atan, (1.0, f64::INFINITY), (FRAC_PI_2, 0.0)),
            (asinh, (-5000.0, 0.0), (-9.210340381976183, 0.0)),
            (asinh, (-1000000000.0, 0.0), (-21.416413017506358, 0.0)),
            (asinh, (-100.0, 0.5), (-5.298354863579654, 0.004999708365203948)),
            (acosh, (0.0, 1e-09), (1.0000000000000003e-09, FRAC_PI_2)),
            (acosh, (-2.0, 0.0), (1.3169578969248166, PI)),
            (atanh, (1e-09, 0.0), (9.999999999999999e-10, 0.0)),
            (atanh, (2.0, -0.0), (0.5493061443340549, -FRAC_PI_2)),
            (atanh, (1e+20, 1.0), (1e-20, FRAC_PI_2)),
            (atanh, (1.0, 1e-200), (230.60508288968455, FRAC_PI_4)),
            (ln_1p, (5000.0, -5000.0), (8.863866781695544, -0.7852981733967817)),
            (ln_1p, (1e+300, 1e+300), (691.1221014884936, FRAC_PI_4)),
            (ln_1p, (1e-20, 1e-30), (1e-20, 1e-30)),
            (exp_m1, (1e-08, 0.0), (1.0000000050000001e-08, 0.0)),
            (exp_m1, (-0.3, 1e-18), (-0.2591817793182821, 7.408182206817179e-19)),
        ];
        let is_near = |got: f64, want: f64| {
            let is_same = got == want && got.is_sign_negative() == want.is_sign_negative();
            is_same || got.is_nan() && want.is_nan() || (got - want).abs() <= 4e-15 * want.abs()
        };
        for (at, (function, z, want)) in rows.into_iter().enumerate() {
            let got = function(Complex::new(z.0, z.1));
            assert!(
                is_near(got.re, want.0) && is_near(got.im, want.1),
                "row {at}: {got:?}, expected {want:?}"
            );
        }
    }

    #[test]
    fn powers_of_zero_are_those_of_c() {
        assert_eq!(pow(C::ZERO, Complex::new(2.0, 0.0)), C::ZERO);
        assert!(pow(C::ZERO, C::ZERO).is_nan());
        let root = Complex::new(3e38f32, 3e38).square_root();
        assert!((root - Complex::new(1.902_976_7e19, 7.882_388e18)).norm() < 1e13, "{root}");
    }
}
