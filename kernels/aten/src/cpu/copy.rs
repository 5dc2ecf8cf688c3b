//! Kernels that copy elements between tensors.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use torch_library::geometry::infer_size;
use torch_library::prelude::*;
use torch_library::warn_once;

use crate::aten;
use crate::below_autograd::below_autograd;
use crate::loops;

#[torch_impl(aten, CPU, Meta)]
fn copy_(this: &mut Tensor, src: &Tensor, _non_blocking: bool) -> Result<&mut Tensor> {
    if this.is_same(src) {
        return Ok(this);
    }
    copy(this, src).map_err(|error| error.context(aten::copy_::NAME))?;
    Ok(this)
}

/// Computes the same as the composite kernel, but into memory that is not zeroed first.
#[torch_impl(aten, CPU)]
fn clone(this: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    let format = memory_format.unwrap_or(MemoryFormat::Preserve);
    // SAFETY: `assign` writes every element before any is read; if it fails, the tensor is dropped.
    let out = unsafe { loops::uninit_like(this, this.dtype(), format) };
    let out = out.map_err(|error| error.context(aten::clone::NAME))?;
    loops::assign(&out, this)?;
    Ok(out)
}

/// Copies within the CPU directly; other copies go by the steps of the composite kernel.
#[torch_impl(aten, CPU)]
fn _to_copy(
    this: &Tensor,
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
    non_blocking: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    const OPERATOR: &str = aten::_to_copy::NAME;
    let stays = device.is_none_or(|device| device == Device::CPU);
    if !stays || layout.is_some_and(|layout| layout != Layout::Strided) || pin_memory == Some(true) {
        let mut copy = aten::empty_like::call(this, dtype, layout, device, pin_memory, memory_format)?;
        below_autograd(|| aten::copy_::call(&mut copy, this, non_blocking).map(drop))?;
        return Ok(copy);
    }
    let (dtype, format) = (dtype.unwrap_or(this.dtype()), memory_format.unwrap_or(MemoryFormat::Preserve));
    warn_of_lost_parts(this, dtype);
    // SAFETY: `assign` writes every element before any is read; if it fails, the tensor is dropped.
    let out = unsafe { loops::uninit_like(this, dtype, format) };
    let out = out.map_err(|error| error.context(OPERATOR))?;
    loops::assign(&out, this)?;
    Ok(out)
}

fn copy(this: &Tensor, src: &Tensor) -> Result<Tensor> {
    let sizes = infer_size(this.sizes(), src.sizes())?;
    ensure!(
        sizes.as_slice() == this.sizes(),
        Shape,
        "sizes {:?} do not broadcast to those of the tensor that is written, {:?}",
        src.sizes(),
        this.sizes()
    );
    this.check_no_internal_overlap()?;
    this.check_no_partial_overlap(src)?;
    warn_of_lost_parts(src, this.dtype());
    loops::assign(this, src)?;
    Ok(this.clone())
}

/// Says, the first time, that complex numbers lose their imaginary parts, which is most likely a mistake.
fn warn_of_lost_parts(from: &Tensor, to: DType) {
    let has_elements = from.device() == Device::CPU && from.numel() > 0;
    if from.dtype().is_complex() && !to.is_complex() && to != DType::Bool && has_elements {
        warn_once!(
            "a conversion from {} to {to} discards the imaginary parts; `aten::real` says that it is meant",
            from.dtype()
        );
    }
}
