//! Derivatives of activations.

use torch_library::derivatives;
use torch_library::guard::GradMode;
use torch_library::prelude::*;

use super::binary::conj;
use crate::arguments::ONE_SIXTH;
use crate::aten;
use crate::prelude::*;

mod gelu;
mod random;
mod second;

derivatives! {
    in aten;

    _prelu_kernel(Tensor self, Tensor weight) -> Tensor as PreluKernelBackward0 {
        self => aten::_prelu_kernel_backward(grad, self, weight)?.0,
        weight => aten::sum_to_size(&aten::_prelu_kernel_backward(grad, self, weight)?.1, weight.sizes()),
    }
    _prelu_kernel_backward(
        Tensor grad_output, Tensor self, Tensor weight
    ) -> (Tensor, Tensor) as PreluKernelBackwardBackward0 {
        grad_output => {
            let is_positive = self.gt(0)?;
            let of_this = grads[0].as_ref().map(|grad| aten::where_self(&is_positive, grad, &grad.mul(weight)?));
            let of_weight = grads[1].as_ref().map(|grad| below_zero(&is_positive, grad, self));
            of_this.into_iter().chain(of_weight).reduce(|sum, part| sum?.add(&part?)).transpose()
        },
        self => grads[1].as_ref().map(|grad| below_zero(&self.gt(0)?, grad, grad_output)).transpose(),
        weight => {
            let grads = grads[0].as_ref().map(|grad| {
                aten::sum_to_size(&below_zero(&self.gt(0)?, grad, grad_output)?, weight.sizes())
            });
            grads.transpose()
        },
    }
    #[in_place]
    silu(Tensor self) -> Tensor as SiluBackward0 {
        self => aten::silu_backward(grad, &conj(self)?),
    }
    silu_backward(Tensor grad_output, Tensor self) -> Tensor as SiluBackwardBackward0 {
        grad_output => aten::silu_backward(grad, &conj(self)?),
        self => {
            let gate = self.sigmoid()?;
            let other = aten::rsub_Scalar(&gate, Scalar::from(1))?;
            let bend = self.mul(&other.sub(&gate)?)?.add(2)?.mul(&gate)?.mul(&other)?;
            grad.mul(&conj(&grad_output.mul(&bend)?)?)
        },
    }
    #[in_place]
    mish(Tensor self) -> Tensor as MishBackward0 {
        // The kernel has no derivative itself.
        self => if !GradMode::is_enabled() { aten::mish_backward(grad, self) } else {
            let t = aten::softplus(self)?.tanh()?;
            let slope = aten::rsub_Scalar(&t.mul(&t)?, Scalar::from(1))?.mul(&self.sigmoid()?)?;
            grad.mul(&t.add(&self.mul(&slope)?)?)
        },
    }
    #[in_place]
    hardswish(Tensor self) -> Tensor as HardswishBackward0 {
        self => aten::hardswish_backward(grad, self),
    }
    #[in_place]
    hardsigmoid(Tensor self) -> Tensor as HardsigmoidBackward0 {
        self => aten::hardtanh_backward(&grad.mul(f64::from(ONE_SIXTH))?, self, Scalar::from(-3), Scalar::from(3)),
    }
    #[in_place]
    leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor as LeakyReluBackward0 {
        self => aten::leaky_relu_backward(grad, self, negative_slope, false),
    }
    #[in_place]
    elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor as EluBackward0 {
        self => aten::elu_backward(grad, alpha, scale, input_scale, false, self),
    }
    log_sigmoid(Tensor self) -> Tensor as LogSigmoidBackward0 {
        self => grad.mul(&self.neg()?.sigmoid()?),
    }
    softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor as SoftplusBackward0 {
        self => aten::softplus_backward(grad, self, beta, threshold),
    }
    #[in_place]
    hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor as HardtanhBackward0 {
        self => aten::hardtanh_backward(grad, self, min_val, max_val),
    }
    hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val,
        Scalar max_val) -> Tensor as HardtanhBackwardBackward0 {
        grad_output => aten::hardtanh_backward(grad, self, min_val, max_val),
        self => aten::zeros_like(grad),
    }
    celu(Tensor self, Scalar alpha=1.) -> Tensor as CeluBackward0 {
        self => {
            // PyTorch takes the reciprocal of `alpha` as a float here.
            let input_scale = Scalar::from(1.0 / f64::from(alpha.cast::<f32>()));
            aten::elu_backward(grad, alpha, Scalar::from(1), input_scale, false, self)
        },
    }
    glu(Tensor self, int dim=-1) -> Tensor as GluBackward0 {
        self => aten::glu_backward(grad, self, dim),
    }
    hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor as HardshrinkBackward0 {
        self => aten::hardshrink_backward(grad, self, lambd),
    }
    softshrink(Tensor self, Scalar lambd=0.5) -> Tensor as SoftshrinkBackward0 {
        self => aten::softshrink_backward(grad, self, lambd),
    }
    threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor as ThresholdBackward0 {
        self => aten::threshold_backward(grad, self, threshold),
    }
    tanh_backward(Tensor grad_output, Tensor output) -> Tensor as TanhBackwardBackward0 {
        grad_output => aten::tanh_backward(grad, &conj(output)?),
        output => conj(grad)?.mul(&grad_output.mul(&conj(output)?)?.mul(-2)?),
    }
    sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor as SigmoidBackwardBackward0 {
        grad_output => aten::sigmoid_backward(grad, &conj(output)?),
        output => conj(grad)?.mul(grad_output)?.mul(&aten::rsub_Scalar(&conj(output)?.mul(2)?, Scalar::from(1))?),
    }
    threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor as ThresholdBackwardBackward0 {
        grad_output => aten::threshold_backward(grad, self, threshold),
        self => aten::zeros_like(grad),
    }
    gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor as GeluBackwardBackward0 {
        grad_output => aten::gelu_backward::call(grad, self, approximate),
        self => grad.mul(grad_output)?.mul(&gelu::curvature(self, approximate)?),
    }
}

/// The product of two tensors where `is_positive` is false, and zero elsewhere.
fn below_zero(is_positive: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    aten::where_ScalarSelf(is_positive, Scalar::from(0), &a.mul(b)?)
}
