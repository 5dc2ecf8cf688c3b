//! The kernels for `aten` that every backend has: making tensors, and copying to and from other devices.

use torch_library::torch_impl;
use torch_library_kernels::aten;

#[torch_impl(aten, PrivateUse1)]
mod kernels {
    use torch_library::geometry::{contiguous_strides, numel};
    use torch_library::prelude::*;
    use torch_library_kernels::prelude::*;

    use super::aten;
    use crate::{Tape, tensor};

    fn empty_strided(
        size: &[i64],
        stride: &[i64],
        dtype: Option<DType>,
        _layout: Option<Layout>,
        _device: Option<Device>,
        _pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let dtype = dtype.unwrap_or(DType::Float32);
        ensure!(dtype == DType::Float32, DType, "tapes hold float32, not {dtype}: convert before copying");
        let strides = contiguous_strides(size);
        ensure!(
            stride == &strides[..],
            NotSupported,
            "tapes run row by row: sizes {size:?} have strides {strides:?} there, not {stride:?}"
        );
        tensor(Tape::plain(numel(size)? as usize, 0.0), size)
    }

    fn copy_<'a>(this: &'a mut Tensor, src: &Tensor, _non_blocking: bool) -> Result<&'a mut Tensor> {
        if src.device() == crate::device()? {
            let played = Tensor::from_vec(Tape::of(src)?.play(), src.sizes())?;
            return aten::copy_(this, &played); // comes back here if `this` is a tape too
        }
        let pixels: Vec<f32> = src.expand(this.sizes())?.to_dtype(DType::Float32)?.to_vec()?;
        Tape::of(this)?.record(&pixels.into())?;
        Ok(this)
    }
}
