//! Facts about a tensor as numbers, and conditions on numbers.

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
        Ok(if device == Device::CPU { -1 } else { device.index.unwrap_or(0).into() })
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

    fn _debug_has_internal_overlap(this: &Tensor) -> Result<i64> {
        if this.has_internal_overlap() {
            return Ok(1);
        }
        Ok(if this.is_non_overlapping_and_dense() { 0 } else { 2 })
    }
}

/// The element of a list for a dimension.
fn at(operator: &str, list: &[i64], dim: i64) -> Result<i64> {
    ensure!(!list.is_empty(), Shape, "{operator}: dimension {dim} of a tensor without dimensions");
    Ok(list[wrap_dim(dim, list.len()).map_err(|error| error.context(operator))?])
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod conditions {
    use super::*;

    fn is_same_size(this: &Tensor, other: &Tensor) -> Result<bool> {
        Ok(this.sizes() == other.sizes())
    }

    fn sym_constrain_range(size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
        check_range(aten::sym_constrain_range::NAME, size, min, max)
    }

    fn sym_constrain_range_for_size(size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
        check_size(aten::sym_constrain_range_for_size::NAME, size, min, max)
    }

    fn _functional_sym_constrain_range(
        size: Scalar,
        min: Option<i64>,
        max: Option<i64>,
        dep_token: &Tensor,
    ) -> Result<Tensor> {
        check_range(aten::_functional_sym_constrain_range::NAME, size, min, max)?;
        aten::clone(dep_token)
    }

    fn _functional_sym_constrain_range_for_size(
        size: Scalar,
        min: Option<i64>,
        max: Option<i64>,
        dep_token: &Tensor,
    ) -> Result<Tensor> {
        check_size(aten::_functional_sym_constrain_range_for_size::NAME, size, min, max)?;
        aten::clone(dep_token)
    }

    fn _functional_assert_scalar(this: Scalar, assert_msg: &str, dep_token: &Tensor) -> Result<Tensor> {
        aten::_assert_scalar(this, assert_msg)?;
        aten::clone(dep_token)
    }

    fn _make_dep_token(
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
        memory_format: Option<MemoryFormat>,
    ) -> Result<Tensor> {
        aten::empty_memory_format::call(&[], dtype, layout, device, pin_memory, memory_format)
    }
}

fn check_range(operator: &str, size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
    let size: i64 = size.to().map_err(|error: Error| error.context(operator))?;
    let (least, largest) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
    ensure!(least <= largest, Argument, "{operator}: max is {largest}, expected {least} or more");
    ensure!(
        (least..=largest).contains(&size),
        Argument,
        "{operator}: {size} is out of range, expected a number between {least} and {largest}"
    );
    Ok(())
}

fn check_size(operator: &str, size: Scalar, min: Option<i64>, max: Option<i64>) -> Result<()> {
    ensure!(
        max.is_none_or(|max| max > 2),
        Argument,
        "{operator}: max is {}, expected more than 2, since programs treat 0 and 1 as constants",
        max.unwrap_or_default()
    );
    check_range(operator, size, Some(min.unwrap_or(0)), max)
}
