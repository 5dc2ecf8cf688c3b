//! Converts tensors to PyTorch tensors: those that came in, views of them, or memory that is lent to PyTorch.
#![expect(unsafe_code, reason = "hands memory to PyTorch, with what frees it")]

use std::ffi::c_void;
use std::ptr;

use torch_library::geometry::Geometry;
use torch_library::{
    DType, Device, DeviceType, DispatchKey, Dispatcher, Error, ErrorKind, Result, Tensor, Value,
};

use crate::handle::{Description, Handle, device_numbers, dtype_number};
use crate::incoming::{Incoming, StandIn};
use crate::shim::{Word, number_of, shim};
use crate::words;

impl Incoming {
    /// The PyTorch tensor for a tensor of this library.
    ///
    /// # Errors
    /// The tensor has a dtype or a device that PyTorch lacks.
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
        if let Some((base, position)) = self.base_of(tensor)
            && let Some(view) = view_at(&base.handle, base.tensor.dtype(), tensor, position)?
        {
            return Ok(view);
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

/// A tensor without the conjugate, negative and zero-tensor bits, and with elements of the same value.
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

/// An `as_strided` view of a PyTorch tensor; `place` pushes sizes, strides and offset.
fn view(base: &Handle, place: impl FnOnce(&mut Vec<Word>) -> Result<()>) -> Result<Handle> {
    words::call_aten(c"aten::as_strided", vec![base.share()?.into_word()], place)
}

/// A view of a tensor with the sizes, strides and offset of another one.
///
/// # Errors
/// PyTorch rejects the view.
pub(crate) fn as_strided(base: &Handle, like: &Description<'_>) -> Result<Handle> {
    view(base, |words| place_of(like.sizes, like.strides, like.offset, words))
}

/// Pushes sizes, strides and offset as `as_strided` takes them.
fn place(geometry: &Geometry, words: &mut Vec<Word>) -> Result<()> {
    place_of(geometry.sizes(), geometry.strides(), geometry.offset(), words)
}

fn place_of(sizes: &[i64], strides: &[i64], offset: i64, words: &mut Vec<Word>) -> Result<()> {
    words.push(words::ints(sizes)?);
    words.push(words::ints(strides)?);
    words.push(words::some(offset as Word)?);
    Ok(())
}

/// A view of a PyTorch tensor of a type with the elements of a tensor, which begin at a position in its storage, in
/// bytes; `None` if they begin between two elements of PyTorch's view.
fn view_at(base: &Handle, of: DType, tensor: &Tensor, position: usize) -> Result<Option<Handle>> {
    let (dtype, geometry) = (tensor.dtype(), tensor.geometry());
    if !position.is_multiple_of(dtype.size()) {
        return Ok(None);
    }
    let base = if dtype == of { base.share()? } else { retyped(base, dtype)? };
    let offset = (position / dtype.size()) as i64;
    view(&base, |words| place_of(geometry.sizes(), geometry.strides(), offset, words)).map(Some)
}

/// A view of a PyTorch tensor with elements of another type, and none of them: for `as_strided`, which has all of the
/// storage. A second tensor over the memory would not follow it when the storage is resized.
fn retyped(base: &Handle, dtype: DType) -> Result<Handle> {
    let nothing = view(base, |words| place(&Geometry::contiguous(&[0])?, words))?;
    let mut words = [nothing.into_word(), dtype_number(dtype)? as u32 as Word];
    // SAFETY: these are the arguments of `view.dtype`: an owned tensor and a type.
    unsafe { words::call(c"aten::view", c"dtype", &mut words)? };
    // SAFETY: the return is an owned tensor.
    unsafe { Handle::from_word(words[0]) }
}

/// A PyTorch tensor over the memory of a tensor, which is kept alive until PyTorch frees its own. Memory of a caller,
/// which may free it before, is copied.
fn lend(tensor: &Tensor) -> Result<Handle> {
    let from_blob = match shim().torch_from_blob {
        Some(from_blob) if !tensor.storage().is_foreign() => from_blob,
        _ => return copied(tensor),
    };
    let (dtype, (device, index)) = (dtype_number(tensor.dtype())?, device_numbers(Device::CPU)?);
    let layout = number_of(&shim().numbers.layouts, torch_library::Layout::Strided).unwrap_or(0);
    let geometry = tensor.geometry();
    let start = tensor.storage().data_ptr();
    let start = start.map_or(ptr::null_mut(), |start| start.as_ptr());
    let kept = Box::into_raw(Box::new(tensor.clone()));
    // SAFETY: there are as many sizes and strides as dimensions. The elements lie within the memory, which the boxed
    // tensor keeps alive; only `forget` drops that tensor, and PyTorch calls `forget` once. From here on PyTorch may
    // read and write the memory; for handles to it that a kernel has kept, the rules of tensors that share memory
    // apply.
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
        // SAFETY: PyTorch made no tensor, so it will never call `forget` with this box.
        drop(unsafe { Box::from_raw(kept) });
    }
    made
}

/// Drops the tensor whose memory was lent to PyTorch.
///
/// # Safety
/// * `kept` is a box that [`lend`] gave away, and this is called only once with it.
unsafe extern "C" fn forget(_: *mut c_void, kept: *mut c_void) {
    // SAFETY: the caller guarantees that it is a box of a tensor, which nothing else owns any more.
    let tensor = unsafe { Box::from_raw(kept.cast::<Tensor>()) };
    // A panic in a destructor would unwind into C, so it is swallowed: there is no way to report it.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(tensor)));
}

/// A copy in PyTorch's memory, for versions that lack `torch_from_blob`.
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

/// A new PyTorch tensor with the sizes, strides, dtype and device of a tensor.
fn empty_like(tensor: &Tensor) -> Result<Handle> {
    let (dtype, (device, index)) = (dtype_number(tensor.dtype())?, device_numbers(tensor.device())?);
    let geometry = tensor.geometry();
    // SAFETY: there are as many sizes and strides as dimensions.
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
    /// Tells PyTorch what a kernel did to a tensor that it may write to: increments the version, and updates sizes,
    /// strides and memory if they have changed.
    ///
    /// # Errors
    /// PyTorch rejects the new sizes.
    pub(crate) fn written(&self, tensor: &Tensor) -> Result<()> {
        let Some(seen) = self.seen(tensor) else { return Ok(()) };
        let handle = &*seen.handle;
        if tensor.is_wrapper() || tensor.device().kind == DeviceType::Meta {
            return Ok(());
        }
        let _quiet = NoGrad::new();
        let before = handle.describe()?;
        let geometry = tensor.geometry();
        let Some(position) = seen.position_of(tensor) else {
            words::call_aten(c"aten::resize_", vec![handle.share()?.into_word()], |words| {
                words.push(words::ints(geometry.sizes())?);
                words.push(words::NONE);
                Ok(())
            })?;
            let moved = lend(tensor)?;
            // The copy increments the version.
            return words::call_aten(c"aten::copy_", vec![handle.share()?.into_word()], |words| {
                words.extend([moved.into_word(), Word::from(false)]);
                Ok(())
            })
            .map(drop);
        };
        let (sizes, strides, offset) =
            (geometry.sizes(), geometry.strides(), (position / tensor.dtype().size()) as i64);
        if (sizes, strides, offset) != (before.sizes, before.strides, before.offset) {
            let this = vec![handle.share()?.into_word()];
            words::call_aten(c"aten::as_strided_", this, |words| place_of(sizes, strides, offset, words))?;
        }
        bump_version(handle)
    }
}

/// Increments PyTorch's version counter of a tensor. There is no C function for it, so this zeroes an empty view of the
/// tensor, which counts as a write.
fn bump_version(handle: &Handle) -> Result<()> {
    let nothing = Geometry::contiguous(&[0])?;
    let part = view(handle, |words| place(&nothing, words))?;
    words::call_aten(c"aten::zero_", vec![part.into_word()], |_| Ok(())).map(drop)
}

/// A guard: PyTorch's grad mode is off on this thread while it lives.
struct NoGrad(bool);

impl NoGrad {
    fn new() -> Self {
        // SAFETY: they read and write a thread-local flag.
        unsafe {
            let was_enabled = (shim().aoti_torch_grad_mode_is_enabled)();
            (shim().aoti_torch_grad_mode_set_enabled)(false);
            NoGrad(was_enabled)
        }
    }
}

impl Drop for NoGrad {
    fn drop(&mut self) {
        // SAFETY: it writes a thread-local flag.
        unsafe { (shim().aoti_torch_grad_mode_set_enabled)(self.0) }
    }
}
