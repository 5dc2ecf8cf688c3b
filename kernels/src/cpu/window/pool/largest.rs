//! The largest element under each window of a plane, and where it is.
//!
//! An element and its pixel make one number, of which the largest is looked for: which element is the largest nobody can foretell,
//! and with a comparison for each the processor would guess, mostly wrong.

use torch_library::prelude::*;

use super::{Axis, Grid, Images};
use crate::cpu::number::{Number, Ordered};

/// Elements that can be looked for.
pub(super) trait Found: Ordered {
    /// An element and its pixel: larger where the element is, of equal elements at the first one, of several NaN at the last.
    type Rank: Ord + Copy;

    /// Less than each of them.
    const NOWHERE: Self::Rank;

    fn rank(self, pixel: u32) -> Self::Rank;

    fn pixel(rank: Self::Rank) -> u32;
}

/// For each type an unsigned integer that is larger for larger elements, largest for NaN if there is one, and one twice as wide.
macro_rules! found {
    ($($ty:ty as $order:ty, $rank:ty, has_nan: $has_nan:literal, |$element:ident| $order_of:expr;)+) => { $(
        impl Found for $ty {
            type Rank = $rank;
            const NOWHERE: $rank = 0;

            #[inline(always)]
            fn rank(self, pixel: u32) -> $rank {
                let $element = self;
                let (order, place) = match self.is_unordered() {
                    true => (<$order>::MAX, pixel),
                    false => ($order_of, !pixel),
                };
                <$rank>::from(order) << <$order>::BITS | <$rank>::from(place)
            }

            #[inline(always)]
            fn pixel(rank: $rank) -> u32 {
                let is_unordered = $has_nan && rank >> <$order>::BITS == <$rank>::from(<$order>::MAX);
                if is_unordered { rank as u32 } else { !(rank as u32) }
            }
        }
    )+ };
}

const SIGN_32: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;

found! {
    u8 as u32, u64, has_nan: false, |x| u32::from(x);
    i8 as u32, u64, has_nan: false, |x| i32::from(x) as u32 ^ SIGN_32;
    i16 as u32, u64, has_nan: false, |x| i32::from(x) as u32 ^ SIGN_32;
    i32 as u32, u64, has_nan: false, |x| x as u32 ^ SIGN_32;
    i64 as u64, u128, has_nan: false, |x| x as u64 ^ SIGN_64;
    f32 as u32, u64, has_nan: true, |x| {
        let bits = (x + 0.0).to_bits(); // both zeros are equal
        bits ^ if bits & SIGN_32 == 0 { SIGN_32 } else { u32::MAX }
    };
    f64 as u64, u128, has_nan: true, |x| {
        let bits = (x + 0.0).to_bits();
        bits ^ if bits & SIGN_64 == 0 { SIGN_64 } else { u64::MAX }
    };
}

/// What the windows of a grid cover, looked up once for all planes.
pub(super) struct Largest<'g> {
    grid: &'g Grid,
    rows: Vec<Span>,
    columns: Vec<Span>,
    /// How far apart the pixels under a window are.
    steps: [usize; 2],
}

/// What a window covers in one direction.
#[derive(Clone, Copy)]
struct Span {
    first: i64,
    taps: usize,
}

impl<'g> Largest<'g> {
    /// # Errors
    /// More pixels in a plane than are told apart.
    pub(super) fn new(operator: &str, grid: &'g Grid) -> Result<Self> {
        let [rows, columns] = grid.axes;
        let &Images { height, width, .. } = &grid.images;
        ensure!(
            u32::try_from(height.saturating_mul(width)).is_ok_and(|pixels| pixels < u32::MAX),
            NotSupported,
            "{operator}: images of {height} by {width} pixels; there is room for 2^32 - 2"
        );
        let spans = |axis: Axis, places: i64, size: i64| -> Vec<Span> {
            let span = |place| {
                let (first, end) = axis.reach(place, size);
                let taps = (end - first).max(0).unsigned_abs().div_ceil(axis.dilation as u64);
                Span { first, taps: taps as usize }
            };
            (0..places).map(span).collect()
        };
        Ok(Largest {
            grid,
            rows: spans(rows, grid.height, height),
            columns: spans(columns, grid.width, width),
            steps: [rows.dilation * width, columns.dilation].map(|step| step as usize),
        })
    }

    /// Writes the largest element under the window at each place, and its pixel; NaN counts as larger than all numbers. Where
    /// the window covers nothing, that is the least of all.
    pub(super) fn plane<T: Found>(&self, plane: &[T], out: &mut [T], pixels: &mut [i64]) {
        let (line, width) = (self.grid.images.width, self.columns.len());
        let lines = out.chunks_exact_mut(width).zip(pixels.chunks_exact_mut(width));
        for ((y, below), (out, pixels)) in self.rows.iter().enumerate().zip(lines) {
            for ((x, across), (out, pixel)) in self.columns.iter().enumerate().zip(out.iter_mut().zip(pixels))
            {
                let first = (below.first * line + across.first) as usize; // unused where nothing is covered
                let rank = match [below.taps, across.taps] {
                    [2, 2] => under(plane, first, self.steps, [2, 2]), // compiled for so many
                    [3, 3] => under(plane, first, self.steps, [3, 3]),
                    taps => under(plane, first, self.steps, taps),
                };
                (*out, *pixel) = match rank == T::NOWHERE {
                    true => (T::LOWEST, self.grid.start([y as i64, x as i64])),
                    false => (plane[T::pixel(rank) as usize], T::pixel(rank).into()),
                };
            }
        }
    }
}

/// The largest of so many rows and columns of elements that are so far apart.
#[inline(always)]
fn under<T: Found>(plane: &[T], first: usize, steps: [usize; 2], [rows, columns]: [usize; 2]) -> T::Rank {
    let mut largest = T::NOWHERE;
    for row in 0..rows {
        for column in 0..columns {
            let pixel = first + row * steps[0] + column * steps[1];
            largest = largest.max(plane[pixel].rank(pixel as u32));
        }
    }
    largest
}
