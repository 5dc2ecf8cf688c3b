//! Properties of a tensor, and the address of its elements.

use std::ffi::c_void;
use std::ptr;

use torch_library::{DeviceType, Element, Layout, MemoryFormat, Result, Tensor, ensure};

use super::{Handle, Out, functions, others, put, tensor};
use crate::host::{leases, numbers};

/// The element of a tensor with one element, converted to a type.
///
/// # Errors
/// Another number of elements; a number that the type does not have.
fn item<T: Element>(handle: Handle<'_>, ret: Out<'_, T>) -> Result<()> {
    let this = tensor(handle)?;
    ensure!(this.numel() == 1, Shape, "a tensor with {} elements has no only one", this.numel());
    // The kernel may ask for an element of what it writes.
    let element = leases::suspended(|| match this.dtype() == T::DTYPE {
        true => Ok(this.to_vec::<T>()?[0]), // also a large number of the type `uint64`
        false => this.item()?.to(),
    })?;
    put(ret, element)
}

/// Functions that read the element of a tensor with one element.
macro_rules! items {
    ($($name:ident $type:ty;)*) => {
        $(
            extern "C" fn $name(tensor: Handle<'_>, ret_value: Out<'_, $type>) -> i32 {
                crate::host::last::answer(stringify!($name), || item(tensor, ret_value))
            }
        )*

        others! { $($name),* }
    };
}

items! {
    aoti_torch_item_float16 torch_library::element::f16;
    aoti_torch_item_bfloat16 torch_library::element::bf16;
    aoti_torch_item_float32 f32;
    aoti_torch_item_float64 f64;
    aoti_torch_item_uint8 u8;
    aoti_torch_item_uint16 u16;
    aoti_torch_item_uint32 u32;
    aoti_torch_item_uint64 u64;
    aoti_torch_item_int8 i8;
    aoti_torch_item_int16 i16;
    aoti_torch_item_int32 i32;
    aoti_torch_item_int64 i64;
    aoti_torch_item_bool bool;
    aoti_torch_item_complex64 torch_library::element::Complex32;
}

functions! {
    fn aoti_torch_get_data_ptr(this: Handle<'_>, ret_data_ptr: Out<'_, *mut c_void>) {
        put(ret_data_ptr, elements(tensor(this)?)?)
    }

    fn torch_get_mutable_data_ptr(this: Handle<'_>, ret_data_ptr: Out<'_, *mut c_void>) {
        put(ret_data_ptr, elements(tensor(this)?)?)
    }

    fn torch_get_const_data_ptr(this: Handle<'_>, ret_data_ptr: Out<'_, *const c_void>) {
        put(ret_data_ptr, elements(tensor(this)?)?.cast_const())
    }

    fn aoti_torch_get_storage_size(this: Handle<'_>, ret_size: Out<'_, i64>) {
        put(ret_size, i64::try_from(tensor(this)?.storage().nbytes())?)
    }

    fn aoti_torch_get_storage_numel(this: Handle<'_>, ret_numel: Out<'_, i64>) {
        let this = tensor(this)?;
        put(ret_numel, i64::try_from(this.storage().nbytes() / this.dtype().size())?)
    }

    fn aoti_torch_get_dim(this: Handle<'_>, ret_dim: Out<'_, i64>) {
        put(ret_dim, tensor(this)?.dim() as i64)
    }

    fn aoti_torch_get_numel(this: Handle<'_>, ret_numel: Out<'_, i64>) {
        put(ret_numel, tensor(this)?.numel())
    }

    fn aoti_torch_get_sizes(this: Handle<'_>, ret_sizes: Out<'_, *const i64>) {
        // The geometry that was read lives as long as the tensor.
        put(ret_sizes, tensor(this)?.sizes().as_ptr())
    }

    fn aoti_torch_get_strides(this: Handle<'_>, ret_strides: Out<'_, *const i64>) {
        put(ret_strides, tensor(this)?.strides().as_ptr())
    }

    fn aoti_torch_get_size(this: Handle<'_>, d: i64, ret_size: Out<'_, i64>) {
        put(ret_size, tensor(this)?.size(d)?)
    }

    fn aoti_torch_get_stride(this: Handle<'_>, d: i64, ret_stride: Out<'_, i64>) {
        let this = tensor(this)?;
        this.size(d)?; // reports a dimension out of range
        let dim = if d < 0 { d + this.dim() as i64 } else { d };
        put(ret_stride, this.strides()[dim as usize])
    }

    fn aoti_torch_get_dtype(this: Handle<'_>, ret_dtype: Out<'_, i32>) {
        put(ret_dtype, tensor(this)?.dtype() as i32)
    }

    fn aoti_torch_get_device_type(this: Handle<'_>, ret_device_type: Out<'_, i32>) {
        put(ret_device_type, tensor(this)?.device().kind as i32)
    }

    fn aoti_torch_get_device_index(this: Handle<'_>, ret_device_index: Out<'_, i32>) {
        put(ret_device_index, numbers::index(tensor(this)?.device()))
    }

    fn aoti_torch_get_layout(this: Handle<'_>, ret_layout: Out<'_, i32>) {
        tensor(this)?;
        put(ret_layout, i32::from(Layout::Strided.number()))
    }

    fn aoti_torch_get_storage_offset(this: Handle<'_>, ret_storage_offset: Out<'_, i64>) {
        put(ret_storage_offset, tensor(this)?.storage_offset())
    }

    fn aoti_torch_is_contiguous(this: Handle<'_>, ret_is_contiguous: Out<'_, bool>) {
        put(ret_is_contiguous, tensor(this)?.is_contiguous(MemoryFormat::Contiguous))
    }

    fn aoti_torch_is_defined(this: Handle<'_>, ret_is_defined: Out<'_, bool>) {
        put(ret_is_defined, tensor(this)?.is_defined())
    }

    fn torch_has_storage(this: Handle<'_>, ret_has_storage: Out<'_, bool>) {
        let this = tensor(this)?;
        put(ret_has_storage, this.is_defined() && !this.is_wrapper())
    }

    fn torch_set_requires_grad(this: Handle<'_>, requires_grad: bool) {
        tensor(this)?.set_requires_grad(requires_grad)
    }
}

/// The address of a tensor's first element; null if it has none.
///
/// # Errors
/// The host cannot access the memory, or other elements than the tensor's are in it.
fn elements(tensor: &Tensor) -> Result<*mut c_void> {
    super::check_memory(tensor)?;
    let storage = tensor.storage();
    let Some(data) = storage.data_ptr() else {
        let has_elements = storage.nbytes() > 0 && tensor.device().kind != DeviceType::Meta;
        ensure!(
            !has_elements,
            Device,
            "the host does not reach the memory of a tensor on {}",
            tensor.device()
        );
        return Ok(ptr::null_mut());
    };
    let offset = tensor.storage_offset().wrapping_mul(tensor.dtype().size() as i64);
    Ok(data.as_ptr().wrapping_offset(offset as isize).cast())
}
