//! Second derivatives of activations: the formulas for their backward operators.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    elu_backward(
        Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result
    ) -> Tensor as EluBackwardBackward0 {
        grad_output => aten::elu_backward(grad, alpha, scale, input_scale, is_result, self_or_result),
        self_or_result => {
            let bent = grad.mul(grad_output)?.mul(input_scale)?;
            let bent = if is_result { bent } else {
                aten::elu_backward(&bent, alpha, scale, input_scale, is_result, self_or_result)?
            };
            aten::where_ScalarOther(&aten::lt_Scalar(self_or_result, 0.into())?, &bent, 0.into())
        },
    }
    leaky_relu_backward(
        Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result
    ) -> Tensor as LeakyReluBackwardBackward0 {
        grad_output => aten::leaky_relu_backward(grad, self, negative_slope, false),
        self => aten::zeros_like(grad),
    }
    hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor as HardshrinkBackwardBackward0 {
        grad_out => aten::hardshrink_backward(grad, self, lambd),
        self => aten::zeros_like(grad),
    }
    softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor as SoftshrinkBackwardBackward0 {
        grad_output => aten::softshrink_backward(grad, self, lambd),
        self => aten::zeros_like(grad),
    }
    hardswish_backward(Tensor grad_output, Tensor self) -> Tensor as HardswishBackwardBackward0 {
        grad_output => aten::hardswish_backward(grad, self),
        self => {
            let is_bent = aten::logical_and(&aten::gt_Scalar(self, (-3).into())?, &aten::lt_Scalar(self, 3.into())?)?;
            aten::where_ScalarOther(&is_bent, &grad.mul(grad_output)?.div(3)?, 0.into())
        },
    }
    softplus_backward(Tensor grad_output, Tensor self, Scalar beta,
        Scalar threshold) -> Tensor as SoftplusBackwardBackward0 {
        grad_output => aten::softplus_backward(grad, self, beta, threshold),
        self => {
            let scaled = self.mul(beta)?;
            let bent = aten::sigmoid_backward(&grad.mul(grad_output)?, &scaled.sigmoid()?)?.mul(beta)?;
            aten::where_ScalarOther(&aten::lt_Scalar(&scaled, threshold)?, &bent, 0.into())
        },
    }
    log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer) as LogSigmoidBackward0 {
        self => aten::log_sigmoid_backward(grad, self, buffer),
        buffer => non_differentiable,
    }
    log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor as LogSigmoidBackwardBackward0 {
        grad_output => aten::log_sigmoid_backward(grad, self, buffer),
        self => {
            let chance = self.sigmoid()?;
            grad.mul(grad_output)?.mul(&chance.sub(1)?.mul(&chance)?)
        },
        buffer => cannot_require_grad,
    }
    glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor as GluBackwardBackward0 {
        grad_output => {
            let halves = Halves::of(self, dim)?;
            let (of_value, of_gate) = (halves.first(grad)?, halves.second(grad)?);
            of_value.mul(&halves.gate)?.add(&of_gate.mul(&halves.value)?.mul(&halves.slope()?)?)
        },
        self => {
            let halves = Halves::of(self, dim)?;
            let (of_value, of_gate) = (halves.first(grad)?, halves.second(grad)?);
            let along_gate = halves.slope()?.mul(grad_output)?;
            let for_value = of_gate.mul(&along_gate)?;
            let bend = aten::rsub_Scalar(&halves.gate.mul(2)?, 1.into())?.mul(&halves.value)?;
            let for_gate = of_value.add(&of_gate.mul(&bend)?)?.mul(&along_gate)?;
            aten::cat::call(&[for_value, for_gate], dim)
        },
    }
    rrelu_with_noise_functional(
        Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False,
        Generator? generator=None
    ) -> (Tensor, Tensor noise_out) as RreluWithNoiseFunctionalBackward0 {
        self => aten::rrelu_with_noise_backward(grad, self, noise_out, lower, upper, training, false),
        noise => cannot_require_grad,
        noise_out => non_differentiable,
    }
    rrelu_with_noise_backward(
        Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result
    ) -> Tensor as RreluWithNoiseBackwardBackward0 {
        grad_output => aten::rrelu_with_noise_backward(grad, self, noise, lower, upper, training, false),
        self => aten::zeros_like(grad),
        noise => cannot_require_grad,
    }
}

/// The value and the gate of a gated linear unit.
struct Halves {
    dim: i64,
    value: Tensor,
    gate: Tensor,
}

impl Halves {
    fn of(this: &Tensor, dim: i64) -> Result<Self> {
        let half = this.size(dim)? / 2;
        Ok(Halves { dim, value: this.narrow(dim, 0, half)?, gate: this.narrow(dim, half, half)?.sigmoid()? })
    }

    /// The derivative of the gate.
    fn slope(&self) -> Result<Tensor> {
        aten::rsub_Scalar(&self.gate, 1.into())?.mul(&self.gate)
    }

    fn first(&self, tensor: &Tensor) -> Result<Tensor> {
        tensor.narrow(self.dim, 0, tensor.size(self.dim)? / 2)
    }

    fn second(&self, tensor: &Tensor) -> Result<Tensor> {
        let half = tensor.size(self.dim)? / 2;
        tensor.narrow(self.dim, half, half)
    }
}
