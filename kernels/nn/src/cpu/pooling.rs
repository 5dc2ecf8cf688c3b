//! Max and average pooling of images and volumes, and their gradients.

use torch_library::guard::GradMode;
use torch_library::prelude::*;

use super::axis::{Axis, per_direction};
use super::volumes::pixels;
use crate::aten;
use crate::loops;
use crate::loops::pointwise::unsupported;

use lines::{Divisor, Pooling};

mod fractional;
mod largest;
mod lines;
mod windows;

/// Writes the pooling operators for some number of spatial dimensions.
macro_rules! pooling {
    ($($ndim:literal:
        $largest:ident $largest_backward:ident $mean:ident $mean_backward:ident
        $mean_of_shares:ident $mean_of_shares_backward:ident $largest_of_shares:ident $largest_of_shares_backward:ident;
    )+) => {
        #[torch_impl(aten, CPU, Meta)]
        mod kernels {
            use super::*;

            $(
                fn $largest(
                    this: &Tensor,
                    kernel_size: &[i64],
                    stride: &[i64],
                    padding: &[i64],
                    dilation: &[i64],
                    ceil_mode: bool,
                ) -> Result<(Tensor, Tensor)> {
                    let _lease = loops::frozen([this])?;
                    const OPERATOR: &str = aten::$largest::NAME;
                    let axes = axes::<$ndim>(OPERATOR, kernel_size, stride, padding, dilation)?;
                    Pooling::of_windows(OPERATOR, this, &axes, ceil_mode)?.largest(this)
                }

                fn $largest_backward(
                    grad_output: &Tensor,
                    this: &Tensor,
                    kernel_size: &[i64],
                    stride: &[i64],
                    padding: &[i64],
                    dilation: &[i64],
                    ceil_mode: bool,
                    indices: &Tensor,
                ) -> Result<Tensor> {
                    let _lease = loops::frozen([grad_output, this, indices])?;
                    const OPERATOR: &str = aten::$largest_backward::NAME;
                    let axes = axes::<$ndim>(OPERATOR, kernel_size, stride, padding, dilation)?;
                    Pooling::of_windows(OPERATOR, this, &axes, ceil_mode)?.returned(grad_output, this, indices)
                }

                fn $mean(
                    this: &Tensor,
                    kernel_size: &[i64],
                    stride: &[i64],
                    padding: &[i64],
                    ceil_mode: bool,
                    count_include_pad: bool,
                    divisor_override: Option<i64>,
                ) -> Result<Tensor> {
                    let _lease = loops::frozen([this])?;
                    const OPERATOR: &str = aten::$mean::NAME;
                    let axes = axes::<$ndim>(OPERATOR, kernel_size, stride, padding, &[1])?;
                    let divisor = Divisor::new(OPERATOR, count_include_pad, divisor_override)?;
                    check_mean(OPERATOR, this, &axes)?;
                    Pooling::of_windows(OPERATOR, this, &axes, ceil_mode)?.means(this, divisor)
                }

                fn $mean_backward(
                    grad_output: &Tensor,
                    this: &Tensor,
                    kernel_size: &[i64],
                    stride: &[i64],
                    padding: &[i64],
                    ceil_mode: bool,
                    count_include_pad: bool,
                    divisor_override: Option<i64>,
                ) -> Result<Tensor> {
                    let _lease = loops::frozen([grad_output, this])?;
                    const OPERATOR: &str = aten::$mean_backward::NAME;
                    let axes = axes::<$ndim>(OPERATOR, kernel_size, stride, padding, &[1])?;
                    let divisor = Divisor::new(OPERATOR, count_include_pad, divisor_override)?;
                    check_mean(OPERATOR, this, &axes)?;
                    Pooling::of_windows(OPERATOR, this, &axes, ceil_mode)?.spread(grad_output, this, divisor)
                }

                fn $mean_of_shares(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
                    let _lease = loops::frozen([this])?;
                    const OPERATOR: &str = aten::$mean_of_shares::NAME;
                    Pooling::of_shares(OPERATOR, this, output_size, $ndim, $ndim == 2)?.means(this, Divisor::Covered)
                }

                fn $mean_of_shares_backward(grad_output: &Tensor, this: &Tensor) -> Result<Tensor> {
                    let _lease = loops::frozen([grad_output, this])?;
                    const OPERATOR: &str = aten::$mean_of_shares_backward::NAME;
                    let output_size = pixels(OPERATOR, grad_output, $ndim)?;
                    let pooling = Pooling::of_shares(OPERATOR, this, output_size, $ndim, $ndim == 2)?;
                    pooling.spread(grad_output, this, Divisor::Covered)
                }

                fn $largest_of_shares(this: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
                    let _lease = loops::frozen([this])?;
                    const OPERATOR: &str = aten::$largest_of_shares::NAME;
                    Pooling::of_shares(OPERATOR, this, output_size, $ndim, false)?.largest(this)
                }

                fn $largest_of_shares_backward(
                    grad_output: &Tensor,
                    this: &Tensor,
                    indices: &Tensor,
                ) -> Result<Tensor> {
                    let _lease = loops::frozen([grad_output, this, indices])?;
                    const OPERATOR: &str = aten::$largest_of_shares_backward::NAME;
                    let output_size = pixels(OPERATOR, grad_output, $ndim)?;
                    Pooling::of_shares(OPERATOR, this, output_size, $ndim, false)?.returned(grad_output, this, indices)
                }
            )+
        }
    };
}

pooling! {
    2:
        max_pool2d_with_indices max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward
        _adaptive_avg_pool2d _adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward;
    3:
        max_pool3d_with_indices max_pool3d_with_indices_backward avg_pool3d avg_pool3d_backward
        _adaptive_avg_pool3d _adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward;
}

/// Max pooling without indices, which only gradients need: where one is recorded, the operator with indices runs.
macro_rules! values {
    ($($ndim:literal: $values:ident, $with_indices:ident;)+) => {
        #[torch_impl(aten, CPU)]
        mod values {
            use super::*;

            $(
                fn $values(
                    this: &Tensor,
                    kernel_size: &[i64],
                    stride: &[i64],
                    padding: &[i64],
                    dilation: &[i64],
                    ceil_mode: bool,
                ) -> Result<Tensor> {
                    let _lease = loops::frozen([this])?;
                    const OPERATOR: &str = aten::$with_indices::NAME;
                    let axes = axes::<$ndim>(OPERATOR, kernel_size, stride, padding, dilation)?;
                    Pooling::of_windows(OPERATOR, this, &axes, ceil_mode)?.largest_values(this)
                }
            )+
        }

        #[torch_impl(aten, AutogradCPU)]
        mod recorded {
            use super::*;

            $(
                fn $values(
                    keys: DispatchKeySet,
                    this: &Tensor,
                    kernel_size: &[i64],
                    stride: &[i64],
                    padding: &[i64],
                    dilation: &[i64],
                    ceil_mode: bool,
                ) -> Result<Tensor> {
                    if this.requires_grad() && GradMode::is_enabled() {
                        let both =
                            aten::$with_indices::call(this, kernel_size, stride, padding, dilation, ceil_mode)?;
                        return Ok(both.0);
                    }
                    let below = keys & DispatchKeySet::full_after(DispatchKey::AutogradOther);
                    aten::$values::redispatch(below, this, kernel_size, stride, padding, dilation, ceil_mode)
                }
            )+
        }
    };
}

values! {
    2: max_pool2d, max_pool2d_with_indices;
    3: max_pool3d, max_pool3d_with_indices;
}

/// The windows of each spatial dimension; an empty stride means that of the window's size.
fn axes<const N: usize>(
    operator: &str,
    kernel: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
) -> Result<[Axis; N]> {
    let each = |name, values| per_direction(operator, name, values, N);
    let kernel = each("kernel_size", kernel)?;
    let stride = if stride.is_empty() { kernel.clone() } else { each("stride", stride)? };
    let (padding, dilation) = (each("padding", padding)?, each("dilation", dilation)?);
    let axes = std::array::from_fn(|i| Axis {
        kernel: kernel[i],
        stride: stride[i],
        padding: padding[i],
        dilation: dilation[i],
    });
    for axis in axes {
        axis.checked(operator)?;
        ensure!(
            axis.padding <= axis.kernel / 2,
            Argument,
            "{operator}: padding {padding:?} is more than half the window, {kernel:?}"
        );
    }
    Ok(axes)
}

/// Refuses what PyTorch's average pooling of volumes refuses: 16-bit floats, and windows larger than the volume.
fn check_mean(operator: &str, this: &Tensor, axes: &[Axis]) -> Result<()> {
    if axes.len() < 3 {
        return Ok(());
    }
    if let dtype @ (DType::Float16 | DType::BFloat16) = this.dtype() {
        return Err(unsupported(operator, dtype));
    }
    let sizes = pixels(operator, this, axes.len())?;
    ensure!(
        sizes.iter().zip(axes).all(|(size, axis)| axis.kernel <= *size),
        Shape,
        "{operator}: windows {axes:?} are larger than volumes of {sizes:?}"
    );
    Ok(())
}
