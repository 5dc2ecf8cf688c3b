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

/// The bytes of a storage; nobody writes them while this lives.
pub struct StorageBytes<'a> {
    bytes: Bytes<&'a [u8]>,
    _lease: StorageLease<'a>,
}

/// The bytes of a storage; nobody else reads or writes them while this lives.
pub struct StorageBytesMut<'a> {
    bytes: Bytes<&'a mut [u8]>,
    _lease: StorageLease<'a>,
}

/// As good as the reference `R`, while a lease is held.
///
/// Not one itself: a function that gets a reference may count on it until it returns, even in a struct whose lease it
/// gives back before. The standard library's `RefMut` keeps a pointer for the same reason.
struct Bytes<R> {
    bytes: NonNull<[u8]>,
    reference: PhantomData<R>,
}

// SAFETY: to be shared, a `&[u8]`, which is `Send`: the lease keeps writers away, whichever thread has it.
unsafe impl Send for Bytes<&[u8]> {}
// SAFETY: a shared reference gives out a `&[u8]`, which is `Sync`; the lease keeps writers away.
unsafe impl Sync for Bytes<&[u8]> {}
// SAFETY: a `&mut [u8]`, which is `Send`: the lease keeps everybody else away, whichever thread has it.
unsafe impl Send for Bytes<&mut [u8]> {}
// SAFETY: a shared reference gives out a `&[u8]`, which is `Sync`; the lease keeps everybody else away.
unsafe impl Sync for Bytes<&mut [u8]> {}

impl Storage {
    /// All bytes, to be read.
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
    /// Memory that the host does not reach, or that somebody writes now.
    #[track_caller]
    pub fn bytes(&self) -> Result<StorageBytes<'_>> {
        let lease = StorageLease::shared(StorageRef::Borrowed(self), Location::caller())?;
        Ok(StorageBytes { bytes: self.host_bytes()?, _lease: lease })
    }

    /// All bytes, to be read and written.
    ///
    /// # Errors
    /// Memory that the host does not reach, or that somebody reads or writes now.
    #[track_caller]
    pub fn bytes_mut(&self) -> Result<StorageBytesMut<'_>> {
        let lease = StorageLease::exclusive(StorageRef::Borrowed(self), Location::caller())?;
        Ok(StorageBytesMut { bytes: self.host_bytes()?, _lease: lease })
    }

    /// Where they are, for as long as `self` is borrowed.
    fn host_bytes<R>(&self) -> Result<Bytes<R>> {
        match self.data_ptr() {
            Some(data) => {
                let bytes = NonNull::slice_from_raw_parts(data, self.nbytes());
                Ok(Bytes { bytes, reference: PhantomData })
            }
            None => bail!(Device, "the bytes of a storage on {} are out of the host's reach", self.device()),
        }
    }
}

impl Deref for StorageBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many initialised bytes lie there as long as the storage is borrowed (`host_bytes`); the lease
        // keeps writers away while `self` is.
        unsafe { self.bytes.bytes.as_ref() }
    }
}

impl Deref for StorageBytesMut<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many initialised bytes lie there as long as the storage is borrowed (`host_bytes`); the exclusive
        // lease keeps others away while `self` is, and who borrows `self` mutably does not do so now.
        unsafe { self.bytes.bytes.as_ref() }
    }
}

impl DerefMut for StorageBytesMut<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: so many initialised bytes lie there as long as the storage is borrowed (`host_bytes`); the exclusive
        // lease keeps everybody else away while `self` is, which is borrowed for this slice alone.
        unsafe { self.bytes.bytes.as_mut() }
    }
}
