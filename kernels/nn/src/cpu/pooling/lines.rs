//! The loops of pooling: line of places by line of places, adding each line of pixels to all places at once.
//!
//! A place gets its elements in the order of memory, so vectors along a line do not change any bit of a sum. Adaptive
//! pooling has other orders: it adds columns first, or all pixels, as any other mean does.
#![expect(
    unsafe_code,
    reason = "shares volumes among threads, and meets pixels that are known to lie in a line"
)]

use std::sync::atomic::{AtomicBool, Ordering};

use torch_library::Element;
use torch_library::prelude::*;

use super::windows::{Run, Window, shares, sliding};
use crate::cpu::axis::Axis;
use crate::cpu::folds::Sum;
use crate::cpu::volumes::{Volumes, each, pixels};
use crate::inlined::zip;
use crate::loops::pointwise::unsupported;
use crate::loops::reduce::Fold;
use crate::loops::{has_elements, match_opmath, on_vectors, opmath_type};
use crate::number::Number;

/// The divisor of average pooling.
#[derive(Clone, Copy)]
pub(super) enum Divisor {
    /// The number of pixels under the window.
    Covered,
    /// The number of pixels under the window, padding included.
    Padded,
    Fixed(i64),
}

impl Divisor {
    pub(super) fn new(
        operator: &str,
        count_include_pad: bool,
        divisor_override: Option<i64>,
    ) -> Result<Self> {
        ensure!(divisor_override != Some(0), Argument, "{operator}: the divisor is 0");
        let counted = if count_include_pad { Divisor::Padded } else { Divisor::Covered };
        Ok(divisor_override.map_or(counted, Divisor::Fixed))
    }

    /// The factor of the divisor that one spatial dimension contributes.
    fn of(self, window: &Window) -> i64 {
        match self {
            Divisor::Covered => window.count().max(1), // the mean of no pixels is zero
            Divisor::Padded => window.extent,
            Divisor::Fixed(_) => 1,
        }
    }

    /// The factor of the divisor that is the same for a whole line.
    fn of_line(self, [z, y]: [&Window; 2]) -> i64 {
        match self {
            Divisor::Fixed(divisor) => divisor,
            _ => self.of(z) * self.of(y),
        }
    }
}

/// [`match_dtype!`] over the types in which means are computed.
macro_rules! match_mean {
    ($operator:expr, $dtype:expr, $T:ident => $body:expr) => {
        match opmath_type($dtype) {
            DType::Int64 => {
                type $T = i64;
                $body
            }
            DType::Float32 => {
                type $T = f32;
                $body
            }
            DType::Float64 => {
                type $T = f64;
                $body
            }
            dtype => return Err(unsupported($operator, dtype)),
        }
    };
}

/// The windows of all places in three spatial dimensions, of which images have only the last two.
pub(super) struct Pooling {
    pub(super) operator: &'static str,
    /// The sizes of the input in the three spatial dimensions.
    pub(super) sizes: [usize; 3],
    pub(super) windows: [Vec<Window>; 3],
    /// The runs that match the windows of the last spatial dimension to the pixels of a line.
    pub(super) runs: Vec<Run>,
    pub(super) ndim: usize,
    is_of_shares: bool,
}

impl Pooling {
    pub(super) fn of_windows(
        operator: &'static str,
        input: &Tensor,
        axes: &[Axis],
        over_edge: bool,
    ) -> Result<Self> {
        let sizes = input.sizes();
        let has_channels = sizes.len() <= axes.len() || sizes[sizes.len() - axes.len() - 1] > 0;
        ensure!(has_channels, Shape, "{operator}: sizes {sizes:?} have no channels");
        Pooling::new(operator, input, axes.len(), false, |at, size| {
            sliding(operator, axes[at], size, over_edge)
        })
    }

    pub(super) fn of_shares(
        operator: &'static str,
        input: &Tensor,
        output_size: &[i64],
        ndim: usize,
        is_lenient: bool,
    ) -> Result<Self> {
        ensure!(
            output_size.len() == ndim,
            Argument,
            "{operator}: output_size {output_size:?}, expected {ndim} numbers"
        );
        ensure!(
            input.dtype().is_floating_point(),
            DType,
            "{operator} is not implemented for {}",
            input.dtype()
        );
        ensure!(
            output_size.iter().all(|size| *size >= 0),
            Argument,
            "{operator}: output_size {output_size:?} is negative"
        );
        // Average pooling of images may have zero channels, as in PyTorch.
        ensure!(
            is_lenient || !input.sizes().iter().skip(1).any(|size| *size == 0),
            Shape,
            "{operator}: sizes {:?} have no elements to pool",
            input.sizes()
        );
        Pooling::new(operator, input, ndim, true, |at, size| shares(operator, output_size[at], size))
    }

    fn new(
        operator: &'static str,
        input: &Tensor,
        ndim: usize,
        is_of_shares: bool,
        windows: impl Fn(usize, i64) -> Result<Vec<Window>>,
    ) -> Result<Self> {
        let own = pixels(operator, input, ndim)?;
        ensure!(
            own.iter().all(|size| *size > 0),
            Shape,
            "{operator}: sizes {:?} have no elements to pool",
            input.sizes()
        );
        let (mut sizes, mut all) = ([1; 3], [0; 3].map(|_| vec![Window::ONLY]));
        for (at, size) in own.iter().enumerate() {
            sizes[3 - ndim + at] = *size as usize;
            all[3 - ndim + at] = windows(at, *size)?;
        }
        let runs = if has_elements(input) { Run::all(&all[2]) } else { Vec::new() };
        Ok(Pooling { operator, sizes, runs, windows: all, ndim, is_of_shares })
    }

    /// Results for images keep the memory format of the input; for volumes, only max pooling does.
    pub(super) fn volumes(&self, input: &Tensor, are_largest: bool) -> Volumes {
        Volumes::new(input, self.ndim, self.ndim == 2 || are_largest && !self.is_of_shares)
    }

    /// The number of places in each spatial dimension.
    pub(super) fn places(&self) -> Vec<i64> {
        self.windows[3 - self.ndim..].iter().map(|windows| windows.len() as i64).collect()
    }

    /// Whether there is one window, which covers all pixels.
    fn is_of_all(&self) -> bool {
        zip(&self.windows, &self.sizes)
            .all(|(windows, size)| matches!(&windows[..], [one] if one.count() == *size as i64))
    }

    /// Whether the columns under a line of windows are taken together: the windows of adaptive pooling are not
    /// equidistant, so that the runs of a line are short.
    fn is_by_columns(&self, lanes: usize) -> bool {
        self.is_of_shares && lanes == 1
    }

    /// The windows of each line of places, in the first two spatial dimensions.
    pub(super) fn lines(&self) -> impl Iterator<Item = [&Window; 2]> {
        let [planes, rows, _] = &self.windows;
        planes.iter().flat_map(move |z| rows.iter().map(move |y| [z, y]))
    }

    /// The lines of pixels under these windows.
    #[inline(always)]
    pub(super) fn covered(&self, [z, y]: [&Window; 2]) -> impl Iterator<Item = usize> {
        z.pixels().flat_map(move |z| y.pixels().map(move |y| z * self.sizes[1] + y))
    }

    /// A number for each place of a line, repeated for each lane.
    pub(super) fn of_line<T>(&self, lanes: usize, number: impl Fn(&Window) -> T) -> Vec<T> {
        self.windows[2].iter().flat_map(|window| (0..lanes).map(|_| number(window))).collect()
    }

    pub(super) fn means(&self, input: &Tensor, divisor: Divisor) -> Result<Tensor> {
        let volumes = self.volumes(input, false);
        let out = volumes.zeros(input, &self.places(), input.dtype())?;
        match_mean!(self.operator, input.dtype(), T => {
            if !has_elements(&out) {
                return Ok(out);
            }
            let (from, to) = (volumes.read::<T>(input)?, volumes.write::<T>(&out, self.ndim)?);
            let shares = self.of_line(volumes.lanes, |window| divisor.of(window).cast::<T>());
            each(from.count(), from.len(), |n| {
                // SAFETY: the result was initialised with zeros, and `each` gives every volume to one thread, so this
                // volume is this thread's alone.
                let (volume, to) = unsafe { (from.get(n), to.parts.get_mut(n)) };
                means(self, volumes.lanes, divisor, &shares, volume, to);
            });
            volumes.store(to, &out)?;
        });
        Ok(out)
    }

    /// The gradient of average pooling's input.
    pub(super) fn spread(&self, grad: &Tensor, input: &Tensor, divisor: Divisor) -> Result<Tensor> {
        self.check(grad, input)?;
        self.check_type(grad, input)?;
        let volumes = self.volumes(input, false);
        let out = volumes.zeros(input, pixels(self.operator, input, self.ndim)?, input.dtype())?;
        match_mean!(self.operator, input.dtype(), T => {
            if !has_elements(&out) {
                return Ok(out);
            }
            let (from, to) = (volumes.read::<T>(grad)?, volumes.write::<T>(&out, self.ndim)?);
            let shares = self.of_line(volumes.lanes, |window| divisor.of(window).cast::<T>());
            each(to.parts.count(), to.parts.len(), |n| {
                // SAFETY: the result was initialised with zeros, and `each` gives every volume to one thread, so this
                // volume is this thread's alone.
                let (grads, volume) = unsafe { (from.get(n), to.parts.get_mut(n)) };
                spread(self, volumes.lanes, divisor, &shares, grads, volume);
            });
            volumes.store(to, &out)?;
        });
        Ok(out)
    }

    /// Checks that a gradient has the dtype of the input.
    ///
    /// # Errors
    /// Their dtypes differ.
    fn check_type(&self, grad: &Tensor, input: &Tensor) -> Result<()> {
        ensure!(
            grad.dtype() == input.dtype(),
            DType,
            "{}: a gradient of {} for an input of {}, expected one type",
            self.operator,
            grad.dtype(),
            input.dtype()
        );
        Ok(())
    }

    /// The gradient of max pooling's input.
    pub(super) fn returned(&self, grad: &Tensor, input: &Tensor, indices: &Tensor) -> Result<Tensor> {
        self.check(grad, input)?;
        self.check(indices, input)?;
        self.check_type(grad, input)?;
        let volumes = self.volumes(input, true);
        let out = volumes.zeros(input, pixels(self.operator, input, self.ndim)?, input.dtype())?;
        match_opmath!(input.dtype(), T: Float => {
            if !has_elements(&out) {
                return Ok(out);
            }
            let (from, at) = (volumes.read::<T>(grad)?, volumes.read::<i64>(indices)?);
            let to = volumes.write::<T>(&out, self.ndim)?;
            let (is_lost, lanes) = (AtomicBool::new(false), volumes.lanes);
            each(to.parts.count(), to.parts.len(), |n| {
                // SAFETY: the result was initialised with zeros, and `each` gives every volume to one thread, so this
                // volume is this thread's alone.
                let (grads, pixels, volume) = unsafe { (from.get(n), at.get(n), to.parts.get_mut(n)) };
                let fit = match lanes {
                    1 => give_back(1, grads, pixels, volume), // compiled as a loop over single elements
                    _ => give_back(lanes, grads, pixels, volume),
                };
                if !fit {
                    is_lost.store(true, Ordering::Relaxed);
                }
            });
            ensure!(
                !is_lost.into_inner(),
                Argument,
                "{}: an index is out of range for pixels of sizes {:?}",
                self.operator,
                self.sizes
            );
            volumes.store(to, &out)?;
        }, else => return Err(unsupported(self.operator, input.dtype())));
        Ok(out)
    }

    fn check(&self, tensor: &Tensor, input: &Tensor) -> Result<()> {
        let sizes = [&input.sizes()[..input.dim() - self.ndim], &self.places()].concat();
        ensure!(
            tensor.sizes() == sizes,
            Shape,
            "{}: a gradient or index of sizes {:?}, expected those of the result, {sizes:?}",
            self.operator,
            tensor.sizes()
        );
        ensure!(
            !sizes.iter().skip(1).any(|size| *size == 0),
            Shape,
            "{}: a gradient of sizes {sizes:?} has no elements",
            self.operator
        );
        Ok(())
    }
}

/// Adds gradients to the elements that they are of, in pixels of `lanes` elements. Returns whether there are all of
/// these pixels.
#[inline(always)]
fn give_back<T: Number>(lanes: usize, grads: &[T], pixels: &[i64], volume: &mut [T]) -> bool {
    let mut fit = true;
    for (grads, pixels) in grads.chunks_exact(lanes).zip(pixels.chunks_exact(lanes)) {
        for (lane, (grad, pixel)) in zip(grads, pixels).enumerate() {
            match volume.get_mut((*pixel as usize).wrapping_mul(lanes).wrapping_add(lane)) {
                Some(sum) => *sum = sum.plus(*grad),
                None => fit = false,
            }
        }
    }
    fit
}

on_vectors! {
    fn means<T: Averaged>(
        pooling: &Pooling, lanes: usize, divisor: Divisor, shares: &[T], volume: &[T], out: &mut [T],
    ) {
        let line = pooling.sizes[2] * lanes;
        assert!(shares.len() == pooling.windows[2].len() * lanes);
        if let (true, [share], [out]) = (pooling.is_of_all(), shares, &mut *out) {
            let factor = pooling.lines().next().map_or(1, |line| divisor.of_line(line)).cast::<T>();
            *out = Sum.slice(volume, 0).shared(factor.times(*share));
            return;
        }
        if pooling.is_by_columns(lanes) {
            return means_by_columns(pooling, divisor, shares, volume, out);
        }
        for ([z, y], out) in pooling.lines().zip(out.chunks_exact_mut(shares.len())) {
            for row in pooling.covered([z, y]) {
                let from = &volume[row * line..][..line];
                for run in &pooling.runs {
                    run.each(lanes, |place, element, _| {
                        // SAFETY: the places of runs are windows of a line, and `out` has a place for each of its
                        // windows and lanes, as `shares` has, as asserted; the pixels of runs are those that the
                        // windows cover, and `from` is a line of them.
                        let (x, sum) = unsafe { (*from.get_unchecked(element), out.get_unchecked_mut(place)) };
                        *sum = sum.plus(x);
                    });
                }
            }
            let factor = divisor.of_line([z, y]).cast::<T>();
            for (sum, share) in zip(out, shares) {
                *sum = sum.shared(factor.times(*share));
            }
        }
    }
}

on_vectors! {
    /// Adds to each pixel its share of the gradients of the places whose windows cover it.
    fn spread<T: Averaged>(
        pooling: &Pooling, lanes: usize, divisor: Divisor, shares: &[T], grads: &[T], volume: &mut [T],
    ) {
        let line = pooling.sizes[2] * lanes;
        assert!(shares.len() == pooling.windows[2].len() * lanes);
        if let (true, [share], [grad]) = (pooling.is_of_all(), shares, grads) {
            let factor = pooling.lines().next().map_or(1, |line| divisor.of_line(line)).cast::<T>();
            let part = grad.shared(factor.times(*share));
            for sum in volume {
                *sum = sum.plus(part);
            }
            return;
        }
        if pooling.is_by_columns(lanes) {
            return spread_by_columns(pooling, divisor, shares, grads, volume);
        }
        let mut parts = vec![T::ZERO; shares.len()];
        for ([z, y], grads) in pooling.lines().zip(grads.chunks_exact(shares.len())) {
            let factor = divisor.of_line([z, y]).cast::<T>();
            for (part, (grad, share)) in zip(&mut parts, zip(grads, shares)) {
                *part = grad.shared(factor.times(*share));
            }
            for row in pooling.covered([z, y]) {
                let to = &mut volume[row * line..][..line];
                for run in &pooling.runs {
                    run.each(lanes, |place, element, _| {
                        // SAFETY: the places of runs are windows of a line, and `parts` has a place for each of its
                        // windows and lanes, as `shares` has, as asserted; the pixels of runs are those that the
                        // windows cover, and `to` is a line of them.
                        let (part, sum) = unsafe { (*parts.get_unchecked(place), to.get_unchecked_mut(element)) };
                        *sum = sum.plus(part);
                    });
                }
            }
        }
    }
}

/// The means of windows: of each column of pixels first, on vectors, and then of the columns.
#[inline(always)]
fn means_by_columns<T: Averaged>(
    pooling: &Pooling,
    divisor: Divisor,
    shares: &[T],
    volume: &[T],
    out: &mut [T],
) {
    let mut columns = vec![T::ZERO; pooling.sizes[2]];
    for ([z, y], out) in pooling.lines().zip(out.chunks_exact_mut(shares.len())) {
        columns.fill(T::ZERO);
        for row in pooling.covered([z, y]) {
            let from = &volume[row * columns.len()..];
            zip(&mut columns, from).for_each(|(sum, x)| *sum = sum.plus(*x));
        }
        let factor = divisor.of_line([z, y]).cast::<T>();
        for ((out, window), share) in zip(out, &pooling.windows[2]).zip(shares) {
            let sum = window.pixels().fold(T::ZERO, |sum, pixel| sum.plus(columns[pixel]));
            *out = sum.shared(factor.times(*share));
        }
    }
}

/// Adds to each pixel its share of gradients, which is the same for all pixels of a column under a line of windows.
#[inline(always)]
fn spread_by_columns<T: Averaged>(
    pooling: &Pooling,
    divisor: Divisor,
    shares: &[T],
    grads: &[T],
    volume: &mut [T],
) {
    let mut columns = vec![T::ZERO; pooling.sizes[2]];
    for ([z, y], grads) in pooling.lines().zip(grads.chunks_exact(shares.len())) {
        columns.fill(T::ZERO);
        let factor = divisor.of_line([z, y]).cast::<T>();
        for ((grad, window), share) in zip(grads, &pooling.windows[2]).zip(shares) {
            let part = grad.shared(factor.times(*share));
            window.pixels().for_each(|pixel| columns[pixel] = columns[pixel].plus(part));
        }
        for row in pooling.covered([z, y]) {
            let to = &mut volume[row * columns.len()..];
            zip(to, &columns).for_each(|(sum, part)| *sum = sum.plus(*part));
        }
    }
}

/// A type in which means are computed.
trait Averaged: Number {
    /// The quotient; integers wrap around.
    fn shared(self, divisor: Self) -> Self;
}

impl Averaged for i64 {
    #[inline(always)]
    fn shared(self, divisor: Self) -> Self {
        self.wrapping_div(divisor)
    }
}

impl Averaged for f32 {
    #[inline(always)]
    fn shared(self, divisor: Self) -> Self {
        self / divisor
    }
}

impl Averaged for f64 {
    #[inline(always)]
    fn shared(self, divisor: Self) -> Self {
        self / divisor
    }
}
