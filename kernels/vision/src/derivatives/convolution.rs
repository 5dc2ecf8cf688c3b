//! The derivative of deformable convolution. It is not a row of `derivatives!`, since its argument `mask` has a name that
//! means something else there.

use torch_library::autograd::{Context, Function, apply};
use torch_library::guard::AutoDispatchBelowAutograd;
use torch_library::prelude::*;

use crate::deform::Steps;
use crate::ops::torchvision;

impl Function for Steps {
    fn name(&self) -> &'static str {
        "DeformConv2DBackward0"
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        let [input, weight, offset, mask, bias] = *inputs else {
            bail!(Internal, "five tensors are convolved")
        };
        context.save_for_backward(inputs);
        let Steps { stride, padding, dilation, groups, offset_groups, use_mask } = *self;
        let _below = AutoDispatchBelowAutograd::new();
        let convolved = torchvision::deform_conv2d(
            input,
            weight,
            offset,
            mask,
            bias,
            stride[0],
            stride[1],
            padding[0],
            padding[1],
            dilation[0],
            dilation[1],
            groups,
            offset_groups,
            use_mask,
        )?;
        Ok(vec![convolved])
    }

    fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let [input, weight, offset, mask, bias] = context.saved() else {
            bail!(Internal, "five tensors were saved")
        };
        let Some(grad) = grads.into_iter().next().flatten() else { return Ok(vec![None; 5]) };
        let Steps { stride, padding, dilation, groups, offset_groups, use_mask } = *self;
        let (to_input, to_weight, to_offset, to_mask, to_bias) = torchvision::_deform_conv2d_backward(
            &grad,
            input,
            weight,
            offset,
            mask,
            bias,
            stride[0],
            stride[1],
            padding[0],
            padding[1],
            dilation[0],
            dilation[1],
            groups,
            offset_groups,
            use_mask,
        )?;
        let all = [to_input, to_weight, to_offset, to_mask, to_bias].into_iter().enumerate();
        Ok(all.map(|(place, gradient)| context.needs_input_grad(place).then_some(gradient)).collect())
    }
}

#[torch_impl(torchvision::deform_conv2d, Autograd)]
fn deform_conv2d(
    input: &Tensor,
    weight: &Tensor,
    offset: &Tensor,
    mask: &Tensor,
    bias: &Tensor,
    stride_h: i64,
    stride_w: i64,
    pad_h: i64,
    pad_w: i64,
    dilation_h: i64,
    dilation_w: i64,
    groups: i64,
    offset_groups: i64,
    use_mask: bool,
) -> Result<Tensor> {
    let (stride, padding, dilation) = ([stride_h, stride_w], [pad_h, pad_w], [dilation_h, dilation_w]);
    let steps = Steps { stride, padding, dilation, groups, offset_groups, use_mask };
    match apply(steps, &[input, weight, offset, mask, bias])?.pop() {
        Some(convolved) => Ok(convolved),
        None => bail!(Internal, "one result was computed"),
    }
}
