//! Tensors from here as tensors of PyTorch: the ones that came in, views of them, or memory that PyTorch then keeps.
#![expect(unsafe_code, reason = "hands memory to PyTorch, with what frees it")]

use std::ffi::c_void;
use std::ptr;

use torch_library::geometry::Geometry;
use torch_library::{Device, DeviceType, DispatchKey, Dispatcher, Error, ErrorKind, Result, Tensor, Value};

use crate::handle::{Description, Handle, device_numbers, dtype_number};
use crate::incoming::{Incoming, StandIn};
use crate::shim::{Word, number_of, shim};
use crate::words;

impl Incoming {
    /// The tensor of PyTorch for one from here.
    ///
    /// # Errors
    /// An element type or a device that PyTorch has not.
    pub(crate) fn out(&self, tensor: &Tensor) -> Result<Handle> {
        if !tensor.is_defined() {
            return Handle::undefined();
        }
        if let Some(content) = tensor.content::<StandIn>() {
            return content.handle().share();
        }
        if let Some(handle) = self.handle_of(tensor) {
            return handle.share();
        }
        let tensor = &resolved(tensor)?;
        if let Some(base) = self.base_of(tensor)
            && base.tensor.dtype() == tensor.dtype()
        {
            let geometry = tensor.geometry();
            return view(&base.handle, |words| place(geometry, words));
        }
        match tensor.device().kind {
            DeviceType::Cpu if self.lifts() => {
                words::call_aten(c"aten::lift_fresh", vec![lend(tensor)?.into_word()], |_| Ok(()))
            }
            DeviceType::Cpu => lend(tensor),
            DeviceType::Meta => empty_like(tensor),
            _ => Err(Error::new(
                ErrorKind::Device,
                format!("a kernel made a tensor on {} of memory that PyTorch does not know", tensor.device()),
            )),
        }
    }
}

/// The same elements without a bit that says what they mean.
fn resolved(tensor: &Tensor) -> Result<Tensor> {
    let bits = [
        (DispatchKey::Conjugate, "aten::resolve_conj"),
        (DispatchKey::Negative, "aten::resolve_neg"),
        (DispatchKey::ZeroTensor, "aten::clone"),
    ];
    let mut resolved = tensor.clone();
    for (bit, name) in bits {
        if resolved.key_set().has(bit) {
            let operator = Dispatcher::global().find(name)?;
            let arguments = [Value::Tensor(resolved.clone())];
            resolved = operator.call_with(arguments, [])?.pop_as()?;
        }
    }
    Ok(resolved)
}

/// A view of a tensor of PyTorch.
fn view(base: &Handle, place: impl FnOnce(&mut Vec<Word>) -> Result<()>) -> Result<Handle> {
    words::call_aten(c"aten::as_strided", vec![base.share()?.into_word()], place)
}

/// A view of a tensor that lies as another one does.
///
/// # Errors
/// PyTorch refuses it.
pub(crate) fn as_strided(base: &Handle, like: &Description<'_>) -> Result<Handle> {
    view(base, |words| place_of(like.sizes, like.strides, like.offset, words))
}

/// Sizes, strides and offset, as `as_strided` takes them.
fn place(geometry: &Geometry, words: &mut Vec<Word>) -> Result<()> {
    place_of(geometry.sizes(), geometry.strides(), geometry.offset(), words)
}

fn place_of(sizes: &[i64], strides: &[i64], offset: i64, words: &mut Vec<Word>) -> Result<()> {
    words.push(words::ints(sizes)?);
    words.push(words::ints(strides)?);
    words.push(words::some(offset as Word)?);
    Ok(())
}

/// Gives PyTorch the memory of a tensor, which lives until PyTorch has done with it.
fn lend(tensor: &Tensor) -> Result<Handle> {
    let Some(from_blob) = shim().torch_from_blob else { return copied(tensor) };
    let (dtype, (device, index)) = (dtype_number(tensor.dtype())?, device_numbers(Device::CPU)?);
    let layout = number_of(&shim().numbers.layouts, torch_library::Layout::Strided).unwrap_or(0);
    let geometry = tensor.geometry();
    let start = tensor.storage().data_ptr();
    let start = start.map_or(ptr::null_mut(), |start| start.as_ptr());
    let kept = Box::into_raw(Box::new(tensor.clone()));
    // SAFETY: sizes and strides are as many as the dimensions. The elements lie within the memory, which the tensor
    // keeps, and that is dropped by `forget` alone, whom PyTorch calls once. From here on the memory is PyTorch's to
    // read and write; of handles that a kernel kept of it, the rule is that of tensors which share memory.
    let made = Handle::made("handing a tensor to PyTorch", |made| unsafe {
        from_blob(
            start.cast(),
            geometry.dim() as i64,
            geometry.sizes().as_ptr(),
            geometry.strides().as_ptr(),
            geometry.offset(),
            dtype,
            device,
            index,
            made,
            layout,
            ptr::null(),
            0,
            forget,
            kept.cast(),
        )
    });
    if made.is_err() {
        // SAFETY: PyTorch made no tensor, so nobody will call `forget` with it.
        drop(unsafe { Box::from_raw(kept) });
    }
    made
}

/// Drops the tensor whose memory PyTorch had.
///
/// # Safety
/// * `kept` is a box that [`lend`] gave away, for the first and last time.
unsafe extern "C" fn forget(_: *mut c_void, kept: *mut c_void) {
    // SAFETY: the caller says that it is a box of a tensor, and nobody else's any more.
    let tensor = unsafe { Box::from_raw(kept.cast::<Tensor>()) };
    // A panic in a keeper's destructor would unwind into C: it has no way to say so.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(tensor)));
}

/// A copy in PyTorch's memory, for versions that take no other.
fn copied(tensor: &Tensor) -> Result<Handle> {
    let whole = empty_like(tensor)?;
    let mut incoming = Incoming::default();
    let mut target = incoming.tensor(whole.share()?, crate::incoming::Sight::Elements)?;
    let copy = Dispatcher::global().find("aten::copy_")?;
    copy.call_boxed(
        &mut [Value::TensorMut(&mut target), Value::TensorRef(tensor), false.into()].into_iter().collect(),
    )?;
    Ok(whole)
}

/// A new tensor of PyTorch with the sizes, the strides and the type of this one.
fn empty_like(tensor: &Tensor) -> Result<Handle> {
    let (dtype, (device, index)) = (dtype_number(tensor.dtype())?, device_numbers(tensor.device())?);
    let geometry = tensor.geometry();
    // SAFETY: sizes and strides are as many as the dimensions.
    Handle::made("making a tensor in PyTorch", |made| unsafe {
        (shim().aoti_torch_empty_strided)(
            geometry.dim() as i64,
            geometry.sizes().as_ptr(),
            geometry.strides().as_ptr(),
            dtype,
            device,
            index,
            made,
        )
    })
}

impl Incoming {
    /// Tells PyTorch what a kernel did to a tensor that it may write to: its version, and where it now lies.
    ///
    /// # Errors
    /// PyTorch refuses the new sizes.
    pub(crate) fn written(&self, tensor: &Tensor) -> Result<()> {
        let Some(handle) = self.handle_of(tensor) else { return Ok(()) };
        if tensor.is_wrapper() || tensor.device().kind == DeviceType::Meta {
            return Ok(());
        }
        let _quiet = NoGrad::new();
        let before = handle.describe()?;
        let geometry = tensor.geometry();
        if !self.is_at_home(tensor) {
            words::call_aten(c"aten::resize_", vec![handle.share()?.into_word()], |words| {
                words.push(words::ints(geometry.sizes())?);
                words.push(words::NONE);
                Ok(())
            })?;
            let moved = lend(tensor)?;
            // PyTorch counts it as a write.
            return words::call_aten(c"aten::copy_", vec![handle.share()?.into_word()], |words| {
                words.extend([moved.into_word(), Word::from(false)]);
                Ok(())
            })
            .map(drop);
        }
        if (geometry.sizes(), geometry.strides(), geometry.offset())
            != (before.sizes, before.strides, before.offset)
        {
            let this = vec![handle.share()?.into_word()];
            words::call_aten(c"aten::as_strided_", this, |words| place(geometry, words))?;
        }
        bump_version(handle)
    }
}

/// Moves PyTorch's version counter of a tensor on, for which its C functions have no word: a write to none of the
/// elements counts as one.
fn bump_version(handle: &Handle) -> Result<()> {
    let nothing = Geometry::contiguous(&[0])?;
    let part = view(handle, |words| place(&nothing, words))?;
    words::call_aten(c"aten::zero_", vec![part.into_word()], |_| Ok(())).map(drop)
}

/// PyTorch records nothing on this thread while this lives.
struct NoGrad(bool);

impl NoGrad {
    fn new() -> Self {
        // SAFETY: they read and write a flag of the thread.
        unsafe {
            let was_enabled = (shim().aoti_torch_grad_mode_is_enabled)();
            (shim().aoti_torch_grad_mode_set_enabled)(false);
            NoGrad(was_enabled)
        }
    }
}

impl Drop for NoGrad {
    fn drop(&mut self) {
        // SAFETY: it writes a flag of the thread.
        unsafe { (shim().aoti_torch_grad_mode_set_enabled)(self.0) }
    }
}
