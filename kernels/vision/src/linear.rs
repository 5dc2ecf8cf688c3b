//! Linear pooling: each part of a box is a weighted sum of elements, of the same channel or of a channel of its own.
//!
//! So an operator is a list of elements with weights, and its gradient is the transpose of that map.

use torch_library::prelude::*;
use torch_library_aten::real::{Real, real};

use crate::bilinear::{Tap, inside};
use crate::parts::{fill, zeros};
use crate::regions::{Geometry, Region};

/// The most points that a box may have.
const POINTS: f64 = (1u64 << 24) as f64;

/// How a part of a box is computed from elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sum {
    /// The average of interpolated points in the part.
    Points { ratio: i64, aligned: bool, smallest: f64 },
    /// The average of the elements that the rounded part covers, without the last `edge` rows and columns of the image.
    Elements { edge: usize },
}

/// The channel of the input that a channel of the result is computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Channels {
    /// The same channel.
    Same,
    /// A channel of its own for each part.
    OfParts,
}

/// A pooling of boxes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pooling {
    pub(crate) geometry: Geometry,
    pub(crate) sum: Sum,
    pub(crate) channels: Channels,
}

impl Pooling {
    /// The channels of a result.
    ///
    /// # Errors
    /// A number of channels that is not divisible by the number of parts.
    pub(crate) fn output_channels(&self) -> Result<usize> {
        match self.channels {
            Channels::Same => Ok(self.geometry.channels),
            Channels::OfParts => self.geometry.channels_of_parts(),
        }
    }

    /// The channel that an element of the result comes from.
    pub(crate) fn channel(&self, channel: usize, part: usize) -> usize {
        match self.channels {
            Channels::Same => channel,
            Channels::OfParts => channel * self.geometry.parts() + part,
        }
    }

    /// For each part of a box, the elements that it is computed from; and what is added to them, which is zero or NaN.
    ///
    /// # Errors
    /// A box with too many points.
    fn taps<T: Real>(&self, region: &Region<T>) -> Result<(Vec<Vec<Tap<T>>>, T)> {
        let parts = (0..self.geometry.rows)
            .flat_map(|row| (0..self.geometry.columns).map(move |column| (row, column)));
        match self.sum {
            Sum::Points { ratio, aligned, smallest } => {
                let grid = Grid::new(&self.geometry, region, ratio, aligned, smallest)?;
                // As in torchvision, only the position-sensitive average of no points is zero divided by zero.
                let is_undefined = self.channels == Channels::OfParts && grid.down * grid.right == 0;
                let start = if is_undefined { T::nan() } else { T::zero() };
                Ok((parts.map(|(row, column)| grid.taps(row, column)).collect(), start))
            }
            Sum::Elements { edge } => {
                let taps = parts.map(|(row, column)| covered(&self.geometry, region, (row, column), edge));
                Ok((taps.collect(), T::zero()))
            }
        }
    }

    /// Computes the sums, box by box.
    ///
    /// # Errors
    /// The errors of [`taps`](Self::taps); too little memory.
    pub(crate) fn forward<T: Real>(&self, input: &[T], regions: &[Region<T>]) -> Result<Vec<T>> {
        let (geometry, channels) = (&self.geometry, self.output_channels()?);
        let (plane, part_count) = (geometry.plane(), geometry.parts());
        let mut output = zeros(T::zero(), &[regions.len(), channels, part_count])?;
        fill(&mut output, channels * part_count, |place, output| {
            let region = &regions[place];
            let (parts, start) = self.taps(region)?;
            let image = &input[region.image * geometry.channels * plane..];
            for (channel, output) in output.chunks_exact_mut(part_count).enumerate() {
                for (part, (output, taps)) in output.iter_mut().zip(&parts).enumerate() {
                    let elements = &image[self.channel(channel, part) * plane..][..plane];
                    *output = taps.iter().fold(start, |sum, (at, weight)| sum + elements[*at] * *weight);
                }
            }
            Ok(())
        })?;
        Ok(output)
    }

    /// Distributes the gradient of each sum to its elements, image by image.
    ///
    /// # Errors
    /// The errors of [`forward`](Self::forward).
    pub(crate) fn backward<T: Real>(&self, gradient: &[T], regions: &[Region<T>]) -> Result<Vec<T>> {
        let (geometry, channels) = (&self.geometry, self.output_channels()?);
        let (plane, part_count) = (geometry.plane(), geometry.parts());
        let mut input = zeros(T::zero(), &[geometry.images, geometry.channels, plane])?;
        fill(&mut input, geometry.channels * plane, |image, input| {
            for (place, region) in regions.iter().enumerate().filter(|(_, region)| region.image == image) {
                let (parts, _) = self.taps(region)?;
                let gradient = &gradient[place * channels * part_count..][..channels * part_count];
                for (channel, gradient) in gradient.chunks_exact(part_count).enumerate() {
                    for (part, (gradient, taps)) in gradient.iter().zip(&parts).enumerate() {
                        let elements = &mut input[self.channel(channel, part) * plane..][..plane];
                        taps.iter()
                            .for_each(|(at, weight)| elements[*at] = elements[*at] + *gradient * *weight);
                    }
                }
            }
            Ok(())
        })?;
        Ok(input)
    }
}

/// The points of a box.
struct Grid<T> {
    top: T,
    left: T,
    /// The height and width of a part.
    height: T,
    width: T,
    /// The number of points of a part along each axis.
    down: usize,
    right: usize,
    plane: (usize, usize),
}

impl<T: Real> Grid<T> {
    fn new(
        geometry: &Geometry,
        region: &Region<T>,
        ratio: i64,
        aligned: bool,
        smallest: f64,
    ) -> Result<Self> {
        let moved = real(if aligned { 0.5 } else { 0.0 });
        let (height, width) = (region.bottom - region.top, region.right - region.left);
        let parts = |len: T, parts: usize| len.max(real(smallest)) / real(parts as f64);
        let (height, width) = (parts(height, geometry.rows), parts(width, geometry.columns));
        let points =
            |len: T| if ratio > 0 { ratio as f64 } else { len.ceil().to_f64().unwrap_or(f64::NAN).max(0.0) };
        let (down, right) = (points(height), points(width));
        let all = down * right * geometry.parts() as f64;
        ensure!(
            all <= POINTS,
            Argument,
            "a box of {all} points, with bins of {height:?} × {width:?} elements, is too large"
        );
        Ok(Grid {
            top: region.top - moved,
            left: region.left - moved,
            height,
            width,
            down: down as usize,
            right: right as usize,
            plane: (geometry.height, geometry.width),
        })
    }

    fn taps(&self, row: usize, column: usize) -> Vec<Tap<T>> {
        let number = |number: usize| real::<T>(number as f64);
        let share = T::one() / number((self.down * self.right).max(1));
        let at = |start: T, part: usize, len: T, point: usize, points: usize| {
            start + number(part) * len + (number(point) + real(0.5)) * len / number(points)
        };
        let mut taps = Vec::with_capacity(4 * self.down * self.right);
        for down in 0..self.down {
            let y = at(self.top, row, self.height, down, self.down);
            for right in 0..self.right {
                let x = at(self.left, column, self.width, right, self.right);
                let around = inside(y, x, self.plane.0, self.plane.1).into_iter().flatten();
                taps.extend(around.map(|(at, weight)| (at, weight * share)));
            }
        }
        taps
    }
}

/// The elements that a part of a box covers, each with its weight in the average.
fn covered<T: Real>(
    geometry: &Geometry,
    region: &Region<T>,
    (row, column): (usize, usize),
    missing: usize,
) -> Vec<Tap<T>> {
    let (top, left) = (region.top.round(), region.left.round());
    let (bottom, right) = (region.bottom.round(), region.right.round());
    let span = |from: T, to: T, parts: usize, part: usize, len: usize| {
        let step = (to - from).max(T::one()) / real(parts as f64);
        let edge = |part: usize, round: fn(T) -> T| {
            let at = round(real::<T>(part as f64) * step) + from;
            at.max(T::zero()).min(real(len.saturating_sub(missing) as f64)).to_usize().unwrap_or_default()
        };
        edge(part, T::floor)..edge(part + 1, T::ceil)
    };
    let rows = span(top, bottom, geometry.rows, row, geometry.height);
    let columns = span(left, right, geometry.columns, column, geometry.width);
    let share = T::one() / real((rows.len() * columns.len()).max(1) as f64);
    rows.flat_map(|y| columns.clone().map(move |x| (y * geometry.width + x, share))).collect()
}
