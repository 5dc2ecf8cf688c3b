//! Max pooling: the largest elements under windows, and their indices, by one of three loops that suits the memory
//! layout.
//!
//! For long lines, the loop takes all places of a line at once; for short ones, some places of the whole volume; and
//! where pixels have many elements (channels-last), some of these. NaN counts as larger than all numbers.
#![expect(unsafe_code, reason = "meets pixels that are known to lie in a volume")]

use torch_library::prelude::*;

use super::pooling::Pooling;
use super::windows::Window;
use crate::cpu::window::volumes::each;
use crate::inlined::{fill, from_fn, zip};
use crate::loops::pointwise::unsupported;
use crate::loops::{has_elements, match_computing, on_vectors};
use crate::number::Ordered;

/// Lines with fewer places are short: starting one takes longer than going through it.
const SHORT: usize = 24;

/// The most pixels of a volume that are listed.
const LISTED: usize = 1 << 16;

/// The number of places of short lines that are processed at a time.
const BLOCK: usize = 8;

/// The number of elements of a pixel that are processed at a time.
const LANES: usize = 16;

pub(super) enum Largest {
    Lines {
        /// For long lines: the first pixel under each window, counted in its line.
        firsts: Vec<i64>,
    },
    /// For short lines: the pixels under [`BLOCK`] places, tap by tap, followed by those of the next places.
    Places {
        taps: usize,
        pixels: Vec<u32>,
    },
    Lanes,
}

impl Pooling {
    /// The largest elements, and the index of each in its volume.
    pub(super) fn largest(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        let volumes = self.volumes(input, true);
        let out = volumes.zeros(input, &self.places(), input.dtype())?;
        let indices = volumes.zeros(input, &self.places(), DType::Int64)?;
        match_computing!(input.dtype(), T: Integer | Float => {
            if !has_elements(&out) {
                return Ok((out, indices));
            }
            let (from, to) = (volumes.read::<T>(input)?, volumes.write::<T>(&out, self.ndim)?);
            let at = volumes.write::<i64>(&indices, self.ndim)?;
            let way = Largest::new(self, volumes.lanes);
            each(from.count(), from.len(), |n| {
                // SAFETY: results were initialised with zeros, and `each` gives every volume to one thread, so these
                // volumes are this thread's alone.
                let (volume, to, at) = unsafe { (from.get(n), to.parts.get_mut(n), at.parts.get_mut(n)) };
                way.write(self, volumes.lanes, volume, to, at);
            });
            volumes.store(to, &out)?;
            volumes.store(at, &indices)?;
        }, else => return Err(unsupported(self.operator, input.dtype())));
        Ok((out, indices))
    }
}

impl Largest {
    pub(super) fn new(pooling: &Pooling, lanes: usize) -> Self {
        let are_numbered = pooling.sizes.iter().product::<usize>() <= i32::MAX as usize;
        let taps = pooling.windows.iter().map(|windows| largest_count(windows)).product::<usize>();
        let places = pooling.windows.iter().map(Vec::len).product::<usize>();
        let cover_all = pooling.windows.iter().flatten().all(|window| window.count() > 0);
        match (are_numbered && cover_all, lanes) {
            (true, 1) if pooling.windows[2].len() < SHORT && places * taps <= LISTED => {
                Largest::Places { taps, pixels: listed(pooling, taps) }
            }
            (true, 2..) => Largest::Lanes,
            _ => Largest::Lines { firsts: pooling.of_line(lanes, Window::first) },
        }
    }

    /// Writes the largest element under the window at each place of a volume, and its pixel. For a window that covers
    /// no pixels it writes the lowest value.
    pub(super) fn write<T: Ordered>(
        &self,
        pooling: &Pooling,
        lanes: usize,
        volume: &[T],
        out: &mut [T],
        pixels: &mut [i64],
    ) {
        assert!(volume.len() == pooling.sizes.iter().product::<usize>() * lanes);
        match self {
            Largest::Lines { firsts } => of_lines(pooling, lanes, firsts, volume, out, pixels),
            Largest::Places { taps, pixels: listed } => of_places(*taps, listed, volume, out, pixels),
            Largest::Lanes => of_lanes(pooling, lanes, volume, out, pixels),
        }
    }
}

fn largest_count(windows: &[Window]) -> usize {
    windows.iter().map(|window| window.count() as usize).max().unwrap_or(0)
}

/// Lists the pixels of all places. For a window that covers fewer than the others, its last pixel is repeated, which
/// changes nothing.
fn listed(pooling: &Pooling, taps: usize) -> Vec<u32> {
    let width = pooling.sizes[2];
    let mut blocks = Vec::new();
    let mut place = 0;
    for line in pooling.lines() {
        for x in &pooling.windows[2] {
            if place % BLOCK == 0 {
                blocks.resize(blocks.len() + taps * BLOCK, 0);
            }
            let block = &mut blocks[place / BLOCK * taps * BLOCK..];
            let mut all =
                pooling.covered(line).flat_map(|row| x.pixels().map(move |pixel| row * width + pixel));
            let mut last = 0;
            for met in block[place % BLOCK..].iter_mut().step_by(BLOCK) {
                last = all.next().map_or(last, |pixel| pixel as u32);
                *met = last;
            }
            place += 1;
        }
    }
    blocks
}

/// Compiled only once, since wider vectors gain nothing where elements are gathered one by one.
fn of_places<T: Ordered>(taps: usize, listed: &[u32], volume: &[T], out: &mut [T], pixels: &mut [i64]) {
    for (n, met) in listed.chunks_exact(taps * BLOCK).enumerate() {
        let block = n * BLOCK..out.len().min((n + 1) * BLOCK);
        let (out, pixels) = (&mut out[block.clone()], &mut pixels[block]);
        let (mut largest, mut at): ([T; BLOCK], [u32; BLOCK]) = ([T::LOWEST; BLOCK], from_fn(|i| met[i]));
        for met in met.chunks_exact(BLOCK) {
            for i in 0..BLOCK {
                // SAFETY: `listed` holds numbers of pixels that windows cover, within `sizes`, and 0 for the places
                // that fill up the last block; the volume has that many pixels, as `write` asserted.
                let x = unsafe { *volume.get_unchecked(met[i] as usize) };
                take(x, met[i], &mut largest[i], &mut at[i]);
            }
        }
        match (<&mut [T; BLOCK]>::try_from(&mut *out), <&mut [i64; BLOCK]>::try_from(&mut *pixels)) {
            (Ok(out), Ok(pixels)) => (*out, *pixels) = (largest, from_fn(|i| i64::from(at[i]))),
            _ => {
                for ((out, pixel), (largest, at)) in zip(zip(out, pixels), zip(&largest, &at)) {
                    (*out, *pixel) = (*largest, i64::from(*at));
                }
            }
        }
    }
}

#[inline(always)]
fn take<T: Ordered>(x: T, pixel: u32, largest: &mut T, at: &mut u32) {
    let is_larger = (x > *largest) | x.is_unordered();
    *largest = if is_larger { x } else { *largest };
    *at = if is_larger { pixel } else { *at };
}

on_vectors! {
    fn of_lanes<T: Ordered>(pooling: &Pooling, lanes: usize, volume: &[T], out: &mut [T], pixels: &mut [i64]) {
        let width = pooling.sizes[2];
        let mut met = Vec::new();
        let mut places = out.chunks_exact_mut(lanes).zip(pixels.chunks_exact_mut(lanes));
        for line in pooling.lines() {
            for (x, (out, pixels)) in pooling.windows[2].iter().zip(&mut places) {
                met.clear();
                met.extend(pooling.covered(line).flat_map(|row| x.pixels().map(move |pixel| row * width + pixel)));
                // The last block overlaps the one before.
                if lanes >= LANES {
                    (0..lanes - LANES).step_by(LANES).chain([lanes - LANES])
                        .for_each(|lane| some_lanes::<T, LANES>(&met, lane, volume, out, pixels));
                } else if lanes >= 4 {
                    (0..lanes - 4).step_by(4).chain([lanes - 4])
                        .for_each(|lane| some_lanes::<T, 4>(&met, lane, volume, out, pixels));
                } else {
                    (0..lanes).for_each(|lane| some_lanes::<T, 1>(&met, lane, volume, out, pixels));
                }
            }
        }
    }
}

/// Computes `LANES` of the elements of a place, from one of its lanes on.
#[inline(always)]
fn some_lanes<T: Ordered, const N: usize>(
    met: &[usize],
    lane: usize,
    volume: &[T],
    out: &mut [T],
    pixels: &mut [i64],
) {
    let lanes = out.len();
    let (mut largest, mut at) = ([T::LOWEST; N], [met[0] as u32; N]);
    for pixel in met {
        let from = &volume[pixel * lanes + lane..][..N];
        for i in 0..N {
            take(from[i], *pixel as u32, &mut largest[i], &mut at[i]);
        }
    }
    out[lane..][..N].copy_from_slice(&largest);
    for (pixel, at) in zip(&mut pixels[lane..][..N], &at) {
        *pixel = i64::from(*at);
    }
}

on_vectors! {
    fn of_lines<T: Ordered>(
        pooling: &Pooling, lanes: usize, firsts: &[i64], volume: &[T], out: &mut [T], pixels: &mut [i64],
    ) {
        let [_, height, width] = pooling.sizes;
        let (len, line) = (firsts.len(), width * lanes);
        let lines = out.chunks_exact_mut(len).zip(pixels.chunks_exact_mut(len));
        for ([z, y], (out, pixels)) in pooling.lines().zip(lines) {
            fill(&mut *out, T::LOWEST);
            let first = (z.first() * height as i64 + y.first()) * width as i64;
            for (pixel, start) in zip(&mut *pixels, firsts) {
                *pixel = first + start;
            }
            for row in pooling.covered([z, y]) {
                let from = &volume[row * line..][..line];
                for run in &pooling.runs {
                    run.each(lanes, |place, element, pixel| {
                        // SAFETY: the places of runs are windows of a line, and `out` and `pixels` have a place for
                        // each of its windows and lanes, as `firsts` has; the pixels of runs are those that the windows
                        // cover, and `from` is a line of them.
                        let (x, largest, at) = unsafe {
                            (*from.get_unchecked(element), out.get_unchecked_mut(place),
                                pixels.get_unchecked_mut(place))
                        };
                        let is_larger = (x > *largest) | x.is_unordered();
                        *largest = if is_larger { x } else { *largest };
                        *at = if is_larger { (row * width + pixel) as i64 } else { *at };
                    });
                }
            }
        }
    }
}
