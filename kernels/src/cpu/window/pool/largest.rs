//! The largest element under each window of a plane, and where it is: several windows at a time, in the lanes of vectors.
#![expect(unsafe_code, reason = "runs what is compiled for the vectors that the processor has")]

use super::{Axis, Grid};
use crate::cpu::loops;
use crate::cpu::number::Ordered;

/// How many windows are looked at together: as many as the widest vectors hold of `float32`.
const LANES: usize = 16;

/// What the windows of a grid cover, looked up once for all planes.
pub(super) struct Largest {
    rows: Direction,
    columns: Direction,
    /// How many pixels a line has.
    line: usize,
    /// The places at which the window covers nothing, and the pixel that stands for that.
    uncovered: Vec<(usize, i64)>,
}

struct Direction {
    axis: Axis,
    /// What the window covers at each place.
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Default)]
struct Span {
    /// Where the first tap lies, inside or not.
    start: i64,
    /// The first and the last pixel under a tap.
    first: i64,
    last: i64,
}

impl Direction {
    fn new(axis: Axis, size: i64, places: i64) -> Self {
        let span = |place: i64| {
            let (first, end) = axis.reach(place, size);
            match first < end {
                true => Span {
                    start: place * axis.stride - axis.padding,
                    first,
                    last: first + (end - 1 - first) / axis.dilation * axis.dilation,
                },
                false => Span::default(), // it covers nothing
            }
        };
        Direction { axis, spans: (0..places).map(span).collect() }
    }

    /// Where a tap lies. One outside stands for its neighbour inside, which so is met twice in succession: that changes neither
    /// the largest element nor which of several equal ones, or of several NaN, is found.
    #[inline(always)]
    fn pixel(&self, span: Span, tap: usize) -> usize {
        (span.start + tap as i64 * self.axis.dilation).max(span.first).min(span.last) as usize
    }

    fn taps(&self) -> usize {
        self.axis.kernel as usize
    }
}

impl Largest {
    pub(super) fn new(grid: &Grid) -> Self {
        let mut uncovered = Vec::new();
        grid.places(|place, window| {
            if !grid.covers(window) {
                uncovered.push((place, grid.start(window)));
            }
        });
        let [rows, columns] = grid.axes;
        Largest {
            rows: Direction::new(rows, grid.images.height, grid.height),
            columns: Direction::new(columns, grid.images.width, grid.width),
            line: grid.images.width as usize,
            uncovered,
        }
    }

    /// Writes the largest element under the window at each place, and its pixel; NaN counts as larger than all numbers.
    pub(super) fn plane<T: Ordered>(&self, plane: &[T], out: &mut [T], pixels: &mut [i64]) {
        for (n, (out, pixels)) in out.chunks_mut(LANES).zip(pixels.chunks_mut(LANES)).enumerate() {
            self.run(n * LANES, plane, out, pixels);
        }
        for &(place, pixel) in &self.uncovered {
            (out[place], pixels[place]) = (T::LOWEST, pixel);
        }
    }

    /// [`lanes`](Self::lanes) on the widest vectors.
    fn run<T: Ordered>(&self, first: usize, plane: &[T], out: &mut [T], pixels: &mut [i64]) {
        #[cfg(target_arch = "x86_64")]
        if loops::is_widest() {
            // SAFETY: the processor has these features.
            return unsafe { self.run_widest(first, plane, out, pixels) };
        } else if loops::is_wide() {
            // SAFETY: as above.
            return unsafe { self.run_wide(first, plane, out, pixels) };
        }
        self.lanes(first, plane, out, pixels);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn run_wide<T: Ordered>(&self, first: usize, plane: &[T], out: &mut [T], pixels: &mut [i64]) {
        self.lanes(first, plane, out, pixels);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
    fn run_widest<T: Ordered>(&self, first: usize, plane: &[T], out: &mut [T], pixels: &mut [i64]) {
        self.lanes(first, plane, out, pixels);
    }

    /// The places from `first` on, no more than there are lanes. Which element is the largest nobody can foretell, so there are
    /// no branches; what is kept of it is the number of its tap, as wide as most elements, for vectors do not mix widths well.
    #[inline(always)]
    fn lanes<T: Ordered>(&self, first: usize, plane: &[T], out: &mut [T], pixels: &mut [i64]) {
        let (count, width) = (out.len(), self.columns.spans.len());
        let (mut below, mut across) = ([Span::default(); LANES], [Span::default(); LANES]);
        for (lane, place) in (first..first + count).enumerate() {
            (below[lane], across[lane]) = (self.rows.spans[place / width], self.columns.spans[place % width]);
        }
        let pixel = |lane: usize, row: usize, column: usize| {
            self.rows.pixel(below[lane], row) * self.line + self.columns.pixel(across[lane], column)
        };
        let (mut largest, mut found) = ([T::LOWEST; LANES], [0_u32; LANES]);
        let (mut elements, mut tap) = ([T::LOWEST; LANES], 0);
        for row in 0..self.rows.taps() {
            for column in 0..self.columns.taps() {
                for (lane, element) in elements[..count].iter_mut().enumerate() {
                    *element = plane[pixel(lane, row, column)];
                }
                larger(&elements, tap, &mut largest, &mut found);
                tap += 1;
            }
        }
        out.copy_from_slice(&largest[..count]);
        let taps = self.columns.taps() as u32;
        for (lane, found_at) in pixels.iter_mut().enumerate() {
            *found_at = pixel(lane, (found[lane] / taps) as usize, (found[lane] % taps) as usize) as i64;
        }
    }
}

#[inline(always)]
fn larger<T: Ordered>(
    elements: &[T; LANES],
    number: u32,
    largest: &mut [T; LANES],
    found: &mut [u32; LANES],
) {
    for lane in 0..LANES {
        let element = elements[lane];
        let is_larger = (element > largest[lane]) | element.is_unordered();
        largest[lane] = if is_larger { element } else { largest[lane] };
        found[lane] = if is_larger { number } else { found[lane] };
    }
}
