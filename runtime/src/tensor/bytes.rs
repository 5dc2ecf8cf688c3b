//! The bytes of a storage as slices, for backends that work in host memory.
#![expect(unsafe_code, reason = "lends host memory as slices, under a lease")]

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::ptr::NonNull;

use super::lease::StorageLease;
use super::storage::{Storage, StorageRef};
use crate::bail;
use crate::error::Result;
use crate::guard;

/// The bytes of a storage; they are not written while this lives.
pub struct StorageBytes<'a> {
    bytes: Bytes<&'a [u8]>,
    _lease: StorageLease<'a>,
}

/// The bytes of a storage; no other code reads or writes them while this lives.
pub struct StorageBytesMut<'a> {
    bytes: Bytes<&'a mut [u8]>,
    _lease: StorageLease<'a>,
}

/// Equivalent to the reference `R`, while a lease is held.
///
/// It is not itself a reference, because a function that gets one may rely on it until it returns, even if it is in a
/// struct whose lease is given back earlier. The standard library's `RefMut` stores a pointer for the same reason.
struct Bytes<R> {
    bytes: NonNull<[u8]>,
    reference: PhantomData<R>,
}

// SAFETY: this gives access to a `&[u8]`, which is `Send`: the lease excludes writers, whichever thread holds it.
unsafe impl Send for Bytes<&[u8]> {}
// SAFETY: a shared reference gives access to a `&[u8]`, which is `Sync`; the lease excludes writers.
unsafe impl Sync for Bytes<&[u8]> {}
// SAFETY: this gives access to a `&mut [u8]`, which is `Send`: the lease excludes all other accesses, whichever thread
// holds it.
unsafe impl Send for Bytes<&mut [u8]> {}
// SAFETY: a shared reference gives access to a `&[u8]`, which is `Sync`; the lease excludes all other accesses.
unsafe impl Sync for Bytes<&mut [u8]> {}

impl Storage {
    /// Read access to all bytes.
    ///
    /// ```
    /// use torch_library::Storage;
    ///
    /// let storage = Storage::from_vec(vec![1u8, 2, 3]);
    /// storage.bytes_mut()?[1] = 20;
    /// assert_eq!(*storage.bytes()?, [1, 20, 3]);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// Memory that the host cannot access, or that is being written.
    #[track_caller]
    pub fn bytes(&self) -> Result<StorageBytes<'_>> {
        let lease = StorageLease::shared(StorageRef::Borrowed(self), Location::caller())?;
        Ok(StorageBytes { bytes: self.host_bytes()?, _lease: lease })
    }

    /// Read and write access to all bytes.
    ///
    /// For backends: it acts [below all layers](crate::guide::memory#below-all-layers), where gradients, vmap and
    /// traces do not see it. Programs call `copy_`, or another in-place operator.
    ///
    /// # Errors
    /// Memory that the host cannot access, or that is being read or written.
    #[track_caller]
    pub fn bytes_mut(&self) -> Result<StorageBytesMut<'_>> {
        let lease = StorageLease::exclusive(StorageRef::Borrowed(self), Location::caller())?;
        let bytes = self.host_bytes()?;
        if guard::is_above_bookkeeping() && !self.is_sole_owner() {
            self.bump_version();
        }
        Ok(StorageBytesMut { bytes, _lease: lease })
    }

    /// The address and number of the bytes, valid as long as `self` is borrowed.
    fn host_bytes<R>(&self) -> Result<Bytes<R>> {
        match self.data_ptr() {
            Some(data) => {
                let bytes = NonNull::slice_from_raw_parts(data, self.nbytes());
                Ok(Bytes { bytes, reference: PhantomData })
            }
            None => {
                bail!(Device, "the bytes of a storage on {} cannot be accessed from the host", self.device())
            }
        }
    }
}

impl Deref for StorageBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are initialised and valid as long as the storage is borrowed (`host_bytes`); the lease
        // excludes writers while `self` lives.
        unsafe { self.bytes.bytes.as_ref() }
    }
}

impl Deref for StorageBytesMut<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are initialised and valid as long as the storage is borrowed (`host_bytes`); the exclusive
        // lease excludes other accesses while `self` lives, and there is no mutable borrow of `self` now.
        unsafe { self.bytes.bytes.as_ref() }
    }
}

impl DerefMut for StorageBytesMut<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the bytes are initialised and valid as long as the storage is borrowed (`host_bytes`); the exclusive
        // lease excludes all other accesses while `self` lives, which is borrowed only for this slice.
        unsafe { self.bytes.bytes.as_mut() }
    }
}
