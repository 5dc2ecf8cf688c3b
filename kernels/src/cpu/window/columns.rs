//! The pixels under each place of a window as columns of a matrix, and back.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "calls what is compiled for wider vectors"))]

use std::ops::Range;
use std::sync::OnceLock;

use smallvec::SmallVec;

use super::Axis;
#[cfg(target_arch = "x86_64")]
use crate::cpu::loops::is_wide;
use crate::cpu::number::Number;

/// How a window is put on an image of one to three dimensions.
pub(super) struct Columns {
    pub(super) image: Vec<i64>,
    pub(super) places: Vec<i64>,
    axes: Vec<Axis>,
    /// For each tap of the window but for its last dimension, and each line of places: where the line of pixels starts
    /// that it covers, if that is not outside. Found when needed: of tensors without memory the places are not counted.
    starts: OnceLock<Vec<Option<usize>>>,
}

impl Columns {
    pub(super) fn new(image: Vec<i64>, places: Vec<i64>, axes: Vec<Axis>) -> Self {
        Columns { image, places, axes, starts: OnceLock::new() }
    }

    fn starts(&self) -> &[Option<usize>] {
        self.starts.get_or_init(|| {
            let outer = &self.axes[..self.axes.len() - 1];
            let (taps, lines) = (outer.iter().map(|axis| axis.kernel).product::<i64>(), self.lines() as i64);
            (0..taps * lines).map(|i| self.line_start(outer, i % lines, i / lines)).collect()
        })
    }

    /// How many lines of places there are.
    pub(super) fn lines(&self) -> usize {
        self.places[..self.places.len() - 1].iter().product::<i64>() as usize
    }

    /// How many places a line has.
    pub(super) fn width(&self) -> usize {
        self.places[self.places.len() - 1] as usize
    }

    /// How many pixels the window covers.
    pub(super) fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.kernel).product::<i64>() as usize
    }

    /// How many pixels a channel of the image has.
    pub(super) fn plane(&self) -> usize {
        self.image.iter().product::<i64>() as usize
    }

    /// Whether the columns are the image itself.
    pub(super) fn is_plain(&self) -> bool {
        self.axes.iter().all(|axis| axis.kernel == 1 && axis.stride == 1 && axis.padding == 0)
    }

    /// Writes the columns of some lines of places: a row for each channel and tap of the window, of what lies there at
    /// every place. What is outside is zero.
    pub(super) fn unfold<T: Number>(
        &self,
        pixels: &[T],
        channels: usize,
        lines: Range<usize>,
        columns: &mut [T],
    ) {
        if self.keeps_width() {
            return self.unfold_shifted(pixels, channels, lines, columns);
        }
        let (width, count) = (self.width(), lines.len());
        self.each(channels, lines, |line| {
            let column = &mut columns[(line.row * count + line.place) * width..][..width];
            column[..line.range.start].fill(T::ZERO);
            column[line.range.end..].fill(T::ZERO);
            let column = &mut column[line.range];
            let Some(pixels) = pixels.get(line.pixel..) else { return };
            match line.step {
                1 => column.copy_from_slice(&pixels[..column.len()]),
                2 => every_second(pixels, column),
                step => column.iter_mut().zip(pixels.iter().step_by(step)).for_each(|(to, from)| *to = *from),
            }
        });
    }

    /// Whether the lines of places are as long as those of an image, one place for each pixel.
    fn keeps_width(&self) -> bool {
        self.axes.len() == 2
            && self.axes.iter().all(|axis| axis.stride == 1)
            && self.image[1] == self.places[1]
    }

    /// As [`unfold`](Self::unfold), of an image whose lines keep their width: then what a tap covers is the image itself,
    /// moved, but for the places at the edges.
    fn unfold_shifted<T: Number>(
        &self,
        pixels: &[T],
        channels: usize,
        lines: Range<usize>,
        columns: &mut [T],
    ) {
        self.each_shifted(columns, channels, lines, |tap, column, plane| {
            let pixels = &pixels[plane..];
            column[..tap.moved.start].fill(T::ZERO);
            column[tap.moved.end..].fill(T::ZERO);
            column[tap.moved.clone()].copy_from_slice(&pixels[tap.pixels.clone()]);
            tap.clear_edges(column);
        });
    }

    /// Adds the columns of some lines of places, which are overwritten, to the pixels they stand for.
    pub(super) fn fold<T: Number>(
        &self,
        columns: &mut [T],
        channels: usize,
        lines: Range<usize>,
        pixels: &mut [T],
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_wide() {
            // SAFETY: the processor has these features.
            return unsafe { self.fold_wide(columns, channels, lines, pixels) };
        }
        self.fold_any(columns, channels, lines, pixels);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn fold_wide<T: Number>(
        &self,
        columns: &mut [T],
        channels: usize,
        lines: Range<usize>,
        pixels: &mut [T],
    ) {
        self.fold_any(columns, channels, lines, pixels);
    }

    #[inline(always)]
    fn fold_any<T: Number>(&self, columns: &mut [T], channels: usize, lines: Range<usize>, pixels: &mut [T]) {
        if self.keeps_width() {
            return self.each_shifted(columns, channels, lines, |tap, column, plane| {
                let pixels = &mut pixels[plane..][tap.pixels.clone()];
                tap.clear_edges(column);
                let column = &column[tap.moved.clone()];
                pixels.iter_mut().zip(column).for_each(|(to, from)| *to = to.plus(*from));
            });
        }
        let (width, count) = (self.width(), lines.len());
        self.each(channels, lines, |line| {
            let column = &columns[(line.row * count + line.place) * width..][line.range];
            let Some(pixels) = pixels.get_mut(line.pixel..) else { return };
            match line.step {
                1 => pixels.iter_mut().zip(column).for_each(|(to, from)| *to = to.plus(*from)),
                step => {
                    pixels.iter_mut().step_by(step).zip(column).for_each(|(to, from)| *to = to.plus(*from));
                }
            }
        });
    }

    /// Calls a closure with each row of columns, what its tap covers, and where the channel's pixels start, if the lines of
    /// images keep their width.
    #[inline(always)]
    fn each_shifted<T>(
        &self,
        columns: &mut [T],
        channels: usize,
        lines: Range<usize>,
        mut f: impl FnMut(&Shifted, &mut [T], usize),
    ) {
        let taps: SmallVec<[Shifted; 9]> =
            (0..self.taps()).map(|tap| self.shifted(tap as i64, &lines)).collect();
        let len = lines.len() * self.image[1] as usize;
        for (channel, columns) in columns.chunks_exact_mut(taps.len() * len).take(channels).enumerate() {
            for (tap, column) in taps.iter().zip(columns.chunks_exact_mut(len)) {
                f(tap, column, channel * self.plane());
            }
        }
    }

    /// What a tap covers at some lines of places, if the lines of images keep their width.
    fn shifted(&self, tap: i64, lines: &Range<usize>) -> Shifted {
        let (width, plane) = (self.image[1], self.plane() as i64);
        let (start, count) = (lines.start as i64, lines.len() as i64);
        let offset = |axis: Axis, tap: i64| tap * axis.dilation - axis.padding;
        let down = offset(self.axes[0], tap / self.axes[1].kernel);
        let right = offset(self.axes[1], tap % self.axes[1].kernel);
        // The lines of places that cover a line of pixels.
        let first = (-start - down).clamp(0, count);
        let last = (self.image[0] - start - down).clamp(first, count);
        let shift = (start + down) * width + right;
        let from = (first * width).max(-shift).min(count * width);
        let to = (last * width).min(plane - shift).max(from);
        let pixel = if from < to { from + shift } else { 0 };
        let edge = if right < 0 { 0..(-right).min(width) } else { (width - right).max(0)..width };
        Shifted {
            moved: from as usize..to as usize,
            pixels: pixel as usize..(pixel + to - from) as usize,
            edge: edge.start as usize..edge.end as usize,
            lines: first as usize..last as usize,
            width: width as usize,
        }
    }

    /// Writes the places of one channel, as a window with one weight for each tap gives them: no matrix is needed.
    pub(super) fn slide<T: Number>(&self, pixels: &[T], weights: &[T], places: &mut [T]) {
        #[cfg(target_arch = "x86_64")]
        if is_wide() {
            // SAFETY: the processor has these features.
            return unsafe { self.slide_wide(pixels, weights, places) };
        }
        self.slide_any(pixels, weights, places);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn slide_wide<T: Number>(&self, pixels: &[T], weights: &[T], places: &mut [T]) {
        self.slide_any(pixels, weights, places);
    }

    #[inline(always)]
    fn slide_any<T: Number>(&self, pixels: &[T], weights: &[T], places: &mut [T]) {
        let width = self.width();
        places.fill(T::ZERO);
        self.each(1, 0..self.lines(), |line| {
            let places = &mut places[line.place * width..][line.range];
            let Some(pixels) = pixels.get(line.pixel..) else { return };
            let weight = weights[line.row];
            match line.step {
                1 => places.iter_mut().zip(pixels).for_each(|(to, from)| *to = to.plus(weight.times(*from))),
                step => {
                    let pixels = pixels.iter().step_by(step);
                    places.iter_mut().zip(pixels).for_each(|(to, from)| *to = to.plus(weight.times(*from)));
                }
            }
        });
    }

    /// Calls a closure with each tap of the window over each of some lines of places.
    #[inline(always)]
    fn each(&self, channels: usize, lines: Range<usize>, mut f: impl FnMut(Line)) {
        let last = self.axes.len() - 1;
        let (axis, width, all) = (self.axes[last], self.image[last], self.lines());
        let (taps, plane, starts) = (axis.kernel as usize, self.plane(), self.starts());
        let outer_taps = starts.len() / all;
        for channel in 0..channels {
            for tap in 0..outer_taps * taps {
                let first = (tap % taps) as i64 * axis.dilation - axis.padding;
                let range = axis.inside(first, width, self.places[last]);
                let offset = channel as i64 * plane as i64 + first + range.start as i64 * axis.stride;
                let starts = &starts[tap / taps * all..][lines.clone()];
                for (place, start) in starts.iter().enumerate() {
                    let is_inside = start.is_some() && !range.is_empty();
                    let range = if is_inside { range.clone() } else { 0..0 };
                    let pixel = start.map_or(0, |start| start as i64 + offset).max(0) as usize;
                    let row = channel * outer_taps * taps + tap;
                    f(Line { row, place, range, pixel, step: axis.stride as usize });
                }
            }
        }
    }

    /// The line of the image that a line of places covers with one line of the window, unless it is outside.
    fn line_start(&self, outer: &[Axis], mut line: i64, mut tap: i64) -> Option<usize> {
        let (mut start, mut step) = (0, self.image[outer.len()]);
        for (dim, axis) in outer.iter().enumerate().rev() {
            let (place, offset) = (line % self.places[dim], tap % axis.kernel);
            (line, tap) = (line / self.places[dim], tap / axis.kernel);
            let pixel = place * axis.stride - axis.padding + offset * axis.dilation;
            if !(0..self.image[dim]).contains(&pixel) {
                return None;
            }
            start += pixel * step;
            step *= self.image[dim];
        }
        Some(start as usize)
    }
}

/// Writes each second pixel, which vectorises where the step is known.
fn every_second<T: Number>(pixels: &[T], column: &mut [T]) {
    let Some((last, column)) = column.split_last_mut() else { return };
    *last = pixels[2 * column.len()];
    column.iter_mut().zip(pixels.as_chunks().0).for_each(|(to, [from, _])| *to = *from);
}

/// What a tap of the window covers of an image whose lines keep their width, at some lines of places.
struct Shifted {
    /// The places at which it covers pixels, but for those at the edges of lines, and these pixels of a channel.
    moved: Range<usize>,
    pixels: Range<usize>,
    /// The places of each of these lines at which it covers nothing.
    edge: Range<usize>,
    lines: Range<usize>,
    width: usize,
}

impl Shifted {
    fn clear_edges<T: Number>(&self, column: &mut [T]) {
        let lines = &mut column[self.lines.start * self.width..self.lines.end * self.width];
        for x in self.edge.clone() {
            lines.iter_mut().skip(x).step_by(self.width).for_each(|pixel| *pixel = T::ZERO);
        }
    }
}

/// One tap of the window over one line of places.
struct Line {
    /// The number of the tap, those of the channels before included.
    row: usize,
    /// The number of the line among those asked for.
    place: usize,
    /// Which of its places do not have the tap outside of the image.
    range: Range<usize>,
    /// The pixel under the first of these, and how far the next is.
    pixel: usize,
    step: usize,
}
