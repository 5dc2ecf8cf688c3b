//! Writing by index and by mask, as compositions of other operators.

use torch_library::geometry::{infer_size, wrap_dim};
use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;

mod gradient;
mod masked;

pub(crate) use gradient::gathered;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn put(this: &Tensor, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
        check_put(aten::put::NAME, this, index, source)?;
        let put = aten::index_put::call(&flat(this)?, &[Some(flat(index)?)], &flat(source)?, accumulate)?;
        let put = aten::view(&put, this.sizes())?;
        let mut out = aten::empty_like(this)?;
        if out.strides() == put.strides() {
            return Ok(put);
        }
        below_autograd(|| aten::copy_(&mut out, &put).map(drop))?;
        Ok(out)
    }

    fn put_<'a>(
        this: &'a mut Tensor,
        index: &Tensor,
        source: &Tensor,
        accumulate: bool,
    ) -> Result<&'a mut Tensor> {
        check_put(aten::put_::NAME, this, index, source)?;
        if !this.is_contiguous(MemoryFormat::Contiguous) {
            let put = aten::put::call(this, index, source, accumulate)?;
            return aten::copy_(this, &put);
        }
        let mut elements = aten::view(this, &[-1])?;
        let (index, source) = (flat(index)?, flat(source)?);
        aten::index_put_::call(&mut elements, &[Some(index)], &source, accumulate)?;
        Ok(this)
    }
}

/// The flattened tensor.
fn flat(tensor: &Tensor) -> Result<Tensor> {
    aten::reshape(tensor, &[-1])
}

fn check_put(operator: &str, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    ensure!(
        index.dtype() == DType::Int64 && source.dtype() == this.dtype(),
        DType,
        "{operator}: an index of {} and a source of {} for {}, expected int64 and the same type",
        index.dtype(),
        source.dtype(),
        this.dtype()
    );
    ensure!(
        index.numel() == source.numel(),
        Shape,
        "{operator}: {} indices for {} values",
        index.numel(),
        source.numel()
    );
    Ok(())
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn masked_fill_Scalar(this: &Tensor, mask: &Tensor, value: Scalar) -> Result<Tensor> {
        let mut out = broadcast_copy(aten::masked_fill_Scalar::NAME, this, mask)?;
        below_autograd(|| aten::masked_fill__Scalar(&mut out, mask, value).map(drop))?;
        Ok(out)
    }

    fn masked_fill_Tensor(this: &Tensor, mask: &Tensor, value: &Tensor) -> Result<Tensor> {
        aten::masked_fill_Scalar(this, mask, the_value(aten::masked_fill_Tensor::NAME, this, value)?)
    }

    fn masked_fill__Tensor<'a>(
        this: &'a mut Tensor,
        mask: &Tensor,
        value: &Tensor,
    ) -> Result<&'a mut Tensor> {
        let value = the_value(aten::masked_fill__Tensor::NAME, this, value)?;
        aten::masked_fill__Scalar(this, mask, value)
    }

    fn index_put(
        this: &Tensor,
        indices: &[Option<Tensor>],
        values: &Tensor,
        accumulate: bool,
    ) -> Result<Tensor> {
        let mut out = aten::clone(this)?;
        below_autograd(|| aten::index_put_::call(&mut out, indices, values, accumulate).map(drop))?;
        Ok(out)
    }

    fn index_copy(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(aten::index_copy::NAME))?;
        check_copied(this, dim, index, source)?;
        check_from_start(index)?;
        let mut indices = vec![None; dim];
        indices.push(Some(aten::reshape(index, &[index.numel()])?)); // one index may have no dimension
        let mut out = aten::clone::with(this).memory_format(MemoryFormat::Contiguous).call()?;
        // A tensor without dimensions is indexed as a vector of one element.
        let mut places = if this.dim() == 0 { aten::unsqueeze(&out, 0)? } else { out.clone() };
        below_autograd(|| aten::index_put_(&mut places, &indices, source).map(drop))?;
        if this.dim() == 0 {
            out = aten::squeeze_dim(&places, 0)?;
        }
        Ok(out)
    }

    fn select_backward(grad_output: &Tensor, input_sizes: &[i64], dim: i64, index: i64) -> Result<Tensor> {
        let out = aten::new_zeros(grad_output, input_sizes)?;
        below_autograd(|| aten::copy_(&mut aten::select_int(&out, dim, index)?, grad_output).map(drop))?;
        Ok(out)
    }

    fn slice_backward(
        grad_output: &Tensor,
        input_sizes: &[i64],
        dim: i64,
        start: i64,
        end: i64,
        step: i64,
    ) -> Result<Tensor> {
        let out = aten::new_zeros(grad_output, input_sizes)?;
        below_autograd(|| {
            let mut part = aten::slice_Tensor::call(&out, dim, Some(start), Some(end), step)?;
            aten::copy_(&mut part, grad_output).map(drop)
        })?;
        Ok(out)
    }
}

/// Checks the index and the source of `index_copy`.
///
/// # Errors
/// The index is not a vector of `int64`, or the source does not have a slice for each of its elements.
fn check_copied(this: &Tensor, dim: usize, index: &Tensor, source: &Tensor) -> Result<()> {
    const OPERATOR: &str = aten::index_copy::NAME;
    ensure!(index.dim() < 2, Shape, "{OPERATOR}: an index of sizes {:?}, expected a vector", index.sizes());
    ensure!(
        index.dtype() == DType::Int64,
        DType,
        "{OPERATOR}: an index of {}, expected int64",
        index.dtype()
    );
    let sliced = |tensor: &Tensor| {
        let mut sizes = tensor.sizes().to_vec();
        let count = if dim < sizes.len() { sizes.remove(dim) } else { 1 };
        (count, sizes)
    };
    let ((_, places), (count, slices)) = (sliced(this), sliced(source));
    ensure!(
        count == index.numel() && slices == places,
        Shape,
        "{OPERATOR}: {} indices for a source of sizes {:?}, expected one for each slice, and slices of {places:?}",
        index.numel(),
        source.sizes()
    );
    Ok(())
}

/// Checks that no index of `index_copy` counts from the end. On the CPU alone: elsewhere, it would wait for the device.
///
/// # Errors
/// A negative index.
fn check_from_start(index: &Tensor) -> Result<()> {
    const OPERATOR: &str = aten::index_copy::NAME;
    if index.device() == Device::CPU
        && let Some(place) = index.to_vec::<i64>()?.into_iter().find(|place| *place < 0)
    {
        bail!(Argument, "{OPERATOR}: index {place} is out of range, none counts from the end");
    }
    Ok(())
}

/// A contiguous copy with the sizes that both tensors broadcast to.
fn broadcast_copy(operator: &str, this: &Tensor, mask: &Tensor) -> Result<Tensor> {
    let sizes = infer_size(this.sizes(), mask.sizes()).map_err(|error| error.context(operator))?;
    aten::clone::with(&aten::expand(this, &sizes)?).memory_format(MemoryFormat::Contiguous).call()
}

fn the_value(operator: &str, this: &Tensor, value: &Tensor) -> Result<Scalar> {
    ensure!(
        value.dim() == 0,
        Shape,
        "{operator}: the value has sizes {:?}, expected a tensor without dimensions",
        value.sizes()
    );
    // On meta, nothing is written, and the value may have no data.
    match this.device() == Device::META {
        true => Ok(Scalar::Int(0)),
        false => value.item().map_err(|error| error.context(operator)),
    }
}
