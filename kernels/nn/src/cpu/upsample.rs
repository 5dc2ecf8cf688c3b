//! Resizing of signals, images and volumes: nearest, linear and cubic interpolation, and their gradients.
//!
//! A line of the result is a weighted sum of lines of the input; each of these is stretched first, and kept for the
//! next lines of the result, which usually need it again.
#![expect(
    unsafe_code,
    reason = "shares lines among threads, and picks elements that are known to lie in a line"
)]

mod antialias;
mod bytes;
mod nearest;

use std::ops::Range;

use torch_library::Element;
use torch_library::prelude::*;

use super::volumes::{Volumes, each};
use crate::aten;
use crate::composite::collected;
use crate::inlined::{fill, zip};
use crate::loops;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::unsupported;
use crate::loops::{assign, has_elements, match_opmath, on_vectors, opmath_type, parallel};
use crate::number::Number;

/// Writes the resizing operators, and those of their gradients.
macro_rules! resizing {
    ($($name:ident $backward:ident($($scale:ident),+ $(; $align_corners:ident)?): $curve:ident;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(
                    this: &Tensor,
                    output_size: &[i64],
                    $($align_corners: bool,)?
                    $($scale: Option<f64>,)+
                ) -> Result<Tensor> {
                    let _lease = loops::frozen([this])?;
                    const OPERATOR: &str = aten::$name::NAME;
                    let curve = Curve::$curve $({ $align_corners })?;
                    let resizing = Resizing { operator: OPERATOR, curve, scales: &[$($scale),+] };
                    resizing.forth(this, output_size)
                }

                fn $backward(
                    grad_output: &Tensor,
                    output_size: &[i64],
                    input_size: &[i64],
                    $($align_corners: bool,)?
                    $($scale: Option<f64>,)+
                ) -> Result<Tensor> {
                    let _lease = loops::frozen([grad_output])?;
                    const OPERATOR: &str = aten::$backward::NAME;
                    let curve = Curve::$curve $({ $align_corners })?;
                    let resizing = Resizing { operator: OPERATOR, curve, scales: &[$($scale),+] };
                    resizing.back(grad_output, output_size, input_size)
                }
            )+
        }
    };
}

resizing! {
    upsample_nearest1d upsample_nearest1d_backward(scales): Nearest;
    upsample_nearest2d upsample_nearest2d_backward(scales_h, scales_w): Nearest;
    upsample_nearest3d upsample_nearest3d_backward(scales_d, scales_h, scales_w): Nearest;
    _upsample_nearest_exact1d _upsample_nearest_exact1d_backward(scales): NearestExact;
    _upsample_nearest_exact2d _upsample_nearest_exact2d_backward(scales_h, scales_w): NearestExact;
    _upsample_nearest_exact3d _upsample_nearest_exact3d_backward(scales_d, scales_h, scales_w): NearestExact;
    upsample_linear1d upsample_linear1d_backward(scales; align_corners): Linear;
    upsample_bilinear2d upsample_bilinear2d_backward(scales_h, scales_w; align_corners): Linear;
    upsample_trilinear3d upsample_trilinear3d_backward(scales_d, scales_h, scales_w; align_corners): Linear;
    upsample_bicubic2d upsample_bicubic2d_backward(scales_h, scales_w; align_corners): Cubic;
}

/// The interpolation mode. If corners are aligned, the centres of the first and last elements coincide before and
/// after, else their outer edges do.
#[derive(Clone, Copy)]
enum Curve {
    /// The element that contains the lower edge of the new element.
    Nearest,
    /// The element that contains the centre of the new element.
    NearestExact,
    /// Linear interpolation between two elements.
    Linear { align_corners: bool },
    /// Cubic interpolation between four elements.
    Cubic { align_corners: bool },
}

/// The arguments of a resizing operator.
struct Resizing<'a> {
    operator: &'static str,
    curve: Curve,
    scales: &'a [Option<f64>],
}

/// [`match_opmath!`](crate::loops::match_opmath) for the types that can be resized.
macro_rules! match_resized {
    ($resizing:expr, $dtype:expr, $T:ident => $body:expr) => {
        match (opmath_type($dtype), $resizing.curve) {
            (DType::UInt8, Curve::Nearest | Curve::NearestExact) => {
                type $T = u8;
                $body
            }
            (DType::Float32, _) => {
                type $T = f32;
                $body
            }
            (DType::Float64, _) => {
                type $T = f64;
                $body
            }
            _ => return Err(unsupported($resizing.operator, $dtype)),
        }
    };
}

/// The elements in one spatial dimension from which each new element is computed. Elements beyond an end repeat the one
/// at the end.
struct Direction<T> {
    from: usize,
    to: usize,
    taps: Vec<Tap<T>>,
}

/// For each new element, one of the elements that it is computed from, and its weight.
struct Tap<T> {
    index: Vec<usize>,
    weight: Vec<T>,
}

impl Resizing<'_> {
    fn forth(&self, input: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        let (operator, ndim) = (self.operator, self.scales.len());
        ensure!(
            input.dim() == ndim + 2 && input.sizes()[1..].iter().all(|size| *size > 0),
            Shape,
            "{operator}: sizes {:?}, expected a batch, channels, and {ndim} dimensions with elements",
            input.sizes()
        );
        ensure!(
            output_size.len() == ndim && output_size.iter().all(|size| *size > 0),
            Argument,
            "{operator}: output_size {output_size:?}, expected positive numbers, {ndim} of them"
        );
        match self.curve {
            Curve::Nearest | Curve::NearestExact => return self.forth_nearest(input, output_size),
            _ if input.dtype() == DType::UInt8 && ndim == 2 => return self.forth_bytes(input, output_size),
            _ => {}
        }
        let volumes = Volumes::new(input, ndim, true);
        let out = volumes.zeros(input, output_size, input.dtype())?;
        match_opmath!(input.dtype(), T: Float => {
            if !has_elements(&out) {
                return Ok(out);
            }
            let directions = self.directions::<T>(&input.sizes()[2..], output_size, false)?;
            let (from, to) = (volumes.read::<T>(input)?, volumes.write::<T>(&out, 1)?);
            parallel::shares(to.parts.count(), (parallel::GRAIN / to.parts.len()).max(1), |lines| {
                forth(&directions, volumes.lanes, &from, &to.parts, lines);
            });
            volumes.store(to, &out)?;
        }, else => return Err(unsupported(operator, input.dtype())));
        Ok(out)
    }

    /// The gradient of the input: the gradient of each element is distributed to those that it was computed from.
    fn back(&self, grad: &Tensor, output_size: &[i64], input_size: &[i64]) -> Result<Tensor> {
        let (operator, ndim) = (self.operator, self.scales.len());
        ensure!(
            grad.dim() == ndim + 2
                && input_size.len() == ndim + 2
                && grad.sizes()[..2] == input_size[..2]
                && grad.sizes()[2..] == *output_size
                && grad.sizes()[1..].iter().chain(&input_size[1..]).all(|size| *size > 0),
            Shape,
            "{operator}: a gradient of sizes {:?} of a result of {output_size:?} from {input_size:?}",
            grad.sizes()
        );
        let volumes = Volumes::new(grad, ndim, self.keeps_format());
        let out = volumes.zeros(grad, &input_size[2..], grad.dtype())?;
        if let (Curve::Cubic { .. }, true) = (self.curve, grad.sizes() == input_size) {
            assign(&out, grad)?; // a copy, whatever the scale is
            return Ok(out);
        }
        match_resized!(self, grad.dtype(), T => {
            if !has_elements(&out) {
                return Ok(out);
            }
            let directions = self.directions::<T>(&input_size[2..], output_size, true)?;
            let (from, to) = (volumes.read::<T>(grad)?, volumes.write::<T>(&out, ndim)?);
            each(to.parts.count(), to.parts.len().max(from.len()), |n| {
                // SAFETY: the result was initialised with zeros, and `each` gives every volume to one thread, so this
                // volume is this thread's alone.
                let (grads, volume) = (from.get(n), unsafe { to.parts.get_mut(n) });
                back(&directions, volumes.lanes, grads, volume);
            });
            volumes.store(to, &out)?;
        });
        Ok(out)
    }

    /// Whether the gradient of the input has the memory format of the result's gradient.
    fn keeps_format(&self) -> bool {
        match self.curve {
            Curve::Nearest | Curve::NearestExact => self.scales.len() < 3,
            Curve::Linear { .. } => true,
            Curve::Cubic { .. } => false,
        }
    }

    /// The spatial dimensions of depth, height and width; a missing one has a single element, which is copied.
    fn directions<T: Number>(&self, from: &[i64], to: &[i64], is_obvious: bool) -> Result<[Direction<T>; 3]> {
        let missing = 3 - from.len();
        let direction = |at: usize| match at.checked_sub(missing) {
            Some(at) => self.direction(from[at], to[at], self.scales[at], is_obvious),
            None => {
                Ok(Direction { from: 1, to: 1, taps: vec![Tap { index: vec![0], weight: vec![T::ONE] }] })
            }
        };
        Ok([direction(0)?, direction(1)?, direction(2)?])
    }

    /// Places are computed in the type that PyTorch uses for them, so that no element is mistaken for its neighbour. If
    /// `is_obvious`, equal sizes mean a copy, whatever the scale, as in PyTorch's gradients and some of its kernels.
    fn direction<T: Number>(
        &self,
        from: i64,
        to: i64,
        scale: Option<f64>,
        is_obvious: bool,
    ) -> Result<Direction<T>> {
        let is_nearest = matches!(self.curve, Curve::Nearest | Curve::NearestExact);
        let is_double = T::DTYPE == DType::Float64 && !(is_nearest && is_obvious);
        let round = |x: f64| if is_double { x } else { f64::from(x as f32) };
        let align_corners = match self.curve {
            Curve::Nearest | Curve::NearestExact => false,
            Curve::Linear { align_corners } | Curve::Cubic { align_corners } => align_corners,
        };
        let step = round(match align_corners {
            true if to > 1 => (from - 1) as f64 / (to - 1) as f64,
            true => 0.0,
            false => scale.filter(|scale| *scale > 0.0).map_or(from as f64 / to as f64, f64::recip),
        });
        let centered = |i: i64| round(round(step * (i as f64 + 0.5)) - 0.5);
        let place = |i: i64| match self.curve {
            Curve::Nearest if is_obvious && from == to => i as f64,
            Curve::Nearest if is_obvious && to == 2 * from => (i / 2) as f64,
            Curve::Nearest => round(step * i as f64),
            Curve::NearestExact => round(step * (i as f64 + 0.5)),
            Curve::Linear { .. } if from == to => i as f64,
            Curve::Linear { align_corners: false } => centered(i).max(0.0),
            Curve::Cubic { align_corners: false } => centered(i),
            Curve::Linear { .. } | Curve::Cubic { .. } => round(step * i as f64),
        };
        let below = |place: f64| (place.floor() as i64).min(from - 1);
        let share = |place: f64| round(place - below(place) as f64).clamp(0.0, 1.0);
        let taps = self.curve.taps().map(|tap| {
            let index = |i: i64| (below(place(i)) + tap).clamp(0, from - 1) as usize;
            let weight = |i: i64| self.curve.weight(tap, share(place(i))).cast::<T>();
            Ok(Tap {
                index: collected(self.operator, to, index)?,
                weight: collected(self.operator, to, weight)?,
            })
        });
        Ok(Direction { from: from as usize, to: to as usize, taps: taps.collect::<Result<_>>()? })
    }
}

impl Curve {
    /// The positions, relative to the element below a place, of the elements that a new one is computed from.
    fn taps(self) -> Range<i64> {
        match self {
            Curve::Nearest | Curve::NearestExact => 0..1,
            Curve::Linear { .. } => 0..2,
            Curve::Cubic { .. } => -1..3,
        }
    }

    /// The weight of element `tap` for a place that is the fraction `share` of a step above the element below it.
    fn weight(self, tap: i64, share: f64) -> f64 {
        const BEND: f64 = -0.75;
        let distance = (share - tap as f64).abs();
        match self {
            Curve::Nearest | Curve::NearestExact => 1.0,
            Curve::Linear { .. } => 1.0 - distance,
            Curve::Cubic { .. } if distance <= 1.0 => {
                ((BEND + 2.0) * distance - (BEND + 3.0)) * distance * distance + 1.0
            }
            Curve::Cubic { .. } => {
                ((BEND * distance - 5.0 * BEND) * distance + 8.0 * BEND) * distance - 4.0 * BEND
            }
        }
    }
}

/// Whether PyTorch checks for equal sizes first: its kernels for many channels do, which it also uses for small images.
fn is_obvious(input: &Tensor, output_size: &[i64]) -> bool {
    let are_many = |format| input.sizes()[1] > 3 && input.is_contiguous(format);
    match output_size {
        [height, width] => height.saturating_add(*width) <= 128 || are_many(MemoryFormat::ChannelsLast),
        [_, _, _] => are_many(MemoryFormat::ChannelsLast3d),
        _ => false,
    }
}

/// A cache of stretched lines: as many neighbours in depth and height as a line of the result is computed from.
struct Kept<T> {
    lines: Vec<T>,
    len: usize,
    /// The line of the input that each entry holds.
    rows: Vec<Option<usize>>,
}

impl<T: Number> Kept<T> {
    fn new([depth, height, width]: &[Direction<T>; 3], lanes: usize) -> Self {
        let (count, len) = (depth.taps.len() * height.taps.len(), width.to * lanes);
        Kept { lines: vec![T::ZERO; count * len], len, rows: vec![None; count] }
    }

    /// The entry for a line, and what it held before unless it holds that line already.
    fn place(
        &mut self,
        [depth, height, _]: &[Direction<T>; 3],
        [z, y]: [usize; 2],
    ) -> (&mut [T], Option<Option<usize>>) {
        let row = z * height.from + y;
        let place = z % depth.taps.len() * height.taps.len() + y % height.taps.len();
        let old = self.rows[place].replace(row);
        (&mut self.lines[place * self.len..][..self.len], (old != Some(row)).then_some(old))
    }
}

/// The line of the input that two taps read for line `[z, y]` of the result, and its weight.
///
/// The loops over the taps call no closure: it would be large, and so a function that is not compiled for wide vectors.
#[inline(always)]
fn met<T: Number>([far, near]: [&Tap<T>; 2], [z, y]: [usize; 2]) -> ([usize; 2], T) {
    ([far.index[z], near.index[y]], far.weight[z].times(near.weight[y]))
}

/// The taps of the spatial dimensions before the last.
#[inline(always)]
fn taps<T>([depth, height, _]: &[Direction<T>; 3]) -> Vec<[&Tap<T>; 2]> {
    depth.taps.iter().flat_map(|far| height.taps.iter().map(move |near| [far, near])).collect()
}

/// Calls a closure with each element of a stretched line, and the element of the input line that a tap reads for it.
#[inline(always)]
fn stretched<T: Number>(tap: &Tap<T>, lanes: usize, mut f: impl FnMut(usize, usize, T)) {
    let pixels = zip(&tap.index, &tap.weight).enumerate();
    match lanes {
        1 => {
            for (to, (from, weight)) in pixels {
                f(to, *from, *weight);
            }
        }
        _ => {
            for (to, (from, weight)) in pixels {
                // Read once: what a closure writes could be these numbers, for all that the compiler knows.
                let (to, from, weight) = (to * lanes, from * lanes, *weight);
                for lane in 0..lanes {
                    f(to + lane, from + lane, weight);
                }
            }
        }
    }
}

on_vectors! {
    /// Computes some lines of the result, counted through all volumes.
    fn forth<T: Number>(
        directions: &[Direction<T>; 3], lanes: usize, from: &Parts<T>, to: &PartsMut<T>, lines: Range<usize>,
    ) {
        let [depth, height, width] = directions;
        let (per_volume, len) = (depth.to * height.to, width.from * lanes);
        let (mut kept, mut current) = (Kept::new(directions, lanes), None);
        let taps = taps(directions);
        for line in lines {
            let n = line / per_volume;
            if current.replace(n) != Some(n) {
                kept.rows.fill(None);
            }
            // SAFETY: the result was initialised with zeros, and this line of it is this thread's alone, since each
            // line number is.
            let (volume, out) = (from.get(n), unsafe { to.get_mut(line) });
            let mut is_first = true;
            let place = [line % per_volume / height.to, line % per_volume % height.to];
            for taps in &taps {
                let ([z, y], weight) = met(*taps, place);
                let (row, old) = kept.place(directions, [z, y]);
                if old.is_some() {
                    let input = &volume[(z * height.from + y) * len..][..len];
                    match lanes {
                        1 => stretch_single(width, input, row),
                        _ => stretch(width, lanes, input, row),
                    }
                }
                if std::mem::replace(&mut is_first, false) {
                    for (sum, x) in zip(&mut *out, &*row) {
                        *sum = x.times(weight);
                    }
                } else {
                    for (sum, x) in zip(&mut *out, &*row) {
                        *sum = sum.plus(x.times(weight));
                    }
                }
            }
        }
    }
}

/// Writes a stretched line.
#[inline(always)]
fn stretch<T: Number>(width: &Direction<T>, lanes: usize, input: &[T], row: &mut [T]) {
    assert!(row.len() == width.to * lanes && input.len() == width.from * lanes);
    for (n, tap) in width.taps.iter().enumerate() {
        stretched(tap, lanes, |to, from, weight| {
            // SAFETY: a tap has an index below `width.from` for each of `width.to` places; `input` and `row` have as
            // many, times lanes.
            let (x, sum) = unsafe { (*input.get_unchecked(from), row.get_unchecked_mut(to)) };
            let part = x.times(weight);
            *sum = if n == 0 { part } else { sum.plus(part) };
        });
    }
}

/// Like [`stretch`], for one lane; not compiled for wide vectors, since it reads one element at a time.
#[inline(never)]
fn stretch_single<T: Number>(width: &Direction<T>, input: &[T], row: &mut [T]) {
    stretch(width, 1, input, row);
}

/// Adds the gradients of a stretched line to the line of the input that it was computed from, and sets them to zero.
#[inline(always)]
fn give<T: Number>(width: &Direction<T>, lanes: usize, grads: &mut [T], input: &mut [T]) {
    assert!(grads.len() == width.to * lanes && input.len() == width.from * lanes);
    for tap in &width.taps {
        stretched(tap, lanes, |to, from, weight| {
            // SAFETY: a tap has an index below `width.from` for each of `width.to` places; `input` and `grads` have
            // as many, times lanes.
            let (grad, sum) = unsafe { (*grads.get_unchecked(to), input.get_unchecked_mut(from)) };
            *sum = sum.plus(grad.times(weight));
        });
    }
    fill(grads, T::ZERO);
}

on_vectors! {
    /// Adds the gradients of a volume's lines to the lines of the input that they were computed from.
    fn back<T: Number>(directions: &[Direction<T>; 3], lanes: usize, grads: &[T], volume: &mut [T]) {
        let [_, height, width] = directions;
        let (mut kept, taps) = (Kept::new(directions, lanes), taps(directions));
        let len = width.from * lanes;
        for (line, grads) in grads.chunks_exact(kept.len).enumerate() {
            for taps in &taps {
                let (place, weight) = met(*taps, [line / height.to, line % height.to]);
                let (row, old) = kept.place(directions, place);
                if let Some(old) = old.flatten() {
                    give(width, lanes, row, &mut volume[old * len..][..len]);
                }
                for (sum, grad) in zip(row, grads) {
                    *sum = sum.plus(grad.times(weight));
                }
            }
        }
        for (row, grads) in kept.rows.iter().zip(kept.lines.chunks_exact_mut(kept.len)) {
            if let Some(row) = *row {
                give(width, lanes, grads, &mut volume[row * len..][..len]);
            }
        }
    }
}
