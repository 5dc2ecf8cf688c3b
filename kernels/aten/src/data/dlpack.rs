//! DLPack: a tensor's memory, shared with another library of the same process.
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

/// A `DLManagedTensor` that is freed when this drops.
///
/// PyTorch: `torch.utils.dlpack`.
#[derive(Debug)]
pub struct Managed(NonNull<RawManagedTensor>);

// SAFETY: DLPack lets any thread use and free what it is handed; what `of` puts into it is `Send`.
unsafe impl Send for Managed {}
// SAFETY: through a shared reference nothing is read but the address, which does not change.
unsafe impl Sync for Managed {}

/// What one of our tensors lives in while others use it.
struct Context {
    managed: RawManagedTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    tensor: Tensor,
}

impl Managed {
    /// A tensor's memory for another library; it lives as long as either side uses it.
    ///
    /// # Errors
    /// A tensor that is not on the CPU, or of a type that DLPack has not.
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
        // A tensor of our own, which nobody moves to other memory.
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
        // SAFETY: the box was just made, so it is valid and aligned, and nobody else has it yet.
        unsafe { (*context).managed.manager_ctx = context.cast() };
        // SAFETY: the box was just made; a field of what is there is not null.
        Ok(Managed(unsafe { NonNull::new_unchecked(&raw mut (*context).managed) }))
    }

    /// Takes over what another library hands out.
    ///
    /// # Safety
    /// Until it is freed,
    /// - the pointer is to a valid `DLManagedTensor` that nobody else frees;
    /// - its memory is initialised, and may be read and written by any thread;
    /// - the other library, and whoever has it from there, neither writes that memory while somebody here reads or
    ///   writes it, nor reads it while somebody here writes it.
    pub unsafe fn from_raw(managed: NonNull<RawManagedTensor>) -> Managed {
        Managed(managed)
    }

    /// Hands the structure on; who gets it calls its deleter. What it does with the memory has to keep apart from
    /// what is done here: no [`Lease`] knows of it.
    pub fn into_raw(self) -> NonNull<RawManagedTensor> {
        let managed = self.0;
        std::mem::forget(self);
        managed
    }

    /// A tensor over the same memory.
    ///
    /// # Errors
    /// Memory of another device, elements of a type that is not supported, negative strides.
    ///
    /// PyTorch: `torch.utils.dlpack.from_dlpack`.
    pub fn into_tensor(self) -> Result<Tensor> {
        // SAFETY: the structure was made by `of`, or the caller of `from_raw` has promised that it is valid until
        // it is freed, which is when `self` drops.
        let RawManagedTensor { dl_tensor: raw, manager_ctx, deleter } = unsafe { self.0.as_ref() };
        if deleter.is_some_and(|deleter| deleter as usize == free as unsafe extern "C" fn(_) as usize) {
            // SAFETY: only `of` makes structures with this deleter, and puts a `Context` behind them, which lives
            // until it is freed.
            let context = unsafe { &*manager_ctx.cast::<Context>() };
            return Ok(context.tensor.clone()); // the same storage, and so the same leases
        }
        ensure!(
            raw.device.device_type == RawDevice::CPU.device_type,
            Device,
            "DLPack memory of device type {}, only that of the CPU is carried",
            raw.device.device_type
        );
        let dtype = raw.dtype.dtype()?;
        let ndim = raw.ndim.max(0) as usize;
        // SAFETY: the structure is valid, as `from_raw` was promised, so `shape` leads to `ndim` numbers.
        let sizes = unsafe { list(raw.shape, ndim) }.unwrap_or_default();
        // SAFETY: the structure is valid, as `from_raw` was promised, so `strides` leads to `ndim` numbers, or is null.
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
            bail!(Shape, "DLPack sizes {sizes:?} with strides {strides:?} are beyond memory")
        };
        let nbytes = if is_empty { 0 } else { reach };
        let data = raw.data.cast::<u8>().wrapping_add(raw.byte_offset as usize);
        let data = NonNull::new(data).unwrap_or(NonNull::dangling());
        // SAFETY: these are the bytes from the first element to the last. `from_raw` was promised that they are
        // initialised, that any thread may use them until the structure is freed, and that nobody there uses them
        // against a lease; `self` is kept, and frees it last.
        let storage = unsafe { Storage::from_raw_parts(data, nbytes, Device::CPU, Box::new(self)) };
        let keys = Tensor::empty(&[0], dtype, Device::CPU)?.key_set();
        Tensor::from_storage(storage, &sizes, &strides, 0, dtype, keys)
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        // SAFETY: the structure was made by `of`, or `from_raw` was promised that it is valid, and that nobody else
        // frees it.
        if let Some(deleter) = unsafe { self.0.as_ref() }.deleter {
            // SAFETY: the structure's own deleter, which is called once: `into_raw` forgets what it hands on.
            unsafe { deleter(self.0.as_ptr()) };
        }
    }
}

/// # Safety
/// - The pointer is null, or leads to `count` aligned and initialised numbers, which nobody writes meanwhile.
unsafe fn list(numbers: *const i64, count: usize) -> Option<Vec<i64>> {
    if numbers.is_null() {
        return None;
    }
    // SAFETY: it is not null, so the caller vouches for `count` numbers.
    Some(unsafe { std::slice::from_raw_parts(numbers, count) }.to_vec())
}

/// The deleter of what [`Managed::of`] makes.
///
/// # Safety
/// - The structure is one of those.
/// - It is freed only once, and not used after that.
unsafe extern "C" fn free(managed: *mut RawManagedTensor) {
    // SAFETY: the caller promises a structure of `of`, which put the box there, and that nobody frees it again.
    let context = unsafe { Box::from_raw((*managed).manager_ctx.cast::<Context>()) };
    // What keeps the memory may be a value of a user, whose panic C could not take: the message was printed, and
    // that is all.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(context))) {
        std::mem::forget(panic); // it may panic as it is dropped, too
    }
}
