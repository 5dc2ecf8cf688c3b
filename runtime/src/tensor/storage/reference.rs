//! References to a tensor's storage, which another handle may replace at any time.

use std::marker::PhantomData;
use std::ops::Deref;

use super::{Storage, StorageImpl};

/// The storage of a tensor at one moment; use it like a `&Storage`.
#[derive(Debug)]
pub enum StorageRef<'a> {
    /// The first storage of a tensor, which the tensor keeps alive.
    Borrowed(&'a Storage),
    /// A later storage.
    Owned(Storage),
}

/// A backend's own type in the storage of a tensor; use it like a `&S`.
pub struct BackendRef<'a, S> {
    storage: StorageRef<'a>,
    backend: PhantomData<fn() -> S>,
}

impl<'a> StorageRef<'a> {
    /// The backend's own type, if this is its memory, for as long as the tensor is borrowed.
    ///
    /// ```
    /// use torch_library::{BackendRef, Device, DispatchKeySet, DType, Storage, StorageImpl, Tensor};
    ///
    /// /// A buffer in some other place.
    /// struct Remote { handle: u32 }
    ///
    /// impl StorageImpl for Remote {
    ///     fn nbytes(&self) -> usize { 4 }
    ///     fn device(&self) -> Device { "privateuseone:0".parse().unwrap() }
    /// }
    ///
    /// fn remote(tensor: &Tensor) -> Option<BackendRef<'_, Remote>> {
    ///     tensor.storage().downcast()
    /// }
    ///
    /// let storage = Storage::new(Remote { handle: 7 });
    /// let x = Tensor::from_storage(storage, &[1], &[1], 0, DType::Float32, DispatchKeySet::EMPTY)?;
    /// assert_eq!(remote(&x).unwrap().handle, 7);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    pub fn downcast<S: StorageImpl>(self) -> Option<BackendRef<'a, S>> {
        self.downcast_ref::<S>()?;
        Some(BackendRef { storage: self, backend: PhantomData })
    }
}

impl Deref for StorageRef<'_> {
    type Target = Storage;

    #[inline(always)]
    fn deref(&self) -> &Storage {
        match self {
            StorageRef::Borrowed(storage) => storage,
            StorageRef::Owned(storage) => storage,
        }
    }
}

impl<S: StorageImpl> Deref for BackendRef<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.storage.downcast_ref().expect("`downcast` found this type, and a storage keeps its backend")
    }
}
