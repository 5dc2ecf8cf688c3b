//! Max pooling: the largest elements under windows, and their indices, by one of three loops that suits the memory
//! layout.
//!
//! For long lines, the loop takes all places of a line at once; for short ones, some places of the whole volume; and
//! where pixels have many elements (channels-last), some of these. NaN counts as larger than all numbers.
#![expect(unsafe_code, reason = "meets pixels that are known to lie in a volume")]

use std::ops::Range;

use torch_library::prelude::*;

use super::lines::Pooling;
use super::windows::Window;
use crate::cpu::volumes::{Volumes, each};
use crate::inlined::{fill, from_fn, zip};
use crate::loops::pointwise::unsupported;
use crate::loops::{has_elements, match_opmath, on_vectors};
use crate::number::Ordered;

/// Lines with fewer places are short: starting one takes longer than going through it.
const SHORT: usize = 24;

/// The most pixels of a volume that are listed.
const LISTED: usize = 1 << 16;

/// The number of places of short lines that are processed at a time.
const BLOCK: usize = 8;

/// The number of elements of a pixel that are processed at a time.
const LANES: usize = 16;

/// Whether a loop writes the pixels of the largest elements.
trait Indices: Copy + Sync {
    const KEPT: bool;

    /// The part of a volume's pixels that belongs to some of its places; nothing if pixels are dropped.
    #[inline(always)]
    fn part(self, pixels: &mut [i64], places: Range<usize>) -> &mut [i64] {
        if Self::KEPT { &mut pixels[places] } else { &mut [] }
    }
}

#[derive(Clone, Copy)]
struct Kept;

impl Indices for Kept {
    const KEPT: bool = true;
}

#[derive(Clone, Copy)]
struct Dropped;

impl Indices for Dropped {
    const KEPT: bool = false;
}

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
        match_opmath!(input.dtype(), T: Integer | Float => {
            self.write_largest::<T, _>(&volumes, input, &out, Some(&indices), Kept)?;
        }, else => return Err(unsupported(self.operator, input.dtype())));
        Ok((out, indices))
    }

    /// The largest elements alone.
    pub(super) fn largest_values(&self, input: &Tensor) -> Result<Tensor> {
        let volumes = self.volumes(input, true);
        match_opmath!(input.dtype(), T: Float => {
            let out = volumes.zeros(input, &self.places(), input.dtype())?;
            self.write_largest::<T, _>(&volumes, input, &out, None, Dropped)?;
            Ok(out)
        }, else => Ok(self.largest(input)?.0))
    }

    fn write_largest<T: Ordered, I: Indices>(
        &self,
        volumes: &Volumes,
        input: &Tensor,
        out: &Tensor,
        indices: Option<&Tensor>,
        kept: I,
    ) -> Result<()> {
        if !has_elements(out) {
            return Ok(());
        }
        let (from, to) = (volumes.read::<T>(input)?, volumes.write::<T>(out, self.ndim)?);
        let at = indices.map(|indices| volumes.write::<i64>(indices, self.ndim)).transpose()?;
        let way = Largest::new(self, volumes.lanes);
        each(from.count(), from.len(), |n| {
            // SAFETY: results were initialised with zeros, and `each` gives every volume to one thread, so these
            // volumes are this thread's alone.
            let (volume, to, at) =
                unsafe { (from.get(n), to.parts.get_mut(n), at.as_ref().map(|at| at.parts.get_mut(n))) };
            way.write(self, volumes.lanes, volume, to, at.unwrap_or_default(), kept);
        });
        volumes.store(to, out)?;
        at.zip(indices).map_or(Ok(()), |(at, indices)| volumes.store(at, indices))
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

    /// Writes the largest element under the window at each place of a volume, and its pixel if that is kept.
    /// For a window that covers no pixels it writes the lowest value.
    fn write<T: Ordered, I: Indices>(
        &self,
        pooling: &Pooling,
        lanes: usize,
        volume: &[T],
        out: &mut [T],
        pixels: &mut [i64],
        kept: I,
    ) {
        assert!(volume.len() == pooling.sizes.iter().product::<usize>() * lanes);
        match self {
            Largest::Lines { firsts } => of_lines(pooling, lanes, firsts, volume, out, pixels, kept),
            Largest::Places { taps, pixels: listed } => {
                // SAFETY: `listed` holds numbers of pixels that windows cover, within `sizes`, and 0 for the places
                // that fill up the last block; the volume has that many pixels, as asserted, and so at least one, since
                // each window covers some (`new`).
                unsafe { of_places(*taps, listed, volume, out, pixels, kept) };
            }
            Largest::Lanes => of_lanes(pooling, lanes, volume, out, pixels, kept),
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
///
/// # Safety
/// - The volume has an element at each index that is listed.
unsafe fn of_places<T: Ordered, I: Indices>(
    taps: usize,
    listed: &[u32],
    volume: &[T],
    out: &mut [T],
    pixels: &mut [i64],
    kept: I,
) {
    for (n, met) in listed.chunks_exact(taps * BLOCK).enumerate() {
        let block = n * BLOCK..out.len().min((n + 1) * BLOCK);
        let (out, pixels) = (&mut out[block.clone()], kept.part(pixels, block));
        let (mut largest, mut at): ([T; BLOCK], [u32; BLOCK]) = ([T::LOWEST; BLOCK], from_fn(|i| met[i]));
        for met in met.chunks_exact(BLOCK) {
            for i in 0..BLOCK {
                // SAFETY: the caller vouches for the indices in `listed`.
                let x = unsafe { *volume.get_unchecked(met[i] as usize) };
                take(x, met[i], &mut largest[i], &mut at[i]);
            }
        }
        put(out, largest);
        put(pixels, from_fn(|i| i64::from(at[i])));
    }
}

/// Writes a block, or as much of it as there is room for.
#[inline(always)]
fn put<T: Copy>(to: &mut [T], block: [T; BLOCK]) {
    match <&mut [T; BLOCK]>::try_from(&mut *to) {
        Ok(to) => *to = block,
        Err(_) => zip(to, &block).for_each(|(to, element)| *to = *element),
    }
}

#[inline(always)]
fn take<T: Ordered>(x: T, pixel: u32, largest: &mut T, at: &mut u32) {
    let is_larger = (x > *largest) | x.is_unordered();
    *largest = if is_larger { x } else { *largest };
    *at = if is_larger { pixel } else { *at };
}

on_vectors! {
    fn of_lanes<T: Ordered, I: Indices>(
        pooling: &Pooling, lanes: usize, volume: &[T], out: &mut [T], pixels: &mut [i64], kept: I,
    ) {
        let width = pooling.sizes[2];
        let mut rows = Vec::new();
        let mut places = out.chunks_exact_mut(lanes).enumerate();
        for line in pooling.lines() {
            rows.clear();
            rows.extend(pooling.covered(line).map(|row| row * width));
            for (x, (place, out)) in pooling.windows[2].iter().zip(&mut places) {
                let pixels = kept.part(pixels, place * lanes..(place + 1) * lanes);
                match lanes {
                    LANES.. => all_lanes::<T, I, LANES>(&rows, x, volume, out, pixels, kept),
                    4.. => all_lanes::<T, I, 4>(&rows, x, volume, out, pixels, kept),
                    _ => all_lanes::<T, I, 1>(&rows, x, volume, out, pixels, kept),
                }
            }
        }
    }
}

/// Computes all elements of a place, of which there are at least `N`, in blocks of `N`. The last block overlaps the one
/// before.
#[inline(always)]
fn all_lanes<T: Ordered, I: Indices, const N: usize>(
    rows: &[usize],
    x: &Window,
    volume: &[T],
    out: &mut [T],
    pixels: &mut [i64],
    kept: I,
) {
    let mut lane = 0;
    loop {
        some_lanes::<T, I, N>(rows, x, lane, volume, out, pixels, kept);
        if lane + N >= out.len() {
            return;
        }
        lane = (lane + N).min(out.len() - N);
    }
}

/// Computes `N` of the elements of a place, from one of its lanes on: the largest in the given rows, of which each is
/// the number of its first pixel.
#[inline(always)]
fn some_lanes<T: Ordered, I: Indices, const N: usize>(
    rows: &[usize],
    x: &Window,
    lane: usize,
    volume: &[T],
    out: &mut [T],
    pixels: &mut [i64],
    kept: I,
) {
    let lanes = out.len();
    let (mut largest, mut at) = ([T::LOWEST; N], [(rows[0] + x.first() as usize) as u32; N]);
    for row in rows {
        for pixel in x.pixels() {
            let pixel = row + pixel;
            let from = &volume[pixel * lanes + lane..][..N];
            for i in 0..N {
                take(from[i], pixel as u32, &mut largest[i], &mut at[i]);
            }
        }
    }
    out[lane..][..N].copy_from_slice(&largest);
    for (pixel, at) in zip(kept.part(pixels, lane..lane + N), &at) {
        *pixel = i64::from(*at);
    }
}

on_vectors! {
    fn of_lines<T: Ordered, I: Indices>(
        pooling: &Pooling, lanes: usize, firsts: &[i64], volume: &[T], out: &mut [T], pixels: &mut [i64],
        kept: I,
    ) {
        let [_, height, width] = pooling.sizes;
        let (len, line) = (firsts.len(), width * lanes);
        assert!(len == pooling.windows[2].len() * lanes);
        for ([z, y], (n, out)) in pooling.lines().zip(out.chunks_exact_mut(len).enumerate()) {
            let pixels = kept.part(pixels, n * len..(n + 1) * len);
            fill(&mut *out, T::LOWEST);
            let first = (z.first() * height as i64 + y.first()) * width as i64;
            for (pixel, start) in zip(&mut *pixels, firsts) {
                *pixel = first + start;
            }
            for row in pooling.covered([z, y]) {
                let from = &volume[row * line..][..line];
                for run in &pooling.runs {
                    run.each(lanes, |place, element, pixel| {
                        // SAFETY: the places of runs are windows of a line, and `out` has a place for each of its
                        // windows and lanes, as `firsts` has, as asserted; the pixels of runs are those that the
                        // windows cover, and `from` is a line of them.
                        let (x, largest) =
                            unsafe { (*from.get_unchecked(element), out.get_unchecked_mut(place)) };
                        let is_larger = (x > *largest) | x.is_unordered();
                        *largest = if is_larger { x } else { *largest };
                        if I::KEPT {
                            // SAFETY: `part` gave this line as many pixels as `out` has places, and `place` is one.
                            let at = unsafe { pixels.get_unchecked_mut(place) };
                            *at = if is_larger { (row * width + pixel) as i64 } else { *at };
                        }
                    });
                }
            }
        }
    }
}
