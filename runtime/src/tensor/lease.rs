//! Leases, which determine what code may currently read or write the elements of a storage.
//!
//! # How it works
//! 1. Handles share memory, and each of them may write: the type system does not tell whether two calls access the same
//!    elements. So every storage has a [`LeaseWord`](super::lease_word::LeaseWord), which counts readers or records one
//!    writer.
//! 2. Code that follows a pointer to elements holds a *lease* on the storage meanwhile: a shared one to read, an
//!    exclusive one to write. There can be any number of shared leases at a time, but an exclusive one excludes all
//!    others. Taking a lease never waits: one that is not available is an `Err` that names the conflicting lease.
//! 3. A lease also protects a tensor's geometry: sizes, strides, offset and storage are only changed by code that may
//!    write to the storage ([`Tensor::set_geometry`], [`Tensor::set_storage`]), or that has the only handle. So
//!    repeated queries give the same result while a lease is held.
//! 4. A storage that lends the host memory of another one uses the word of that one.
//!
//! # Orderings
//! Taking a lease is an acquire operation, and giving it back a release: writes under a lease are visible under the
//! next.
#![expect(unsafe_code, reason = "offers a lease that takes nothing, of memory that was just made")]

use std::panic::Location;
use std::ptr::{self, NonNull};

use smallvec::SmallVec;

use super::{Storage, StorageRef, Tensor};
use crate::dtype::Element;
use crate::error::{Error, ErrorKind, Result};

/// The lease on one tensor's storage, and the address of its elements.
///
/// These are plain values without a destructor; their owners give the leases back. A lease costs a few nanoseconds, and
/// would cost five times as much if each of these had to be kept in memory because it might have to be dropped.
#[derive(Clone, Copy)]
struct Held<'a> {
    hold: Hold<'a>,
    address: Address,
}

/// What has to be given back in the end.
#[derive(Clone, Copy)]
enum Hold<'a> {
    /// Nothing: there is no lease, or another one of the same call covers the storage.
    Nothing,
    /// Nothing: no other code has access to the tensor's storage.
    New(&'a Tensor),
    /// A shared lease on the tensor's storage, which does not change meanwhile.
    Shared(&'a Tensor),
    /// An exclusive lease on the tensor's storage, which does not change meanwhile.
    Exclusive(&'a Tensor),
}

/// The address of a tensor's first element; null if it has to be looked up, or refused.
#[derive(Clone, Copy)]
struct Address(*mut u8);

// SAFETY: an address owns nothing, and is not dereferenced here: code that does so relies on the lease.
unsafe impl Send for Address {}
// SAFETY: a shared reference gives only the address, which is not dereferenced here.
unsafe impl Sync for Address {}

/// For [`hold`]: to read.
const SHARED: bool = false;
/// For [`hold`]: to read and write.
const EXCLUSIVELY: bool = true;

impl Address {
    const UNKNOWN: Address = Address(ptr::null_mut());

    /// The address in a tensor whose storage is still this one, its first.
    #[inline(always)]
    fn of(tensor: &Tensor, storage: &Storage) -> Self {
        match storage.data_ptr() {
            Some(data) if !tensor.is_wrapper() && !tensor.is_lazy() => Address(offset(tensor, data)),
            _ => Address::UNKNOWN,
        }
    }
}

/// The address of a tensor's first element in memory that begins at `data`. Wrapping: without elements the offset may
/// be anything.
#[inline(always)]
fn offset(tensor: &Tensor, data: NonNull<u8>) -> *mut u8 {
    let offset = tensor.storage_offset().wrapping_mul(tensor.dtype().size() as i64);
    data.as_ptr().wrapping_offset(offset as isize)
}

/// Takes a lease on a storage.
#[inline(always)]
fn take<const IS_EXCLUSIVE: bool>(storage: &Storage, place: &'static Location<'static>) -> Result<()> {
    if IS_EXCLUSIVE { storage.lease_word().take(place) } else { storage.lease_word().share(place) }
}

/// Gives a lease back.
#[inline(always)]
fn give_back<const IS_EXCLUSIVE: bool>(storage: &Storage) {
    if IS_EXCLUSIVE {
        storage.lease_word().give_back_exclusive();
    } else {
        storage.lease_word().give_back_shared();
    }
}

/// Takes a lease on a tensor's present storage, which then does not change until the lease is given back.
#[inline(always)]
fn hold<const IS_EXCLUSIVE: bool>(tensor: &Tensor, place: &'static Location<'static>) -> Result<Address> {
    if let Some(storage) = tensor.first_storage() {
        take::<IS_EXCLUSIVE>(storage, place)?;
        // Code that changed the tensor in between had the storage exclusively; from now on that is impossible.
        if tensor.first_storage().is_some() {
            return Ok(Address::of(tensor, storage));
        }
        give_back::<IS_EXCLUSIVE>(storage);
    }
    hold_later::<IS_EXCLUSIVE>(tensor, place)
}

/// [`hold`] for a tensor whose placement was changed, or is being changed.
#[cold]
#[inline(never)]
fn hold_later<const IS_EXCLUSIVE: bool>(
    tensor: &Tensor,
    place: &'static Location<'static>,
) -> Result<Address> {
    loop {
        let storage = tensor.storage();
        take::<IS_EXCLUSIVE>(&storage, place)?;
        if tensor.is_in(&storage) {
            return Ok(Address::UNKNOWN);
        }
        give_back::<IS_EXCLUSIVE>(&storage);
    }
}

/// Gives back the lease that [`hold`] took: the tensor still has the same storage.
#[inline(always)]
fn release<const IS_EXCLUSIVE: bool>(tensor: &Tensor) {
    match tensor.first_storage() {
        Some(storage) => give_back::<IS_EXCLUSIVE>(storage),
        None => give_back::<IS_EXCLUSIVE>(&tensor.storage()),
    }
}

impl<'a> Held<'a> {
    const NOTHING: Self = Held { hold: Hold::Nothing, address: Address::UNKNOWN };

    /// Takes a lease to read a tensor, unless a lease to write in `written` covers its storage.
    #[inline(always)]
    fn read(
        &mut self,
        tensor: &'a Tensor,
        written: &[Held<'a>],
        place: &'static Location<'static>,
    ) -> Result<()> {
        if is_held(written, tensor) {
            let address = tensor.first_storage().map(|storage| Address::of(tensor, storage));
            self.address = address.unwrap_or(Address::UNKNOWN);
            return Ok(());
        }
        self.address = hold::<SHARED>(tensor, place)?;
        self.hold = Hold::Shared(tensor);
        Ok(())
    }

    /// Takes a lease to write a tensor.
    #[inline(always)]
    fn write(&mut self, tensor: &'a Tensor, place: &'static Location<'static>) -> Result<()> {
        self.address = hold::<EXCLUSIVELY>(tensor, place)?;
        self.hold = Hold::Exclusive(tensor);
        Ok(())
    }

    #[inline(always)]
    fn release(&self) {
        match self.hold {
            Hold::Nothing | Hold::New(_) => {}
            Hold::Shared(tensor) => release::<SHARED>(tensor),
            Hold::Exclusive(tensor) => release::<EXCLUSIVELY>(tensor),
        }
    }

    #[inline(always)]
    fn is_of(&self, storage: &Storage) -> bool {
        match self.hold {
            Hold::Nothing => false,
            Hold::New(tensor) | Hold::Shared(tensor) | Hold::Exclusive(tensor) => tensor.lies_in(storage),
        }
    }
}

/// A lease on a storage without a tensor.
pub(super) struct StorageLease<'a> {
    storage: StorageRef<'a>,
    is_exclusive: bool,
}

impl<'a> StorageLease<'a> {
    pub(super) fn shared(storage: StorageRef<'a>, place: &'static Location<'static>) -> Result<Self> {
        take::<SHARED>(&storage, place)?;
        Ok(StorageLease { storage, is_exclusive: false })
    }

    pub(super) fn exclusive(storage: StorageRef<'a>, place: &'static Location<'static>) -> Result<Self> {
        take::<EXCLUSIVELY>(&storage, place)?;
        Ok(StorageLease { storage, is_exclusive: true })
    }
}

impl Drop for StorageLease<'_> {
    fn drop(&mut self) {
        match self.is_exclusive {
            true => give_back::<EXCLUSIVELY>(&self.storage),
            false => give_back::<SHARED>(&self.storage),
        }
    }
}

/// Permission to write the elements of `W` tensors and to read those of `R` others, for as long as this lives: what a
/// kernel holds while it follows pointers.
///
/// While it lives, no other code writes the memory of any of these tensors or reads that of the written ones, and the
/// sizes, strides and memory of the tensors do not change. An attempt, on this thread or another, fails with an error
/// of the kind [`Busy`](ErrorKind::Busy). Dispatch takes no leases; accessors such as [`Tensor::to_vec`] and the loops
/// of `torch_library_kernels` take their own, so only a kernel that follows pointers itself needs this.
///
/// A written tensor may share its memory with the read ones (in place, or through another view); it is up to the kernel
/// to order its reads and writes accordingly. Written tensors share no element with each other.
///
/// ```
/// use torch_library::{ErrorKind, Lease, Tensor};
///
/// let mut x = Tensor::from([1.0, 2.0]);
/// let reading = Lease::new([], [&x])?;
/// assert_eq!(x.to_vec::<f64>()?, [1.0, 2.0]); // other code may read, too
/// assert_eq!(x.clone().fill(0.0).unwrap_err().kind(), ErrorKind::Busy);
/// drop(reading);
/// x.fill(0.0)?;
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: no equivalent; there, reading while another thread writes may see half a write.
pub struct Lease<'a, const W: usize, const R: usize> {
    written: [Held<'a>; W],
    read: [Held<'a>; R],
}

impl<'a, const W: usize, const R: usize> Lease<'a, W, R> {
    /// Takes all leases, or none.
    ///
    /// # Errors
    /// Memory that is in use elsewhere in a conflicting way; written tensors that share elements.
    #[inline(always)]
    #[track_caller]
    pub fn new(written: [&'a Tensor; W], read: [&'a Tensor; R]) -> Result<Self> {
        let place = Location::caller();
        // If there is an error, dropping this gives back the leases taken so far.
        let mut lease = Lease { written: [Held::NOTHING; W], read: [Held::NOTHING; R] };
        write_all(&mut lease.written, written, place)?;
        for (k, held) in lease.read.iter_mut().enumerate() {
            held.read(read[k], &lease.written, place)?;
        }
        Ok(lease)
    }
}

impl<const W: usize, const R: usize> Drop for Lease<'_, W, R> {
    #[inline(always)]
    fn drop(&mut self) {
        release_all(&self.written);
        release_all(&self.read);
    }
}

impl<'a, const R: usize> Lease<'a, 1, R> {
    /// Like [`new`](Self::new), to write a tensor that was just made: no conflict is possible, so no lease on it is
    /// taken.
    ///
    /// # Safety
    /// - As long as the lease lives, only the caller has a handle or a reference to `new`, or a handle to its storage.
    /// - Code that the caller runs meanwhile, closures of users included, cannot access it either.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    #[inline(always)]
    #[track_caller]
    pub unsafe fn with_new(new: &'a Tensor, read: [&'a Tensor; R]) -> Result<Self> {
        let place = Location::caller();
        let address = new.first_storage().map(|storage| Address::of(new, storage));
        let new = Held { hold: Hold::New(new), address: address.unwrap_or(Address::UNKNOWN) };
        let mut lease = Lease { written: [new], read: [Held::NOTHING; R] };
        for (k, held) in lease.read.iter_mut().enumerate() {
            held.read(read[k], &[], place)?; // no other tensor has the storage of the new one
        }
        Ok(lease)
    }

    /// [`Tensor::address_mut`] of the written tensor and [`Tensor::address`] of the others, if all are known already,
    /// and each read tensor either begins where the written one does, or shares no memory with it.
    #[inline(always)]
    pub fn addresses(&self) -> Option<(*mut u8, [*const u8; R])> {
        let to = self.written[0].address.0;
        let (mut from, mut are_known) = ([ptr::null(); R], !to.is_null());
        for (k, Held { hold, address: Address(address) }) in self.read.iter().enumerate() {
            let is_apart = !matches!(hold, Hold::Nothing);
            are_known &= !address.is_null() && (is_apart || ptr::eq(*address, to));
            from[k] = address.cast_const();
        }
        are_known.then_some((to, from))
    }
}

/// A [`Lease`] with any number of read tensors, for kernels that take a list, such as that of `cat`.
pub struct ListLease<'a, const W: usize> {
    written: [Held<'a>; W],
    read: SmallVec<[Held<'a>; 4]>,
}

impl<'a, const W: usize> ListLease<'a, W> {
    /// Takes all leases, or none.
    ///
    /// # Errors
    /// The errors of [`Lease::new`].
    #[track_caller]
    pub fn new(written: [&'a Tensor; W], read: impl IntoIterator<Item = &'a Tensor>) -> Result<Self> {
        let place = Location::caller();
        let mut lease = ListLease { written: [Held::NOTHING; W], read: SmallVec::new() };
        write_all(&mut lease.written, written, place)?;
        for tensor in read {
            let mut held = Held::NOTHING;
            held.read(tensor, &lease.written, place)?;
            lease.read.push(held);
        }
        Ok(lease)
    }
}

impl<const W: usize> Drop for ListLease<'_, W> {
    fn drop(&mut self) {
        release_all(&self.written);
        release_all(&self.read);
    }
}

/// A lease on the memory of one tensor, which it owns: for objects that hold the address of its elements.
///
/// ```
/// use torch_library::{OwnedLease, Tensor};
///
/// let mut x = Tensor::from([1.0, 2.0]);
/// let writing = OwnedLease::exclusive(x.clone())?;
/// assert!(x.to_vec::<f64>().is_err());
/// drop(writing);
/// x.fill(3.0)?;
/// # Ok::<(), torch_library::Error>(())
/// ```
pub struct OwnedLease {
    tensor: Tensor,
    is_exclusive: bool,
}

impl OwnedLease {
    /// A lease to read.
    ///
    /// # Errors
    /// Memory that is being written.
    #[track_caller]
    pub fn shared(tensor: Tensor) -> Result<Self> {
        hold::<SHARED>(&tensor, Location::caller())?;
        Ok(OwnedLease { tensor, is_exclusive: false })
    }

    /// A lease to read and write.
    ///
    /// # Errors
    /// Memory that is being read or written.
    #[track_caller]
    pub fn exclusive(tensor: Tensor) -> Result<Self> {
        hold::<EXCLUSIVELY>(&tensor, Location::caller())?;
        Ok(OwnedLease { tensor, is_exclusive: true })
    }

    /// The tensor, whose geometry does not change while the lease lives.
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }
}

impl Drop for OwnedLease {
    fn drop(&mut self) {
        match self.is_exclusive {
            true => release::<EXCLUSIVELY>(&self.tensor),
            false => release::<SHARED>(&self.tensor),
        }
    }
}

/// Takes exclusive leases, one for each storage.
#[inline(always)]
fn write_all<'a, const W: usize>(
    held: &mut [Held<'a>; W],
    tensors: [&'a Tensor; W],
    place: &'static Location<'static>,
) -> Result<()> {
    for (k, tensor) in tensors.iter().enumerate() {
        if !is_held(&held[..k], tensor) {
            held[k].write(tensor, place)?;
        }
    }
    // Only now do the geometries no longer change.
    for (k, tensor) in tensors.iter().enumerate() {
        for other in &tensors[..k] {
            tensor.check_apart_from(other)?;
        }
    }
    Ok(())
}

/// Whether one of these leases is on a tensor's storage.
#[inline(always)]
fn is_held(held: &[Held<'_>], tensor: &Tensor) -> bool {
    if held.is_empty() {
        return false;
    }
    match tensor.first_storage() {
        Some(storage) => is_any_of(held, storage),
        None => is_any_of(held, &tensor.storage()),
    }
}

// Loops instead of iterators with closures, whose calls would not be inlined here.

#[inline(always)]
fn is_any_of(held: &[Held<'_>], storage: &Storage) -> bool {
    for held in held {
        if held.is_of(storage) {
            return true;
        }
    }
    false
}

#[inline(always)]
fn release_all(held: &[Held<'_>]) {
    for held in held {
        held.release();
    }
}

/// Leases that give access to addresses: [`Lease`], [`ListLease`] and [`OwnedLease`].
pub trait Leased: sealed::Sealed {}

impl<const W: usize, const R: usize> Leased for Lease<'_, W, R> {}
impl<const W: usize> Leased for ListLease<'_, W> {}
impl Leased for OwnedLease {}

mod sealed {
    use super::super::Storage;
    use super::{Lease, ListLease, OwnedLease, is_any_of};

    pub trait Sealed {
        /// Whether the storage may be read.
        fn reads(&self, storage: &Storage) -> bool;
        /// Whether it may be written.
        fn writes(&self, storage: &Storage) -> bool;
    }

    impl<const W: usize, const R: usize> Sealed for Lease<'_, W, R> {
        #[inline(always)]
        fn reads(&self, storage: &Storage) -> bool {
            is_any_of(&self.read, storage) || self.writes(storage)
        }

        #[inline(always)]
        fn writes(&self, storage: &Storage) -> bool {
            is_any_of(&self.written, storage)
        }
    }

    impl<const W: usize> Sealed for ListLease<'_, W> {
        #[inline(always)]
        fn reads(&self, storage: &Storage) -> bool {
            is_any_of(&self.read, storage) || self.writes(storage)
        }

        #[inline(always)]
        fn writes(&self, storage: &Storage) -> bool {
            is_any_of(&self.written, storage)
        }
    }

    impl Sealed for OwnedLease {
        #[inline(always)]
        fn reads(&self, storage: &Storage) -> bool {
            self.tensor.lies_in(storage)
        }

        #[inline(always)]
        fn writes(&self, storage: &Storage) -> bool {
            self.is_exclusive && self.reads(storage)
        }
    }
}

impl Tensor {
    /// The address of element `[0, 0, …]`, for kernels; the others follow from the [strides](Tensor::strides), which do
    /// not change while the lease lives.
    ///
    /// The pointer is valid for reads of all elements as long as the lease lives. For a tensor without elements it must
    /// not be dereferenced. Elements of type `bool` that came from a [`Storage`] with other bytes need not be 0 or 1.
    ///
    /// ```
    /// use torch_library::{Lease, Tensor};
    ///
    /// let x = Tensor::from([1.5, 2.5]);
    /// let lease = Lease::new([], [&x])?;
    /// let data = x.data_ptr::<f64>(&lease)?;
    /// // SAFETY: the tensor has two elements, and the lease excludes writers.
    /// assert_eq!(unsafe { data.add(1).read() }, 2.5);
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// # Errors
    /// A tensor of another type, one whose memory the host cannot access, or one that the lease does not cover.
    #[inline]
    pub fn data_ptr<T: Element>(&self, lease: &impl Leased) -> Result<*const T> {
        self.check_dtype(T::DTYPE)?;
        self.address(lease).map(<*const u8>::cast)
    }

    /// Like [`data_ptr`](Self::data_ptr), for a tensor that the lease allows to write: the pointer is valid for reads
    /// and writes.
    ///
    /// # Errors
    /// The errors of [`data_ptr`](Self::data_ptr).
    #[inline]
    pub fn data_ptr_mut<T: Element>(&self, lease: &impl Leased) -> Result<*mut T> {
        self.check_dtype(T::DTYPE)?;
        self.address_mut(lease).map(<*mut u8>::cast)
    }

    /// Like [`data_ptr`](Self::data_ptr), for any element type.
    ///
    /// # Errors
    /// Memory that the host cannot access; a tensor that the lease does not cover.
    #[inline]
    pub fn address(&self, lease: &impl Leased) -> Result<*const u8> {
        self.leased_address(|storage| lease.reads(storage)).map(<*mut u8>::cast_const)
    }

    /// Like [`data_ptr_mut`](Self::data_ptr_mut), for any element type.
    ///
    /// # Errors
    /// Memory that the host cannot access; a tensor that the lease does not allow to write.
    #[inline]
    pub fn address_mut(&self, lease: &impl Leased) -> Result<*mut u8> {
        self.leased_address(|storage| lease.writes(storage))
    }

    /// Whether this is the tensor's memory.
    #[inline(always)]
    fn lies_in(&self, storage: &Storage) -> bool {
        match self.first_storage() {
            Some(own) => own.is_memory_of(storage),
            None => self.storage().is_memory_of(storage),
        }
    }

    #[inline(always)]
    fn leased_address(&self, is_leased: impl FnOnce(&Storage) -> bool) -> Result<*mut u8> {
        match self.first_storage() {
            Some(storage) => self.address_in(storage, is_leased(storage)),
            None => {
                let storage = self.storage();
                self.address_in(&storage, is_leased(&storage))
            }
        }
    }

    #[inline(always)]
    fn address_in(&self, storage: &Storage, is_leased: bool) -> Result<*mut u8> {
        if !is_leased {
            return Err(self.not_leased());
        }
        Ok(offset(self, self.host_ptr(storage)?))
    }

    #[cold]
    fn not_leased(&self) -> Error {
        let sizes = self.sizes();
        let message = format!("elements of sizes {sizes:?} were accessed under a lease on other tensors");
        Error::new(ErrorKind::Internal, message)
    }
}

#[cfg(test)]
mod tests;
