//! Copying elements between tensors.
#![expect(unsafe_code, reason = "takes memory that it fills at once")]

use torch_library::geometry::infer_size;
use torch_library::match_dtype;
use torch_library::prelude::*;

use super::loops;
use crate::aten;

#[torch_impl(aten, CPU, Meta)]
fn copy_(this: &mut Tensor, src: &Tensor, _non_blocking: bool) -> Result<&mut Tensor> {
    if this.is_same(src) {
        return Ok(this);
    }
    copy(this, src).map_err(|error| error.context("aten::copy_"))?;
    Ok(this)
}

/// As the composite, in memory that is not cleared first.
#[torch_impl(aten, CPU)]
fn clone(this: &Tensor, memory_format: Option<MemoryFormat>) -> Result<Tensor> {
    let format = memory_format.unwrap_or(MemoryFormat::Preserve);
    // SAFETY: next, every element is written.
    let out = unsafe { loops::uninit_like(this, this.dtype(), format) };
    let out = out.map_err(|error| error.context("aten::clone"))?;
    match_dtype!(this.dtype(), T => loops::map(&out, [this], |[x]: [T; 1]| x)?);
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
    match_dtype!(this.dtype(), T => loops::map(this, [src], |[x]: [T; 1]| x)?);
    Ok(this.clone())
}
