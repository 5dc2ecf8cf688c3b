//! The gradient of a gated linear unit.
#![expect(
    unsafe_code,
    reason = "takes memory that it fills at once, and shares parts of tensors among threads"
)]

use std::mem::MaybeUninit;

use num_traits::Float;
use torch_library::geometry::{saturating_numel, wrap_dim};
use torch_library::prelude::*;

use super::backward::logistic;
use crate::aten;
use crate::functions::Functions;
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::{self, Widest, has_elements, is_plain, match_opmath, on_vectors, parallel};
use crate::number::Number;

/// The dimension along which a tensor has two halves, of which the second gates the first.
struct Gated {
    operator: &'static str,
    dim: usize,
    half: i64,
}

impl Gated {
    fn new(operator: &'static str, this: &Tensor, dim: i64) -> Result<Self> {
        ensure!(this.dim() > 0, Shape, "{operator}: a tensor without dimensions has no halves");
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
        let size = this.sizes()[dim];
        ensure!(
            size % 2 == 0,
            Shape,
            "{operator}: dimension {dim} of sizes {:?} is not even, so it has no two halves",
            this.sizes()
        );
        Ok(Gated { operator, dim, half: size / 2 })
    }

    /// The number of elements in a half that follow each other in a contiguous tensor.
    fn len_of_half(&self, tensor: &Tensor) -> usize {
        (saturating_numel(&tensor.sizes()[self.dim..]) / 2) as usize
    }

    /// The elements of one half, as a view.
    fn half_of(&self, tensor: &Tensor, index: i64) -> Result<Tensor> {
        let dim = self.dim;
        let (mut sizes, strides) = (tensor.sizes().to_vec(), tensor.strides());
        sizes[dim] = self.half;
        tensor.strided_view(&sizes, strides, tensor.storage_offset() + index * self.half * strides[dim])
    }
}

#[torch_impl(aten, CPU, Meta)]
fn glu_backward(grad_output: &Tensor, this: &Tensor, dim: i64) -> Result<Tensor> {
    let _lease = loops::frozen([grad_output, this])?;
    let gated = Gated::new(aten::glu_backward::NAME, this, dim)?;
    let (value, gate) = (gated.half_of(this, 0)?, gated.half_of(this, 1)?);
    ensure!(
        grad_output.sizes() == value.sizes() && grad_output.dtype() == this.dtype(),
        Shape,
        "{}: a gradient of sizes {:?} and {} does not fit halves of sizes {:?}, of {}",
        gated.operator,
        grad_output.sizes(),
        grad_output.dtype(),
        value.sizes(),
        this.dtype()
    );
    // SAFETY: both ways below write all elements of both halves; if they fail, the tensor is dropped here.
    let out = unsafe { loops::uninit_like(this, this.dtype(), MemoryFormat::Contiguous)? };
    match_opmath!(this.dtype(), T: Float => {
        let are_plain = is_plain::<T>(this.dtype())
            && [this, grad_output].iter().all(|tensor| tensor.is_contiguous(MemoryFormat::Contiguous));
        if are_plain && has_elements(this) {
            in_blocks::<T>(&out, grad_output, this, gated.len_of_half(this))?;
            return Ok(out);
        }
        // Each sigmoid is computed once; it lies where the gradient of its gate goes in the end.
        let (of_value, of_gate) = (gated.half_of(&out, 0)?, gated.half_of(&out, 1)?);
        loops::map_elements(&of_gate, [&gate], Widest(|[gate]: [T; 1]| logistic(gate)))?;
        loops::map(&of_value, [grad_output, &of_gate], |[grad, sigmoid]: [T; 2]| grad * sigmoid)?;
        loops::map(&of_gate, [grad_output, &value, &of_gate], |[grad, value, sigmoid]: [T; 3]| {
            slope_of_gate(grad, value, sigmoid)
        })?;
    }, else => return Err(crate::loops::pointwise::unsupported(gated.operator, this.dtype())));
    Ok(out)
}

/// The gradient of a gate.
#[inline(always)]
fn slope_of_gate<T: Float>(grad: T, value: T, sigmoid: T) -> T {
    (T::one() - sigmoid) * sigmoid * grad * value
}

/// The number of elements that a thread takes at a time.
const BLOCK: usize = 4096;

/// Writes both gradients in one pass over contiguous memory, in which `len` elements of the values are followed by as
/// many of their gates.
fn in_blocks<T: Float + Functions + Number>(
    out: &Tensor,
    grad: &Tensor,
    this: &Tensor,
    len: usize,
) -> Result<()> {
    let (grads, halves, to) =
        (Parts::<T>::of(grad, len)?, Parts::<T>::of(this, len)?, PartsMut::<T>::of(out, len)?);
    let rows = grads.count();
    ensure!(
        [halves.count(), to.count()] == [2 * rows; 2],
        Busy,
        "{}: a tensor was resized while it was read",
        aten::glu_backward::NAME
    );
    let blocks = len.div_ceil(BLOCK);
    parallel::shares(rows * blocks, parallel::GRAIN / BLOCK.min(len), |range| {
        for (row, start) in range.map(|item| (item / blocks, item % blocks * BLOCK)) {
            let count = BLOCK.min(len - start);
            // SAFETY: there is a row of gradients, and two parts of each of the others for it, as was ensured, all of
            // `len` elements, of which `count` from `start` on are these. The leases keep others from writing; this
            // block of the result is only this thread's.
            unsafe {
                let from = |part: *const T| std::slice::from_raw_parts(part.wrapping_add(start), count);
                let to = |n: usize| {
                    let part = to.at(n).wrapping_add(start).cast::<MaybeUninit<T>>();
                    std::slice::from_raw_parts_mut(part, count)
                };
                let [value, gate] = [2 * row, 2 * row + 1];
                let given = [from(grads.at(row)), from(halves.at(value)), from(halves.at(gate))];
                gradients(to(value), to(gate), given);
            }
        }
    });
    Ok(())
}

on_vectors! {
    fn gradients<T: Real>(of_values: &mut [MaybeUninit<T>], of_gates: &mut [MaybeUninit<T>], given: [&[T]; 3]) {
        let [grads, values, gates] = given;
        let given = zip(grads, zip(values, gates));
        for ((of_value, of_gate), (grad, (value, gate))) in zip(zip(of_values, of_gates), given) {
            let sigmoid = logistic(*gate);
            of_value.write(*grad * sigmoid);
            of_gate.write(slope_of_gate(*grad, *value, sigmoid));
        }
    }
}

/// A real type that gradients are computed in.
trait Real: Float + Functions + Number {}

impl<T: Float + Functions + Number> Real for T {}
