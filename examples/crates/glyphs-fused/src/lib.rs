//! A fused operator in the namespace `glyphs`, with everything that layers need to know of it: its derivative, its
//! autocast rule and its batching rule.

use torch_library::prelude::*;
use torch_library::vmap::Level;
use torch_library_aten::prelude::*;
use torch_library_aten::vmap::{expanded, front};
use torch_library_aten::{aten, autocast};
use torch_library_loops::{Pointwise, match_opmath};

torch_library! {
    /// The operators of `glyphs`, and one that fuses two.
    pub mod glyphs_fused extends glyphs::glyphs {
        /// `relu(self + bias)` in one pass, with one bias for each channel (dimension 1).
        ///
        /// # Errors
        /// A tensor without channels, a number of biases other than that of the channels, two types, or types that are
        /// not real floating point.
        biased_relu(Tensor self, Tensor bias) -> Tensor;
    }
}

#[torch_impl(crate::glyphs_fused, CPU)]
fn biased_relu(this: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let bias = of_channels(this, bias)?;
    let call = Pointwise::promoting_to_float(crate::glyphs_fused::biased_relu::NAME, [this, &bias])?;
    match_opmath!(call.dtype, T: Float => {
        call.compute(None, call.dtype, |[x, bias]: [T; 2]| {
            let sum = x + bias;
            // Not `sum > 0`, so that NaN propagates.
            if sum <= 0.0 { 0.0 } else { sum }
        })
    }, else => Err(call.unsupported()))
}

/// Unfused, on devices whose backends have these operators.
#[torch_impl(crate::glyphs_fused::biased_relu, CompositeExplicitAutograd)]
fn in_parts(this: &Tensor, bias: &Tensor) -> Result<Tensor> {
    aten::relu(&aten::add_Tensor(this, &of_channels(this, bias)?)?)
}

/// One bias for each channel, which broadcasts over the dimensions after the channels.
fn of_channels(this: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let channels = this.size(1)?;
    ensure!(
        bias.sizes() == [channels] && bias.dtype() == this.dtype(),
        Shape,
        "{channels} channels of {} need as many biases of that type, not {} of sizes {:?}",
        this.dtype(),
        bias.dtype(),
        bias.sizes()
    );
    ensure!(
        this.dtype().is_floating_point(),
        DType,
        "biased_relu of {} is not supported, expected real floating point",
        this.dtype()
    );
    let (mut sizes, mut strides) = (vec![1; this.dim() - 1], vec![0; this.dim() - 1]);
    (sizes[0], strides[0]) = (channels, bias.strides()[0]);
    bias.strided_view(&sizes, &strides, bias.storage_offset())
}

derivatives! {
    in crate::glyphs_fused;

    biased_relu(Tensor self, Tensor bias) -> Tensor as BiasedReluBackward0 {
        (self, bias) => gradients(grad, result),
    }
}

/// Made of differentiable operators, so second derivatives work as well.
fn gradients(grad: &Tensor, result: &Tensor) -> Result<(Tensor, Tensor)> {
    let grad = aten::threshold_backward(grad, result, 0.into())?;
    let others: Vec<i64> = (0..grad.dim() as i64).filter(|dim| *dim != 1).collect();
    let of_bias = grad.sum_dim(&others, false)?;
    Ok((grad, of_bias))
}

/// Biases are cast to the type of the input, which a convolution may have returned in lower precision.
#[torch_impl(crate::glyphs_fused::biased_relu, AutocastCPU)]
fn in_one_type(this: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let _no_autocast = autocast::below(DeviceType::Cpu);
    glyphs_fused::biased_relu(this, &autocast::cached_cast(this.dtype(), bias, DeviceType::Cpu)?)
}

/// Examples become more pictures or, where each has biases of its own, more channels.
#[torch_impl(crate::glyphs_fused::biased_relu, FuncTorchBatched)]
fn of_examples(this: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let level = Level::current()?;
    let batch = expanded(level, this)?;
    let sizes = batch.sizes();
    ensure!(sizes.len() > 2, Shape, "examples of sizes {:?} have no channels", this.sizes());
    let output = if level.has(bias) {
        let batch = batch.transpose(0, 1)?;
        let merged = [&[sizes[1], sizes[0] * sizes[2]], &sizes[3..]].concat();
        let biases = front(level, bias)?.reshape(&[-1])?;
        let output = glyphs_fused::biased_relu(&batch.reshape(&merged)?, &biases)?;
        output.reshape(batch.sizes())?.transpose(0, 1)?
    } else {
        let merged = [&[sizes[0] * sizes[1]], &sizes[2..]].concat();
        glyphs_fused::biased_relu(&batch.reshape(&merged)?, bias)?.reshape(sizes)?
    };
    level.wrap(output, 0)
}
