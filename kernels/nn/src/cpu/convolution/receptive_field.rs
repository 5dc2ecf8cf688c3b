//! The receptive field of a window: the pixels that its taps read, one spatial dimension at a time.

use std::ops::Range;

use super::Axis;

/// The direction that vectors run along.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Along {
    /// The channels of a result, which are all computed from the same pixels.
    Channels,
    /// The pixels of a line, for results with few channels.
    Lines,
    /// Channels each of which is computed from one input channel: depthwise groups.
    Groups,
}

/// The pixels of a line that the taps of a window read: row `i` of the result reads, by tap `j`, the pixel `row_step *
/// i + tap_step * j + first`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReceptiveField {
    pub(super) rows: usize,
    pub(super) taps: usize,
    pub(super) row_step: isize,
    tap_step: isize,
    first: isize,
    /// The number of pixels; outside of them everything is zero.
    size: usize,
    /// The distance between pixels: with a gap, there are zeros between them.
    gap: usize,
    /// The pixel of the result that the first row is, and the distance to the next row's.
    pub(super) of_row: [usize; 2],
    /// The tap of the window that the first tap here is, and the distance to the next one.
    pub(super) of_tap: [usize; 2],
}

/// The receptive fields of three spatial dimensions, of which the first may be missing.
#[derive(Clone, Copy)]
pub(super) struct ReceptiveFields {
    pub(super) each: [ReceptiveField; 3],
    /// The first spatial dimension that exists.
    pub(super) lead: usize,
}

impl ReceptiveField {
    /// The receptive field of a missing spatial dimension: one pixel.
    const ONE: ReceptiveField = ReceptiveField {
        rows: 1,
        taps: 1,
        row_step: 1,
        tap_step: 1,
        first: 0,
        size: 1,
        gap: 1,
        of_row: [0, 1],
        of_tap: [0, 1],
    };

    /// For a convolution: from the places of a window to the pixels under it.
    pub(super) fn of_places(axis: Axis, image: i64, places: i64) -> Self {
        ReceptiveField {
            rows: places as usize,
            taps: axis.kernel as usize,
            row_step: axis.stride as isize,
            tap_step: axis.dilation as isize,
            first: -axis.padding as isize,
            size: image as usize,
            ..ReceptiveField::ONE
        }
    }

    /// For a transposed convolution, one phase of the stride: from every `stride`-th pixel to the places whose windows
    /// cover it, by the taps that do.
    pub(super) fn of_pixels(axis: Axis, image: i64, places: i64, phase: i64) -> Self {
        let Axis { kernel, stride, padding, dilation } = axis;
        let place = |tap: i64| phase + padding - tap * dilation; // a multiple of the stride
        let mut taps = (0..kernel.min(stride)).filter(|tap| place(*tap) % stride == 0);
        let found = taps.next();
        let (first, period) =
            (found.unwrap_or(0), taps.next().map_or(stride, |next| next - found.unwrap_or(0)));
        ReceptiveField {
            rows: (image - phase + stride - 1).div_euclid(stride).max(0) as usize,
            taps: found.map_or(0, |first| (kernel - first + period - 1).div_euclid(period)) as usize,
            row_step: 1,
            tap_step: -(period * dilation / stride) as isize,
            first: place(first).div_euclid(stride) as isize,
            size: places as usize,
            gap: 1,
            of_row: [phase as usize, stride as usize],
            of_tap: [first as usize, period as usize],
        }
    }

    /// For a transposed convolution, all phases at once: from each pixel to the places whose windows cover it, by all
    /// taps, which read zeros between places.
    pub(super) fn of_all_pixels(axis: Axis, image: i64, places: i64) -> Self {
        ReceptiveField {
            rows: image as usize,
            taps: axis.kernel as usize,
            tap_step: -axis.dilation as isize,
            first: axis.padding as isize,
            size: places as usize,
            gap: axis.stride as usize,
            ..ReceptiveField::ONE
        }
    }

    /// The lowest pixel that a tap reads in row 0.
    pub(super) fn low(self) -> isize {
        self.first + (self.tap_step * (self.taps as isize - 1)).min(0)
    }

    /// The number of pixels from the first to the last that `rows` rows read.
    fn span(self, rows: usize) -> usize {
        let taps = self.tap_step.unsigned_abs() * self.taps.saturating_sub(1);
        self.row_step as usize * (rows - 1) + taps + 1
    }

    pub(super) fn is_inside(self) -> bool {
        self.gap == 1 && self.low() >= 0 && self.low() as usize + self.span(self.rows) <= self.size
    }

    /// The layout of a copy of the pixels that are read, which depends on whether vectors run along lines.
    pub(super) fn layout(self, along: Along) -> Layout {
        match self.taps * self.rows < self.span(self.rows) {
            _ if along == Along::Lines && self.row_step > 1 => Layout::TapByTap,
            true => Layout::RowByRow,
            false => Layout::Pixels,
        }
    }
}

/// The layout of a line of pixels in a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Layout {
    /// The line as it is.
    Pixels,
    /// For each row the pixels that its taps read, where there are others between them.
    RowByRow,
    /// For each tap the pixels that it reads in all rows, so that rows are contiguous.
    TapByTap,
}

/// Equidistant numbers.
#[derive(Clone, Copy)]
pub(super) struct Even {
    pub(super) first: usize,
    pub(super) step: isize,
    pub(super) count: usize,
}

impl Even {
    fn each(self) -> impl Iterator<Item = usize> + Clone {
        (0..self.count).map(move |i| (self.first as isize + i as isize * self.step) as usize)
    }

    /// Appends the sums of one number from each list; the last list varies fastest.
    pub(super) fn sums(base: usize, lists: [Even; 3], to: &mut Vec<usize>) {
        let [outer, middle, inner] = lists;
        for a in outer.each() {
            for b in middle.each() {
                to.extend(inner.each().map(|c| base + a + b + c));
            }
        }
    }
}

/// Equidistant pixels that are copied to equidistant places.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) to: usize,
    pub(super) from: usize,
    pub(super) step: usize,
    pub(super) len: usize,
    /// The distance between the places.
    pub(super) gap: usize,
}

impl Run {
    /// For each pixel, the place that it goes to and the one that it comes from.
    pub(super) fn each(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.len).map(|i| (self.to + i * self.gap, self.from + i * self.step))
    }
}

impl Layout {
    /// The distance between rows.
    pub(super) fn row_pitch(self, field: ReceptiveField) -> usize {
        match self {
            Layout::Pixels => field.row_step as usize,
            Layout::RowByRow => field.taps,
            Layout::TapByTap => 1,
        }
    }

    /// The positions of taps, relative to a row.
    pub(super) fn taps(self, field: ReceptiveField) -> Even {
        let (first, step) = match self {
            Layout::Pixels => ((field.first - field.low()) as usize, field.tap_step),
            Layout::RowByRow => (0, 1),
            Layout::TapByTap => (0, field.rows as isize),
        };
        Even { first, step, count: field.taps }
    }

    /// The number of elements that `rows` rows take in the copy.
    pub(super) fn extent(self, field: ReceptiveField, rows: usize) -> usize {
        if self == Layout::Pixels { field.span(rows) } else { rows * field.taps }
    }

    /// The runs of pixels that some rows read.
    pub(super) fn runs(self, field: ReceptiveField, rows: Range<usize>) -> Vec<Run> {
        let start = field.row_step * rows.start as isize;
        let run = |to: usize, first: isize, step: isize, count: usize| {
            let skipped = if first < 0 { (-first).unsigned_abs().div_ceil(step as usize) } else { 0 };
            let from = first + skipped as isize * step;
            let inside = (field.size as isize - from).max(0).unsigned_abs().div_ceil(step as usize);
            let len = inside.min(count.saturating_sub(skipped));
            let (from, step) = (from as usize, step as usize);
            (len > 0).then_some(Run { to: to + skipped, from, step, len, gap: 1 })
        };
        let at = |tap: usize| start + field.first + tap as isize * field.tap_step;
        match self {
            Layout::Pixels => {
                let (first, span) = (start + field.low(), field.span(rows.len()) as isize);
                let pixel = |place: isize| place.max(0).unsigned_abs().div_ceil(field.gap).min(field.size);
                let (from, end) = (pixel(first), pixel(first + span));
                let to = (from * field.gap).wrapping_add_signed(-first);
                let run = Run { to, from, step: 1, len: end - from, gap: field.gap };
                if run.len > 0 { vec![run] } else { Vec::new() }
            }
            Layout::TapByTap => {
                let tap = |tap| run(tap * field.rows, at(tap), field.row_step, rows.len());
                (0..field.taps).filter_map(tap).collect()
            }
            Layout::RowByRow => {
                let row = |row| (0..field.taps).map(move |tap| (row, tap));
                let one =
                    |(row, tap)| run(row * field.taps + tap, at(tap) + row as isize * field.row_step, 1, 1);
                (0..rows.len()).flat_map(row).filter_map(one).collect()
            }
        }
    }
}
