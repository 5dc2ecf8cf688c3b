//! The taps of a block of points, and the loops that read them in every channel.
#![expect(
    unsafe_code,
    reason = "shares points among threads, and picks pixels that are known to lie in a channel"
)]

use std::hint::select_unpredictable;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::Sampling;
use super::axis::{Axis, AxisTaps, BLOCK, Interpolation, Points, Real};
#[cfg(target_arch = "x86_64")]
use super::registers;
use crate::inlined::{from_fn, zip};
use crate::loops::on_vectors;
use crate::loops::parts::{Parts, PartsMut};

/// A tap: one pixel for each point of a block.
#[derive(Clone, Copy)]
struct Tap<T> {
    /// The index of the pixel in a channel, always less than [`Taps::pixels`].
    at: Points<u32>,
    /// Whether the pixel is in the image; outside of it everything is zero.
    is_inside: Points<bool>,
    weight: Points<T>,
    /// The derivatives of the weight with respect to each coordinate of the point: depth, height, width.
    slopes: [Points<T>; 3],
}

/// The taps of a block of points.
pub(super) struct Taps<T> {
    axes: [Axis<T>; 3],
    sizes: [usize; 3],
    /// The number of coordinates of a point.
    ndim: usize,
    interpolation: Interpolation,
    taps: Vec<Tap<T>>,
}

impl<T: Real> Taps<T> {
    pub(super) fn new(sampling: &Sampling) -> Self {
        let tap = Tap {
            at: [0; BLOCK],
            is_inside: [false; BLOCK],
            weight: [T::ZERO; BLOCK],
            slopes: [[T::ZERO; BLOCK]; 3],
        };
        let Sampling { interpolation, sizes, ndim, .. } = *sampling;
        let taps = vec![tap; interpolation.taps().pow(ndim as u32)];
        Taps { axes: sampling.axes(), sizes, ndim, interpolation, taps }
    }

    /// The number of pixels of a channel.
    fn pixels(&self) -> usize {
        self.sizes.iter().product::<usize>()
    }

    /// Finds the taps of a block of points, with the derivatives of their weights if these are wanted.
    #[inline(always)]
    fn find<const SLOPES: bool>(&mut self, points: &[T]) {
        match self.interpolation {
            Interpolation::Nearest => self.find_of::<1, SLOPES>(points),
            Interpolation::Linear => self.find_of::<2, SLOPES>(points),
            Interpolation::Cubic => self.find_of::<4, SLOPES>(points),
        }
    }

    #[inline(always)]
    fn find_of<const TAPS: usize, const SLOPES: bool>(&mut self, points: &[T]) {
        let ndim = self.ndim;
        // The first coordinate belongs to the last spatial dimension.
        let coordinates = |at: usize| {
            let mut all = [T::ZERO; BLOCK];
            for (n, x) in all.iter_mut().enumerate().take(points.len() / ndim) {
                *x = points[n * ndim + at];
            }
            all
        };
        let x = self.axes[2].taps_of::<TAPS>(&coordinates(0));
        let y = self.axes[1].taps_of::<TAPS>(&coordinates(1));
        if ndim == 2 {
            let only = AxisTaps { index: [[0; BLOCK]], weight: [[T::ONE; BLOCK]], slope: [[T::ZERO; BLOCK]] };
            return self.combine::<1, TAPS, SLOPES>(&only, &y, &x);
        }
        let z = self.axes[0].taps_of::<TAPS>(&coordinates(2));
        self.combine::<TAPS, TAPS, SLOPES>(&z, &y, &x);
    }

    #[inline(always)]
    fn combine<const FAR: usize, const TAPS: usize, const SLOPES: bool>(
        &mut self,
        z: &AxisTaps<T, FAR>,
        y: &AxisTaps<T, TAPS>,
        x: &AxisTaps<T, TAPS>,
    ) {
        let [_, height, width] = self.sizes.map(|size| size as u32);
        let mut taps = self.taps.iter_mut();
        for (far, near) in (0..FAR).flat_map(|far| (0..TAPS).map(move |near| (far, near))) {
            for next in 0..TAPS {
                let Some(tap) = taps.next() else { break };
                for i in 0..BLOCK {
                    let index = [z.index[far][i], y.index[near][i], x.index[next][i]];
                    let is_inside = (index[0] | index[1] | index[2]) >= 0; // negative if any of them is
                    let [plane, row, pixel] = [index[0] as u32, index[1] as u32, index[2] as u32];
                    let at =
                        plane.wrapping_mul(height).wrapping_add(row).wrapping_mul(width).wrapping_add(pixel);
                    tap.at[i] = if is_inside { at } else { 0 };
                    tap.is_inside[i] = is_inside;
                    let [a, b, c] = [z.weight[far][i], y.weight[near][i], x.weight[next][i]];
                    tap.weight[i] = c.times(b).times(a);
                    if SLOPES {
                        tap.slopes[0][i] = c.times(b).times(z.slope[far][i]);
                        tap.slopes[1][i] = c.times(y.slope[near][i]).times(a);
                        tap.slopes[2][i] = x.slope[next][i].times(b).times(a);
                    }
                }
            }
        }
    }
}

/// The elements of a channel at a tap, with zeros outside.
///
/// # Safety
/// - The channel has as many elements as the `Taps` that the tap is from have pixels.
#[inline(always)]
unsafe fn read<T: Real>(channel: &[T], tap: &Tap<T>) -> Points<T> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the index of a pixel inside is one of the channel, as below.
    if let Some(values) = unsafe { registers::gathered(channel, &tap.at, &tap.is_inside) } {
        return values;
    }
    from_fn(|i| {
        // SAFETY: `combine` and `new`, which alone write `at`, make each index less than `pixels()`: `Axis::find`
        // returns a place below the size of its dimension, or -1, which becomes the first pixel (`Sampling::new`
        // refuses images without pixels). The caller vouches for a channel of `pixels()` elements.
        let x = unsafe { *channel.get_unchecked(tap.at[i] as usize) };
        // Not a branch, which would often be predicted wrongly.
        select_unpredictable(tap.is_inside[i], x, T::ZERO)
    })
}

on_vectors! {
    /// Writes the values of some blocks of points in each channel; blocks are counted through all images.
    pub(super) fn sample<T: Real>(
        taps: &mut Taps<T>, images: &Parts<T>, points: &Parts<T>, out: &PartsMut<T>, blocks: Range<usize>,
    ) {
        let (pixels, count) = (taps.pixels(), out.len());
        let (per_image, channels) = (count.div_ceil(BLOCK), images.len() / pixels);
        for block in blocks {
            let (n, first) = (block / per_image, block % per_image * BLOCK);
            let len = BLOCK.min(count - first);
            let (image, points) = (images.get(n), points.get(n));
            taps.find::<false>(&points[first * taps.ndim..][..len * taps.ndim]);
            for (c, channel) in image.chunks_exact(pixels).enumerate() {
                let (first_tap, more) = taps.taps.split_first().expect("each interpolation has a tap");
                // SAFETY: a chunk of `pixels()` elements.
                let mut sums = unsafe { read(channel, first_tap) };
                for (sum, weight) in zip(&mut sums, &first_tap.weight) {
                    *sum = sum.times(*weight);
                }
                for tap in more {
                    // SAFETY: a chunk of `pixels()` elements.
                    let xs = unsafe { read(channel, tap) };
                    for i in 0..BLOCK {
                        sums[i] = sums[i].plus(xs[i].times(tap.weight[i]));
                    }
                }
                let to = out.at(n * channels + c).wrapping_add(first);
                // SAFETY: channel `c` of image `n` is a part of `out` with `count` points, of which `len` are left from
                // `first` on; the lease of `out` excludes all other access, and the points of this block are this
                // thread's alone.
                let to = unsafe { std::slice::from_raw_parts_mut(to.cast::<MaybeUninit<T>>(), len) };
                for (to, sum) in zip(to, &sums) {
                    to.write(*sum);
                }
            }
        }
    }
}
on_vectors! {
    /// Adds the gradients of all points of an image to those of its pixels, if these are wanted, and to those of the
    /// points' coordinates.
    pub(super) fn spread<T: Real>(
        taps: &mut Taps<T>, grads: &[T], image: &[T], points: &[T], of_image: Option<&mut [T]>, of_points: &mut [T],
    ) {
        let (pixels, ndim) = (taps.pixels(), taps.ndim);
        let count = points.len() / ndim;
        let mut of_image = of_image;
        for first in (0..count).step_by(BLOCK) {
            let len = BLOCK.min(count - first);
            taps.find::<true>(&points[first * ndim..][..len * ndim]);
            let mut sums = [[T::ZERO; BLOCK]; 3];
            for (c, channel) in image.chunks_exact(pixels).enumerate() {
                let mut own = [T::ZERO; BLOCK];
                own[..len].copy_from_slice(&grads[c * count + first..][..len]);
                for tap in &taps.taps {
                    // SAFETY: a chunk of `pixels()` elements.
                    let xs = unsafe { read(channel, tap) };
                    for (sums, slopes) in zip(&mut sums[3 - ndim..], &tap.slopes[3 - ndim..]) {
                        for i in 0..BLOCK {
                            sums[i] = sums[i].plus(own[i].times(xs[i]).times(slopes[i]));
                        }
                    }
                    if let Some(of_image) = &mut of_image {
                        let of_channel = &mut of_image[c * pixels..][..pixels];
                        for i in 0..len {
                            if tap.is_inside[i] {
                                let sum = &mut of_channel[tap.at[i] as usize];
                                *sum = sum.plus(own[i].times(tap.weight[i]));
                            }
                        }
                    }
                }
            }
            for (i, point) in of_points[first * ndim..][..len * ndim].chunks_exact_mut(ndim).enumerate() {
                for (n, to) in point.iter_mut().enumerate() {
                    *to = sums[2 - n][i];
                }
            }
        }
    }
}
