//! Second derivatives of convolution.

use torch_library::prelude::*;

use crate::aten;
use crate::autograd::binary::conj;
use crate::prelude::*;

/// The parameters of a convolution.
pub(super) struct Steps<'a> {
    pub(super) stride: &'a [i64],
    pub(super) padding: &'a [i64],
    pub(super) dilation: &'a [i64],
    pub(super) transposed: bool,
    pub(super) output_padding: &'a [i64],
    pub(super) groups: i64,
}

impl Steps<'_> {
    fn convolution(&self, input: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let Steps { stride, padding, dilation, transposed, output_padding, groups } = *self;
        aten::convolution(input, weight, None, stride, padding, dilation, transposed, output_padding, groups)
    }

    fn backward(
        &self,
        grad: &Tensor,
        input: &Tensor,
        weight: &Tensor,
        mask: [bool; 3],
    ) -> Result<[Tensor; 2]> {
        let Steps { stride, padding, dilation, transposed, output_padding, groups } = *self;
        let (of_input, of_weight, _) = aten::convolution_backward(
            grad,
            input,
            weight,
            None,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            &mask,
        )?;
        Ok([of_input, of_weight])
    }

    /// The gradients of `grad_output`, `input` and `weight`, from those of the gradients of input, weight and bias.
    ///
    /// A convolution is linear in its input and in its weight, and its gradients are the adjoint maps. So if `v` and
    /// `w` are the gradients with respect to the input's and the weight's gradient, the function to differentiate is
    /// `grad_output · (convolution(v, weight) + convolution(input, w))`.
    pub(super) fn second(
        &self,
        grads: &[Option<Tensor>],
        grad_output: &Tensor,
        input: &Tensor,
        weight: &Tensor,
        mask: [bool; 3],
    ) -> Result<(Option<Tensor>, Option<Tensor>, Option<Tensor>)> {
        let [v, w, b] = [0, 1, 2].map(|index| grads[index].as_ref());
        let [grad_output, input, weight] = [conj(grad_output)?, conj(input)?, conj(weight)?];
        let mut of_grad = None;
        if mask[0] {
            let bias = b.map(|b| along_channels(b, &grad_output));
            let parts =
                [v.map(|v| self.convolution(v, &weight)), w.map(|w| self.convolution(&input, w)), bias];
            of_grad = parts.into_iter().flatten().reduce(|sum, part| sum?.add(&part?)).transpose()?;
        }
        let of_input =
            w.filter(|_| mask[1]).map(|w| self.backward(&grad_output, &input, w, [true, false, false]));
        let of_weight =
            v.filter(|_| mask[2]).map(|v| self.backward(&grad_output, v, &weight, [false, true, false]));
        let of_input = of_input.transpose()?.map(|[of_input, _]| of_input);
        Ok((of_grad, of_input, of_weight.transpose()?.map(|[_, of_weight]| of_weight)))
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn _convolution_double_backward(
    gg_i: Option<&Tensor>,
    gg_w: Option<&Tensor>,
    ggb: Option<&Tensor>,
    g_o: &Tensor,
    weight: &Tensor,
    this: &Tensor,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
    _output_mask: &[bool], // PyTorch computes all three, too
) -> Result<(Tensor, Tensor, Tensor)> {
    let steps = Steps { stride, padding, dilation, transposed, output_padding, groups };
    let grads = [gg_i, gg_w, ggb].map(|grad| grad.cloned());
    let (of_grad, of_input, of_weight) = steps.second(&grads, g_o, this, weight, [true; 3])?;
    let [of_grad, of_input, of_weight] =
        [of_grad, of_input, of_weight].map(|of| of.unwrap_or_else(Tensor::undefined));
    Ok((of_grad, of_input, of_weight))
}

/// A vector with one number for each channel, expanded to the sizes of an output.
fn along_channels(bias: &Tensor, output: &Tensor) -> Result<Tensor> {
    ensure!(
        output.dim() > 1,
        Shape,
        "{}: a gradient of sizes {:?} has no channels",
        aten::_convolution_double_backward::NAME,
        output.sizes()
    );
    let mut sizes = vec![1; output.dim()];
    sizes[1] = bias.numel();
    bias.reshape(&sizes)?.expand(output.sizes())
}
