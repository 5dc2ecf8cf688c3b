//! DLPack: shares the memory of a tensor with another library in the same process.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::data::dlpack::Managed;
//!
//! let x = Tensor::from([[1, 2], [3, 4]]);
//! let managed = Managed::of(&x)?; // what another library gets …
//! let mut y = managed.into_tensor()?; // … and what it may hand back
//! y.fill(7)?;
//! assert_eq!(x.to_vec::<i32>()?, [7; 4], "one memory");
//! # Ok::<(), Error>(())
//! ```
#![expect(unsafe_code, reason = "a C interface: structures behind pointers, and a function that frees them")]

mod raw;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;
use torch_library::{Lease, Storage};

pub use raw::{READ_ONLY, RawDevice, RawManagedTensor, RawManagedTensorVersioned, RawTensor, RawType};

/// An owned `DLManagedTensor`: it is freed when this value is dropped.
///
/// PyTorch: `torch.utils.dlpack`.
#[derive(Debug)]
pub struct Managed(NonNull<RawManagedTensor>);

// SAFETY: DLPack lets any thread use and free a managed tensor; what `of` stores in it is `Send`.
unsafe impl Send for Managed {}
// SAFETY: a shared reference gives access to the address only, which does not change.
unsafe impl Sync for Managed {}

/// The owner of one of our tensors while other libraries use it.
struct Context {
    managed: RawManagedTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    tensor: Tensor,
}

impl Managed {
    /// Shares a tensor's memory with another library; it lives as long as either side uses it.
    ///
    /// # Errors
    /// A tensor that is not on the CPU, or of a dtype that DLPack lacks.
    ///
    /// PyTorch: `torch.utils.dlpack.to_dlpack`.
    pub fn of(tensor: &Tensor) -> Result<Managed> {
        ensure!(
            tensor.device() == Device::CPU,
            Device,
            "only memory of the CPU can be shared by DLPack, the tensor is on {}",
            tensor.device()
        );
        let dtype = RawType::of(tensor.dtype())?;
        // A tensor of our own, which no other owner can move to other memory.
        let lease = Lease::new([], [tensor])?;
        let geometry = tensor.geometry();
        let own = tensor.strided_view(geometry.sizes(), geometry.strides(), geometry.offset())?;
        let data = tensor.address(&lease)?.cast_mut().cast::<c_void>();
        let mut context = Box::new(Context {
            managed: RawManagedTensor {
                dl_tensor: RawTensor {
                    data,
                    device: RawDevice::CPU,
                    ndim: geometry.dim() as i32,
                    dtype,
                    shape: ptr::null_mut(),
                    strides: ptr::null_mut(),
                    byte_offset: 0,
                },
                manager_ctx: ptr::null_mut(),
                deleter: Some(free),
            },
            shape: geometry.sizes().to_vec(),
            strides: geometry.strides().to_vec(),
            tensor: own,
        });
        context.managed.dl_tensor.shape = context.shape.as_mut_ptr();
        context.managed.dl_tensor.strides = context.strides.as_mut_ptr();
        let context = Box::into_raw(context);
        // SAFETY: the box was just allocated, so the pointer is valid and aligned, and nothing else refers to it yet.
        unsafe { (*context).managed.manager_ctx = context.cast() };
        // SAFETY: the box was just allocated; the address of a field in it is not null.
        Ok(Managed(unsafe { NonNull::new_unchecked(&raw mut (*context).managed) }))
    }

    /// Takes ownership of a managed tensor from another library.
    ///
    /// # Safety
    /// Until the managed tensor is freed,
    /// - the pointer points to a valid `DLManagedTensor` that nothing else frees;
    /// - its memory is initialised, and may be read and written by any thread;
    /// - the other library, and anything that has the memory from there, neither writes it while it is read or written
    ///   on this side, nor reads it while it is written on this side.
    pub unsafe fn from_raw(managed: NonNull<RawManagedTensor>) -> Managed {
        Managed(managed)
    }

    /// Gives up ownership: the receiver must call the deleter. No [`Lease`] covers the receiver's use of the memory, so
    /// it must be kept apart from uses on this side.
    pub fn into_raw(self) -> NonNull<RawManagedTensor> {
        let managed = self.0;
        std::mem::forget(self);
        managed
    }

    /// A tensor over the same memory.
    ///
    /// # Errors
    /// Memory of another device, an element type that is not supported, negative strides.
    ///
    /// PyTorch: `torch.utils.dlpack.from_dlpack`.
    pub fn into_tensor(self) -> Result<Tensor> {
        // SAFETY: the structure was made by `of`, or the caller of `from_raw` promised that it is valid until it is
        // freed, which happens when `self` is dropped.
        let RawManagedTensor { dl_tensor: raw, manager_ctx, deleter } = unsafe { self.0.as_ref() };
        if deleter.is_some_and(|deleter| deleter as usize == free as unsafe extern "C" fn(_) as usize) {
            // SAFETY: only `of` makes structures with this deleter, and its `manager_ctx` points to a `Context`, which
            // lives until it is freed.
            let context = unsafe { &*manager_ctx.cast::<Context>() };
            return Ok(context.tensor.clone()); // the same storage, and so the same leases
        }
        ensure!(
            raw.device.device_type == RawDevice::CPU.device_type,
            Device,
            "DLPack memory of device type {}, only that of the CPU is supported",
            raw.device.device_type
        );
        let dtype = raw.dtype.dtype()?;
        let ndim = raw.ndim.max(0) as usize;
        // SAFETY: the caller of `from_raw` promised a valid structure, so `shape` points to `ndim` numbers.
        let sizes = unsafe { list(raw.shape, ndim) }.unwrap_or_default();
        // SAFETY: the caller of `from_raw` promised a valid structure, so `strides` points to `ndim` numbers, or is
        // null.
        let strides = unsafe { list(raw.strides, ndim) };
        let strides = strides.unwrap_or_else(|| contiguous_strides(&sizes).to_vec());
        ensure!(
            sizes.iter().chain(&strides).all(|number| *number >= 0),
            NotSupported,
            "DLPack sizes {sizes:?} with strides {strides:?}, negative ones are not supported"
        );
        let is_empty = sizes.contains(&0) || raw.data.is_null();
        let last = sizes
            .iter()
            .zip(&strides)
            .try_fold(0i64, |sum, (size, stride)| sum.checked_add((size - 1).max(0).checked_mul(*stride)?));
        let reach =
            last.and_then(|last| usize::try_from(last).ok()?.checked_add(1)?.checked_mul(dtype.size()));
        let Some(reach) = reach else {
            bail!(Shape, "DLPack sizes {sizes:?} with strides {strides:?} exceed the address space")
        };
        let nbytes = if is_empty { 0 } else { reach };
        let data = raw.data.cast::<u8>().wrapping_add(raw.byte_offset as usize);
        let data = NonNull::new(data).unwrap_or(NonNull::dangling());
        // SAFETY: these are the bytes from the first element to the last. The caller of `from_raw` promised that they
        // are initialised, that any thread may use them until the structure is freed, and that the other side does not
        // use them in conflict with a lease; the storage keeps `self`, which frees the structure last.
        let storage = unsafe { Storage::from_raw_parts(data, nbytes, Device::CPU, Box::new(self)) };
        let keys = Tensor::empty(&[0], dtype, Device::CPU)?.key_set();
        Tensor::from_storage(storage, &sizes, &strides, 0, dtype, keys)
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        // SAFETY: the structure was made by `of`, or the caller of `from_raw` promised that it is valid, and that
        // nothing else frees it.
        if let Some(deleter) = unsafe { self.0.as_ref() }.deleter {
            // SAFETY: this is the structure's own deleter, and it is called once: `into_raw` forgets the value that it
            // gives up.
            unsafe { deleter(self.0.as_ptr()) };
        }
    }
}

/// # Safety
/// - The pointer is null, or points to `count` aligned and initialised numbers, which nothing writes during the call.
unsafe fn list(numbers: *const i64, count: usize) -> Option<Vec<i64>> {
    if numbers.is_null() {
        return None;
    }
    // SAFETY: the pointer is not null, so the caller guarantees that it points to `count` numbers.
    Some(unsafe { std::slice::from_raw_parts(numbers, count) }.to_vec())
}

/// The deleter of the structures that [`Managed::of`] makes.
///
/// # Safety
/// - `managed` is such a structure.
/// - It is freed only once, and not used afterwards.
unsafe extern "C" fn free(managed: *mut RawManagedTensor) {
    // SAFETY: the caller promises a structure of `of`, which stored the box there, and that nothing frees it again.
    let context = unsafe { Box::from_raw((*managed).manager_ctx.cast::<Context>()) };
    // The memory may be kept by a user's value, whose panic must not unwind into C: its message was printed, and the
    // panic ends here.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(context))) {
        std::mem::forget(panic); // the payload's destructor may panic, too
    }
}
