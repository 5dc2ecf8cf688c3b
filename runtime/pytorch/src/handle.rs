//! An owning handle of a PyTorch tensor, and what one asks it.
#![expect(unsafe_code, reason = "calls PyTorch's functions on a tensor that the handle owns")]

use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use torch_library::{DType, Device, Error, ErrorKind, Foreign, Layout, Result};

use crate::shim::{Object, Shim, Word, check, number_of, of_number, shim};
use crate::words;

/// One reference to a tensor of PyTorch.
///
/// PyTorch: `torch::stable::Tensor`.
#[derive(Debug)]
pub(crate) struct Handle(NonNull<std::ffi::c_void>);

// SAFETY: it is a counted reference, whose count is atomic; PyTorch's tensors have no thread of their own.
unsafe impl Send for Handle {}
// SAFETY: what is asked of a shared handle is asked of the tensor, which PyTorch lets several threads look at.
unsafe impl Sync for Handle {}

/// What a tensor says of itself without its elements. Sizes and strides are its own, lent until it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description<'h> {
    pub(crate) sizes: &'h [i64],
    pub(crate) strides: &'h [i64],
    pub(crate) offset: i64,
    pub(crate) dtype: DType,
    pub(crate) device: Device,
}

/// A tensor with elements in the host's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnHost<'h> {
    pub(crate) description: Description<'h>,
    /// Where its storage begins, and how many bytes that has.
    pub(crate) start: NonNull<u8>,
    pub(crate) nbytes: usize,
}

/// Asks one thing that the function writes to its last argument.
#[inline]
fn ask<T>(what: &str, function: impl FnOnce(*mut T) -> i32) -> Result<T> {
    let mut answer = MaybeUninit::uninit();
    check(function(answer.as_mut_ptr()), || format!("asking a tensor for its {what}"))?;
    // SAFETY: a function that succeeds has written its answer.
    Ok(unsafe { answer.assume_init() })
}

impl Handle {
    /// Takes over the reference in a word of a stack.
    ///
    /// # Safety
    /// * The word is an owned tensor handle of PyTorch, which nobody else frees.
    #[inline]
    pub(crate) unsafe fn from_word(word: Word) -> Result<Handle> {
        let null = || Error::new(ErrorKind::Internal, "PyTorch passed a null tensor handle");
        NonNull::new(word as Object).map(Handle).ok_or_else(null)
    }

    /// A handle that a function of PyTorch makes.
    pub(crate) fn made(doing: &str, function: impl FnOnce(*mut Object) -> i32) -> Result<Handle> {
        let mut made = std::ptr::null_mut();
        check(function(&raw mut made), || doing.to_owned())?;
        let null = || Error::new(ErrorKind::Internal, format!("{doing}: PyTorch made nothing"));
        NonNull::new(made).map(Handle).ok_or_else(null)
    }

    /// A tensor that is none.
    pub(crate) fn undefined() -> Result<Handle> {
        // SAFETY: it writes a new handle to where it is told.
        Handle::made("making an undefined tensor", |made| unsafe {
            (shim().aoti_torch_new_uninitialized_tensor)(made)
        })
    }

    /// The object, which stays this handle's.
    #[inline]
    pub(crate) fn as_object(&self) -> Object {
        self.0.as_ptr()
    }

    /// Gives the reference away, as a word of a stack.
    #[inline]
    pub(crate) fn into_word(self) -> Word {
        let word = self.0.as_ptr() as Word;
        std::mem::forget(self);
        word
    }

    /// The same reference once more, which deletes nothing.
    ///
    /// # Safety
    /// * It is not used after this handle, or whoever it is given to, has deleted the reference.
    #[inline]
    pub(crate) unsafe fn lent(&self) -> ManuallyDrop<Handle> {
        ManuallyDrop::new(Handle(self.0))
    }

    /// What keeps this tensor for a storage over its memory.
    #[inline]
    pub(crate) fn into_keeper(self, shim: &Shim) -> Foreign {
        let object = self.0;
        std::mem::forget(self);
        // SAFETY: the reference is the keeper's now, so it is deleted once; any thread may, and PyTorch makes a code of what
        // it throws meanwhile.
        unsafe { Foreign::new(object, shim.aoti_torch_delete_tensor_object) }
    }

    /// A second reference to the same tensor.
    pub(crate) fn share(&self) -> Result<Handle> {
        // SAFETY: this handle owns a tensor.
        Handle::made("sharing a tensor", |made| unsafe {
            (shim().aoti_torch_new_tensor_handle)(self.as_object(), made)
        })
    }

    /// Whether there is a tensor at all.
    #[inline]
    pub(crate) fn is_defined(&self) -> Result<bool> {
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        ask("definition", |answer| unsafe { (shim().aoti_torch_is_defined)(self.as_object(), answer) })
    }

    /// Where the elements begin, the offset applied; null where there are none.
    #[inline]
    pub(crate) fn data(&self) -> Result<*mut u8> {
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let data =
            ask("memory", |answer| unsafe { (shim().aoti_torch_get_data_ptr)(self.as_object(), answer) })?;
        Ok(data.cast())
    }

    /// How many bytes the storage has.
    #[inline]
    pub(crate) fn storage_nbytes(&self) -> Result<usize> {
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let nbytes = ask("storage", |answer| unsafe {
            (shim().aoti_torch_get_storage_size)(self.as_object(), answer)
        })?;
        usize::try_from(nbytes).map_err(Into::into)
    }

    /// Where the tensor is.
    #[inline]
    pub(crate) fn device(&self) -> Result<Device> {
        let object = self.as_object();
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
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
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let index = ask("device", |answer| unsafe { (shim().aoti_torch_get_device_index)(object, answer) })?;
        Ok(Device::new(kind, u8::try_from(index).ok()))
    }

    /// Where in its storage the tensor begins, in elements.
    #[inline]
    fn offset(&self) -> Result<i64> {
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let told = ask("storage offset", |answer| unsafe {
            (shim().aoti_torch_get_storage_offset)(self.as_object(), answer)
        });
        // Of a tensor with symbolic sizes PyTorch tells it by an operator alone, which makes a number of the symbol.
        told.or_else(|_| Ok(words::of_tensor(c"aten::sym_storage_offset", self)? as i64))
    }

    /// What a strided tensor on the CPU says of itself; nothing of any other, nor where PyTorch has an error to tell. It is
    /// what nearly all calls ask, so there is no more to it than the questions.
    #[inline(always)]
    fn on_cpu(&self, shim: &Shim) -> Option<Description<'_>> {
        let (object, numbers) = (self.as_object(), &shim.numbers);
        let (mut device, mut layout, mut number) = (0, 0, 0);
        let (mut dim, mut offset) = (0i64, 0);
        let (mut sizes, mut strides) = (ptr::null_mut(), ptr::null_mut());
        // The first question is one that an undefined tensor answers: its elements are of no type that is known here.
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        if unsafe { (shim.aoti_torch_get_dtype)(object, &raw mut number) } != 0 {
            return None;
        }
        let dtype = (*numbers.dtype_of.get(number as usize)?)?;
        // SAFETY: this handle owns a tensor, and both answers go to where one is expected.
        let codes = unsafe {
            (shim.aoti_torch_get_device_type)(object, &raw mut device)
                | (shim.aoti_torch_get_layout)(object, &raw mut layout)
        };
        if codes != 0 || (device, layout) != numbers.host {
            return None;
        }
        // SAFETY: this handle owns a tensor, and all answers go to where one is expected.
        let codes = unsafe {
            (shim.aoti_torch_get_dim)(object, &raw mut dim)
                | (shim.aoti_torch_get_sizes)(object, &raw mut sizes)
                | (shim.aoti_torch_get_strides)(object, &raw mut strides)
                | (shim.aoti_torch_get_storage_offset)(object, &raw mut offset)
        };
        if codes != 0 {
            return None;
        }
        // SAFETY: PyTorch has told so many sizes and strides.
        let (sizes, strides) = unsafe { (lent(sizes, dim), lent(strides, dim)) };
        Some(Description { sizes, strides, offset, dtype, device: Device::CPU })
    }

    /// A strided tensor with elements in the host's memory; nothing of any other, as [`on_cpu`](Self::on_cpu), nor of an
    /// undefined one.
    #[inline(always)]
    pub(crate) fn on_host(&self, shim: &Shim) -> Option<OnHost<'_>> {
        let (object, mut nbytes, mut data) = (self.as_object(), 0i64, ptr::null_mut());
        let description = self.on_cpu(shim)?;
        // SAFETY: this handle owns a tensor, and both answers go to where one is expected.
        let codes = unsafe {
            (shim.aoti_torch_get_storage_size)(object, &raw mut nbytes)
                | (shim.aoti_torch_get_data_ptr)(object, &raw mut data)
        };
        if codes != 0 || data.is_null() || nbytes <= 0 {
            return None;
        }
        let start = match description.offset {
            0 => data.cast::<u8>(), // as it most often is: the size of an element is not even looked up
            offset => {
                data.cast::<u8>().wrapping_sub((offset as usize).wrapping_mul(description.dtype.size()))
            }
        };
        let start = NonNull::new(start)?;
        Some(OnHost { description, start, nbytes: nbytes as usize })
    }

    /// All that it says of itself.
    ///
    /// # Errors
    /// An element type or a layout that is not known here; sizes that PyTorch knows only as symbols.
    pub(crate) fn describe(&self) -> Result<Description<'_>> {
        if let Some(description) = self.on_cpu(shim()) {
            return Ok(description);
        }
        let (object, numbers) = (self.as_object(), &shim().numbers);
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let layout = ask("layout", |answer| unsafe { (shim().aoti_torch_get_layout)(object, answer) })?;
        if of_number(&numbers.layouts, layout) != Some(Layout::Strided) {
            let layout = of_number(&numbers.layouts, layout).map_or("another", Layout::name);
            let message = format!("a tensor of {layout} layout; only strided ones are known here");
            return Err(Error::new(ErrorKind::NotSupported, message));
        }
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let dtype = ask("element type", |answer| unsafe { (shim().aoti_torch_get_dtype)(object, answer) })?;
        let Some(dtype) = of_number(&numbers.dtypes, dtype) else {
            return Err(Error::new(
                ErrorKind::DType,
                format!("element type {dtype} of PyTorch is not known here"),
            ));
        };
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let dim: i64 = ask("dimensions", |answer| unsafe { (shim().aoti_torch_get_dim)(object, answer) })?;
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let sizes = ask("sizes", |answer| unsafe { (shim().aoti_torch_get_sizes)(object, answer) })?;
        // SAFETY: this handle owns a tensor, and the answer goes to where one is expected.
        let strides = ask("strides", |answer| unsafe { (shim().aoti_torch_get_strides)(object, answer) })?;
        // SAFETY: PyTorch has told so many sizes and strides.
        let (sizes, strides) = unsafe { (lent(sizes, dim), lent(strides, dim)) };
        Ok(Description { sizes, strides, offset: self.offset()?, dtype, device: self.device()? })
    }
}

/// Sizes or strides, which PyTorch lends until the tensor changes: nobody here changes one whose description is still
/// looked at.
///
/// # Safety
/// * PyTorch has told the address, of as many numbers as there are dimensions.
#[inline]
unsafe fn lent<'h>(first: *mut i64, dim: i64) -> &'h [i64] {
    match dim {
        0 => &[],
        // SAFETY: the caller says that so many numbers are there, and PyTorch lends them.
        dim => unsafe { std::slice::from_raw_parts(first, dim as usize) },
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle owns this reference, and it is gone after this. A failure would leave a tensor alive.
        unsafe { (shim().aoti_torch_delete_tensor_object)(self.as_object()) };
    }
}

/// PyTorch's number of an element type.
///
/// # Errors
/// It has none.
pub(crate) fn dtype_number(dtype: DType) -> Result<i32> {
    let unknown = || Error::new(ErrorKind::DType, format!("this PyTorch has no tensors of {dtype}"));
    number_of(&shim().numbers.dtypes, dtype).ok_or_else(unknown)
}

/// PyTorch's numbers of a device: its type, and its index or -1.
///
/// # Errors
/// It has none.
pub(crate) fn device_numbers(device: Device) -> Result<(i32, i32)> {
    let unknown = || Error::new(ErrorKind::Device, format!("this PyTorch knows no device {device}"));
    let kind = number_of(&shim().numbers.devices, device.kind).ok_or_else(unknown)?;
    Ok((kind, device.index.map_or(-1, i32::from)))
}
