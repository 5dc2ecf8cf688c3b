//! Derivatives of convolution.

use torch_library::derivatives;

use super::binary::conj;
use crate::aten;

mod second;

derivatives! {
    in aten;

    convolution(
        Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation,
        bool transposed, SymInt[] output_padding, SymInt groups
    ) -> Tensor as ConvolutionBackward0 {
        (input, weight, bias) => aten::convolution_backward(
            grad, &conj(input)?, &conj(weight)?, metadata(bias).map(|of| of.sizes()), stride, padding,
                dilation, transposed,
            output_padding, groups, &mask,
        ),
    }
    convolution_backward(
        Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding,
        SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask
    ) -> (Tensor, Tensor, Tensor) as ConvolutionBackwardBackward0 {
        (grad_output, input, weight) => {
            let steps = second::Steps { stride, padding, dilation, transposed, output_padding, groups };
            steps.second(grads, grad_output, input, weight, mask)
        },
    }
}
