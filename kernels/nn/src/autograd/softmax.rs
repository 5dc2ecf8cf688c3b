//! Derivatives of softmax.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    _softmax(Tensor self, int dim, bool half_to_float) -> Tensor as SoftmaxBackward0 {
        self => aten::_softmax_backward_data(grad, result, dim, self.dtype()),
    }
    _softmax_backward_data(Tensor grad_output, Tensor output, int dim,
        ScalarType input_dtype) -> Tensor as SoftmaxBackwardDataBackward0 {
        grad_output => aten::_softmax_backward_data(grad, output, dim, input_dtype),
        output => softmax_output_grad(grad, grad_output, output, dim),
    }
    _log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor as LogSoftmaxBackward0 {
        self => aten::_log_softmax_backward_data(grad, result, dim, self.dtype()),
    }
    _log_softmax_backward_data(Tensor grad_output, Tensor output, int dim,
        ScalarType input_dtype) -> Tensor as LogSoftmaxBackwardDataBackward0 {
        grad_output => grad.sub(&grad.mul(&output.exp()?)?.sum_dim(&[dim], true)?),
        output => output.exp()?.mul(&grad_output.sum_dim(&[dim], true)?)?.mul(grad)?.neg(),
    }
    _safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor as SafeSoftmaxBackward0 {
        self => aten::_softmax_backward_data(grad, result, dim, self.dtype()),
    }
}

fn softmax_output_grad(grad: &Tensor, grad_output: &Tensor, output: &Tensor, dim: i64) -> Result<Tensor> {
    let weighted = grad_output.mul(output)?.sum_dim(&[dim], true)?;
    let straight = grad.mul(&grad_output.sub(&weighted)?)?;
    straight.sub(&grad_output.mul(&grad.mul(output)?.sum_dim(&[dim], true)?)?)
}
