//! New tensors: with memory of their own, over memory of the library, and views.
#![expect(unsafe_code, reason = "reads arrays of C, and takes over foreign memory")]

use std::ffi::c_void;
use std::ptr::NonNull;

use torch_library::geometry::Geometry;
use torch_library::{DType, Device, Layout, Result, Storage, Tensor, bail, element, ensure};

use super::{Handle, Out, functions, others, put_tensor, tensor};
use crate::host::{exception, numbers};

/// Frees the memory that a tensor was made over.
type Deleter = unsafe extern "C-unwind" fn(*mut c_void, *mut c_void);

functions! {
    fn aoti_torch_empty_strided(
        ndim: i64,
        sizes_ptr: *const i64,
        strides_ptr: *const i64,
        dtype: i32,
        device_type: i32,
        device_index: i32,
        ret_new_tensor: Out<'_, *mut Tensor>,
    ) {
        // SAFETY: the library promises arrays of this length.
        let (sizes, strides) = unsafe { (ints(sizes_ptr, ndim)?, ints(strides_ptr, ndim)?) };
        let (dtype, device) = numbers::dtype_and_device(dtype, device_type, device_index)?;
        put_tensor(ret_new_tensor, Tensor::empty_strided(sizes, strides, dtype, device)?)
    }

    fn aoti_torch_empty_strided_pinned(
        ndim: i64,
        sizes_ptr: *const i64,
        strides_ptr: *const i64,
        dtype: i32,
        device_type: i32,
        device_index: i32,
        ret_new_tensor: Out<'_, *mut Tensor>,
    ) {
        let _ = (ndim, sizes_ptr, strides_ptr, dtype, device_type, device_index, ret_new_tensor);
        bail!(NotSupported, "aoti_torch_empty_strided_pinned: no memory here is pinned")
    }

    fn aoti_torch_create_tensor_from_blob(
        data: *mut c_void,
        ndim: i64,
        sizes_ptr: *const i64,
        strides_ptr: *const i64,
        storage_offset: i64,
        dtype: i32,
        device_type: i32,
        device_index: i32,
        ret: Out<'_, *mut Tensor>,
    ) {
        // SAFETY: the library promises arrays of this length.
        let geometry = unsafe { geometry(ndim, sizes_ptr, strides_ptr, storage_offset) }?;
        let place = numbers::dtype_and_device(dtype, device_type, device_index)?;
        // SAFETY: the library promises that the memory has these elements as long as the tensor lives.
        put_tensor(ret, unsafe { over(data, &geometry, place, Box::new(())) }?)
    }

    fn aoti_torch_create_tensor_from_blob_v2(
        data: *mut c_void,
        ndim: i64,
        sizes_ptr: *const i64,
        strides_ptr: *const i64,
        storage_offset: i64,
        dtype: i32,
        device_type: i32,
        device_index: i32,
        ret: Out<'_, *mut Tensor>,
        layout: i32,
        _opaque_metadata: *const u8,
        _opaque_metadata_size: i64,
    ) {
        check_layout(layout)?;
        // SAFETY: the library promises arrays of this length.
        let geometry = unsafe { geometry(ndim, sizes_ptr, strides_ptr, storage_offset) }?;
        let place = numbers::dtype_and_device(dtype, device_type, device_index)?;
        // SAFETY: the library promises that the memory has these elements as long as the tensor lives.
        put_tensor(ret, unsafe { over(data, &geometry, place, Box::new(())) }?)
    }

    fn torch_from_blob(
        data: *mut c_void,
        ndim: i64,
        sizes_ptr: *const i64,
        strides_ptr: *const i64,
        storage_offset: i64,
        dtype: i32,
        device_type: i32,
        device_index: i32,
        ret: Out<'_, *mut Tensor>,
        layout: i32,
        _opaque_metadata: *const u8,
        _opaque_metadata_size: i64,
        deleter: Option<Deleter>,
        deleter_ctx: *mut c_void,
    ) {
        check_layout(layout)?;
        // SAFETY: the library promises arrays of this length.
        let geometry = unsafe { geometry(ndim, sizes_ptr, strides_ptr, storage_offset) }?;
        let place = numbers::dtype_and_device(dtype, device_type, device_index)?;
        // After an error the caller still owns the memory, so it is taken over only when nothing can fail any more.
        ensure!(ret.is_some(), Argument, "a null place for the new tensor");
        // SAFETY: this first tensor lives no longer than this call, and until then the memory belongs to the library.
        unsafe { over(data, &geometry, place, Box::new(())) }.map(drop)?;
        let keeper = Box::new(Deletion { deleter, data, context: deleter_ctx });
        // SAFETY: the library promises that the memory has these elements until the deleter is called.
        put_tensor(ret, unsafe { over(data, &geometry, place, keeper) }?)
    }

    fn aoti_torch__reinterpret_tensor(
        this: Handle<'_>,
        ndim: i64,
        sizes_ptr: *const i64,
        strides_ptr: *const i64,
        storage_offset: i64,
        ret_new_tensor: Out<'_, *mut Tensor>,
    ) {
        // SAFETY: the library promises arrays of this length.
        let (sizes, strides) = unsafe { (ints(sizes_ptr, ndim)?, ints(strides_ptr, ndim)?) };
        put_tensor(ret_new_tensor, tensor(this)?.strided_view(sizes, strides, storage_offset)?)
    }

    fn aoti_torch__alloc_from_pool(
        this: Handle<'_>,
        offset_bytes: i64,
        dtype: i32,
        ndim: i64,
        sizes_ptr: *const i64,
        strides_ptr: *const i64,
        ret_new_tensor: Out<'_, *mut Tensor>,
    ) {
        let (pool, dtype) = (tensor(this)?, numbers::dtype(dtype)?);
        super::check_memory(pool)?;
        // SAFETY: the library promises arrays of this length.
        let (sizes, strides) = unsafe { (ints(sizes_ptr, ndim)?, ints(strides_ptr, ndim)?) };
        let size = dtype.size() as i64;
        ensure!(offset_bytes % size == 0, Argument, "{offset_bytes} bytes are no number of elements of {dtype}");
        let (storage, keys) = (pool.storage().clone(), pool.key_set());
        put_tensor(ret_new_tensor, Tensor::from_storage(storage, sizes, strides, offset_bytes / size, dtype, keys)?)
    }
}

/// Functions that make a tensor with one number, without dimensions.
macro_rules! scalars {
    ($($name:ident $type:ty;)*) => {
        $(
            extern "C" fn $name(value: $type, ret_new_tensor: Out<'_, *mut Tensor>) -> i32 {
                let run = || put_tensor(ret_new_tensor, Tensor::from_vec(vec![value], &[])?);
                crate::host::last::answer(stringify!($name), run)
            }
        )*

        others! { $($name),* }
    };
}

scalars! {
    aoti_torch_scalar_to_tensor_float32 f32;
    aoti_torch_scalar_to_tensor_float64 f64;
    aoti_torch_scalar_to_tensor_uint8 u8;
    aoti_torch_scalar_to_tensor_uint16 u16;
    aoti_torch_scalar_to_tensor_uint32 u32;
    aoti_torch_scalar_to_tensor_uint64 u64;
    aoti_torch_scalar_to_tensor_int8 i8;
    aoti_torch_scalar_to_tensor_int16 i16;
    aoti_torch_scalar_to_tensor_int32 i32;
    aoti_torch_scalar_to_tensor_int64 i64;
    aoti_torch_scalar_to_tensor_bool bool;
    aoti_torch_scalar_to_tensor_complex64 element::Complex32;
    aoti_torch_scalar_to_tensor_complex128 element::Complex64;
}

/// A C array of numbers.
///
/// # Errors
/// The length is negative, or the address is null although the length is not zero.
///
/// # Safety
/// * The array has `count` numbers, as long as the result is used.
pub(super) unsafe fn ints<'n>(first: *const i64, count: i64) -> Result<&'n [i64]> {
    let count = usize::try_from(count)?;
    ensure!(count == 0 || !first.is_null(), Argument, "null where {count} numbers were expected");
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller promises `count` numbers.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// # Safety
/// * There are `ndim` sizes and as many strides.
unsafe fn geometry(ndim: i64, sizes: *const i64, strides: *const i64, offset: i64) -> Result<Geometry> {
    // SAFETY: the caller promises as many.
    let (sizes, strides) = unsafe { (ints(sizes, ndim)?, ints(strides, ndim)?) };
    Geometry::new(sizes, strides, offset)
}

fn check_layout(number: i32) -> Result<()> {
    let layout = numbers::layout(number)?;
    ensure!(
        layout == Layout::Strided,
        NotSupported,
        "a tensor of {} layout; only strided ones are here",
        layout.name()
    );
    Ok(())
}

/// Memory of a library, with the function that frees it.
struct Deletion {
    deleter: Option<Deleter>,
    data: *mut c_void,
    context: *mut c_void,
}

// SAFETY: the addresses are only handed back, and the code that made the tensor allows that on any thread, as PyTorch
// does.
unsafe impl Send for Deletion {}
// SAFETY: a shared reference gives no access to anything.
unsafe impl Sync for Deletion {}

impl Drop for Deletion {
    fn drop(&mut self) {
        let Some(deleter) = self.deleter else { return };
        let arguments = [self.data.expose_provenance(), self.context.expose_provenance(), 0];
        // SAFETY: the library promises that its deleter takes these, once. An exception from it cannot be reported to
        // anything.
        let _ = unsafe { exception::call(deleter as *const c_void, arguments) };
    }
}

/// A tensor over memory of a library.
///
/// # Safety
/// * The memory from `data` on has the elements of the geometry until the keeper is dropped. They are initialised, and
///   the library accesses them only as it may access those of any tensor that it gave away.
unsafe fn over(
    data: *mut c_void,
    geometry: &Geometry,
    (dtype, device): (DType, Device),
    keeper: Box<dyn std::any::Any + Send + Sync>,
) -> Result<Tensor> {
    ensure!(device == Device::CPU, NotSupported, "foreign memory on {device}: only that of the CPU is taken");
    let nbytes = usize::try_from(geometry.end()?)?.saturating_mul(dtype.size());
    ensure!(nbytes == 0 || !data.is_null(), Argument, "a null address for {nbytes} bytes");
    let start = NonNull::new(data.cast::<u8>()).unwrap_or(NonNull::dangling());
    ensure!(
        start.addr().get() % align(dtype) == 0 || nbytes == 0,
        Argument,
        "memory that is not aligned for {dtype}"
    );
    // SAFETY: the caller promises that these bytes exist until the keeper is dropped, and which code may access them.
    let storage = unsafe { Storage::from_raw_parts(start, nbytes, device, keeper) };
    let keys = Tensor::empty(&[0], dtype, device)?.key_set();
    Tensor::from_storage(storage, geometry.sizes(), geometry.strides(), geometry.offset(), dtype, keys)
}

/// The alignment of an element: its size, or half of it for complex types.
fn align(dtype: DType) -> usize {
    if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() }
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::*;
    use crate::host::words::take_box;

    #[test]
    fn the_largest_number_becomes_a_tensor() {
        let mut place = MaybeUninit::uninit();
        assert_eq!(aoti_torch_scalar_to_tensor_uint64(u64::MAX, Some(&mut place)), 0);
        // SAFETY: the function has stored a handle, which we own.
        let tensor = unsafe { take_box::<Tensor>(place.assume_init().expose_provenance() as u64, "tensor") };
        assert_eq!(tensor.unwrap().to_vec::<u64>().unwrap(), [u64::MAX]);
    }
}
