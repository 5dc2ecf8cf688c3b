//! Replication and reflection padding of signals, images and volumes, and their gradients.
#![expect(unsafe_code, reason = "shares volumes among threads, in memory that nothing was written to before")]

use std::mem::MaybeUninit;
use std::ops::Range;

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::volumes::{Volumes, each, pixels};
use crate::aten;
use crate::inlined::zip;
use crate::loops;
use crate::loops::pointwise::unsupported;
use crate::loops::{has_elements, match_opmath, on_vectors};
use crate::number::Number;

/// Writes the padding operators, and those of their gradients.
macro_rules! padding {
    ($($ndim:literal: $name:ident $backward:ident $edge:ident;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $name(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
                    let _lease = loops::frozen([this])?;
                    const OPERATOR: &str = aten::$name::NAME;
                    Padding::new(OPERATOR, Edge::$edge, this, $ndim, padding)?.forth(this)
                }

                fn $backward(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor> {
                    let _lease = loops::frozen([grad_output, this])?;
                    const OPERATOR: &str = aten::$backward::NAME;
                    Padding::new(OPERATOR, Edge::$edge, this, $ndim, padding)?.back(grad_output, this)
                }
            )+
        }
    };
}

padding! {
    1: reflection_pad1d reflection_pad1d_backward Reflect;
    2: reflection_pad2d reflection_pad2d_backward Reflect;
    3: reflection_pad3d reflection_pad3d_backward Reflect;
    1: replication_pad1d replication_pad1d_backward Replicate;
    2: replication_pad2d replication_pad2d_backward Replicate;
    3: replication_pad3d replication_pad3d_backward Replicate;
}

/// The elements beyond an edge.
#[derive(Clone, Copy, PartialEq)]
enum Edge {
    Reflect,
    Replicate,
}

/// Padding in one spatial dimension: `from` elements become `to`, of which the first `before` are in front of the old
/// first one.
#[derive(Clone, Copy)]
struct Direction {
    edge: Edge,
    from: i64,
    to: i64,
    before: i64,
}

impl Direction {
    /// A missing spatial dimension: one element, without padding.
    const NONE: Direction = Direction { edge: Edge::Replicate, from: 1, to: 1, before: 0 };

    fn new(operator: &str, edge: Edge, from: i64, pad: &[i64]) -> Result<Self> {
        let to = pad.iter().try_fold(from, |to, pad| to.checked_add(*pad));
        let (true, Some(to @ 1..)) = (edge == Edge::Replicate || pad.iter().all(|pad| *pad < from), to)
        else {
            bail!(Argument, "{operator}: padding {pad:?} is too large for a dimension of size {from}")
        };
        Ok(Direction { edge, from, to, before: pad[0] })
    }

    /// The element that is repeated at a place.
    #[inline(always)]
    fn source(self, place: i64) -> usize {
        let (place, last) = (place.saturating_sub(self.before), self.from - 1); // whatever is cut off
        let source = match self.edge {
            Edge::Replicate => place.clamp(0, last),
            Edge::Reflect if place < 0 => -place,
            Edge::Reflect if place > last => 2 * last - place,
            Edge::Reflect => place,
        };
        source as usize
    }

    /// The range of places that are inside of the original elements.
    fn inside(self) -> Range<i64> {
        let start = self.before.clamp(0, self.to);
        start..(self.before + self.from).clamp(start, self.to)
    }

    /// The range of [`inside`](Self::inside) in elements of `lanes` each, and the first original element in it.
    fn met(self, lanes: usize) -> (Range<usize>, usize) {
        let inside = self.inside();
        let first = if inside.is_empty() { 0 } else { inside.start - self.before };
        (inside.start as usize * lanes..inside.end as usize * lanes, first as usize * lanes)
    }
}

/// The padding of a tensor.
struct Padding {
    operator: &'static str,
    /// Depth, height and width.
    directions: [Direction; 3],
    ndim: usize,
}

impl Padding {
    fn new(operator: &'static str, edge: Edge, input: &Tensor, ndim: usize, padding: &[i64]) -> Result<Self> {
        let own = pixels(operator, input, ndim)?;
        let has_batch = usize::from(input.dim() == ndim + 2);
        ensure!(
            input.sizes()[has_batch..].iter().all(|size| *size > 0),
            Shape,
            "{operator}: sizes {:?} have no elements, only a batch may be empty",
            input.sizes()
        );
        ensure!(
            padding.len() == 2 * ndim,
            Argument,
            "{operator}: padding is {padding:?}, expected {} numbers",
            2 * ndim
        );
        let mut directions = [Direction::NONE; 3];
        for ((direction, size), pad) in
            directions.iter_mut().rev().zip(own.iter().rev()).zip(padding.chunks_exact(2))
        {
            *direction = Direction::new(operator, edge, *size, pad)?;
        }
        Ok(Padding { operator, directions, ndim })
    }

    /// The sizes of the result.
    fn padded(&self) -> Vec<i64> {
        self.directions[3 - self.ndim..].iter().map(|direction| direction.to).collect()
    }

    /// How the elements are divided. In three dimensions, PyTorch takes the format from the strides alone.
    fn volumes(&self, input: &Tensor) -> Volumes {
        let volumes = Volumes::new(input, self.ndim, self.ndim > 1);
        if self.ndim == 3 { volumes.stored_like(input) } else { volumes }
    }

    fn forth(&self, input: &Tensor) -> Result<Tensor> {
        let volumes = self.volumes(input);
        if input.dtype() == DType::Bool || input.dtype().is_float8() {
            return Err(unsupported(self.operator, input.dtype()));
        }
        // SAFETY: `pad` writes every volume in full, and the volumes are all elements; after an error the tensor is
        // dropped here.
        let out = unsafe { volumes.uninit(input, &self.padded(), input.dtype())? };
        if has_elements(&out) {
            match_dtype!(input.dtype(), T: NotFloat8 => {
                let (from, to) = (volumes.read::<T>(input)?, volumes.write::<T>(&out, self.ndim)?);
                let edges = self.edges(volumes.lanes);
                each(from.count(), to.parts.len(), |n| {
                    // SAFETY: `each` gives every volume to one thread, so this volume of the leased result is this
                    // thread's alone.
                    let (volume, out) = unsafe { (from.get(n), to.parts.uninit(n)) };
                    self.pad(volumes.lanes, &edges, volume, out);
                });
                volumes.store(to, &out)?;
            }, else => return Err(unsupported(self.operator, input.dtype())));
        }
        Ok(out)
    }

    /// The gradient of the input: for each element, the sum of the gradients of the element and its repetitions.
    fn back(&self, grad: &Tensor, input: &Tensor) -> Result<Tensor> {
        let volumes = self.volumes(input);
        let padded = [&input.sizes()[..input.dim() - self.ndim], &self.padded()].concat();
        ensure!(
            grad.sizes() == padded && grad.dtype() == input.dtype(),
            Shape,
            "{}: a gradient of {} and sizes {:?}, expected {} and {padded:?}",
            self.operator,
            grad.dtype(),
            grad.sizes(),
            input.dtype()
        );
        let out = volumes.zeros(input, pixels(self.operator, input, self.ndim)?, grad.dtype())?;
        match_opmath!(grad.dtype(), T: Float | Complex => {
            if has_elements(&out) {
                let (from, to) = (volumes.read::<T>(grad)?, volumes.write::<T>(&out, self.ndim)?);
                each(from.count(), from.len(), |n| {
                    // SAFETY: the result was initialised with zeros, and `each` gives every volume to one thread, so
                    // this volume is this thread's alone.
                    let (grads, volume) = unsafe { (from.get(n), to.parts.get_mut(n)) };
                    gather(self, volumes.lanes, grads, volume);
                });
                volumes.store(to, &out)?;
            }
        }, else => return Err(unsupported(self.operator, grad.dtype())));
        Ok(out)
    }

    /// For each line of the result, the position of the line that it repeats.
    #[inline(always)]
    fn lines(&self, lanes: usize) -> impl Iterator<Item = usize> {
        let [depth, height, width] = self.directions;
        let len = width.from as usize * lanes;
        (0..depth.to).flat_map(move |z| {
            let plane = depth.source(z) * height.from as usize;
            (0..height.to).map(move |y| (plane + height.source(y)) * len)
        })
    }

    /// The pixels of a line that are padding, each with the one that it repeats, counted in elements.
    fn edges(&self, lanes: usize) -> Vec<[usize; 2]> {
        let width = self.directions[2];
        let inside = width.inside();
        let places = (0..inside.start).chain(inside.end..width.to);
        places.map(|place| [place as usize * lanes, width.source(place) * lanes]).collect()
    }

    fn pad<T: Element>(&self, lanes: usize, edges: &[[usize; 2]], volume: &[T], out: &mut [MaybeUninit<T>]) {
        let width = self.directions[2];
        let len = width.to as usize * lanes;
        let (met, first) = width.met(lanes);
        for (start, out) in self.lines(lanes).zip(out.chunks_exact_mut(len)) {
            let line = &volume[start..][..width.from as usize * lanes];
            write(&mut out[met.clone()], &line[first..][..met.len()]);
            for [place, source] in edges {
                match lanes {
                    1 => out[*place] = MaybeUninit::new(line[*source]),
                    _ => write(&mut out[*place..][..lanes], &line[*source..][..lanes]),
                }
            }
        }
    }
}

#[inline(always)]
fn write<T: Copy>(out: &mut [MaybeUninit<T>], elements: &[T]) {
    for (out, x) in zip(out, elements) {
        out.write(*x);
    }
}

on_vectors! {
    /// Adds each element of a volume's gradient to the gradient of the element that it repeats.
    fn gather<T: Number>(padding: &Padding, lanes: usize, grads: &[T], volume: &mut [T]) {
        let width = padding.directions[2];
        let (inside, len) = (width.inside(), width.to as usize * lanes);
        let (met, first) = width.met(lanes);
        for (start, grads) in padding.lines(lanes).zip(grads.chunks_exact(len)) {
            let line = &mut volume[start..];
            if !met.is_empty() {
                add(&mut line[first..][..met.len()], &grads[met.clone()]);
            }
            for place in (0..inside.start).chain(inside.end..width.to) {
                let source = width.source(place) * lanes;
                add(&mut line[source..][..lanes], &grads[place as usize * lanes..][..lanes]);
            }
        }
    }
}

#[inline(always)]
fn add<T: Number>(sums: &mut [T], elements: &[T]) {
    for (sum, x) in zip(sums, elements) {
        *sum = sum.plus(*x);
    }
}
