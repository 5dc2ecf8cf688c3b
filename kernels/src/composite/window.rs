//! Convolution and pooling as users call them.

use torch_library::prelude::*;

use super::unseen;
use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn conv2d(
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        groups: i64,
    ) -> Result<Tensor> {
        super::with_batch("aten::conv2d", input, |input| {
            aten::convolution(input, weight, bias, stride, padding, dilation, false, &[0, 0], groups)
        })
    }

    fn conv2d_padding(
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &str,
        dilation: &[i64],
        groups: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::conv2d.padding";
        let is_same = match padding {
            "same" => true,
            "valid" => false,
            other => {
                bail!(Argument, "{OPERATOR}: unknown padding {other:?}, expected \"same\" or \"valid\"")
            }
        };
        super::with_batch(OPERATOR, input, |input| {
            let convolve = |input: &Tensor, padding: &[i64]| {
                aten::convolution(input, weight, bias, stride, padding, dilation, false, &[0, 0], groups)
            };
            if !is_same {
                return convolve(input, &[0, 0]);
            }
            ensure!(
                stride.iter().all(|stride| *stride == 1),
                Argument,
                "{OPERATOR}: padding \"same\" with stride {stride:?}, it goes with a stride of 1 only"
            );
            let (before, after) = super::same_padding(OPERATOR, weight, dilation)?;
            if before == after {
                return convolve(input, &before);
            }
            // What is more on one side is put there beforehand.
            let more = [0, after[1] - before[1], 0, after[0] - before[0]];
            convolve(&aten::constant_pad_nd(input, &more)?, &before)
        })
    }

    fn max_pool2d(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
    ) -> Result<Tensor> {
        Ok(aten::max_pool2d_with_indices::call(this, kernel_size, stride, padding, dilation, ceil_mode)?.0)
    }

    fn adaptive_avg_pool2d(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = "aten::adaptive_avg_pool2d";
        ensure!(
            matches!(this.dim(), 3 | 4) && !this.sizes()[this.dim() - 2..].contains(&0),
            Shape,
            "{OPERATOR}: sizes {:?} are no images with pixels",
            this.sizes()
        );
        if output_size != [1, 1] {
            return aten::_adaptive_avg_pool2d(this, output_size);
        }
        let mean = aten::mean_dim::call(this, Some(&[-1, -2]), true, None)?;
        match (this.suggest_memory_format(), mean.sizes()) {
            (MemoryFormat::ChannelsLast, &[n, c, ..]) => {
                aten::as_strided(&mean, &[n, c, 1, 1], &[c, 1, c, c])
            }
            _ => Ok(mean),
        }
    }
}

#[torch_impl(aten, CompositeExplicitAutograd)]
fn constant_pad_nd(this: &Tensor, pad: &[i64], value: Scalar) -> Result<Tensor> {
    const OPERATOR: &str = "aten::constant_pad_nd";
    ensure!(
        pad.len().is_multiple_of(2) && pad.len() / 2 <= this.dim(),
        Argument,
        "{OPERATOR}: pad {pad:?} has not two numbers for each of at most {} dimensions",
        this.dim()
    );
    let mut sizes = this.sizes().to_vec();
    for (size, pad) in sizes.iter_mut().rev().zip(pad.chunks_exact(2)) {
        *size = size.saturating_add(pad[0].saturating_add(pad[1])); // what is too much is refused as a size
    }
    ensure!(
        sizes.iter().all(|size| *size >= 0),
        Shape,
        "{OPERATOR}: pad {pad:?} takes more than there is of sizes {:?}",
        this.sizes()
    );
    let mut out = aten::empty_memory_format::with(&sizes)
        .dtype(Some(this.dtype()))
        .device(Some(this.device()))
        .memory_format(Some(this.suggest_memory_format()))
        .call()?;
    unseen(|| {
        aten::fill__Scalar(&mut out, value)?;
        let (mut source, mut place) = (this.clone(), out.clone());
        for (back, pad) in pad.chunks_exact(2).enumerate() {
            let dim = -1 - back as i64;
            let kept = this.size(dim)?.saturating_add(pad[0].min(0)).saturating_add(pad[1].min(0)).max(0);
            source = aten::narrow(&source, dim, pad[0].saturating_neg().max(0), kept)?;
            place = aten::narrow(&place, dim, pad[0].max(0), kept)?;
        }
        aten::copy_(&mut place, &source).map(drop)
    })?;
    Ok(out)
}

/// Runs a convolution on a batch of one where there is no batch.
fn with_batch(operator: &str, input: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    match input.dim() {
        4 => f(input),
        3 => aten::squeeze_dim(&f(&aten::unsqueeze(input, 0)?)?, 0),
        _ => bail!(
            Shape,
            "{operator}: sizes {:?} are not [batch, channels, height, width] or without the batch",
            input.sizes()
        ),
    }
}

/// The padding in front and behind with which the result has the sizes of the image; the odd one is behind.
fn same_padding(operator: &str, weight: &Tensor, dilation: &[i64]) -> Result<([i64; 2], [i64; 2])> {
    let (&[_, _, height, width], [first, .., last] | [first @ last]) = (weight.sizes(), dilation) else {
        bail!(
            Shape,
            "{operator}: a weight of sizes {:?} and dilation {dilation:?} are not those of two dimensions",
            weight.sizes()
        )
    };
    let total = [first * (height - 1), last * (width - 1)];
    Ok((total.map(|total| total / 2), total.map(|total| total - total / 2)))
}
