//! Convolutions under the names that users call.

use torch_library::prelude::*;

use crate::aten;

mod algorithms;
mod tbc;

/// Writes the kernels of convolutions: the number of dimensions, then the names of the operators with padding in
/// numbers, with padding as a word, and transposed.
macro_rules! convolutions {
    ($($ndim:literal: $conv:ident, $padded:ident, $transposed:ident;)+) => {
        #[torch_impl(aten, CompositeImplicitAutograd)]
        mod convolutions {
            use super::*;

            $(
                fn $conv(
                    input: &Tensor,
                    weight: &Tensor,
                    bias: Option<&Tensor>,
                    stride: &[i64],
                    padding: &[i64],
                    dilation: &[i64],
                    groups: i64,
                ) -> Result<Tensor> {
                    super::check_bias(aten::$conv::NAME, input, bias)?;
                    super::with_batch(aten::$conv::NAME, $ndim, input, |input| {
                        aten::convolution(input, weight, bias, stride, padding, dilation, false, &[0], groups)
                    })
                }

                fn $padded(
                    input: &Tensor,
                    weight: &Tensor,
                    bias: Option<&Tensor>,
                    stride: &[i64],
                    padding: &str,
                    dilation: &[i64],
                    groups: i64,
                ) -> Result<Tensor> {
                    let padded = Padded { operator: aten::$padded::NAME, weight, bias, stride, dilation, groups };
                    padded.convolve($ndim, input, padding)
                }

                fn $transposed(
                    input: &Tensor,
                    weight: &Tensor,
                    bias: Option<&Tensor>,
                    stride: &[i64],
                    padding: &[i64],
                    output_padding: &[i64],
                    groups: i64,
                    dilation: &[i64],
                ) -> Result<Tensor> {
                    super::with_batch(aten::$transposed::NAME, $ndim, input, |input| {
                        aten::convolution(
                            input, weight, bias, stride, padding, dilation, true, output_padding, groups,
                        )
                    })
                }
            )+
        }
    };
}

convolutions! {
    1: conv1d, conv1d_padding, conv_transpose1d;
    2: conv2d, conv2d_padding, conv_transpose2d_input;
    3: conv3d, conv3d_padding, conv_transpose3d_input;
}

/// Refuses a bias of another type than the input, which [`aten::convolution`] itself may accept.
fn check_bias(operator: &str, input: &Tensor, bias: Option<&Tensor>) -> Result<()> {
    ensure!(
        bias.is_none_or(|bias| bias.dtype() == input.dtype()),
        DType,
        "{operator}: the input is of {}, the bias of another type; convert it by `aten::to_dtype`",
        input.dtype()
    );
    Ok(())
}

/// Runs a convolution in `ndim` dimensions; an input without a batch dimension becomes a batch of one.
fn with_batch(
    operator: &str,
    ndim: usize,
    input: &Tensor,
    f: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    match input.dim().checked_sub(ndim) {
        Some(2) => f(input),
        Some(1) => aten::squeeze_dim(&f(&aten::unsqueeze(input, 0)?)?, 0),
        _ => bail!(
            Shape,
            "{operator}: sizes {:?} are not a batch, channels and {ndim} dimensions, or without the batch",
            input.sizes()
        ),
    }
}

/// Options for backends have no effect here.
#[torch_impl(aten, CompositeImplicitAutograd)]
mod with_options {
    use super::*;

    fn _convolution(
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        transposed: bool,
        output_padding: &[i64],
        groups: i64,
        _benchmark: bool,
        _deterministic: bool,
        _cudnn_enabled: bool,
        _allow_tf32: bool,
    ) -> Result<Tensor> {
        aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
            .map_err(|error| error.context(aten::_convolution::NAME))
    }

    fn _convolution_deprecated(
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        transposed: bool,
        output_padding: &[i64],
        groups: i64,
        _benchmark: bool,
        _deterministic: bool,
        _cudnn_enabled: bool,
    ) -> Result<Tensor> {
        aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
            .map_err(|error| error.context(aten::_convolution_deprecated::NAME))
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn _convolution_mode(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &str,
    dilation: &[i64],
    groups: i64,
) -> Result<Tensor> {
    const OPERATOR: &str = aten::_convolution_mode::NAME;
    ensure!(
        weight.dim() > 2 && input.dim() == weight.dim(),
        Shape,
        "{OPERATOR}: an input of sizes {:?} and a weight of {:?}, expected a batch and as many dimensions of both",
        input.sizes(),
        weight.sizes()
    );
    let padded = Padded { operator: OPERATOR, weight, bias, stride, dilation, groups };
    padded.convolve(weight.dim() - 2, input, padding)
}

/// A convolution whose padding is a word.
struct Padded<'a> {
    operator: &'static str,
    weight: &'a Tensor,
    bias: Option<&'a Tensor>,
    stride: &'a [i64],
    dilation: &'a [i64],
    groups: i64,
}

impl Padded<'_> {
    fn convolve(&self, ndim: usize, input: &Tensor, padding: &str) -> Result<Tensor> {
        let Padded { operator, weight, bias, stride, dilation, groups } = *self;
        let is_same = match padding {
            "same" => true,
            "valid" => false,
            other => bail!(Argument, "{operator}: unknown padding {other:?}, expected \"same\" or \"valid\""),
        };
        with_batch(operator, ndim, input, |input| {
            let convolve = |input: &Tensor, padding: &[i64]| {
                aten::convolution(input, weight, bias, stride, padding, dilation, false, &[0], groups)
            };
            if !is_same {
                return convolve(input, &[0]);
            }
            ensure!(
                stride.iter().all(|stride| *stride == 1),
                Argument,
                "{operator}: padding \"same\" with stride {stride:?}, expected a stride of 1"
            );
            let total = self.padding(ndim)?;
            let before: Vec<i64> = total.iter().map(|total| total / 2).collect();
            // If one side needs one pixel more, the input is padded by it first.
            let more: Vec<i64> = total.iter().rev().flat_map(|total| [0, total % 2]).collect();
            match more.iter().all(|more| *more == 0) {
                true => convolve(input, &before),
                false => convolve(&aten::constant_pad_nd(input, &more)?, &before),
            }
        })
    }

    /// The total padding of both sides, in each spatial dimension, with which the output is as large as the image.
    fn padding(&self, ndim: usize) -> Result<Vec<i64>> {
        let (kernel, dilation) = (self.weight.sizes().get(2..).unwrap_or_default(), self.dilation);
        ensure!(
            kernel.len() == ndim && (dilation.len() == 1 || dilation.len() == ndim),
            Shape,
            "{}: a weight of sizes {:?} and dilation {dilation:?} are not those of {ndim} dimensions",
            self.operator,
            self.weight.sizes()
        );
        let padding =
            |(kernel, dilation): (&i64, &i64)| dilation.saturating_mul(kernel - 1).min(i64::from(i32::MAX));
        Ok(kernel.iter().zip(dilation.iter().cycle()).map(padding).collect())
    }
}
