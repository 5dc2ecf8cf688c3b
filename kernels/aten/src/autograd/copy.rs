//! Derivatives of copies.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor as CloneBackward0 {
        self => grad.clone(),
    }
    #[differentiable_if(dtype.is_none_or(|dtype| dtype.is_differentiable()))]
    _to_copy(
        Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None,
        bool non_blocking=False, MemoryFormat? memory_format=None
    ) -> Tensor as ToCopyBackward0 {
        self => moved(grad, self.device(), self.dtype()),
    }
    copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!) as CopyBackwards {
        self => aten::zeros_like(grad),
        src => moved(grad, src.device(), src.dtype()),
    }
}

/// The gradient on the device and in the type that the source of a copy has.
fn moved(grad: &Tensor, device: Device, dtype: DType) -> Result<Tensor> {
    if grad.device() == device { grad.to_dtype(dtype) } else { grad.to(device)?.to_dtype(dtype) }
}
