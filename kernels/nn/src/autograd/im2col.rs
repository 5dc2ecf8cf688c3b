//! Derivatives of `im2col` and `col2im`, each of which is the adjoint of the other.

use torch_library::derivatives;

use crate::aten;

derivatives! {
    in aten;

    im2col(
        Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride
    ) -> Tensor as Im2ColBackward0 {
        self => aten::col2im(grad, &[self.size(-2)?, self.size(-1)?], kernel_size, dilation, padding, stride),
    }
    col2im(
        Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride
    ) -> Tensor as Col2ImBackward0 {
        self => aten::im2col(grad, kernel_size, dilation, padding, stride),
    }
}
