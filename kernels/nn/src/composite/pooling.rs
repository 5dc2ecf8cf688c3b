//! Pooling under the names that users call: without indices, of signals, and to one element.

use torch_library::guard::GradMode;
use torch_library::prelude::*;

use crate::aten;

mod unpool;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

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
        const OPERATOR: &str = aten::adaptive_avg_pool2d::NAME;
        ensure!(
            output_size.len() == 2,
            Argument,
            "{OPERATOR}: output_size is {output_size:?}, expected a height and a width"
        );
        ensure!(
            matches!(this.dim(), 3 | 4) && !this.sizes()[this.dim() - 2..].contains(&0),
            Shape,
            "{OPERATOR}: sizes {:?} are not those of images with pixels",
            this.sizes()
        );
        if output_size != [1, 1] {
            return aten::_adaptive_avg_pool2d(this, output_size);
        }
        let mut mean = aten::mean_dim::call(this, Some(&[-1, -2]), true, None)?;
        if let (MemoryFormat::ChannelsLast, &[n, c, ..]) = (this.suggest_memory_format(), mean.sizes()) {
            aten::as_strided_(&mut mean, &[n, c, 1, 1], &[c, 1, c, c])?;
        }
        Ok(mean)
    }

    fn avg_pool1d(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        ceil_mode: bool,
        count_include_pad: bool,
    ) -> Result<Tensor> {
        check_number(aten::avg_pool1d::NAME, "padding", padding)?;
        check_number(aten::avg_pool1d::NAME, "kernel_size", kernel_size)?;
        let [kernel, padding] = [wide(kernel_size, 1), wide(padding, 0)];
        let stride = if stride.is_empty() { Vec::new() } else { wide(stride, 1) };
        let images = aten::unsqueeze(this, -2)?;
        let means =
            aten::avg_pool2d::call(&images, &kernel, &stride, &padding, ceil_mode, count_include_pad, None)?;
        aten::squeeze_dim(&means, -2)
    }

    fn max_pool1d(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
    ) -> Result<Tensor> {
        ensure!(
            this.dtype().is_floating_point(),
            DType,
            "{}: {} is not supported, expected a floating-point type",
            aten::max_pool1d::NAME,
            this.dtype()
        );
        check_number(aten::max_pool1d::NAME, "padding", padding)?;
        check_number(aten::max_pool1d::NAME, "dilation", dilation)?;
        check_number(aten::max_pool1d::NAME, "kernel_size", kernel_size)?;
        let [kernel, padding, dilation] = [wide(kernel_size, 1), wide(padding, 0), wide(dilation, 1)];
        let stride = if stride.is_empty() { Vec::new() } else { wide(stride, 1) };
        // PyTorch has a kernel for signals whose gradient nobody needs, which ignores the memory format.
        let is_recorded = GradMode::is_enabled() && this.requires_grad();
        let signals = if is_recorded { this.clone() } else { aten::contiguous(this)? };
        let images = aten::unsqueeze(&signals, -2)?;
        let maxima = aten::max_pool2d::call(&images, &kernel, &stride, &padding, &dilation, ceil_mode)?;
        aten::squeeze_dim(&maxima, -2)
    }

    fn max_pool3d(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
    ) -> Result<Tensor> {
        Ok(aten::max_pool3d_with_indices::call(this, kernel_size, stride, padding, dilation, ceil_mode)?.0)
    }

    fn adaptive_avg_pool3d(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        if output_size != [1, 1, 1] || !matches!(this.dim(), 4 | 5) {
            return aten::_adaptive_avg_pool3d(this, output_size);
        }
        let mean = aten::mean_dim::call(this, Some(&[-1, -2, -3]), true, None)?;
        match (this.suggest_memory_format(), mean.sizes()) {
            (MemoryFormat::ChannelsLast3d, &[n, c, ..]) => {
                aten::as_strided(&mean, &[n, c, 1, 1, 1], &[c, 1, c, c, c])
            }
            _ => Ok(mean),
        }
    }

    fn adaptive_max_pool1d(this: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
        let [_] = output_size else {
            bail!(Argument, "{}: output sizes {output_size:?}, expected one", aten::adaptive_max_pool1d::NAME)
        };
        let images = aten::unsqueeze(this, -2)?;
        let (largest, indices) = aten::adaptive_max_pool2d(&images, &wide(output_size, 1))?;
        Ok((aten::squeeze_dim(&largest, -2)?, aten::squeeze_dim(&indices, -2)?))
    }

    fn adaptive_avg_pool1d(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        let means = aten::adaptive_avg_pool2d(&aten::unsqueeze(this, -2)?, &wide(output_size, 1))?;
        aten::squeeze_dim(&means, -2)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn max_pool1d_with_indices(
    this: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    ceil_mode: bool,
) -> Result<(Tensor, Tensor)> {
    const OPERATOR: &str = aten::max_pool1d_with_indices::NAME;
    ensure!(
        matches!(this.dim(), 2 | 3),
        Shape,
        "{OPERATOR}: sizes {:?}, expected channels and a length, with or without a batch",
        this.sizes()
    );
    let beside = |first: i64, own: &[i64]| if own.is_empty() { Vec::new() } else { [&[first], own].concat() };
    let (kernel, padding, dilation) = (beside(1, kernel_size), beside(0, padding), beside(1, dilation));
    let images = aten::unsqueeze(this, -2)?;
    let (out, indices) = aten::max_pool2d_with_indices::call(
        &images,
        &kernel,
        &beside(1, stride),
        &padding,
        &dilation,
        ceil_mode,
    )?;
    Ok((aten::squeeze_dim(&out, -2)?, aten::squeeze_dim(&indices, -2)?))
}

/// # Errors
/// A list that does not have exactly one number, for the one spatial dimension.
fn check_number(operator: &str, name: &str, numbers: &[i64]) -> Result<()> {
    ensure!(numbers.len() == 1, Argument, "{operator}: {name} is {numbers:?}, expected one number");
    Ok(())
}

/// A number for the second of two spatial dimensions, with one that has no effect for the first.
fn wide(number: &[i64], neutral: i64) -> Vec<i64> {
    [&[neutral], number].concat()
}
