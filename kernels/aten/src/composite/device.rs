//! Memory on devices that have a backend, and copies to them, from them, and between them.

use torch_library::backend::{self, from_host, host_copy};
use torch_library::geometry::{infer_size, strides_for};
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage};

use crate::aten;

/// Kernels that backends share; the CPU and meta have their own, and any backend may.
#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn empty_memory_format(
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        let strides = strides_for(size, memory_format.unwrap_or_default())?;
        aten::empty_strided::call(size, &strides, dtype, layout, device, pin_memory)
    }

    fn empty_strided(
        size: &[i64],
        stride: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let layout = layout.unwrap_or_default();
        ensure!(
            layout == Layout::Strided,
            NotSupported,
            "layout {layout} is not supported, only strided tensors are"
        );
        ensure!(pin_memory != Some(true), NotSupported, "only memory of the CPU can be pinned");
        Tensor::empty_strided(size, stride, dtype.unwrap_or(DType::DEFAULT), device.unwrap_or(Device::CPU))
    }

    fn copy_<'a>(this: &'a mut Tensor, src: &Tensor, _non_blocking: bool) -> Result<&'a mut Tensor> {
        if !this.is_same(src) {
            copy(this, src)?;
        }
        Ok(this)
    }
}

fn copy(this: &mut Tensor, src: &Tensor) -> Result<()> {
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
    if this.numel() == 0 || is_copied_as_bytes(this, src)? {
        return Ok(());
    }
    let src = if is_on_cpu(src) { src.clone() } else { host_copy(src)? };
    if is_on_cpu(this) {
        return aten::copy_(this, &src).map(drop);
    }
    // Without gaps, all memory is overwritten, so that its previous contents need not be read.
    let mut host = match this.is_non_overlapping_and_dense() {
        true => unwritten(this)?,
        false => host_copy(this)?,
    };
    aten::copy_(&mut host, &src)?;
    from_host(&host, this)
}

fn is_on_cpu(tensor: &Tensor) -> bool {
    tensor.device().kind == DeviceType::Cpu
}

/// Host memory with the layout of a tensor.
fn unwritten(this: &Tensor) -> Result<Tensor> {
    let geometry = this.geometry();
    let host = Storage::zeroed(geometry.numel() as usize * this.dtype().size(), Device::CPU)?;
    let keys = DispatchKeySet::of_inference_tensor(DispatchKey::CPU);
    Tensor::from_storage(host, geometry.sizes(), geometry.strides(), 0, this.dtype(), keys)
}

/// Copies bytes within the memory of one backend if source and target have the same layout and dtype, and returns
/// whether it did.
fn is_copied_as_bytes(this: &Tensor, src: &Tensor) -> Result<bool> {
    let (to, from) = (this.geometry(), src.geometry());
    let is_alike = this.device().kind == src.device().kind
        && this.dtype() == src.dtype()
        && to.sizes() == from.sizes()
        && to.strides() == from.strides()
        && this.is_non_overlapping_and_dense();
    let Some(backend) = backend::of(this.device().kind)?.filter(|_| is_alike) else { return Ok(false) };
    let at = |offset: i64| offset as usize * this.dtype().size();
    let nbytes = to.numel() as usize * this.dtype().size();
    backend.copy(&this.storage(), at(to.offset()), &src.storage(), at(from.offset()), nbytes)?;
    Ok(true)
}
