//! Convolutions by the names of PyTorch's algorithms. They differ in what they accept.

use torch_library::prelude::*;

use super::with_batch;
use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn mkldnn_convolution(
        this: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        padding: &[i64],
        stride: &[i64],
        dilation: &[i64],
        groups: i64,
    ) -> Result<Tensor> {
        let none = vec![0; padding.len()];
        aten::convolution(this, weight, bias, stride, padding, dilation, false, &none, groups)
    }

    fn thnn_conv2d(
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
    ) -> Result<Tensor> {
        aten::_slow_conv2d_forward(this, weight, kernel_size, bias, stride, padding)
    }

    fn _slow_conv2d_forward(
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
    ) -> Result<Tensor> {
        let named = Named { operator: aten::_slow_conv2d_forward::NAME, kernel_size, stride, padding };
        let weight = named.of_rows(weight)?;
        named.check_batch(this)?;
        named.convolve(this, &weight, bias, &[1, 1])
    }

    fn _slow_conv2d_backward_output_mask(
        grad_output: &Tensor,
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        output_mask: &[bool],
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let operator = aten::_slow_conv2d_backward_output_mask::NAME;
        let dtype = this.dtype();
        ensure!(dtype.is_floating_point(), DType, "{operator} is not implemented for {dtype}");
        let named = Named { operator, kernel_size, stride, padding };
        let kernels = named.of_rows(weight)?;
        named.check(this, &kernels, 0)?;
        named.check_batch(this)?;
        let (one, none) = (&[1, 1], &[0, 0]);
        let channels = [kernels.size(0)?];
        let (of_input, of_weight, of_bias) = aten::convolution_backward(
            grad_output,
            this,
            &kernels,
            Some(&channels),
            stride,
            padding,
            one,
            false,
            none,
            1,
            output_mask,
        )?;
        let has_rows = weight.dim() == 2 && of_weight.is_defined();
        Ok((of_input, if has_rows { aten::reshape(&of_weight, weight.sizes())? } else { of_weight }, of_bias))
    }

    fn slow_conv_transpose2d(
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        output_padding: &[i64],
        dilation: &[i64],
    ) -> Result<Tensor> {
        let named = Named { operator: aten::slow_conv_transpose2d::NAME, kernel_size, stride, padding };
        named.transposed(this, weight, bias, output_padding, dilation)
    }

    fn slow_conv_transpose3d(
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        output_padding: &[i64],
        dilation: &[i64],
    ) -> Result<Tensor> {
        let named = Named { operator: aten::slow_conv_transpose3d::NAME, kernel_size, stride, padding };
        named.transposed(this, weight, bias, output_padding, dilation)
    }

    fn slow_conv3d(
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
    ) -> Result<Tensor> {
        aten::slow_conv3d_forward(this, weight, kernel_size, bias, stride, padding)
    }

    fn slow_conv3d_forward(
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
    ) -> Result<Tensor> {
        let named = Named { operator: aten::slow_conv3d_forward::NAME, kernel_size, stride, padding };
        named.check_batch(this)?;
        named.convolve(this, weight, bias, &[1, 1, 1])
    }

    fn slow_conv_dilated2d(
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
    ) -> Result<Tensor> {
        let named = Named { operator: aten::slow_conv_dilated2d::NAME, kernel_size, stride, padding };
        named.convolve(this, weight, bias, dilation)
    }

    fn slow_conv_dilated3d(
        this: &Tensor,
        weight: &Tensor,
        kernel_size: &[i64],
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
    ) -> Result<Tensor> {
        let named = Named { operator: aten::slow_conv_dilated3d::NAME, kernel_size, stride, padding };
        named.convolve(this, weight, bias, dilation)
    }
}

#[torch_impl(aten, CompositeExplicitAutograd)]
fn _slow_conv2d_backward_grad_input<'a, 'b, 'c>(
    grad_output: &Tensor,
    this: &Tensor,
    weight: &Tensor,
    kernel_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    grad_input: &'a mut Tensor,
    grad_weight: &'b mut Tensor,
    grad_bias: &'c mut Tensor,
) -> Result<(&'a mut Tensor, &'b mut Tensor, &'c mut Tensor)> {
    aten::_slow_conv2d_backward_output_mask_out(
        grad_output,
        this,
        weight,
        kernel_size,
        stride,
        padding,
        &[true; 3],
        grad_input,
        grad_weight,
        grad_bias,
    )
}

/// A convolution, and how its window moves.
struct Named<'a> {
    operator: &'static str,
    kernel_size: &'a [i64],
    stride: &'a [i64],
    padding: &'a [i64],
}

impl Named<'_> {
    /// The weight with the kernels' dimensions, if each kernel is a row.
    fn of_rows(&self, weight: &Tensor) -> Result<Tensor> {
        let len = self.kernel_size.iter().fold(1i64, |len, size| len.saturating_mul(*size));
        match *weight.sizes() {
            [channels, row] if len > 0 && row % len == 0 => {
                aten::reshape(weight, &[&[channels, row / len], self.kernel_size].concat())
            }
            _ => Ok(weight.clone()),
        }
    }

    /// # Errors
    /// A weight whose kernels have other sizes; complex and boolean dtypes.
    fn check(&self, this: &Tensor, weight: &Tensor, channels_at: usize) -> Result<()> {
        let (operator, dims) = (self.operator, self.kernel_size.len());
        ensure!(
            weight.dim() == dims + 2 && weight.sizes()[2..] == *self.kernel_size,
            Shape,
            "{operator}: a weight of sizes {:?} for a kernel of {:?}, expected channels of both sides and these",
            weight.sizes(),
            self.kernel_size
        );
        let is_number = !this.dtype().is_complex() && this.dtype() != DType::Bool;
        ensure!(is_number, DType, "{operator} is not implemented for {}", this.dtype());
        let channels = weight.sizes()[channels_at];
        ensure!(channels > 0, Shape, "{operator}: a weight of sizes {:?} has no outputs", weight.sizes());
        Ok(())
    }

    /// # Errors
    /// An input without a batch dimension.
    fn check_batch(&self, this: &Tensor) -> Result<()> {
        let (operator, dims) = (self.operator, self.kernel_size.len() + 2);
        ensure!(
            this.dim() == dims,
            Shape,
            "{operator}: an input of sizes {:?}, expected {dims} dimensions",
            this.sizes()
        );
        Ok(())
    }

    fn convolve(
        &self,
        this: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        dilation: &[i64],
    ) -> Result<Tensor> {
        self.check(this, weight, 0)?;
        let dims = self.kernel_size.len();
        with_batch(self.operator, dims, this, |this| {
            let none = vec![0; dims];
            aten::convolution(this, weight, bias, self.stride, self.padding, dilation, false, &none, 1)
        })
    }

    fn transposed(
        &self,
        this: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        output_padding: &[i64],
        dilation: &[i64],
    ) -> Result<Tensor> {
        self.check(this, weight, 1)?;
        with_batch(self.operator, self.kernel_size.len(), this, |this| {
            aten::convolution(
                this,
                weight,
                bias,
                self.stride,
                self.padding,
                dilation,
                true,
                output_padding,
                1,
            )
        })
    }
}
