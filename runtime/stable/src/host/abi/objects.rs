//! Handles of tensors and of generators: duplicating, deleting and assigning them.
#![expect(unsafe_code, reason = "takes boxes back")]

use torch_library::{Error, ErrorKind, Generator, Result, Tensor};

use super::{Handle, Out, functions, others, put, put_tensor, tensor};
use crate::host::words::{self, Word};

functions! {
    fn aoti_torch_new_tensor_handle(orig_handle: Handle<'_>, new_handle: Out<'_, *mut Tensor>) {
        put_tensor(new_handle, tensor(orig_handle)?.clone())
    }

    fn aoti_torch_delete_tensor_object(tensor: *mut Tensor) {
        // SAFETY: the library promises that this is its handle, and that it no longer uses it.
        unsafe { words::take_box::<Tensor>(tensor.expose_provenance() as Word, "tensor") }.map(drop)
    }

    fn aoti_torch_new_uninitialized_tensor(ret: Out<'_, *mut Tensor>) {
        put_tensor(ret, Tensor::undefined())
    }

    // Both may be the same handle, so neither is a reference during the whole call.
    fn aoti_torch_assign_tensors(src: *const Tensor, dst: *mut Tensor) {
        // SAFETY: the library promises that this is a handle, or null.
        let new = tensor(unsafe { src.as_ref() })?.clone();
        assign(new, dst)
    }

    fn aoti_torch_assign_tensors_out(src: Handle<'_>, ret_dst: Out<'_, *mut Tensor>) {
        put_tensor(ret_dst, tensor(src)?.clone())
    }

    fn torch_new_generator_handle(this: Option<&Generator>, ret_new_generator: Out<'_, *mut Generator>) {
        put(ret_new_generator, Box::into_raw(Box::new(generator(this)?.clone())))
    }

    fn torch_delete_generator(generator: *mut Generator) {
        // SAFETY: the library promises that this is its handle, and that it no longer uses it.
        unsafe { words::take_box::<Generator>(generator.expose_provenance() as Word, "generator") }.map(drop)
    }

    fn torch_generator_get_device(
        this: Option<&Generator>,
        ret_device_type: Out<'_, i32>,
        ret_device_index: Out<'_, i32>,
    ) {
        let device = generator(this)?.device();
        put(ret_device_type, device.kind as i32)?;
        put(ret_device_index, crate::host::numbers::index(device))
    }
}

others! {}

/// Makes a handle refer to another tensor.
fn assign(new: Tensor, handle: *mut Tensor) -> Result<()> {
    if handle.is_null() {
        return Err(null());
    }
    // SAFETY: the library promises that this is its handle, and that no other code uses it during the assignment.
    drop(unsafe { handle.replace(new) });
    Ok(())
}

fn generator(handle: Option<&Generator>) -> Result<&Generator> {
    handle.ok_or_else(|| Error::new(ErrorKind::Argument, "a null handle of a generator"))
}

#[cold]
fn null() -> Error {
    Error::new(ErrorKind::Argument, "a null handle of a tensor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_may_be_assigned_to_itself() {
        let mut x = Tensor::from([1.0]);
        let (same, handle) = (x.clone(), &raw mut x);
        assert_eq!(aoti_torch_assign_tensors(handle, handle), 0);
        assert!(x.is_same(&same));
    }
}
