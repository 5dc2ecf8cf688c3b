//! Tensors over another library's memory for the length of a call, which reuse the allocations of earlier ones.
#![expect(unsafe_code, reason = "makes storages over memory of others")]

use std::ptr::NonNull;
use std::sync::Arc;

use super::geometry::Geometry;
use super::{Foreign, Gradient, Storage, StorageView, Tensor};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::key::DispatchKeySet;

/// The allocations of a tensor over foreign memory, after that memory was released: two blocks of the allocator, and
/// the last sizes.
///
/// It is the only handle, weak ones included, and gives out no other.
#[derive(Debug)]
pub struct ForeignTensor(Tensor);

impl Tensor {
    /// A tensor over host memory that an object of another library keeps alive, like
    /// [`from_storage`](Self::from_storage) of [`Storage::from_foreign`], but it reuses the allocations of an earlier
    /// one.
    ///
    /// # Errors
    /// The errors of [`from_storage`](Self::from_storage).
    ///
    /// # Safety
    /// - The requirements of [`Storage::from_foreign`].
    pub unsafe fn over_foreign(
        left: Option<ForeignTensor>,
        (data, nbytes, keeper): (NonNull<u8>, usize, Foreign),
        sizes: &[i64],
        strides: &[i64],
        offset: i64,
        dtype: DType,
        key_set: DispatchKeySet,
    ) -> Result<Tensor> {
        let keeper = match left {
            None => keeper,
            Some(ForeignTensor(tensor)) => {
                // SAFETY: `leave_foreign` checked that this is the only handle, and no other was made since; so no
                // other code accesses the tensor, and `as_ptr` allows writing to it.
                let parts = unsafe { &mut *Arc::as_ptr(&tensor.0).cast_mut() };
                let before = std::mem::replace(&mut parts.dtype, dtype);
                parts.key_set = key_set;
                let StorageView { storage, geometry } = parts.place.only_mut().expect("it was never moved");
                // SAFETY: the caller vouches for the memory.
                match unsafe { storage.occupy(data, nbytes, keeper) } {
                    Ok(had) => {
                        let is_placed = geometry.is_placed(sizes, strides, offset);
                        if !is_placed {
                            *geometry = Geometry::SCALAR;
                            geometry.set(sizes, strides, offset)?;
                        }
                        // The same geometry and type fitted into as many bytes before, so they fit again if the start
                        // is aligned.
                        let fits = is_placed && had == nbytes && before == dtype;
                        if !(fits && is_aligned(data, dtype)) {
                            StorageView::check(storage, geometry, dtype)?;
                        }
                        return Ok(tensor);
                    }
                    Err(keeper) => keeper,
                }
            }
        };
        // SAFETY: the caller vouches for the memory.
        let storage = unsafe { Storage::from_foreign(data, nbytes, Device::CPU, keeper) };
        Tensor::from_storage(storage, sizes, strides, offset, dtype, key_set)
    }

    /// The allocations for reuse, if there is no other handle to this tensor or its parts: the memory is released.
    ///
    /// # Errors
    /// The tensor, if there is another handle, or if its memory is no foreign one.
    #[inline]
    pub fn leave_foreign(mut self) -> std::result::Result<ForeignTensor, Tensor> {
        let is_left = Arc::get_mut(&mut self.0).is_some_and(|tensor| {
            let is_plain =
                tensor.autograd.get().is_none() && *tensor.gradient.get_mut() == Gradient::NOT_REQUIRED;
            let place = if is_plain && tensor.content.is_none() { tensor.place.only_mut() } else { None };
            place.is_some_and(|place| place.storage.vacate())
        });
        if is_left { Ok(ForeignTensor(self)) } else { Err(self) }
    }

    /// The memory over which this tensor was made, even if handles have given it other memory since.
    #[inline]
    pub fn original_storage(&self) -> &Storage {
        self.0.place.first()
    }
}

/// Whether an address is aligned for elements of a type. Most addresses are aligned for every type, so that the type is
/// rarely looked at.
#[inline]
fn is_aligned(data: NonNull<u8>, dtype: DType) -> bool {
    let address = data.addr().get();
    address.is_multiple_of(Storage::ALIGN) || address.is_multiple_of(dtype.align())
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::DispatchKey;

    static FREED: AtomicUsize = AtomicUsize::new(0);

    /// # Safety
    /// * The object is a box of numbers, and belongs to the caller.
    unsafe extern "C-unwind" fn free(object: *mut c_void) -> i32 {
        // SAFETY: the caller promises so.
        drop(unsafe { Box::from_raw(object.cast::<[f32; 6]>()) });
        FREED.fetch_add(1, Ordering::Relaxed); // only a counter
        0
    }

    fn over(left: Option<ForeignTensor>, first: f32, sizes: &[i64], strides: &[i64]) -> Result<Tensor> {
        let data = NonNull::from(Box::leak(Box::new([first, 1.0, 2.0, 3.0, 4.0, 5.0])));
        // SAFETY: the box was leaked, and only this frees it.
        let keeper = unsafe { Foreign::new(data.cast(), free) };
        let keys = DispatchKeySet::from_key(DispatchKey::CPU);
        // SAFETY: the keeper keeps the bytes alive, and no other code uses them.
        unsafe {
            Tensor::over_foreign(left, (data.cast(), 24, keeper), sizes, strides, 0, DType::Float32, keys)
        }
    }

    #[test]
    fn what_is_left_becomes_another_tensor_and_what_is_kept_does_not() {
        let mut x = over(None, 7.0, &[2, 3], &[3, 1]).unwrap();
        let (id, before) = (x.id(), FREED.load(Ordering::Relaxed));
        x.fill_from([8f32; 6]).unwrap();
        x.bump_version();
        let left = x.leave_foreign().ok();
        assert!(left.is_some() && FREED.load(Ordering::Relaxed) > before, "the memory is let go of");
        let y = over(left, 9.0, &[3, 2], &[1, 3]).unwrap();
        assert_eq!(
            (y.id(), y.version(), y.to_vec::<f32>().unwrap()),
            (id, 0, vec![9.0, 3.0, 1.0, 4.0, 2.0, 5.0])
        );
        let kept = y.clone();
        assert!(y.leave_foreign().is_err(), "somebody has the tensor");
        let view = kept.strided_view(&[1], &[1], 0).unwrap();
        assert!(kept.leave_foreign().is_err(), "somebody has the memory");
        assert_eq!(view.to_vec::<f32>().unwrap(), [9.0]);
        assert!(Tensor::from([1.0]).leave_foreign().is_err(), "the memory is its own");
        let left = over(None, 0.0, &[6], &[1]).unwrap().leave_foreign().ok();
        assert!(over(left, 0.0, &[7], &[1]).is_err());
    }

    #[test]
    fn retired_memory_is_refused_to_all_handles() {
        let mut x = over(None, 7.0, &[2, 3], &[3, 1]).unwrap();
        let (storage, mut view) = (x.storage().clone(), x.strided_view(&[1], &[1], 0).unwrap());
        assert!(storage.is_foreign() && !Tensor::from([1.0]).storage().is_foreign());
        let reading = view.elements::<f32>().unwrap();
        let error = storage.retire().unwrap_err().to_string();
        assert!(error.starts_with("this memory cannot be given back now: it is being read at"), "{error}");
        drop(reading);
        assert!(!storage.is_retired());
        for _ in 0..2 {
            storage.retire().unwrap();
        }
        assert!(storage.is_retired());
        let error = view.to_vec::<f32>().unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Busy);
        assert!(error.to_string().contains("read any more: it was lent for one call, which has ended"));
        assert!(view.fill(0.0).is_err() && storage.bytes_mut().is_err());
        let handle = x.clone();
        assert!(x.set_geometry(&[1], &[1], 0).is_err(), "this handle relies on it");
        assert!(x.disjoint_parts(0, &[2]).is_err());
        let fresh = Tensor::from([1f32]);
        drop((view, storage, handle));
        x.set_storage(fresh.storage().clone(), &[1], &[1], 0).unwrap();
        assert_eq!(x.to_vec::<f32>().unwrap(), [1.0]);
    }
}
