//! An owning handle of a PyTorch tensor, and queries of the tensor's metadata.
#![expect(unsafe_code, reason = "calls PyTorch's functions on a tensor that the handle owns")]

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use torch_library::{DType, Device, Error, ErrorKind, Foreign, Layout, Result};

use crate::shim::{Object, Shim, Word, check, number_of, of_number, shim};
use crate::words;

/// One owned reference to a PyTorch tensor.
///
/// PyTorch: `torch::stable::Tensor`.
#[derive(Debug)]
pub(crate) struct Handle(NonNull<std::ffi::c_void>);

// SAFETY: it is a counted reference with an atomic count, and PyTorch's tensors are not tied to a thread.
unsafe impl Send for Handle {}
// SAFETY: a shared handle only permits queries of the tensor, which PyTorch allows from several threads at once.
unsafe impl Sync for Handle {}

/// The metadata of a tensor. Sizes and strides are borrowed from the tensor, and valid until it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description<'h> {
    pub(crate) sizes: &'h [i64],
    pub(crate) strides: &'h [i64],
    pub(crate) offset: i64,
    pub(crate) dtype: DType,
    pub(crate) device: Device,
}

/// A tensor with elements in host memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnHost<'h> {
    pub(crate) description: Description<'h>,
    /// The first byte of its storage, and the storage's size in bytes.
    pub(crate) start: NonNull<u8>,
    pub(crate) nbytes: usize,
}

/// Calls a query that writes its answer to the given address.
#[inline]
fn ask<T>(what: &str, function: impl FnOnce(*mut T) -> i32) -> Result<T> {
    let mut answer = MaybeUninit::uninit();
    check(function(answer.as_mut_ptr()), || format!("asking a tensor for its {what}"))?;
    // SAFETY: a function that succeeds has written its answer.
    Ok(unsafe { answer.assume_init() })
}

impl Handle {
    /// Takes ownership of the reference in a word of a stack.
    ///
    /// # Safety
    /// * The word is an owned PyTorch tensor handle, which nothing else frees.
    #[inline]
    pub(crate) unsafe fn from_word(word: Word) -> Result<Handle> {
        let null = || Error::new(ErrorKind::Internal, "PyTorch passed a null tensor handle");
        NonNull::new(word as Object).map(Handle).ok_or_else(null)
    }

    /// A handle that a PyTorch function makes and writes to the given address.
    pub(crate) fn made(doing: &str, function: impl FnOnce(*mut Object) -> i32) -> Result<Handle> {
        let mut made = std::ptr::null_mut();
        check(function(&raw mut made), || doing.to_owned())?;
        let null = || Error::new(ErrorKind::Internal, format!("{doing}: PyTorch made nothing"));
        NonNull::new(made).map(Handle).ok_or_else(null)
    }

    /// An undefined tensor.
    pub(crate) fn undefined() -> Result<Handle> {
        // SAFETY: it writes a new handle to the given address.
        Handle::made("making an undefined tensor", |made| unsafe {
            (shim().aoti_torch_new_uninitialized_tensor)(made)
        })
    }

    /// The object, which this handle still owns.
    #[inline]
    pub(crate) fn as_object(&self) -> Object {
        self.0.as_ptr()
    }

    /// Gives up the reference, as a word of a stack.
    #[inline]
    pub(crate) fn into_word(self) -> Word {
        let word = self.0.as_ptr() as Word;
        std::mem::forget(self);
        word
    }

    /// A second handle of the same reference, which does not delete it.
    ///
    /// # Safety
    /// * It is not used after this handle, or the object that this handle is moved into, has deleted the reference.
    #[inline]
    pub(crate) unsafe fn lent(&self) -> ManuallyDrop<Handle> {
        ManuallyDrop::new(Handle(self.0))
    }

    /// The keeper that keeps this tensor alive for a storage over its memory.
    #[inline]
    pub(crate) fn into_keeper(self, shim: &Shim) -> Foreign {
        let object = self.0;
        std::mem::forget(self);
        // SAFETY: the keeper owns the reference now, so it is deleted once; any thread may delete it, and the function
        // returns exceptions of PyTorch as an error code.
        unsafe { Foreign::new(object, shim.aoti_torch_delete_tensor_object) }
    }

    /// A second reference to the same tensor.
    pub(crate) fn share(&self) -> Result<Handle> {
        // SAFETY: this handle owns a tensor.
        Handle::made("sharing a tensor", |made| unsafe {
            (shim().aoti_torch_new_tensor_handle)(self.as_object(), made)
        })
    }

    /// Whether the tensor is defined.
    #[inline]
    pub(crate) fn is_defined(&self) -> Result<bool> {
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        ask("definition", |answer| unsafe { (shim().aoti_torch_is_defined)(self.as_object(), answer) })
    }

    /// The address of the first element, with the storage offset applied; null if there are no elements.
    #[inline]
    pub(crate) fn data(&self) -> Result<*mut u8> {
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let data =
            ask("memory", |answer| unsafe { (shim().aoti_torch_get_data_ptr)(self.as_object(), answer) })?;
        Ok(data.cast())
    }

    /// The size of the storage in bytes.
    #[inline]
    pub(crate) fn storage_nbytes(&self) -> Result<usize> {
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let nbytes = ask("storage", |answer| unsafe {
            (shim().aoti_torch_get_storage_size)(self.as_object(), answer)
        })?;
        usize::try_from(nbytes).map_err(Into::into)
    }

    /// The device of the tensor.
    #[inline]
    pub(crate) fn device(&self) -> Result<Device> {
        let object = self.as_object();
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let kind = ask("device", |answer| unsafe { (shim().aoti_torch_get_device_type)(object, answer) })?;
        let Some(kind) = of_number(&shim().numbers.devices, kind) else {
            return Err(Error::new(
                ErrorKind::Device,
                format!("device type {kind} of PyTorch is not known here"),
            ));
        };
        if kind == torch_library::DeviceType::Cpu {
            return Ok(Device::CPU);
        }
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let index = ask("device", |answer| unsafe { (shim().aoti_torch_get_device_index)(object, answer) })?;
        Ok(Device::new(kind, u8::try_from(index).ok()))
    }

    /// The storage offset, in elements.
    #[inline]
    fn offset(&self) -> Result<i64> {
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let told = ask("storage offset", |answer| unsafe {
            (shim().aoti_torch_get_storage_offset)(self.as_object(), answer)
        });
        // For a tensor with symbolic sizes, only an operator returns the offset, converted from a symbol to a number.
        told.or_else(|_| Ok(words::of_tensor(c"aten::sym_storage_offset", self)? as i64))
    }

    /// The metadata of a strided tensor on the CPU; `None` for any other tensor, or if PyTorch reports an error. Nearly
    /// all calls need this, so it does nothing but the queries.
    #[inline(always)]
    fn on_cpu(&self, shim: &Shim) -> Option<Description<'_>> {
        let (object, numbers) = (self.as_object(), &shim.numbers);
        let (mut device, mut layout, mut number) = (0, 0, 0);
        let (mut dim, mut offset) = (0i64, 0);
        let (mut sizes, mut strides) = (ptr::null_mut(), ptr::null_mut());
        // The first query is one that an undefined tensor answers, too: its dtype is none that is known here.
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        if unsafe { (shim.aoti_torch_get_dtype)(object, &raw mut number) } != 0 {
            return None;
        }
        let dtype = (*numbers.dtype_of.get(number as usize)?)?;
        // SAFETY: this handle owns a tensor, and both functions write their answers to addresses for them.
        let codes = unsafe {
            (shim.aoti_torch_get_device_type)(object, &raw mut device)
                | (shim.aoti_torch_get_layout)(object, &raw mut layout)
        };
        if codes != 0 || (device, layout) != numbers.host {
            return None;
        }
        // SAFETY: this handle owns a tensor, and all functions write their answers to addresses for them.
        let codes = unsafe {
            (shim.aoti_torch_get_dim)(object, &raw mut dim)
                | (shim.aoti_torch_get_sizes)(object, &raw mut sizes)
                | (shim.aoti_torch_get_strides)(object, &raw mut strides)
                | (shim.aoti_torch_get_storage_offset)(object, &raw mut offset)
        };
        if codes != 0 {
            return None;
        }
        // SAFETY: PyTorch returned the addresses of `dim` sizes and `dim` strides.
        let (sizes, strides) = unsafe { (lent(sizes, dim), lent(strides, dim)) };
        Some(Description { sizes, strides, offset, dtype, device: Device::CPU })
    }

    /// The metadata and memory of a strided tensor with elements in host memory; `None` for any other tensor, in the
    /// cases of [`on_cpu`](Self::on_cpu), and for an undefined one.
    #[inline(always)]
    pub(crate) fn on_host(&self, shim: &Shim) -> Option<OnHost<'_>> {
        let (object, mut nbytes, mut data) = (self.as_object(), 0i64, ptr::null_mut());
        let description = self.on_cpu(shim)?;
        // SAFETY: this handle owns a tensor, and both functions write their answers to addresses for them.
        let codes = unsafe {
            (shim.aoti_torch_get_storage_size)(object, &raw mut nbytes)
                | (shim.aoti_torch_get_data_ptr)(object, &raw mut data)
        };
        if codes != 0 || data.is_null() || nbytes <= 0 {
            return None;
        }
        let start = match description.offset {
            0 => data.cast::<u8>(), // the common case: the element size need not be looked up
            offset => {
                data.cast::<u8>().wrapping_sub((offset as usize).wrapping_mul(description.dtype.size()))
            }
        };
        let start = NonNull::new(start)?;
        Some(OnHost { description, start, nbytes: nbytes as usize })
    }

    /// The metadata of any strided tensor.
    ///
    /// # Errors
    /// The dtype, layout or device is not known here, or the sizes are symbolic.
    pub(crate) fn describe(&self) -> Result<Description<'_>> {
        if let Some(description) = self.on_cpu(shim()) {
            return Ok(description);
        }
        let (object, numbers) = (self.as_object(), &shim().numbers);
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let layout = ask("layout", |answer| unsafe { (shim().aoti_torch_get_layout)(object, answer) })?;
        if of_number(&numbers.layouts, layout) != Some(Layout::Strided) {
            let layout = of_number(&numbers.layouts, layout).map_or("another", Layout::name);
            let message = format!("a tensor of {layout} layout; only strided ones are known here");
            return Err(Error::new(ErrorKind::NotSupported, message));
        }
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let dtype = ask("element type", |answer| unsafe { (shim().aoti_torch_get_dtype)(object, answer) })?;
        let Some(dtype) = of_number(&numbers.dtypes, dtype) else {
            return Err(Error::new(
                ErrorKind::DType,
                format!("element type {dtype} of PyTorch is not known here"),
            ));
        };
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let dim: i64 = ask("dimensions", |answer| unsafe { (shim().aoti_torch_get_dim)(object, answer) })?;
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let sizes = ask("sizes", |answer| unsafe { (shim().aoti_torch_get_sizes)(object, answer) })?;
        // SAFETY: this handle owns a tensor, and the function writes its answer to an address for one.
        let strides = ask("strides", |answer| unsafe { (shim().aoti_torch_get_strides)(object, answer) })?;
        // SAFETY: PyTorch returned the addresses of `dim` sizes and `dim` strides.
        let (sizes, strides) = unsafe { (lent(sizes, dim), lent(strides, dim)) };
        Ok(Description { sizes, strides, offset: self.offset()?, dtype, device: self.device()? })
    }
}

/// Sizes or strides, which PyTorch lends until the tensor changes: this crate changes no tensor while it uses its
/// [`Description`].
///
/// # Safety
/// * PyTorch returned the address, and there are `dim` numbers at it.
#[inline]
unsafe fn lent<'h>(first: *mut i64, dim: i64) -> &'h [i64] {
    match dim {
        0 => &[],
        // SAFETY: the caller guarantees that `dim` numbers are there, and PyTorch lends them.
        dim => unsafe { std::slice::from_raw_parts(first, dim as usize) },
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle owns this reference, and does not outlive this. A failure would only leak the tensor.
        unsafe { (shim().aoti_torch_delete_tensor_object)(self.as_object()) };
    }
}

/// PyTorch's number of a dtype.
///
/// # Errors
/// PyTorch lacks the dtype.
pub(crate) fn dtype_number(dtype: DType) -> Result<i32> {
    let unknown = || Error::new(ErrorKind::DType, format!("this PyTorch has no tensors of {dtype}"));
    number_of(&shim().numbers.dtypes, dtype).ok_or_else(unknown)
}

/// PyTorch's numbers of a device: its type, and its index or -1.
///
/// # Errors
/// PyTorch lacks the device type.
pub(crate) fn device_numbers(device: Device) -> Result<(i32, i32)> {
    let unknown = || Error::new(ErrorKind::Device, format!("this PyTorch knows no device {device}"));
    let kind = number_of(&shim().numbers.devices, device.kind).ok_or_else(unknown)?;
    Ok((kind, device.index.map_or(-1, i32::from)))
}
