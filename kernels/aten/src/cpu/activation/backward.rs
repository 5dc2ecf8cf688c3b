//! Backward kernels of activations that are piecewise or made of exponentials.

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use crate::arguments::ONE_SIXTH;
use crate::aten;
use crate::composite::unary::ends;
use crate::functions::Functions;
use crate::loops::Pointwise;
use crate::loops::{self, Widest, match_opmath, parameter};
use crate::number::Number;

/// Defines kernels of a gradient and another tensor. Each row gives the scalar parameters, which are converted to the
/// type of the elements, and the formula.
macro_rules! slopes {
    ($($name:ident($grad:ident, $other:ident $(, $number:ident)*): $T:ident => |$g:ident, $x:ident| $body:expr;)+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod slopes {
            use super::*;

            $(
                fn $name($grad: &Tensor, $other: &Tensor $(, $number: Scalar)*) -> Result<Tensor> {
                    let call = Pointwise::promoting(aten::$name::NAME, [$grad, $other])?;
                    match_opmath!(call.dtype, $T: Float => {
                        $(
                            let $number: $T = parameter(aten::$name::NAME, $number, call.dtype)?;
                        )*
                        call.compute(None, call.dtype, move |[$g, $x]: [$T; 2]| $body)
                    }, else => Err(call.unsupported()))
                }
            )+
        }
    };
}

slopes! {
    // Not `x < -lambd || x > lambd`: if the input is NaN, this passes the gradient on.
    hardshrink_backward(grad_out, this, lambd): T => |g, x| if x >= -lambd && x <= lambd { T::ZERO } else { g };
    softshrink_backward(grad_output, this, lambd): T => |g, x| if x >= -lambd && x <= lambd { T::ZERO } else { g };
    hardsigmoid_backward(grad_output, this): T => |g, x| match x > -3.0 && x < 3.0 {
        true => g * ONE_SIXTH.cast::<T>(),
        false => T::ZERO,
    };
    hardswish_backward(grad_output, this): T => |g, x| match x {
        x if x <= -3.0 => T::ZERO,
        x if x >= 3.0 => g,
        x => g * (x / 3.0 + 0.5),
    };
}

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn elu_backward(
        grad_output: &Tensor,
        alpha: Scalar,
        scale: Scalar,
        input_scale: Scalar,
        is_result: bool,
        self_or_result: &Tensor,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::elu_backward::NAME;
        ensure!(
            !is_result || alpha.cast::<f64>() >= 0.0,
            Argument,
            "{OPERATOR}: alpha is {alpha}, so results do not show which side of zero they come from\n  \
             help: call the function that is not in place"
        );
        let call = Pointwise::promoting(OPERATOR, [grad_output, self_or_result])?;
        match_opmath!(call.dtype, T: Float => {
            let (scale, input_scale): (T, T) = (scale.cast(), input_scale.cast());
            let factor = alpha.cast::<T>() * scale;
            // Above zero, and if the input is NaN, the slope is that of a line. Both slopes are computed, without a
            // branch, in loops of which each knows whether it is of results.
            let chosen = move |[grad, x]: [T; 2], slope: T| if x <= 0.0 { slope } else { grad * scale };
            match is_result {
                true => call.compute(None, call.dtype, move |[grad, x]: [T; 2]| {
                    chosen([grad, x], grad * input_scale * (x + factor))
                }),
                false => {
                    let slope = move |[grad, x]: [T; 2]| {
                        chosen([grad, x], grad * input_scale * factor * (x * input_scale).exponential())
                    };
                    call.compute_elements(None, call.dtype, Widest(slope))
                }
            }
        }, else => Err(call.unsupported()))
    }

    fn softplus_backward(
        grad_output: &Tensor,
        this: &Tensor,
        beta: Scalar,
        threshold: Scalar,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::softplus_backward::NAME;
        let call = Pointwise::promoting(OPERATOR, [grad_output, this])?;
        match_opmath!(call.dtype, T: Float => {
            let number = |scalar: Scalar| scalar.to::<T>().map_err(|error| error.context(OPERATOR));
            let (beta, threshold) = (number(beta)?, number(threshold)?);
            let slope = move |[grad, x]: [T; 2]| match x * beta {
                scaled if scaled > threshold => grad,
                scaled => grad * logistic(scaled),
            };
            call.compute_elements(None, call.dtype, Widest(slope))
        }, else => Err(call.unsupported()))
    }

    fn leaky_relu_backward(
        grad_output: &Tensor,
        this: &Tensor,
        negative_slope: Scalar,
        self_is_result: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::leaky_relu_backward::NAME;
        ensure!(
            !self_is_result || negative_slope.cast::<f64>() >= 0.0,
            Argument,
            "{OPERATOR}: negative_slope is {negative_slope}, so results do not show which side of zero they come \
             from\n  \
             help: call the function that is not in place"
        );
        let call = Pointwise::promoting(OPERATOR, [this, grad_output])?;
        match_opmath!(call.dtype, T: Float => {
            let slope: T = parameter(OPERATOR, negative_slope, T::DTYPE)?;
            call.compute(None, call.dtype, move |[x, grad]: [T; 2]| if x > 0.0 { grad } else { grad * slope })
        }, else => Err(call.unsupported()))
    }

    fn log_sigmoid_forward(this: &Tensor) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        let this = &loops::contiguous(this)?; // the results are contiguous, whatever the strides of the input
        let buffer = Pointwise::promoting(aten::log_sigmoid_forward::NAME, [this])?;
        match_opmath!(buffer.dtype, T: Float => {
            let exponentials = buffer.compute(None, buffer.dtype, |[x]: [T; 1]| (-x.abs()).exponential())?;
            Ok((aten::log_sigmoid(this)?, exponentials))
        }, else => Err(buffer.unsupported()))
    }

    fn log_sigmoid_backward(grad_output: &Tensor, this: &Tensor, buffer: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = aten::log_sigmoid_backward::NAME;
        let other = [this, buffer].into_iter().find(|tensor| tensor.dtype() != grad_output.dtype());
        if let Some(other) = other {
            bail!(
                DType,
                "{OPERATOR}: a gradient of {} and a tensor of {}, expected one type",
                grad_output.dtype(),
                other.dtype()
            );
        }
        // On other devices than the CPU there may be no buffer; on meta nothing is computed from it.
        let buffer = if this.device() == Device::META && buffer.numel() == 0 { this } else { buffer };
        let call = Pointwise::promoting(OPERATOR, [grad_output, this, buffer])?.strided_like_first();
        match_opmath!(call.dtype, T: Float => {
            call.compute(None, call.dtype, |[grad, x, exponential]: [T; 3]| {
                let share = exponential / (T::ONE + exponential);
                grad * if x < 0.0 { T::ONE - share } else { share }
            })
        }, else => Err(call.unsupported()))
    }

    fn logit_backward(grad_output: &Tensor, this: &Tensor, eps: Option<f64>) -> Result<Tensor> {
        let call = Pointwise::promoting(aten::logit_backward::NAME, [grad_output, this])?;
        let eps = eps.filter(|eps| *eps >= 0.0); // a negative number stands for none
        match_opmath!(call.dtype, T: Float => {
            let [low, high] = ends::<T>(aten::logit_backward::NAME, eps.unwrap_or(0.0), call.dtype)?;
            let outside = if eps.is_some() { T::ZERO } else { T::nan() };
            call.compute(None, call.dtype, move |[grad, x]: [T; 2]| match x {
                x if x < low || x > high => outside,
                x if x == 0.0 || x == 1.0 => grad * T::infinity(),
                x => grad / (x * (T::ONE - x)),
            })
        }, else => Err(call.unsupported()))
    }

    fn mish_backward(grad_output: &Tensor, this: &Tensor) -> Result<Tensor> {
        let call = Pointwise::promoting(aten::mish_backward::NAME, [grad_output, this])?;
        ensure!(
            this.dtype().is_floating_point(),
            DType,
            "{} is not implemented for {}",
            aten::mish_backward::NAME,
            this.dtype()
        );
        match_opmath!(call.dtype, T: Float => {
            call.compute(None, this.dtype(), |[grad, x]: [T; 2]| {
                let tanh = crate::functions::softplus_of(x).hyperbolic_tangent();
                grad * (tanh + x * logistic(x) * (T::ONE - tanh * tanh))
            })
        }, else => Err(call.unsupported()))
    }
}

/// The sigmoid, `1 / (1 + exp(-x))`, without overflow for either sign.
#[inline(always)]
pub(super) fn logistic<T: Float + Number + Functions>(x: T) -> T {
    let exponential = (-x.abs()).exponential();
    let share = exponential / (T::ONE + exponential);
    // Not `x >= 0`: NaN stays NaN.
    if x < T::ZERO { share } else { T::ONE - share }
}
