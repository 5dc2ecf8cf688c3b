//! Facts about a tensor as numbers, and facts about this library.

use torch_library::DeviceType;
use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod metadata {
    use super::*;

    fn size_int(this: &Tensor, dim: i64) -> Result<i64> {
        at(aten::size_int::NAME, this.sizes(), dim)
    }

    fn stride_int(this: &Tensor, dim: i64) -> Result<i64> {
        at(aten::stride_int::NAME, this.strides(), dim)
    }

    fn sym_size_int(this: &Tensor, dim: i64) -> Result<i64> {
        at(aten::sym_size_int::NAME, this.sizes(), dim)
    }

    fn sym_stride_int(this: &Tensor, dim: i64) -> Result<i64> {
        at(aten::sym_stride_int::NAME, this.strides(), dim)
    }

    fn _shape_as_tensor(this: &Tensor) -> Result<Tensor> {
        Tensor::from_vec(this.sizes().to_vec(), &[this.dim() as i64])
    }

    fn sym_numel(this: &Tensor) -> Result<i64> {
        Ok(this.numel())
    }

    fn sym_storage_offset(this: &Tensor) -> Result<i64> {
        Ok(this.storage_offset())
    }

    fn numel(this: &Tensor) -> Result<i64> {
        Ok(this.numel())
    }

    fn dim(this: &Tensor) -> Result<i64> {
        Ok(this.dim() as i64)
    }

    fn dense_dim(this: &Tensor) -> Result<i64> {
        Ok(this.dim() as i64)
    }

    fn storage_offset(this: &Tensor) -> Result<i64> {
        Ok(this.storage_offset())
    }

    fn get_device(this: &Tensor) -> Result<i64> {
        let device = this.device();
        let is_one_of_its_kind = matches!(device.kind, DeviceType::Cpu | DeviceType::Meta);
        Ok(if is_one_of_its_kind { -1 } else { device.index.unwrap_or(0).into() })
    }

    fn is_complex(this: &Tensor) -> Result<bool> {
        Ok(this.dtype().is_complex())
    }

    fn is_floating_point(this: &Tensor) -> Result<bool> {
        Ok(this.dtype().is_floating_point())
    }

    fn is_signed(this: &Tensor) -> Result<bool> {
        Ok(this.dtype().is_signed())
    }

    fn is_inference(this: &Tensor) -> Result<bool> {
        Ok(this.is_inference())
    }

    fn is_distributed(_this: &Tensor) -> Result<bool> {
        Ok(false)
    }

    fn is_pinned(_this: &Tensor, _device: Option<Device>) -> Result<bool> {
        Ok(false)
    }

    fn is_leaf(this: &Tensor) -> Result<bool> {
        this.is_leaf()
    }

    fn _version(this: &Tensor) -> Result<i64> {
        ensure!(
            !this.is_inference(),
            Argument,
            "{}: a tensor that was created in inference mode counts no writes",
            aten::_version::NAME
        );
        Ok(this.version() as i64)
    }

    fn is_set_to(this: &Tensor, tensor: &Tensor) -> Result<bool> {
        Ok(this.shares_storage_with(tensor)
            && this.dtype() == tensor.dtype()
            && this.storage_offset() == tensor.storage_offset()
            && this.sizes() == tensor.sizes()
            && this.strides() == tensor.strides())
    }

    fn _has_same_storage_numel(this: &Tensor, other: &Tensor) -> Result<bool> {
        let count = |tensor: &Tensor| tensor.storage().nbytes() / tensor.dtype().size();
        Ok(count(this) == count(other))
    }

    fn _has_compatible_shallow_copy_type(this: &Tensor, from: &Tensor) -> Result<bool> {
        Ok(this.device().kind == from.device().kind)
    }

    fn _debug_has_internal_overlap(this: &Tensor) -> Result<i64> {
        if this.has_internal_overlap() {
            return Ok(1);
        }
        Ok(if this.is_non_overlapping_and_dense() { 0 } else { 2 })
    }

    fn _nnpack_available() -> Result<bool> {
        Ok(false)
    }

    fn is_vulkan_available() -> Result<bool> {
        Ok(false)
    }
}

/// The element of a list for a dimension.
fn at(operator: &str, list: &[i64], dim: i64) -> Result<i64> {
    ensure!(!list.is_empty(), Shape, "{operator}: dimension {dim} of a tensor without dimensions");
    Ok(list[wrap_dim(dim, list.len()).map_err(|error| error.context(operator))?])
}

#[torch_impl(aten, CompositeExplicitAutograd)]
fn is_same_size(this: &Tensor, other: &Tensor) -> Result<bool> {
    Ok(this.sizes() == other.sizes())
}
