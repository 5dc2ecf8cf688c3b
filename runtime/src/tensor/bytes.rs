//! The bytes of a storage as slices, for backends that work in host memory.
#![expect(unsafe_code, reason = "lends host memory as slices, under a lease")]

use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::slice;

use super::lease::StorageLease;
use super::storage::{Storage, StorageRef};
use crate::bail;
use crate::error::Result;

/// The bytes of a storage; nobody writes them while this lives.
pub struct StorageBytes<'a> {
    bytes: &'a [u8],
    _lease: StorageLease<'a>,
}

/// The bytes of a storage; nobody else reads or writes them while this lives.
pub struct StorageBytesMut<'a> {
    bytes: &'a mut [u8],
    _lease: StorageLease<'a>,
}

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
        let data = self.host_ptr()?;
        // SAFETY: `nbytes` initialised bytes lie there as long as `self` is borrowed; the lease keeps writers away
        // while the slice lives.
        let bytes = unsafe { slice::from_raw_parts(data, self.nbytes()) };
        Ok(StorageBytes { bytes, _lease: lease })
    }

    /// All bytes, to be read and written.
    ///
    /// # Errors
    /// Memory that the host does not reach, or that somebody reads or writes now.
    #[track_caller]
    pub fn bytes_mut(&self) -> Result<StorageBytesMut<'_>> {
        let lease = StorageLease::exclusive(StorageRef::Borrowed(self), Location::caller())?;
        let data = self.host_ptr()?;
        // SAFETY: `nbytes` initialised bytes lie there as long as `self` is borrowed; the exclusive lease keeps
        // everybody else away while the slice lives.
        let bytes = unsafe { slice::from_raw_parts_mut(data, self.nbytes()) };
        Ok(StorageBytesMut { bytes, _lease: lease })
    }

    fn host_ptr(&self) -> Result<*mut u8> {
        match self.data_ptr() {
            Some(data) => Ok(data.as_ptr()),
            None => bail!(Device, "the bytes of a storage on {} are out of the host's reach", self.device()),
        }
    }
}

impl Deref for StorageBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl Deref for StorageBytesMut<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl DerefMut for StorageBytesMut<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.bytes
    }
}
