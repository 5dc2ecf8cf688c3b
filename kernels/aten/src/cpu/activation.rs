//! Kernels of activations with a gate or a weight, and the backward kernels of all activations.

use num_traits::{Float, FloatConst, NumOps};
use torch_library::Element;
use torch_library::prelude::*;

use super::unary::is_approximated;
use crate::aten;
use crate::composite::activation::halves;
use crate::functions::{Conjugate, ErrorFunction, Functions};
use crate::loops::Pointwise;
use crate::loops::{function, match_opmath};
use crate::number::Number;

mod backward;
mod forward;
mod gated;
mod random;

/// Kernels that compute the same as the composite ones, in one pass.
#[torch_impl(aten, CPU)]
mod in_one_pass {
    use super::*;

    fn glu(this: &Tensor, dim: i64) -> Result<Tensor> {
        let [value, gate] = halves(this, dim)?;
        let call = Pointwise::promoting(aten::glu::NAME, [&value, &gate])?;
        match_opmath!(call.dtype, T: Float => {
            let gated = function!(|[value, gate]: [T; 2]| -> T { value * gate.logistic() });
            call.compute_elements(None, call.dtype, gated)
        }, else => Err(call.unsupported()))
    }

    fn _prelu_kernel(this: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(aten::_prelu_kernel::NAME, [this, weight])?;
        match_opmath!(call.dtype, T: Float => {
            call.compute(None, call.dtype, |[x, weight]: [T; 2]| if x > T::ZERO { x } else { x * weight })
        }, else => Err(call.unsupported()))
    }
}

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn threshold_backward(
        output: Output<'_>,
        grad_output: &Tensor,
        this: &Tensor,
        threshold: Scalar,
    ) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [this, grad_output])?;
        match_opmath!(call.dtype, T: Integer | Unsigned | Float => {
            let threshold: T = threshold.to()?;
            // Not `x > threshold`: if the input is NaN, this passes the gradient on.
            call.compute(None, call.dtype, |[x, grad]: [T; 2]| if x <= threshold { T::ZERO } else { grad })
        }, else => Err(call.unsupported()))
    }

    fn hardtanh_backward(
        output: Output<'_>,
        grad_output: &Tensor,
        this: &Tensor,
        min_val: Scalar,
        max_val: Scalar,
    ) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [grad_output, this])?;
        match_opmath!(call.dtype, T: Float => {
            let (min, max): (T, T) = (min_val.to()?, max_val.to()?);
            // Both sides are compared, so that there is no branch.
            let slope = |[grad, x]: [T; 2]| if (x <= min) | (x >= max) { T::ZERO } else { grad };
            call.compute(None, call.dtype, slope)
        }, else => Err(call.unsupported()))
    }

    fn sigmoid_backward(output: Output<'_>, grad_output: &Tensor, result: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [grad_output, result])?;
        match_opmath!(call.dtype, T: Float | Complex => {
            call.compute(None, call.dtype, |[grad, y]: [T; 2]| grad * ((T::ONE - y) * y).conjugate())
        }, else => Err(call.unsupported()))
    }

    fn tanh_backward(output: Output<'_>, grad_output: &Tensor, result: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [grad_output, result])?;
        match_opmath!(call.dtype, T: Float | Complex => {
            call.compute(None, call.dtype, |[grad, y]: [T; 2]| grad * (T::ONE - y * y).conjugate())
        }, else => Err(call.unsupported()))
    }

    fn silu_backward(output: Output<'_>, grad_output: &Tensor, this: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(output, [grad_output, this])?;
        match_opmath!(call.dtype, T: Float | Complex => {
            let slope = function!(|[grad, x]: [T; 2]| -> T { grad * gated_slope(x, x.logistic()) });
            call.compute_elements(None, call.dtype, slope)
        }, else => Err(call.unsupported()))
    }

    fn gelu_backward(
        output: Output<'_>,
        grad_output: &Tensor,
        this: &Tensor,
        approximate: &str,
    ) -> Result<Tensor> {
        let operator = output.operator();
        let call = Pointwise::promoting(output, [grad_output, this])?;
        let is_approximated = is_approximated(operator, approximate)?;
        match_opmath!(call.dtype, T: Float => match is_approximated {
            false => {
                let slope = function!(|[grad, x]: [T; 2]| -> T { grad * gaussian_slope(x) });
                call.compute_elements(None, call.dtype, slope)
            }
            true => {
                let slope = function!(|[grad, x]: [T; 2]| -> T { grad * gaussian_slope_by_tanh(x) });
                call.compute_elements(None, call.dtype, slope)
            }
        }, else => Err(call.unsupported()))
    }
}

/// The derivative of `x * gate(x)`, where the gate is the sigmoid.
#[inline(always)]
fn gated_slope<T: Number + NumOps>(x: T, gate: T) -> T {
    gate * (T::ONE + x * (T::ONE - gate))
}

/// The derivative of `x Φ(x)`, where Φ is the cumulative distribution function of the standard normal distribution.
#[inline(always)]
fn gaussian_slope<T: Float + FloatConst + Number + ErrorFunction + Functions>(x: T) -> T {
    let half = T::ONE / (T::ONE + T::ONE);
    let below = half * (T::ONE + (x * T::FRAC_1_SQRT_2()).error_function());
    let density = (-half * x * x).exponential() * half * T::FRAC_2_SQRT_PI() * T::FRAC_1_SQRT_2();
    below + x * density
}

#[inline(always)]
fn gaussian_slope_by_tanh<T: Float + FloatConst + Number + Functions>(x: T) -> T {
    let half = T::ONE / (T::ONE + T::ONE);
    let three = T::ONE + T::ONE + T::ONE;
    let cubic: T = 0.044_715_f64.cast();
    let slope = T::SQRT_2() * T::FRAC_2_SQRT_PI() * half;
    let tanh = (slope * (x + cubic * x * x * x)).hyperbolic_tangent();
    half * (T::ONE + tanh) + half * x * (T::ONE - tanh * tanh) * slope * (T::ONE + three * cubic * x * x)
}
