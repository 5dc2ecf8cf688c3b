//! The windows of one spatial dimension: the pixels that each covers, and which of them loops process together.

use std::ops::Range;

use torch_library::{Result, ensure};

use crate::composite::collected;
use crate::cpu::axis::Axis;

/// A window at one place; its taps are equidistant pixels.
#[derive(Clone)]
pub(super) struct Window {
    /// The position of the first tap, which may be in the padding.
    start: i64,
    step: i64,
    /// The taps that are not in the padding.
    taps: Range<i64>,
    /// The extent of the window, padding included.
    pub(super) extent: i64,
}

impl Window {
    /// The only window of a missing spatial dimension.
    pub(super) const ONLY: Window = Window { start: 0, step: 1, taps: 0..1, extent: 1 };

    /// The number of pixels that it covers.
    pub(super) fn count(&self) -> i64 {
        self.taps.end - self.taps.start
    }

    /// The first pixel that it covers, or where that would be.
    pub(super) fn first(&self) -> i64 {
        self.start + self.taps.start * self.step
    }

    /// All pixels that it covers.
    #[inline(always)]
    pub(super) fn pixels(&self) -> impl Iterator<Item = usize> + use<> {
        let (start, step) = (self.start, self.step);
        self.taps.clone().map(move |tap| (start + tap * step) as usize)
    }
}

/// A window at each place of `size` pixels.
///
/// # Errors
/// No place for the window.
pub(super) fn sliding(operator: &str, axis: Axis, size: i64, over_edge: bool) -> Result<Vec<Window>> {
    let Axis { kernel, stride, padding, dilation } = axis;
    let places = if over_edge { axis.places_over_edge(size) } else { axis.places(size) };
    ensure!(
        places > 0,
        Shape,
        "{operator}: a window of {} does not fit a dimension of {size} with padding {padding}",
        axis.extent()
    );
    collected(operator, places, |place| {
        let start = place * stride - padding;
        let taps_up_to = |pixel: i64| (pixel - start).max(0).unsigned_abs().div_ceil(dilation as u64) as i64;
        let first = taps_up_to(0);
        let extent = (start + kernel).min(size + padding) - start;
        Window { start, step: dilation, taps: first..taps_up_to(size).clamp(first, kernel), extent }
    })
}

/// The windows of adaptive pooling: `places` adjacent windows, which overlap where their number does not divide the
/// size.
pub(super) fn shares(operator: &str, places: i64, size: i64) -> Result<Vec<Window>> {
    let [all, size] = [places, size].map(i128::from);
    collected(operator, places, |place| {
        let place = i128::from(place);
        let [start, end] =
            [place * size / all, ((place + 1) * size + all - 1) / all].map(|pixel| pixel as i64);
        Window { start, step: 1, taps: 0..end - start, extent: end - start }
    })
}

/// A run of pairs of a place and a pixel: the same tap of successive windows, or successive taps of one window.
#[derive(Clone, Copy)]
pub(super) struct Run {
    place: usize,
    /// The distance between the places: 0 if all pairs are of the same place.
    advance: usize,
    pixel: usize,
    stride: usize,
    len: usize,
}

impl Run {
    fn one(place: usize, pixel: i64) -> Self {
        Run { place, advance: 1, pixel: pixel as usize, stride: 1, len: 1 }
    }

    /// Appends a pair if it continues the run; returns whether it did.
    fn append(&mut self, place: usize, pixel: i64) -> bool {
        let (Some(advance), Some(stride)) =
            (place.checked_sub(self.place), (pixel as usize).checked_sub(self.pixel))
        else {
            return false;
        };
        if self.len == 1 && advance <= 1 {
            (self.advance, self.stride) = (advance, stride);
        }
        let continues = advance == self.len * self.advance && stride == self.len * self.stride;
        self.len += usize::from(continues);
        continues
    }

    /// The runs of all pairs in a line of pixels, in which the pairs of each place are in the order of its taps.
    pub(super) fn all(windows: &[Window]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut meet = |place: usize, tap: i64| {
            let window = &windows[place];
            let pixel = window.start + tap * window.step;
            if !runs.last_mut().is_some_and(|run| run.append(place, pixel)) {
                runs.push(Run::one(place, pixel));
            }
        };
        let taps = windows.iter().map(|window| window.taps.start).min().unwrap_or(0)
            ..windows.iter().map(|window| window.taps.end).max().unwrap_or(0);
        match windows.len() as i64 >= taps.end - taps.start {
            true => taps.for_each(|tap| {
                let met = windows.iter().enumerate().filter(|(_, window)| window.taps.contains(&tap));
                met.for_each(|(place, _)| meet(place, tap));
            }),
            false => windows.iter().enumerate().for_each(|(place, window)| {
                window.taps.clone().for_each(|tap| meet(place, tap));
            }),
        }
        runs
    }

    /// Calls a closure for each pair and each lane, with the element of the place, the element of the pixel, and the
    /// pixel.
    #[inline(always)]
    pub(super) fn each(&self, lanes: usize, mut f: impl FnMut(usize, usize, usize)) {
        let Run { place, advance, pixel, stride, len } = *self;
        match (advance, stride, lanes) {
            // The usual steps as constants, so that the loops vectorise.
            (1, 1, 1) => (0..len).for_each(|i| f(place + i, pixel + i, pixel + i)),
            (1, 2, 1) => (0..len).for_each(|i| f(place + i, pixel + 2 * i, pixel + 2 * i)),
            (0, 1, 1) => (0..len).for_each(|i| f(place, pixel + i, pixel + i)),
            _ => (0..len).for_each(|i| {
                let (place, pixel) = (place + i * advance, pixel + i * stride);
                (0..lanes).for_each(|lane| f(place * lanes + lane, pixel * lanes + lane, pixel));
            }),
        }
    }
}
