//! Lines of a depthwise convolution in vector registers, which hold some channels of a few pixels.
#![expect(unsafe_code, reason = "reads and writes lines through pointers, register by register")]

use std::mem::MaybeUninit;

use super::passes::{Pass, Tap};
use crate::inlined::from_fn;
use crate::loops::Work;
use crate::number::Number;
use crate::vector::Vector;

/// The places whose gradients are held in registers at a time.
const PLACES: usize = 4;

/// The most pixels of the source that neighbouring taps of some pixels of the result meet.
const SIDE_BY_SIDE: usize = 12;

/// A line of pixels to compute.
pub(super) struct Line<'a, T> {
    /// The lines of the source, and for each the number of its first tap.
    pub(super) sources: &'a [&'a [T]],
    pub(super) taps: &'a [usize],
    /// The pass along the line.
    pub(super) x: &'a Pass,
    pub(super) channels: usize,
    /// The weights of all channels for each tap.
    pub(super) weights: &'a [T],
    /// The bias of each channel.
    pub(super) bias: &'a [T],
    /// The line of the result, of which the pixels of the pass are written.
    pub(super) to: &'a mut [MaybeUninit<T>],
}

/// What a line of places contributes to the gradient of the weight.
pub(super) struct Gradient<'a, T> {
    /// The lines of the image, and for each the number of its first tap.
    pub(super) sources: &'a [&'a [T]],
    pub(super) taps: &'a [usize],
    /// The pass along the line.
    pub(super) x: &'a Pass,
    pub(super) channels: usize,
    /// The gradients of the places, all channels of each.
    pub(super) gradients: &'a [T],
    /// The sums of all channels for each tap.
    pub(super) sums: &'a mut [T],
}

/// Evaluates an expression for all channels, in groups that fill two registers or one, or part of one at the end. The
/// expression sees the first channel of the group, the number of channels in each register, and, as a constant, the
/// number of registers.
macro_rules! by_registers {
    ($V:ident, $channels:expr, |$first:ident, $count:ident, $REGISTERS:ident| $call:expr) => {{
        let (channels, mut $first) = ($channels, 0);
        while $first < channels {
            let left = channels - $first;
            if left >= 2 * $V::LANES {
                const $REGISTERS: usize = 2;
                let $count = $V::LANES;
                $call;
                $first += 2 * $V::LANES;
                continue;
            }
            const $REGISTERS: usize = 1;
            if left >= $V::LANES {
                let $count = $V::LANES;
                $call;
            } else {
                let $count = left;
                $call;
            }
            $first += left.min($V::LANES);
        }
    }};
}

impl<T: Number> Work<T> for Line<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(mut self) {
        let width = self.x.source() * self.channels;
        let taps = self.x.taps().iter().map(|tap| tap.number + 1).max().unwrap_or(0);
        assert!(self.sources.iter().all(|line| line.len() == width));
        assert!(self.taps.iter().all(|row| (row + taps) * self.channels <= self.weights.len()));
        assert!(self.bias.len() == self.channels);
        assert!(
            self.x.count() == 0 || (self.x.pixel(self.x.count() - 1) + 1) * self.channels <= self.to.len()
        );
        let inside = self.x.inside(self.x.taps());
        let is_dense = self.x.are_neighbours(self.x.taps()) && matches!(self.x.taps().len(), 3 | 5);
        // SAFETY: by the assertions, the lines have all pixels of the source, the result those of the pass, each with
        // all channels; `by_registers` passes channels that exist. The caller vouches for the registers.
        by_registers!(V, self.channels, |first, count, REGISTERS| unsafe {
            let mut n = 0;
            while n < self.x.count() {
                let (most, taps) = match inside.contains(&n) {
                    true => (inside.end - n, self.x.taps()),
                    false => (1, self.x.taps_inside(n)),
                };
                n += match most {
                    8.. if V::ROWS > 4 && is_dense => self.side_by_side::<V, REGISTERS, 8>(n, first, count),
                    4.. if is_dense => self.side_by_side::<V, REGISTERS, 4>(n, first, count),
                    8.. if V::ROWS > 4 => self.pixels::<V, REGISTERS, 8>(n, taps, first, count),
                    4.. => self.pixels::<V, REGISTERS, 4>(n, taps, first, count),
                    2.. => self.pixels::<V, REGISTERS, 2>(n, taps, first, count),
                    _ => self.pixels::<V, REGISTERS, 1>(n, taps, first, count),
                };
            }
        });
    }
}

impl<T: Number> Line<'_, T> {
    /// Computes some channels of `COUNT` pixels, from pixel `n` of the pass on, and returns their number.
    ///
    /// # Safety
    /// - The pass has these pixels, and the taps meet pixels of the source for all of them.
    /// - There are `REGISTERS` times `count` channels from `first` on, and `count` is at most a register's lanes.
    /// - The lines, weights, bias and result have the lengths that `with` asserts.
    /// - The processor has the registers of `V`.
    #[inline(always)]
    unsafe fn pixels<V: Vector<Element = T>, const REGISTERS: usize, const COUNT: usize>(
        &mut self,
        n: usize,
        taps: &[Tap],
        first: usize,
        count: usize,
    ) -> usize {
        let (channels, stride) = (self.channels, self.x.stride());
        // SAFETY: the caller vouches for the channels of every pixel and tap, and for the registers.
        unsafe {
            let load =
                |from: *const T| -> [V; REGISTERS] { from_fn(|r| V::load(from.add(r * V::LANES), count)) };
            let mut sums = [load(self.bias.as_ptr().add(first)); COUNT];
            for (row, line) in self.taps.iter().zip(self.sources) {
                for tap in taps {
                    let weights = load(self.weights.as_ptr().add((row + tap.number) * channels + first));
                    let pixel = tap.pixel + n as isize * stride;
                    let from = line.as_ptr().offset(pixel * channels as isize).add(first);
                    for (k, sums) in sums.iter_mut().enumerate() {
                        let pixels = load(from.offset(k as isize * stride * channels as isize));
                        for r in 0..REGISTERS {
                            sums[r] = pixels[r].times_plus(weights[r], sums[r]);
                        }
                    }
                }
            }
            for (k, sums) in sums.iter().enumerate() {
                let to = self.to.as_mut_ptr().cast::<T>().add(self.x.pixel(n + k) * channels + first);
                for (r, sum) in sums.iter().enumerate() {
                    sum.store(to.add(r * V::LANES), count);
                }
            }
        }
        COUNT
    }

    /// Like [`pixels`](Self::pixels), for three or five taps that are neighbours: each pixel of the source is loaded
    /// once for all of them.
    ///
    /// # Safety
    /// - As for [`pixels`](Self::pixels); all taps of the pass meet pixels of the source.
    #[inline(always)]
    unsafe fn side_by_side<V: Vector<Element = T>, const REGISTERS: usize, const COUNT: usize>(
        &mut self,
        n: usize,
        first: usize,
        count: usize,
    ) -> usize {
        for first in (0..REGISTERS).map(|r| first + r * V::LANES) {
            // SAFETY: the caller vouches for the channels of every pixel and tap, and for the registers.
            unsafe {
                match self.x.taps().len() {
                    3 => self.under_neighbours::<V, COUNT, 3>(n, first, count),
                    _ => self.under_neighbours::<V, COUNT, 5>(n, first, count),
                }
            }
        }
        COUNT
    }

    /// Computes a register of channels of `COUNT` pixels, for `TAPS` taps that are neighbours.
    ///
    /// # Safety
    /// - As for [`pixels`](Self::pixels) with one register; there are `TAPS` taps, which meet pixels of the source for
    ///   all of these pixels, and `COUNT + TAPS - 1` is at most [`SIDE_BY_SIDE`].
    #[inline(always)]
    unsafe fn under_neighbours<V: Vector<Element = T>, const COUNT: usize, const TAPS: usize>(
        &mut self,
        n: usize,
        first: usize,
        count: usize,
    ) {
        let channels = self.channels;
        // SAFETY: the caller vouches for the channels of every pixel and tap, and for the registers.
        unsafe {
            let mut sums = [V::load(self.bias.as_ptr().add(first), count); COUNT];
            let numbers: [usize; TAPS] = from_fn(|t| self.x.taps()[t].number);
            let pixel = (self.x.taps()[0].pixel + n as isize).cast_unsigned() * channels + first;
            for (row, line) in self.taps.iter().zip(self.sources) {
                let pixels: [V; SIDE_BY_SIDE] = from_fn(|m| match m < COUNT + TAPS - 1 {
                    true => V::load(line.as_ptr().add(pixel + m * channels), count),
                    false => V::zero(),
                });
                for (t, number) in numbers.iter().enumerate() {
                    let weight = V::load(self.weights.as_ptr().add((row + number) * channels + first), count);
                    for (k, sum) in sums.iter_mut().enumerate() {
                        *sum = pixels[k + t].times_plus(weight, *sum);
                    }
                }
            }
            for (k, sum) in sums.iter().enumerate() {
                sum.store(
                    self.to.as_mut_ptr().cast::<T>().add(self.x.pixel(n + k) * channels + first),
                    count,
                );
            }
        }
    }
}

impl<T: Number> Work<T> for Gradient<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(mut self) {
        let width = self.x.source() * self.channels;
        let taps = self.x.taps().len();
        assert!(self.sources.iter().all(|line| line.len() == width));
        assert!(self.taps.iter().all(|row| (row + taps) * self.channels <= self.sums.len()));
        assert!(self.gradients.len() == self.x.count() * self.channels);
        for line in self.taps.iter().copied().zip(self.sources.iter().copied()) {
            // SAFETY: by the assertions, the lines have all pixels, the gradients all places and the sums all taps,
            // each with all channels; `by_registers` passes channels that exist. The caller vouches for the
            // registers.
            by_registers!(V, self.channels, |first, count, REGISTERS| unsafe {
                for taps in self.x.taps().chunks(4) {
                    match taps.len() {
                        4 => self.add::<V, REGISTERS, 4>(line, taps, first, count),
                        3 => self.add::<V, REGISTERS, 3>(line, taps, first, count),
                        2 => self.add::<V, REGISTERS, 2>(line, taps, first, count),
                        _ => self.add::<V, REGISTERS, 1>(line, taps, first, count),
                    }
                }
            });
        }
    }
}

impl<T: Number> Gradient<'_, T> {
    /// Adds the products of a line's pixels and the gradients to the sums of `COUNT` taps, for some channels.
    ///
    /// # Safety
    /// - There are `COUNT` taps, whose numbers follow each other.
    /// - There are `REGISTERS` times `count` channels from `first` on, and `count` is at most a register's lanes.
    /// - The lines, gradients and sums have the lengths that `with` asserts.
    /// - The processor has the registers of `V`.
    #[inline(always)]
    unsafe fn add<V: Vector<Element = T>, const REGISTERS: usize, const COUNT: usize>(
        &mut self,
        (row, line): (usize, &[T]),
        taps: &[Tap],
        first: usize,
        count: usize,
    ) {
        let (channels, stride) = (self.channels, self.x.stride());
        // SAFETY: the caller vouches for the channels of every place and tap, and for the registers; for the places of
        // `inside`, the taps meet pixels of the source.
        unsafe {
            let load =
                |from: *const T| -> [V; REGISTERS] { from_fn(|r| V::load(from.add(r * V::LANES), count)) };
            let places = self.gradients.as_ptr().add(first);
            let pixel = |tap: &Tap, n: usize| {
                line.as_ptr().offset((tap.pixel + n as isize * stride) * channels as isize).add(first)
            };
            let mut sums = [[V::zero(); REGISTERS]; COUNT];
            let together = self.x.inside(taps);
            let mut n = together.start;
            while self.x.are_neighbours(taps) && n + PLACES <= together.end {
                let gradients: [_; PLACES] = from_fn(|k| load(places.add((n + k) * channels)));
                for m in 0..PLACES + COUNT - 1 {
                    let pixels = load(pixel(&taps[0], n + m));
                    for (tap, sums) in sums.iter_mut().enumerate() {
                        if tap <= m && m - tap < PLACES {
                            for r in 0..REGISTERS {
                                sums[r] = pixels[r].times_plus(gradients[m - tap][r], sums[r]);
                            }
                        }
                    }
                }
                n += PLACES;
            }
            for n in n..together.end {
                let gradients = load(places.add(n * channels));
                for (tap, sums) in taps.iter().zip(&mut sums) {
                    let pixels = load(pixel(tap, n));
                    for r in 0..REGISTERS {
                        sums[r] = pixels[r].times_plus(gradients[r], sums[r]);
                    }
                }
            }
            for (tap, mut sums) in taps.iter().zip(sums) {
                let own = self.x.inside(std::slice::from_ref(tap));
                let (before, after) = (together.start.min(own.end), together.end.max(own.start));
                for n in (own.start..before).chain(after..own.end) {
                    let (gradients, pixels) = (load(places.add(n * channels)), load(pixel(tap, n)));
                    for r in 0..REGISTERS {
                        sums[r] = pixels[r].times_plus(gradients[r], sums[r]);
                    }
                }
                let to = self.sums.as_mut_ptr().add((row + tap.number) * channels + first);
                for (r, (sum, before)) in sums.iter().zip(load(to)).enumerate() {
                    sum.plus(before).store(to.add(r * V::LANES), count);
                }
            }
        }
    }
}
