//! Max unpooling, which puts elements back to where pooling took them from, and the gradients of fractional pooling.

use torch_library::geometry::{numel, saturating_numel};
use torch_library::prelude::*;

use crate::aten;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn max_unpool2d(this: &Tensor, indices: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = aten::max_unpool2d::NAME;
        check_floating(OPERATOR, this)?;
        let out = put_back::<2>(OPERATOR, this, indices, output_size, false)?;
        let format = this.suggest_memory_format();
        aten::contiguous::with(&out).memory_format(format).call()
    }

    fn max_unpool3d(
        this: &Tensor,
        indices: &Tensor,
        output_size: &[i64],
        stride: &[i64],
        padding: &[i64],
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::max_unpool3d::NAME;
        check_floating(OPERATOR, this)?;
        ensure!(
            stride.len() == 3 && padding.len() == 3 && stride.iter().all(|stride| *stride > 0),
            Argument,
            "{OPERATOR}: stride is {stride:?} and padding {padding:?}, expected three numbers, the strides positive"
        );
        put_back::<3>(OPERATOR, this, indices, output_size, false)
    }

    fn fractional_max_pool2d_backward(
        grad_output: &Tensor,
        this: &Tensor,
        _kernel_size: &[i64],
        output_size: &[i64],
        indices: &Tensor,
    ) -> Result<Tensor> {
        returned::<2>(aten::fractional_max_pool2d_backward::NAME, grad_output, this, output_size, indices)
    }

    fn fractional_max_pool3d_backward(
        grad_output: &Tensor,
        this: &Tensor,
        _kernel_size: &[i64],
        output_size: &[i64],
        indices: &Tensor,
    ) -> Result<Tensor> {
        returned::<3>(aten::fractional_max_pool3d_backward::NAME, grad_output, this, output_size, indices)
    }
}

fn check_floating(operator: &str, this: &Tensor) -> Result<()> {
    ensure!(this.dtype().is_floating_point(), DType, "{operator} is not implemented for {}", this.dtype());
    Ok(())
}

/// The gradient of pooling that took elements from planes.
fn returned<const D: usize>(
    operator: &str,
    grad: &Tensor,
    this: &Tensor,
    output_size: &[i64],
    indices: &Tensor,
) -> Result<Tensor> {
    check_floating(operator, this)?;
    let outer = this.dim().saturating_sub(D);
    ensure!(
        (outer == 1 || outer == 2)
            && grad.sizes().starts_with(&this.sizes()[..outer])
            && &grad.sizes()[outer..] == output_size,
        Shape,
        "{operator}: a gradient of sizes {:?} for an input of {:?} and a result of {output_size:?}",
        grad.sizes(),
        this.sizes()
    );
    put_back::<D>(operator, grad, indices, &this.sizes()[outer..], true)
}

/// Puts elements of planes into zeros of other sizes at the places that indices give, or adds them up there.
fn put_back<const D: usize>(
    operator: &str,
    this: &Tensor,
    indices: &Tensor,
    size: &[i64],
    adds: bool,
) -> Result<Tensor> {
    ensure!(
        indices.dtype() == DType::Int64,
        DType,
        "{operator}: indices of {}, expected int64",
        indices.dtype()
    );
    ensure!(
        indices.sizes() == this.sizes(),
        Shape,
        "{operator}: indices of sizes {:?} for elements of {:?}, expected one for each",
        indices.sizes(),
        this.sizes()
    );
    let is_fit = (this.dim() == D + 1 || this.dim() == D + 2)
        && this.sizes()[usize::from(this.dim() == D + 2)..].iter().all(|size| *size > 0 || adds);
    let is_fit = is_fit || this.dim() == D + 1 && this.sizes()[1..].iter().all(|size| *size > 0);
    ensure!(
        is_fit,
        Shape,
        "{operator}: sizes {:?}, expected channels and {D} dimensions with elements, with or without a batch",
        this.sizes()
    );
    ensure!(size.len() == D, Argument, "{operator}: output_size is {size:?}, expected {D} numbers");
    let outer = &this.sizes()[..this.dim() - D];
    let planes = numel(outer).map_err(|error| error.context(operator))?;
    let volume = numel(size).map_err(|error| error.context(operator))?;
    let count = saturating_numel(&this.sizes()[this.dim() - D..]);
    let flat = |tensor: &Tensor| aten::reshape(tensor, &[planes, count]);
    let zeros = aten::new_zeros(this, &[planes, volume])?;
    let out = match adds {
        true => aten::scatter_add(&zeros, 1, &flat(indices)?, &flat(this)?)?,
        false => aten::scatter_src(&zeros, 1, &flat(indices)?, &flat(this)?)?,
    };
    aten::reshape(&out, &[outer, size].concat())
}
