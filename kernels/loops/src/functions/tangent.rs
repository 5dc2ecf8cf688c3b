//! The tangents of complex numbers.
//!
//! `num_complex` divides by `cos(2x) + cosh(2y)`, which loses digits near the poles and overflows far from the axis.

use num_complex::Complex;

/// The hyperbolic tangent, by Kahan's formula ("Branch Cuts for Complex Elementary Functions", 1987).
fn hyperbolic(z: Complex<f64>) -> Complex<f64> {
    /// From here on, the result differs from one by less than a unit of the last place.
    const FAR: f64 = 22.0;
    let Complex { re: x, im: y } = z;
    if !x.is_finite() && (x.is_nan() || !y.is_finite()) {
        let im = if x.is_nan() && y != 0.0 { f64::NAN } else { 0f64.copysign(y) };
        return Complex::new(if x.is_nan() { x } else { 1f64.copysign(x) }, im);
    }
    if !y.is_finite() {
        return Complex::new(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    if x.abs() >= FAR {
        let shrunk = (-x.abs()).exp();
        return Complex::new(1f64.copysign(x), 4.0 * y.sin() * y.cos() * shrunk * shrunk);
    }
    let (tangent, sinh) = (y.tan(), x.sinh());
    let (slope, square) = (1.0 + tangent * tangent, sinh * sinh);
    if slope.is_infinite() {
        return Complex::new((1.0 + square).sqrt() / sinh, tangent.recip());
    }
    let divisor = 1.0 + slope * square;
    Complex::new(slope * (1.0 + square).sqrt() * sinh / divisor, tangent / divisor)
}

/// The tangents of a complex number.
pub trait Tangents {
    /// The hyperbolic tangent, within a few units of the last place.
    #[must_use]
    fn complex_hyperbolic_tangent(self) -> Self;

    /// The tangent, within a few units of the last place.
    #[must_use]
    fn complex_tangent(self) -> Self;
}

macro_rules! tangents {
    ($($ty:ty)+) => { $(
        impl Tangents for Complex<$ty> {
            #[inline]
            fn complex_hyperbolic_tangent(self) -> Self {
                let Complex { re, im } = hyperbolic(Complex::new(self.re.into(), self.im.into()));
                Complex::new(re as $ty, im as $ty)
            }

            #[inline]
            fn complex_tangent(self) -> Self {
                // tan z = -i tanh(iz)
                let Complex { re, im } = Complex::new(-self.im, self.re).complex_hyperbolic_tangent();
                Complex::new(im, -re)
            }
        }
    )+ };
}

tangents!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(got: Complex<f64>, want: (f64, f64)) -> bool {
        let near = |got: f64, want: f64| (got - want).abs() <= 4.0 * f64::EPSILON * want.abs();
        near(got.re, want.0) && near(got.im, want.1)
    }

    #[test]
    fn tangents_have_all_digits() {
        let tan = |re, im| Complex::<f64>::new(re, im).complex_tangent();
        // Near a pole, where `cos(2x) + cosh(2y)` is a small difference.
        assert!(
            is_near(tan(1.5735470746072688, 0.0), (-363.5365893218073, 0.0)),
            "{}",
            tan(1.5735470746072688, 0.0)
        );
        assert!(is_near(tan(0.7, 0.0), (0.7f64.tan(), 0.0)));
        assert!(is_near(tan(0.0, -0.3), (0.0, (-0.3f64).tanh())));
        // (sin 2x + i sinh 2y) / (cos 2x + cosh 2y), which is precise here.
        let (x, y) = (1.1f64, 0.4f64);
        let divisor = (2.0 * x).cos() + (2.0 * y).cosh();
        assert!(is_near(tan(x, y), ((2.0 * x).sin() / divisor, (2.0 * y).sinh() / divisor)), "{}", tan(x, y));
        let near_pole = Complex::new(-7.84375f32, 0.0).complex_tangent();
        assert_eq!(near_pole, Complex::new(-97.732_69, 0.0));
    }

    #[test]
    fn far_from_the_axis_tangents_are_one() {
        for far in [60f32, 100.0, 1e30, f32::INFINITY] {
            assert_eq!(Complex::new(far, 1.0).complex_hyperbolic_tangent().re, 1.0, "{far}");
            assert_eq!(Complex::new(-far, 1.0).complex_hyperbolic_tangent().re, -1.0, "{far}");
            assert_eq!(Complex::new(1.0, far).complex_tangent().im, 1.0, "{far}");
        }
        assert!(Complex::new(f32::NAN, 1.0).complex_tangent().is_nan());
        assert!(Complex::new(1.0, f32::INFINITY).complex_hyperbolic_tangent().is_nan());
        assert_eq!(Complex::new(-0.0f32, 0.0).complex_hyperbolic_tangent().re.to_bits(), (-0.0f32).to_bits());
    }
}
