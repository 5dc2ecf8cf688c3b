//! One direction of a grid: which pixels a coordinate between -1 and 1 lies among, and how much of each it takes.
//!
//! Some points are looked at together, in loops that become vectors.

use std::ops::Div;

use crate::inlined::zip;
use crate::number::Number;

/// How many points are looked at together.
pub(super) const BLOCK: usize = 16;

/// One number for each of these points.
pub(super) type Points<T> = [T; BLOCK];

/// A type that places are computed in.
pub(super) trait Real: Number + PartialOrd + Div<Output = Self> {
    fn of(x: f64) -> Self;
    fn magnitude(self) -> Self;
    fn floor(self) -> Self;
    fn truncated(self) -> Self;
    /// The nearest whole number, the even one of two.
    fn nearest(self) -> Self;
    fn index(self) -> i32;
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
            fn index(self) -> i32 {
                self as i32
            }
        }
    )+ };
}

real!(f32 f64);

/// What a point takes of the pixels around it.
///
/// PyTorch: `GridSamplerInterpolation`.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Interpolation {
    /// Its place on the line between two.
    Linear,
    Nearest,
    /// Its place on the curve through four.
    Cubic,
}

impl Interpolation {
    /// How many pixels it is, in each direction.
    pub(super) fn taps(self) -> usize {
        match self {
            Interpolation::Nearest => 1,
            Interpolation::Linear => 2,
            Interpolation::Cubic => 4,
        }
    }
}

/// What lies outside of the image.
///
/// PyTorch: `GridSamplerPadding`.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// How coordinates are meant.
#[derive(Clone, Copy)]
pub(super) struct Axis<T> {
    /// How many pixels there are.
    pub(super) size: T,
    pub(super) outside: Outside,
    /// Whether -1 and 1 are the middles of the first and last pixel, or their outer edges.
    pub(super) align_corners: bool,
    /// Images round on the way to a place as PyTorch's vectors do, volumes as its numbers do: at half a pixel it shows.
    pub(super) is_of_image: bool,
}

/// The pixels that some points meet: `TAPS` each.
pub(super) struct Met<T, const TAPS: usize> {
    /// Where the pixel is, -1 if nowhere.
    pub(super) index: [Points<i32>; TAPS],
    pub(super) share: [Points<T>; TAPS],
    /// How the share changes with the coordinate.
    pub(super) slope: [Points<T>; TAPS],
}

impl<T: Real> Axis<T> {
    /// What points meet, by the interpolation of so many taps.
    #[inline(always)]
    pub(super) fn meet<const TAPS: usize>(&self, coordinates: &Points<T>) -> Met<T, TAPS> {
        let mut met = Met {
            index: [[-1; BLOCK]; TAPS],
            share: [[T::ONE; BLOCK]; TAPS],
            slope: [[T::ZERO; BLOCK]; TAPS],
        };
        let mut places = self.places(coordinates);
        let mut slopes = [self.steps(); BLOCK];
        match TAPS {
            1 => {
                self.turn_in(&mut places, &mut slopes);
                self.find(&places.map(T::nearest), &mut met.index[0]);
            }
            2 => {
                self.turn_in(&mut places, &mut slopes);
                let below = places.map(T::floor);
                self.find(&below, &mut met.index[0]);
                self.find(&below.map(|place| place.plus(T::ONE)), &mut met.index[1]);
                for i in 0..BLOCK {
                    let above = places[i].minus(below[i]);
                    (met.share[0][i], met.share[1][i]) = (T::ONE.minus(above), above);
                    (met.slope[0][i], met.slope[1][i]) = (slopes[i].negated(), slopes[i]);
                }
            }
            _ => {
                let below = places.map(T::floor);
                for tap in 0..TAPS {
                    let offset = T::of(tap as f64 - 1.0);
                    let mut pixels = below.map(|place| place.plus(offset));
                    self.turn_in(&mut pixels, &mut [T::ONE; BLOCK]);
                    self.find(&pixels, &mut met.index[tap]);
                    for i in 0..BLOCK {
                        let (share, slope) = cubic(tap, places[i].minus(below[i]));
                        (met.share[tap][i], met.slope[tap][i]) = (share, slope.times(slopes[i]));
                    }
                }
            }
        }
        met
    }

    /// How many pixels a coordinate's unit is.
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

    /// Moves places inside, unless zeros are outside; slopes become what they are of the moved place.
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
            // NaN is the first pixel.
            let place = if place > T::ZERO { place } else { T::ZERO };
            slopes[i] = if (place > T::ZERO) & (place < last) { slopes[i] } else { T::ZERO };
            places[i] = if place < last { place } else { last };
        }
    }

    /// To and fro between the first and the last pixel, or their outer edges.
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

    /// Whole places as indices.
    #[inline(always)]
    fn find(&self, places: &Points<T>, index: &mut Points<i32>) {
        for (index, place) in zip(index, places) {
            let is_inside = (*place >= T::ZERO) & (*place < self.size);
            *index = if is_inside { place.index() } else { -1 };
        }
    }
}

/// The share of one of four pixels in a place that much above the second, and its slope.
#[inline(always)]
fn cubic<T: Real>(tap: usize, above: T) -> (T, T) {
    const BEND: f64 = -0.75;
    let of = T::of;
    let far = |x: T| {
        let share = of(BEND)
            .times(x)
            .minus(of(5.0 * BEND))
            .times(x)
            .plus(of(8.0 * BEND))
            .times(x)
            .minus(of(4.0 * BEND));
        (share, of(3.0 * BEND).times(x).minus(of(10.0 * BEND)).times(x).plus(of(8.0 * BEND)))
    };
    let near = |x: T| {
        let share = of(BEND + 2.0).times(x).minus(of(BEND + 3.0)).times(x).times(x).plus(T::ONE);
        (share, of(3.0 * (BEND + 2.0)).times(x).minus(of(2.0 * (BEND + 3.0))).times(x))
    };
    let below = |(share, slope): (T, T)| (share, slope.negated());
    match tap {
        0 => far(above.plus(T::ONE)),
        1 => near(above),
        2 => below(near(T::ONE.minus(above))),
        _ => below(far(of(2.0).minus(above))),
    }
}
