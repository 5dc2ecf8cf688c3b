//! One spatial dimension of a grid: the pixels around a coordinate between -1 and 1, and the weight of each.
//!
//! Points are processed in blocks, in loops that vectorise.
#![expect(unsafe_code, reason = "converts numbers that are known to be integers")]

use std::ops::Div;

use crate::inlined::zip;
use crate::number::Number;

/// The number of points that are processed together. LLVM breaks up shorter arrays into single numbers.
pub(super) const BLOCK: usize = 64;

/// One number for each point of a block.
pub(super) type Points<T> = [T; BLOCK];

/// A type in which places are computed.
pub(super) trait Real: Number + PartialOrd + Div<Output = Self> {
    fn of(x: f64) -> Self;
    fn magnitude(self) -> Self;
    fn floor(self) -> Self;
    fn truncated(self) -> Self;
    /// The nearest integer, ties to even.
    fn nearest(self) -> Self;
    /// The integral part, of a number that has one.
    ///
    /// # Safety
    /// - The number is not NaN, and its integral part is an `i32`.
    unsafe fn index(self) -> i32;
}

macro_rules! real {
    ($($ty:ident)+) => { $(
        impl Real for $ty {
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $ty
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn floor(self) -> Self {
                $ty::floor(self)
            }
            #[inline(always)]
            fn truncated(self) -> Self {
                self.trunc()
            }
            #[inline(always)]
            fn nearest(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            unsafe fn index(self) -> i32 {
                // SAFETY: the caller vouches for an integral part that is an `i32`.
                unsafe { self.to_int_unchecked() }
            }
        }
    )+ };
}

real!(f32 f64);

/// The interpolation mode.
///
/// PyTorch: `GridSamplerInterpolation`.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Interpolation {
    /// Linear interpolation between two pixels.
    Linear,
    Nearest,
    /// Cubic interpolation between four pixels.
    Cubic,
}

impl Interpolation {
    /// The number of pixels that it reads in each spatial dimension.
    pub(super) fn taps(self) -> usize {
        match self {
            Interpolation::Nearest => 1,
            Interpolation::Linear => 2,
            Interpolation::Cubic => 4,
        }
    }
}

/// The padding mode: the values outside of the image.
///
/// PyTorch: `GridSamplerPadding`.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// A spatial dimension of the grid: how coordinates map to pixels.
#[derive(Clone, Copy)]
pub(super) struct Axis<T> {
    /// The number of pixels.
    pub(super) size: T,
    pub(super) outside: Outside,
    /// Whether -1 and 1 are the centres of the first and last pixel, or their outer edges.
    pub(super) align_corners: bool,
    /// Whether it belongs to an image. For images, places are rounded as in PyTorch's vectorised code, for volumes as
    /// in its scalar code; they differ at half a pixel.
    pub(super) is_of_image: bool,
}

/// The pixels that a block of points is interpolated from, `TAPS` for each.
pub(super) struct AxisTaps<T, const TAPS: usize> {
    /// The index of the pixel, or -1 if it is outside.
    pub(super) index: [Points<i32>; TAPS],
    pub(super) weight: [Points<T>; TAPS],
    /// The derivative of the weight with respect to the coordinate.
    pub(super) slope: [Points<T>; TAPS],
}

impl<T: Real> Axis<T> {
    /// The pixels for a block of points, for an interpolation with `TAPS` taps.
    #[inline(always)]
    pub(super) fn taps_of<const TAPS: usize>(&self, coordinates: &Points<T>) -> AxisTaps<T, TAPS> {
        let mut taps = AxisTaps {
            index: [[-1; BLOCK]; TAPS],
            weight: [[T::ONE; BLOCK]; TAPS],
            slope: [[T::ZERO; BLOCK]; TAPS],
        };
        let mut places = self.places(coordinates);
        let mut slopes = [self.steps(); BLOCK];
        match TAPS {
            1 => {
                self.turn_in(&mut places, &mut slopes);
                self.find(&places.map(T::nearest), &mut taps.index[0]);
            }
            2 => {
                self.turn_in(&mut places, &mut slopes);
                let below = places.map(T::floor);
                self.find(&below, &mut taps.index[0]);
                self.find(&below.map(|place| place.plus(T::ONE)), &mut taps.index[1]);
                for i in 0..BLOCK {
                    let above = places[i].minus(below[i]);
                    (taps.weight[0][i], taps.weight[1][i]) = (T::ONE.minus(above), above);
                    (taps.slope[0][i], taps.slope[1][i]) = (slopes[i].negated(), slopes[i]);
                }
            }
            _ => {
                let below = places.map(T::floor);
                for tap in 0..TAPS {
                    let offset = T::of(tap as f64 - 1.0);
                    let mut pixels = below.map(|place| place.plus(offset));
                    self.turn_in(&mut pixels, &mut [T::ONE; BLOCK]);
                    self.find(&pixels, &mut taps.index[tap]);
                    for i in 0..BLOCK {
                        let (weight, slope) = cubic(tap, places[i].minus(below[i]));
                        (taps.weight[tap][i], taps.slope[tap][i]) = (weight, slope.times(slopes[i]));
                    }
                }
            }
        }
        taps
    }

    /// The number of pixels per unit of the coordinate.
    fn steps(&self) -> T {
        let span = if self.align_corners { self.size.minus(T::ONE) } else { self.size };
        span / T::of(2.0)
    }

    #[inline(always)]
    fn places(&self, coordinates: &Points<T>) -> Points<T> {
        let (one, two, half, steps, size) = (T::ONE, T::of(2.0), T::of(0.5), self.steps(), self.size);
        let from_zero = coordinates.map(|x| x.plus(one));
        match (self.is_of_image, self.align_corners) {
            (true, true) => from_zero.map(|x| x.times(steps)),
            (true, false) => from_zero.map(|x| x.times(steps).minus(half)),
            (false, true) => from_zero.map(|x| (x / two).times(size.minus(one))),
            (false, false) => from_zero.map(|x| x.times(size).minus(one) / two),
        }
    }

    /// Moves places inside according to the padding mode, and multiplies slopes by the derivative of that movement.
    #[inline(always)]
    fn turn_in(&self, places: &mut Points<T>, slopes: &mut Points<T>) {
        if self.outside == Outside::Zeros {
            return;
        }
        if self.outside == Outside::Reflection {
            self.reflect(places, slopes);
        }
        let last = self.size.minus(T::ONE);
        for i in 0..BLOCK {
            let place = places[i];
            // NaN becomes the first pixel.
            let place = if place > T::ZERO { place } else { T::ZERO };
            slopes[i] = if (place > T::ZERO) & (place < last) { slopes[i] } else { T::ZERO };
            places[i] = if place < last { place } else { last };
        }
    }

    /// Reflects places between the first and the last pixel, or between their outer edges.
    #[inline(always)]
    fn reflect(&self, places: &mut Points<T>, slopes: &mut Points<T>) {
        let (low, twice) = match self.align_corners {
            true => (T::ZERO, self.size.minus(T::ONE).times(T::of(2.0))),
            false => (T::of(-0.5), self.size.times(T::of(2.0))),
        };
        if twice == T::ZERO {
            (*places, *slopes) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK]);
            return;
        }
        for i in 0..BLOCK {
            let from_low = places[i].minus(low);
            let distance = from_low.magnitude();
            let forth = distance.minus((distance / twice).truncated().times(twice));
            let back = twice.minus(forth);
            let turns = (forth > back) ^ (from_low < T::ZERO);
            places[i] = (if forth > back { back } else { forth }).plus(low);
            slopes[i] = if turns { slopes[i].negated() } else { slopes[i] };
        }
    }

    /// Integral places as indices.
    #[inline(always)]
    fn find(&self, places: &Points<T>, index: &mut Points<i32>) {
        for (index, place) in zip(index, places) {
            let is_inside = (*place >= T::ZERO) & (*place < self.size);
            let place = if is_inside { *place } else { T::ZERO };
            // SAFETY: at least 0, and less than the size as a `T`. That is the number of pixels, an `i32`
            // (`Sampling::new`), or rounded to the nearest `f32`: the next lower `f32` is less than the number of
            // pixels, too, which would have been rounded to it otherwise.
            let place = unsafe { place.index() };
            *index = if is_inside { place } else { -1 };
        }
    }
}

/// The weight of one of four pixels for a place that is `above` the second, and its slope.
#[inline(always)]
fn cubic<T: Real>(tap: usize, above: T) -> (T, T) {
    const BEND: f64 = -0.75;
    let of = T::of;
    let far = |x: T| {
        let weight = of(BEND)
            .times(x)
            .minus(of(5.0 * BEND))
            .times(x)
            .plus(of(8.0 * BEND))
            .times(x)
            .minus(of(4.0 * BEND));
        (weight, of(3.0 * BEND).times(x).minus(of(10.0 * BEND)).times(x).plus(of(8.0 * BEND)))
    };
    let near = |x: T| {
        let weight = of(BEND + 2.0).times(x).minus(of(BEND + 3.0)).times(x).times(x).plus(T::ONE);
        (weight, of(3.0 * (BEND + 2.0)).times(x).minus(of(2.0 * (BEND + 3.0))).times(x))
    };
    let below = |(weight, slope): (T, T)| (weight, slope.negated());
    match tap {
        0 => far(above.plus(T::ONE)),
        1 => near(above),
        2 => below(near(T::ONE.minus(above))),
        _ => below(far(of(2.0).minus(above))),
    }
}
