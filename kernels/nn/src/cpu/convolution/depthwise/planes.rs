//! Depthwise convolutions of row-major images: vectors run along the rows of a plane, which is one channel of an image.
//!
//! A band of rows is copied between zeros, so that no window leaves the copy. Where windows are two columns apart, even
//! and odd columns are copied side by side, so that the pixels under one tap are contiguous.
#![expect(unsafe_code, reason = "reads and writes planes through pointers, register by register")]

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::cpu::axis::Axis;
use crate::loops::Work;
use crate::number::Number;
use crate::vector::Vector;

/// The bytes of a band, so that it stays in the cache.
const BAND: usize = 64 << 10;

/// The most bytes of a band of few rows: those of wide planes under tall windows.
const MOST: usize = 256 << 10;

/// The fewest rows of the result that a band is for, and the most that are computed at a time.
const TOGETHER: usize = 7;

/// The most products for each pixel of the source with which this is faster than to interleave channels: with more, it
/// matters less how pixels are moved.
const MOST_PRODUCTS: usize = 9;

/// The bytes of the widest register.
const WIDEST: usize = 64;

/// How planes are copied, and where the taps of a window are in the copy.
pub(super) struct Bands {
    /// The rows and columns of a plane of the source, and of one of the result.
    source: [usize; 2],
    result: [usize; 2],
    padding: [usize; 2],
    stride: [usize; 2],
    /// The rows of the result that a band is for, and the rows of its copy.
    len: usize,
    rows: usize,
    /// The numbers in the copy of a row, and in each phase of the stride.
    pitch: usize,
    phase: usize,
    /// The place in the copy of each tap, relative to that of the window.
    taps: Vec<usize>,
}

/// A plane of the result to compute.
pub(super) struct Plane<'a, T> {
    pub(super) bands: &'a Bands,
    pub(super) source: &'a [T],
    /// The weights of the channel, and its bias.
    pub(super) weights: &'a [T],
    pub(super) bias: T,
    /// The memory of a band, of zeros at first, and then of what other planes left.
    pub(super) copy: &'a mut [T],
    /// The plane of the result.
    pub(super) to: &'a mut [MaybeUninit<T>],
}

impl Bands {
    /// Nothing if planes of numbers of `size` bytes are computed faster in another way: windows have many taps, rows
    /// would leave much of a register empty, or a band would be too large.
    pub(super) fn new(axes: [Axis; 2], source: [i64; 2], result: [i64; 2], size: usize) -> Option<Self> {
        let [source, result] = [source, result].map(|sizes| sizes.map(|size| size as usize));
        let [padding, stride] = [axes.map(|axis| axis.padding), axes.map(|axis| axis.stride)];
        let [padding, stride] = [padding, stride].map(|numbers| numbers.map(|number| number as usize));
        let reach = |axis: Axis| usize::try_from((axis.kernel - 1).checked_mul(axis.dilation)?).ok();
        let [down, across] = [reach(axes[0])?, reach(axes[1])?];
        let count = axes[0].kernel.checked_mul(axes[1].kernel)? as usize;
        let width = result[1].checked_next_multiple_of(WIDEST / size)?;
        let is_wide = count > stride[0].checked_mul(stride[1])?.checked_mul(MOST_PRODUCTS)?;
        if is_wide || stride[1] > 2 || width.checked_mul(3)? > result[1].checked_mul(4)? {
            return None;
        }
        let phase = width.checked_add(across / stride[1])?;
        let pitch = phase.checked_mul(stride[1])?;
        // Tiles may have rows below the last one.
        let rows_for =
            |len: usize| (len + TOGETHER - 2).checked_mul(stride[0])?.checked_add(down)?.checked_add(1);
        let bytes_for = |len: usize| rows_for(len)?.checked_mul(pitch)?.checked_mul(size);
        let mut len = TOGETHER;
        while len < result[0] && bytes_for(len + TOGETHER)? <= BAND {
            len += TOGETHER;
        }
        if bytes_for(len)? > MOST {
            return None;
        }
        let [height, width] =
            axes.map(|axis| (0..axis.kernel).map(move |tap| (tap * axis.dilation) as usize));
        let place = |[y, x]: [usize; 2]| y * pitch + x % stride[1] * phase + x / stride[1];
        let taps = height.flat_map(|y| width.clone().map(move |x| place([y, x]))).collect();
        Some(Bands { source, result, padding, stride, len, rows: rows_for(len)?, pitch, phase, taps })
    }

    /// The numbers of the copy.
    pub(super) fn size(&self) -> usize {
        self.rows * self.pitch
    }

    /// Copies the band for the rows of the result from `start` on.
    ///
    /// # Safety
    /// - The source has the numbers of a plane, and the copy those of a band.
    /// - The processor has the registers of `V`.
    #[inline(always)]
    unsafe fn fill<V: Vector>(&self, start: usize, source: &[V::Element], copy: &mut [V::Element]) {
        let ([height, width], [top, left]) = (self.source, self.padding);
        let first = start * self.stride[0];
        let rows = first.max(top)..(first + self.rows).min(top.saturating_add(height));
        if self.len < self.result[0] {
            // Another band had rows where this one has padding.
            let [above, below] = [rows.start.min(first + self.rows), rows.end.max(first)];
            copy[..(above - first) * self.pitch].fill(V::Element::ZERO);
            copy[(below - first) * self.pitch..].fill(V::Element::ZERO);
        }
        for row in rows {
            // SAFETY: the row is one of the source's, and of the copy's.
            let (from, to) = unsafe {
                (source.as_ptr().add((row - top) * width), copy.as_mut_ptr().add((row - first) * self.pitch))
            };
            if self.stride[1] == 1 {
                let len = width.min(self.phase.saturating_sub(left));
                // SAFETY: the columns of the row that have a place in that of the copy, after the padding. The caller
                // vouches for the registers.
                unsafe {
                    let mut column = 0;
                    while column + V::LANES <= len {
                        V::load(from.add(column), V::LANES).store(to.add(left + column), V::LANES);
                        column += V::LANES;
                    }
                    if column < len {
                        V::load(from.add(column), len - column).store(to.add(left + column), len - column);
                    }
                }
                continue;
            }
            // The first column is among the even ones of the copy if the padding is even.
            let [even, odd] = [left % 2 * self.phase, (left + 1) % 2 * self.phase];
            let room = |skipped: usize| self.phase.saturating_sub(skipped);
            let [evens, odds] =
                [width.div_ceil(2).min(room(left / 2)), (width / 2).min(room(left.div_ceil(2)))];
            let both = evens.min(odds);
            // SAFETY: the columns of the row that have a place in a phase of the copy, after the padding.
            unsafe {
                let (even, odd) = (to.wrapping_add(even + left / 2), to.wrapping_add(odd + left.div_ceil(2)));
                for n in 0..both {
                    let [x, y] = from.add(2 * n).cast::<[V::Element; 2]>().read();
                    even.add(n).write(x);
                    odd.add(n).write(y);
                }
                (both..evens).for_each(|n| even.add(n).write(from.add(2 * n).read()));
                (both..odds).for_each(|n| odd.add(n).write(from.add(2 * n + 1).read()));
            }
        }
    }
}

impl<T: Number> Work<T> for Plane<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) {
        let Plane { bands, source, weights, bias, copy, to } = self;
        let [height, width] = bands.result;
        assert!(V::LANES * size_of::<T>() <= WIDEST && copy.len() == bands.size());
        assert!(source.len() == bands.source[0] * bands.source[1]);
        assert!(weights.len() == bands.taps.len() && to.len() == height * width);
        let to = to.as_mut_ptr().cast::<T>();
        for start in (0..height).step_by(bands.len) {
            let rows = start..height.min(start + bands.len);
            // SAFETY: both have as many numbers, as asserted. The caller vouches for the registers.
            unsafe { bands.fill::<V>(start, source, copy) };
            let mut first = 0;
            while first < width {
                let strip =
                    Strip { bands, weights, bias, copy: copy.as_ptr(), to, rows: rows.clone(), first };
                // SAFETY: the rows exist and `first` is one of the columns; the assertions check that the copy, which
                // was filled for these rows, the weights and the result are as large as `compute` needs. The caller
                // vouches for the registers.
                first += unsafe {
                    match (width - first).div_ceil(V::LANES) {
                        4.. => strip.compute::<V, 4, 2>(),
                        3 => strip.compute::<V, 3, 2>(),
                        2 => strip.compute::<V, 2, 4>(),
                        _ => strip.compute::<V, 1, TOGETHER>(),
                    }
                };
            }
        }
    }
}

/// Some columns of a band of the result.
struct Strip<'a, T> {
    bands: &'a Bands,
    weights: &'a [T],
    bias: T,
    copy: *const T,
    /// The plane of the result.
    to: *mut T,
    rows: Range<usize>,
    first: usize,
}

impl<T: Number> Strip<'_, T> {
    /// Computes `REGISTERS` registers of columns, `ROWS` rows at a time, and returns the number of these columns.
    ///
    /// # Safety
    /// - The copy has all rows and columns of the band, and there is a weight for each tap.
    /// - `to` has the rows of the result, which can be written; `first` is a column of them.
    /// - The processor has the registers of `V`.
    #[expect(
        clippy::needless_range_loop,
        reason = "`r` and `c` count rows and registers of all that a tile has"
    )]
    #[inline(always)]
    unsafe fn compute<V: Vector<Element = T>, const REGISTERS: usize, const ROWS: usize>(self) -> usize {
        let (bands, width) = (self.bands, self.bands.result[1]);
        let step = bands.stride[0] * bands.pitch;
        for row in self.rows.clone().step_by(ROWS) {
            // SAFETY: a band has the rows for a whole tile, which has at most `TOGETHER`, from each of its rows on, and
            // each phase of a row the columns for as many of the widest registers as the result's rows take, under all
            // taps. So all lanes are in the copy. Those that are no columns of the result are not stored.
            unsafe {
                let place = self.copy.add((row - self.rows.start) * step + self.first);
                let mut sums = [[V::splat(&self.bias); REGISTERS]; ROWS];
                for (tap, weight) in bands.taps.iter().zip(self.weights) {
                    let (from, weight) = (place.add(*tap), V::splat(weight));
                    for r in 0..ROWS {
                        for c in 0..REGISTERS {
                            let pixels = V::load(from.add(r * step + c * V::LANES), V::LANES);
                            sums[r][c] = pixels.times_plus(weight, sums[r][c]);
                        }
                    }
                }
                for r in 0..ROWS.min(self.rows.end - row) {
                    for c in 0..REGISTERS {
                        let column = self.first + c * V::LANES;
                        if column < width {
                            let to = self.to.add((row + r) * width + column);
                            sums[r][c].store(to, V::LANES.min(width - column));
                        }
                    }
                }
            }
        }
        REGISTERS * V::LANES
    }
}
