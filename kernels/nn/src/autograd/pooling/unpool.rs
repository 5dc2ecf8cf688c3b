//! Derivatives of fractional pooling and of unpooling.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    fractional_max_pool2d(
        Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples
    ) -> (Tensor, Tensor) as FractionalMaxPool2DBackward0 {
        self => aten::fractional_max_pool2d_backward(grad, self, kernel_size, output_size, result1),
        random_samples => non_differentiable,
        result1 => non_differentiable,
    }
    fractional_max_pool2d_backward(
        Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor indices
    ) -> Tensor as FractionalMaxPool2DBackwardBackward0 {
        grad_output => picked(grad, indices, 2),
        self => aten::zeros_like(self),
        indices => non_differentiable,
    }
    fractional_max_pool3d(
        Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples
    ) -> (Tensor, Tensor) as FractionalMaxPool3DBackward0 {
        self => aten::fractional_max_pool3d_backward(grad, self, kernel_size, output_size, result1),
        random_samples => non_differentiable,
        result1 => non_differentiable,
    }
    fractional_max_pool3d_backward(
        Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor indices
    ) -> Tensor as FractionalMaxPool3DBackwardBackward0 {
        grad_output => picked(grad, indices, 3),
        self => aten::zeros_like(self),
        indices => non_differentiable,
    }
    max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor as MaxUnpool2DBackward0 {
        self => picked(grad, indices, 2),
        indices => non_differentiable,
    }
    max_unpool3d(
        Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding
    ) -> Tensor as MaxUnpool3DBackward0 {
        self => picked(grad, indices, 3),
        indices => non_differentiable,
    }
}

/// The elements at `indices` in planes or volumes, of `ndim` dimensions.
fn picked(grad: &Tensor, indices: &Tensor, ndim: i64) -> Result<Tensor> {
    if indices.numel() == 0 {
        return aten::new_zeros(grad, indices.sizes());
    }
    let flat = |tensor: &Tensor| aten::flatten_using_ints::with(tensor).start_dim(-ndim).call();
    let picked = aten::gather(&flat(grad)?, -1, &flat(indices)?)?;
    picked.reshape(indices.sizes())
}
