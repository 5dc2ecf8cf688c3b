//! Kernels of element-wise operators of three operands.

use num_complex::Complex;
use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use crate::aten;
use crate::loops::Pointwise;
use crate::loops::{RowByRow, match_opmath};
use crate::number::{Divided, Number};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn lerp_Scalar(output: Output<'_>, this: &Tensor, end: &Tensor, weight: Scalar) -> Result<Tensor> {
        interpolated_by(output, [this, end], weight)
    }

    fn lerp_Tensor(output: Output<'_>, this: &Tensor, end: &Tensor, weight: &Tensor) -> Result<Tensor> {
        interpolated(output, [this, end, weight])
    }

    fn addcmul(
        output: Output<'_>,
        this: &Tensor,
        tensor1: &Tensor,
        tensor2: &Tensor,
        value: Scalar,
    ) -> Result<Tensor> {
        product_added(output, [this, tensor1, tensor2], value)
    }

    fn addcdiv(
        output: Output<'_>,
        this: &Tensor,
        tensor1: &Tensor,
        tensor2: &Tensor,
        value: Scalar,
    ) -> Result<Tensor> {
        quotient_added(output, [this, tensor1, tensor2], value)
    }
}

/// Checks that the ends of an interpolation have the same dtype.
fn check_ends(operator: &str, [start, end]: [&Tensor; 2]) -> Result<()> {
    ensure!(
        start.dtype() == end.dtype(),
        DType,
        "{operator}: from {} to {}, expected one type",
        start.dtype(),
        end.dtype()
    );
    Ok(())
}

fn interpolated_by(output: Output<'_>, inputs: [&Tensor; 2], weight: Scalar) -> Result<Tensor> {
    let operator = output.operator();
    check_ends(operator, inputs)?;
    let call = Pointwise::promoting(output, inputs)?;
    match_opmath!(call.dtype, T: Float => {
        let weight: T = weight.to().map_err(|error| error.context(operator))?;
        let is_near = weight.abs() < 0.5;
        let step = if is_near { weight } else { weight - T::ONE };
        call.compute(None, call.dtype, move |[start, end]: [T; 2]| {
            (if is_near { start } else { end }) + step * (end - start)
        })
    }, else => match_opmath!(call.dtype, T: Complex => {
        let weight: T = weight.cast();
        call.compute(None, call.dtype, move |[start, end]: [T; 2]| between(start, end, weight))
    }, else => Err(call.unsupported())))
}

fn interpolated(output: Output<'_>, inputs: [&Tensor; 3]) -> Result<Tensor> {
    let operator = output.operator();
    let [start, end, weight] = inputs;
    check_ends(operator, [start, end])?;
    ensure!(
        weight.dim() == 0 || weight.dtype() == start.dtype(),
        DType,
        "{operator}: {} with weights of {}, expected one type",
        start.dtype(),
        weight.dtype()
    );
    let call = Pointwise::promoting_exactly(output, inputs)?;
    match_opmath!(call.dtype, T: Float => {
        call.compute_elements(None, call.dtype, RowByRow(|[start, end, weight]: [T; 3]| {
            // Computed from the nearer end, so that both ends are exact.
            if weight.abs() < 0.5 { start + weight * (end - start) } else { end - (end - start) * (T::ONE - weight) }
        }))
    }, else => match_opmath!(call.dtype, T: Complex => {
        call.compute(None, call.dtype, |[start, end, weight]: [T; 3]| between(start, end, weight))
    }, else => Err(call.unsupported())))
}

/// Computed from the nearer end, by the magnitude of the weight.
#[inline(always)]
fn between<T: Float + Element>(start: Complex<T>, end: Complex<T>, weight: Complex<T>) -> Complex<T> {
    match weight.norm_sqr() < 0.25.cast() {
        true => start + weight * (end - start),
        false => end - (end - start) * (Complex::new(T::one(), T::zero()) - weight),
    }
}

fn product_added(output: Output<'_>, inputs: [&Tensor; 3], value: Scalar) -> Result<Tensor> {
    let operator = output.operator();
    let call = Pointwise::promoting(output, inputs)?;
    match_opmath!(call.dtype, T: Integer | Float | Complex => {
        let value: T = value.to().map_err(|error| error.context(operator))?;
        let added = move |[x, a, b]: [T; 3]| x.plus(value.times(a).times(b));
        call.compute_elements(None, call.dtype, RowByRow(added))
    }, else => Err(call.unsupported()))
}

fn quotient_added(output: Output<'_>, inputs: [&Tensor; 3], value: Scalar) -> Result<Tensor> {
    let operator = output.operator();
    ensure!(
        inputs[1..].iter().any(|factor| factor.dtype().is_differentiable()),
        DType,
        "{operator}: {} divided by {}, expected a floating-point or complex number among them\n  \
         help: `aten::to_dtype` makes a tensor so",
        inputs[1].dtype(),
        inputs[2].dtype()
    );
    let call = Pointwise::promoting(output, inputs)?;
    match_opmath!(call.dtype, T: Float | Complex => {
        let value: T = value.to().map_err(|error| error.context(operator))?;
        let added = move |[x, a, b]: [T; 3]| x.plus(value.times(a).over(b));
        call.compute_elements(None, call.dtype, RowByRow(added))
    }, else => Err(call.unsupported()))
}
