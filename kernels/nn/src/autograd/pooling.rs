//! Derivatives of pooling.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

mod unpool;

derivatives! {
    in aten;

    max_pool2d_with_indices(
        Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False
    ) -> (Tensor, Tensor) as MaxPool2DWithIndicesBackward0 {
        self => aten::max_pool2d_with_indices_backward(
            grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1,
        ),
        result1 => non_differentiable,
    }
    max_pool2d_with_indices_backward(
        Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation,
        bool ceil_mode,
        Tensor indices
    ) -> Tensor as MaxPool2DWithIndicesBackwardBackward0 {
        grad_output => pooled(grad, indices, 2),
        self => aten::zeros_like(self),
        indices => non_differentiable,
    }
    avg_pool2d(
        Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False,
        bool count_include_pad=True, int? divisor_override=None
    ) -> Tensor as AvgPool2DBackward0 {
        self => aten::avg_pool2d_backward(
            grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override,
        ),
    }
    avg_pool2d_backward(
        Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode,
        bool count_include_pad, int? divisor_override
    ) -> Tensor as AvgPool2DBackwardBackward0 {
        grad_output => aten::avg_pool2d::call(
            grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override,
        ),
        self => aten::zeros_like(self),
    }
    _adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor as AdaptiveAvgPool2DBackward0 {
        self => aten::_adaptive_avg_pool2d_backward(grad, self),
    }
    _adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor as AdaptiveAvgPool2DBackwardBackward0 {
        grad_output => {
            let sizes = grad_output.sizes();
            aten::_adaptive_avg_pool2d(grad, &sizes[sizes.len() - 2..])
        },
        self => aten::zeros_like(self),
    }
    max_pool3d_with_indices(
        Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False
    ) -> (Tensor, Tensor) as MaxPool3DWithIndicesBackward0 {
        self => aten::max_pool3d_with_indices_backward(
            grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1,
        ),
        result1 => non_differentiable,
    }
    max_pool3d_with_indices_backward(
        Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation,
        bool ceil_mode,
        Tensor indices
    ) -> Tensor as MaxPool3DWithIndicesBackwardBackward0 {
        grad_output => pooled(grad, indices, 3),
        self => aten::zeros_like(self),
        indices => non_differentiable,
    }
    adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor) as AdaptiveMaxPool2DBackward0 {
        self => aten::adaptive_max_pool2d_backward(grad, self, result1),
        result1 => non_differentiable,
    }
    adaptive_max_pool2d_backward(
        Tensor grad_output, Tensor self, Tensor indices
    ) -> Tensor as AdaptiveMaxPool2DBackwardBackward0 {
        grad_output => pooled(grad, indices, 2),
        self => aten::zeros_like(self),
        indices => non_differentiable,
    }
    adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor) as AdaptiveMaxPool3DBackward0 {
        self => aten::adaptive_max_pool3d_backward(grad, self, result1),
        result1 => non_differentiable,
    }
    adaptive_max_pool3d_backward(
        Tensor grad_output, Tensor self, Tensor indices
    ) -> Tensor as AdaptiveMaxPool3DBackwardBackward0 {
        grad_output => pooled(grad, indices, 3),
        self => aten::zeros_like(self),
        indices => non_differentiable,
    }
    avg_pool3d(
        Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False,
        bool count_include_pad=True, int? divisor_override=None
    ) -> Tensor as AvgPool3DBackward0 {
        self => aten::avg_pool3d_backward(
            grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override,
        ),
    }
    avg_pool3d_backward(
        Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, bool ceil_mode,
        bool count_include_pad, int? divisor_override
    ) -> Tensor as AvgPool3DBackwardBackward0 {
        grad_output => aten::avg_pool3d::call(
            grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override,
        ),
        self => aten::zeros_like(self),
    }
    _adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor as AdaptiveAvgPool3DBackward0 {
        self => aten::_adaptive_avg_pool3d_backward(grad, self),
    }
    _adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor as AdaptiveAvgPool3DBackwardBackward0 {
        grad_output => {
            let sizes = grad_output.sizes();
            aten::_adaptive_avg_pool3d(grad, &sizes[sizes.len() - 3..])
        },
        self => aten::zeros_like(self),
    }
}

/// For each window, of `ndim` dimensions, the gradient of the element that was the largest.
fn pooled(grad: &Tensor, indices: &Tensor, ndim: usize) -> Result<Tensor> {
    if indices.numel() == 0 {
        return aten::new_zeros(grad, indices.sizes());
    }
    let flat = |tensor: &Tensor| {
        let (outer, _) = tensor.sizes().split_at(tensor.dim() - ndim);
        tensor.reshape(&[outer, &[-1]].concat())
    };
    flat(grad)?.gather(-1, &flat(indices)?)?.reshape(indices.sizes())
}
