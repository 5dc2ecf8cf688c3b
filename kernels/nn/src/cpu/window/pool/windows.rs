//! The windows of one direction: which pixels each covers, and which of them are met together.

use std::ops::Range;

use torch_library::{Result, ensure};

use crate::composite::collected;
use crate::cpu::window::Axis;

/// A window at one place: its taps are equidistant pixels.
#[derive(Clone)]
pub(super) struct Window {
    /// Where the first tap is, which may be in the padding.
    start: i64,
    step: i64,
    /// Those that are not.
    taps: Range<i64>,
    /// How far it reaches, over padding too.
    pub(super) extent: i64,
}

impl Window {
    /// The only one of a direction that is not there.
    pub(super) const ONLY: Window = Window { start: 0, step: 1, taps: 0..1, extent: 1 };

    /// How many pixels it covers.
    pub(super) fn count(&self) -> i64 {
        self.taps.end - self.taps.start
    }

    /// The first of them, or where it would be.
    pub(super) fn first(&self) -> i64 {
        self.start + self.taps.start * self.step
    }

    /// All of them.
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

/// As many windows as there are to be places, next to each other; they overlap where they do not divide.
pub(super) fn shares(operator: &str, places: i64, size: i64) -> Result<Vec<Window>> {
    let [all, size] = [places, size].map(i128::from);
    collected(operator, places, |place| {
        let place = i128::from(place);
        let [start, end] =
            [place * size / all, ((place + 1) * size + all - 1) / all].map(|pixel| pixel as i64);
        Window { start, step: 1, taps: 0..end - start, extent: end - start }
    })
}

/// Pixels that windows meet one after the other: the same tap of some, or some taps of one.
#[derive(Clone, Copy)]
pub(super) struct Run {
    place: usize,
    /// How far apart the places are: none if they are the same.
    advance: usize,
    pixel: usize,
    stride: usize,
    len: usize,
}

impl Run {
    fn one(place: usize, pixel: i64) -> Self {
        Run { place, advance: 1, pixel: pixel as usize, stride: 1, len: 1 }
    }

    /// Appends a meeting, if it continues what there is.
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

    /// All meetings of a line of pixels: those of a place in the order of its taps.
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

    /// Calls a closure with each meeting: the elements of the place and of the pixel, and the pixel; one for each
    /// of the lanes.
    #[inline(always)]
    pub(super) fn each(&self, lanes: usize, mut f: impl FnMut(usize, usize, usize)) {
        let Run { place, advance, pixel, stride, len } = *self;
        match (advance, stride, lanes) {
            // Compiled for so many, so that they vectorise.
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
