//! Sines, cosines and tangents, without branches for angles of moderate size.

use super::polynomial;

/// Trigonometric functions.
///
/// # How it works
/// Argument reduction subtracts multiples of π/2 from the angle, with π/2 split into as many parts as the result needs
/// (Cody and Waite); fused multiply-add makes the first subtraction exact. The remainder goes through the polynomial of
/// the sine or the cosine. Adding `ROUNDER` leaves the number of quarter turns in the lowest bits.
pub trait Circular: Copy {
    /// Whether the angle is small enough for [`sine`](Self::sine) and the others. Larger angles, infinities and NaN
    /// need the standard library's functions, which use as many digits of π as the angle needs.
    fn is_moderate(self) -> bool;

    fn sine(self) -> Self;

    fn cosine(self) -> Self;

    fn tangent(self) -> Self;
}

const SIGN: u32 = 1 << 31;
const DOUBLE_SIGN: u64 = 1 << 63;

impl Circular for f32 {
    #[inline(always)]
    fn is_moderate(self) -> bool {
        self.abs() <= 65_536.0
    }

    #[inline(always)]
    fn sine(self) -> f32 {
        let sine = sine_after_quarters(self.abs(), 0);
        f32::from_bits(sine.to_bits() ^ (self.to_bits() & SIGN)) // zeros keep their sign
    }

    #[inline(always)]
    fn cosine(self) -> f32 {
        sine_after_quarters(self.abs(), 1)
    }

    /// Computed in double precision, since the quotient of two rounded numbers would have a larger error than either.
    #[inline(always)]
    fn tangent(self) -> f32 {
        const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
        let angle = f64::from(self.abs());
        let rounded = angle.mul_add(std::f64::consts::FRAC_2_PI, ROUNDER);
        let n = rounded - ROUNDER;
        let x = n.mul_add(-6.123_233_995_736_766e-17, n.mul_add(-std::f64::consts::FRAC_PI_2, angle));
        let square = x * x;
        let coefficients = [
            2.718_311_493_989_822e-6,
            -1.983_933_483_603_663_2e-4,
            8.333_329_385_889_463e-3,
            -1.666_666_664_162_652_4e-1,
        ];
        let sine = polynomial(square, coefficients).mul_add(square * x, x);
        let coefficients = [
            2.439_044_879_627_741_4e-5,
            -1.388_676_377_460_993e-3,
            4.166_662_332_373_906e-2,
            -4.999_999_972_510_31e-1,
        ];
        let cosine = polynomial(square, coefficients).mul_add(square, 1.0);
        let is_odd = rounded.to_bits() & 1 == 1;
        let tangent = (if is_odd { -cosine / sine } else { sine / cosine }) as f32;
        f32::from_bits(tangent.to_bits() ^ (self.to_bits() & SIGN))
    }
}

/// The sine of `angle` plus `quarters` quarter turns, within two units of the last place.
#[inline(always)]
fn sine_after_quarters(angle: f32, quarters: u32) -> f32 {
    const ROUNDER: f32 = 12_582_912.0; // 1.5 · 2^23
    let rounded = angle.mul_add(std::f32::consts::FRAC_2_PI, ROUNDER);
    let n = rounded - ROUNDER;
    let x = n.mul_add(4.371_139e-8, n.mul_add(-std::f32::consts::FRAC_PI_2, angle));
    let x = n.mul_add(1.715_124_5e-15, x);
    let square = x * x;
    let coefficients = [2.865_679_6e-6, -1.985_599_2e-4, 8.333_386e-3, -1.666_666_7e-1];
    let sine = polynomial(square, coefficients).mul_add(x * square, x);
    let coefficients = [2.446_770_7e-5, -1.388_773e-3, 4.166_665_7e-2, -0.5, 1.0];
    let cosine = polynomial(square, coefficients);
    let turns = rounded.to_bits().wrapping_add(quarters);
    let value = if turns & 1 == 0 { sine } else { cosine };
    f32::from_bits(value.to_bits() ^ (turns & 2) << 30)
}

impl Circular for f64 {
    #[inline(always)]
    fn is_moderate(self) -> bool {
        self.abs() <= 1_073_741_824.0
    }

    #[inline(always)]
    fn sine(self) -> f64 {
        let angle = DoubleAngle::of(self.abs());
        let sine = if angle.turns & 1 == 0 { angle.sine } else { angle.cosine };
        f64::from_bits(sine.to_bits() ^ (angle.turns & 2) << 62 ^ (self.to_bits() & DOUBLE_SIGN))
    }

    #[inline(always)]
    fn cosine(self) -> f64 {
        let angle = DoubleAngle::of(self.abs());
        let cosine = if angle.turns & 1 == 0 { angle.cosine } else { angle.sine };
        f64::from_bits(cosine.to_bits() ^ (angle.turns.wrapping_add(1) & 2) << 62)
    }

    #[inline(always)]
    fn tangent(self) -> f64 {
        let DoubleAngle { sine, cosine, turns } = DoubleAngle::of(self.abs());
        let (most, least) = if turns & 1 == 0 { (sine, cosine) } else { (-cosine, sine) };
        let tangent = most / least;
        f64::from_bits(tangent.to_bits() ^ (self.to_bits() & DOUBLE_SIGN))
    }
}

/// An angle, reduced: its number of quarter turns in the lowest bits of `turns`, and the sine and cosine of the
/// remainder.
struct DoubleAngle {
    turns: u64,
    sine: f64,
    cosine: f64,
}

impl DoubleAngle {
    /// Reduces an angle; sine and cosine are within one unit of the last place. The polynomials are those of fdlibm.
    #[inline(always)]
    fn of(angle: f64) -> Self {
        const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
        const QUARTER_REST: f64 = 6.123_233_995_736_766e-17;
        const QUARTER_LAST: f64 = -1.497_384_904_859_169_8e-33;
        let rounded = angle.mul_add(std::f64::consts::FRAC_2_PI, ROUNDER);
        let n = rounded - ROUNDER;
        let first = n.mul_add(-std::f64::consts::FRAC_PI_2, angle);
        let second = n * QUARTER_REST;
        let x = first - second;
        // The part of the reduced angle that `x` lacks: the rounding errors of each step, and the last digits of π/2.
        let rest = ((first - x) - second) - n.mul_add(QUARTER_LAST, n.mul_add(QUARTER_REST, -second));
        let square = x * x;
        let coefficients = [
            1.589_690_995_211_55e-10,
            -2.505_076_025_340_686_3e-8,
            2.755_731_370_707_007e-6,
            -1.984_126_982_985_795e-4,
            8.333_333_333_322_49e-3,
        ];
        let (cube, tail) = (square * x, polynomial(square, coefficients));
        let bent = cube.mul_add(tail, -0.5 * rest).mul_add(square, rest);
        let sine = x + cube.mul_add(-1.666_666_666_666_663_2e-1, bent);
        let coefficients = [
            -1.135_964_755_778_819_5e-11,
            2.087_572_321_298_175e-9,
            -2.755_731_435_139_066_3e-7,
            2.480_158_728_947_673e-5,
            -1.388_888_888_887_411e-3,
            4.166_666_666_666_66e-2,
        ];
        let half = 0.5 * square;
        let most = 1.0 - half;
        let cosine = most
            + (((1.0 - most) - half)
                + (square * square).mul_add(polynomial(square, coefficients), -x * rest));
        DoubleAngle { turns: rounded.to_bits(), sine, cosine }
    }
}

#[cfg(test)]
mod tests {
    use super::super::errors::{worse, worst};
    use super::*;

    /// The largest error in units of the last place, for angles up to the largest moderate one.
    fn largest_error(f: fn(f32) -> f32, want: fn(f64) -> f64) -> f64 {
        let small = (0..400_000).map(|i| i as f32 * 1e-4);
        let all = (0..65_536f32.to_bits()).step_by(997).map(f32::from_bits);
        let quarters = (1..41_000).flat_map(|n| {
            let nearest = (f64::from(n) * std::f64::consts::FRAC_PI_2) as f32;
            [nearest.next_down(), nearest, nearest.next_up()]
        });
        let error = |x: f32| {
            let (got, want) = (f64::from(f(x)), want(f64::from(x)));
            let unit = (want as f32).abs().max(f32::MIN_POSITIVE);
            (got - want).abs() / f64::from(unit.next_up() - unit)
        };
        worst(small.chain(all).chain(quarters).flat_map(|x| [x, -x]).map(error))
    }

    #[test]
    fn functions_of_angles_are_within_two_units_of_the_last_place() {
        for (name, error) in [
            ("sin", largest_error(Circular::sine, f64::sin)),
            ("cos", largest_error(Circular::cosine, f64::cos)),
            ("tan", largest_error(Circular::tangent, f64::tan)),
        ] {
            assert!(error < 2.0, "{name}: {error}");
        }
    }

    #[test]
    fn double_functions_of_angles_are_within_a_unit_or_two() {
        let error = |got: f64, want: f64| {
            let unit = want.abs().max(f64::MIN_POSITIVE);
            (got - want).abs() / (unit.next_up() - unit)
        };
        let small = (-500_000..500_000).map(|i| f64::from(i) * 1.001e-4);
        let large = (0..400_000).map(|i| f64::from(i) * 2683.957);
        let quarters = (1..100_000).map(|n| f64::from(n * 97) * std::f64::consts::FRAC_PI_2);
        let mut largest = [0f64; 3];
        for x in small.chain(large).chain(quarters).filter(|x| x.is_moderate()) {
            let errors = [error(x.sine(), x.sin()), error(x.cosine(), x.cos()), error(x.tangent(), x.tan())];
            largest = std::array::from_fn(|k| worse(largest[k], errors[k]));
        }
        // The bounds include the error of the standard library.
        assert!(largest[..2].iter().all(|error| *error < 1.6) && largest[2] < 2.6, "{largest:?}");
    }

    #[test]
    fn the_zeros_keep_their_signs_and_other_angles_are_not_moderate() {
        assert_eq!([0f32.sine().to_bits(), (-0f32).sine().to_bits()], [0, 1 << 31]);
        assert_eq!([0f32.tangent().to_bits(), (-0f32).tangent().to_bits()], [0, 1 << 31]);
        assert_eq!([0f64.sine().to_bits(), (-0f64).sine().to_bits()], [0, 1 << 63]);
        assert_eq!((0f32.cosine(), 0f64.cosine(), f32::MIN_POSITIVE.sine()), (1.0, 1.0, f32::MIN_POSITIVE));
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e6] {
            assert!(!x.is_moderate() && !f64::from(x * 1e4).is_moderate());
        }
    }
}
