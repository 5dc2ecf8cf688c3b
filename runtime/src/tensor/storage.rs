//! Storages: reference-counted memory of any device, with the version counter that all tensors over it share.
#![expect(unsafe_code, reason = "owns raw memory that handles share")]

use std::alloc;
use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use triomphe::{Arc, HeaderSlice, UniqueArc};

use super::lease_word::LeaseWord;
use crate::device::Device;
use crate::dropping::{self, Queue};
use crate::dtype::Element;
use crate::ensure;
use crate::error::{Error, ErrorKind, Result};

mod foreign;
mod pages;
mod reference;
mod spare;

pub use foreign::Foreign;
pub use reference::{BackendRef, StorageRef};

/// The memory of a backend's tensors: buffers, handles, or anything else that the backend owns.
///
/// The runtime needs only the size and the device; the backend's kernels get their own type back with
/// [`Storage::downcast_ref`]. A backend that works in host memory builds on [`Storage::zeroed`] instead, or returns
/// such a storage from [`host`](StorageImpl::host).
///
/// ```
/// use torch_library::{Device, Storage, StorageImpl};
///
/// /// A buffer in some other place.
/// struct Remote { handle: u32, nbytes: usize }
///
/// impl StorageImpl for Remote {
///     fn nbytes(&self) -> usize { self.nbytes }
///     fn device(&self) -> Device { "privateuseone:0".parse().unwrap() }
/// }
///
/// let storage = Storage::new(Remote { handle: 7, nbytes: 64 });
/// assert_eq!(storage.downcast_ref::<Remote>().unwrap().handle, 7);
/// assert!(storage.data_ptr().is_none());
/// ```
///
/// PyTorch: `c10::StorageImpl`.
pub trait StorageImpl: Any + Send + Sync {
    /// The number of bytes available for elements.
    fn nbytes(&self) -> usize;

    /// The device of the memory.
    fn device(&self) -> Device;

    /// Why the elements cannot be accessed, if the reason is not that they are on a device: for messages.
    fn why_unreachable(&self) -> Option<&'static str> {
        None
    }

    /// The same bytes as host memory, if the host can access them. Called once.
    fn host(&self) -> Option<&Storage> {
        None
    }
}

/// A handle to a block of memory; clones share the block.
///
/// Host memory is aligned to 64 bytes, and zeroed unless requested otherwise, so that no element is ever uninitialised.
/// Blocks below 32 KiB are in one allocation with the data that handles share; larger blocks are kept for reuse, as a
/// whole or in parts, when they are freed, 32 MiB of them at most. A block never moves and never changes its size: a
/// tensor that needs more gets a new one.
///
/// The **version counter** is part of the storage, so all views of one storage share it, however they were created.
///
/// PyTorch: `c10::Storage`, and the counter of `VariableVersion`.
#[derive(Clone)]
pub struct Storage(Arc<HeaderSlice<Inner, [Byte]>>);

struct Inner {
    /// The start of the host memory: valid for reads and writes of `nbytes` initialised bytes until `owner` is dropped.
    /// `None` if the host cannot access the memory.
    data: Option<NonNull<u8>>,
    nbytes: usize,
    device: Device,
    version: AtomicU64,
    lease: LeaseWord,
    owner: Owner,
}

/// The owner of the memory.
enum Owner {
    /// The storage itself: an allocation of the global allocator, with what is needed to free it.
    Heap { base: NonNull<u8>, layout: alloc::Layout },
    /// A backend's own type, and the storage of its host memory, if it has any. The latter is held here, since `data`
    /// points into it, and never itself borrows memory from another storage.
    Backend { backend: Box<dyn StorageImpl>, host: Option<Storage> },
    /// A value that keeps the memory alive.
    Keeper { _keeper: Box<dyn Any + Send + Sync> },
    /// An object of another library that keeps the memory alive.
    Foreign { _keeper: Foreign },
    /// Nothing: the memory is part of this allocation, or there is none at all (meta).
    Nothing,
}

/// Memory in the allocation of the handles, written through a pointer while they share it.
#[repr(transparent)]
struct Byte(UnsafeCell<MaybeUninit<u8>>);

// SAFETY: a shared reference gives only its address. Code that dereferences that holds a lease meanwhile.
unsafe impl Sync for Byte {}

// SAFETY: `data` and `base` point to memory that the storage owns, or that a `Send` value in `owner` keeps alive; it is
// not bound to a thread. The `Location` that the lease word points to is a constant.
unsafe impl Send for Inner {}
// SAFETY: `&Inner` gives only addresses and sizes. Code that dereferences an address holds a lease meanwhile.
unsafe impl Sync for Inner {}

impl Storage {
    /// Alignment of host memory allocated here, in bytes: a cache line, and the widest vector registers.
    pub const ALIGN: usize = 64;

    /// Zeroed host memory on behalf of a device.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn zeroed(nbytes: usize, device: Device) -> Result<Storage> {
        Self::allocate(nbytes, device, true)
    }

    /// Uninitialised host memory on behalf of a device: for results that a kernel writes completely.
    ///
    /// # Errors
    /// There is not enough memory.
    ///
    /// # Safety
    /// - Every byte is written before it is read, through any handle, and before safe code gets the storage.
    pub unsafe fn uninit(nbytes: usize, device: Device) -> Result<Storage> {
        Self::allocate(nbytes, device, false)
    }

    fn allocate(nbytes: usize, device: Device, is_zeroed: bool) -> Result<Storage> {
        if cfg!(exact_blocks) {
            return Self::allocate_exactly(nbytes, device, is_zeroed);
        }
        match nbytes < spare::SMALLEST {
            true => Self::allocate_inside(nbytes, device, is_zeroed),
            false => Self::allocate_apart(nbytes, device, is_zeroed),
        }
    }

    /// Memory inside the allocation of the handle.
    #[inline]
    fn allocate_inside(nbytes: usize, device: Device, is_zeroed: bool) -> Result<Storage> {
        let inner = Inner::new(None, nbytes, device, Owner::Nothing);
        let room = nbytes + (Self::ALIGN - align_of::<Inner>());
        let Ok(block) =
            UniqueArc::<HeaderSlice<Inner, [MaybeUninit<Byte>]>>::try_from_header_and_uninit_slice(
                inner, room,
            )
        else {
            return Err(out_of_memory(nbytes));
        };
        // SAFETY: `try_from_header_and_uninit_slice` wrote the header, and a `Byte` is a `MaybeUninit`, for which any
        // bytes are valid.
        let mut block = unsafe { block.assume_init_slice_with_header() };
        let HeaderSlice { header, slice } = &mut *block;
        let base = NonNull::from(slice).cast::<u8>();
        // SAFETY: the bytes after an `Inner` start at a multiple of its alignment, so the next multiple of ALIGN is
        // within `room`, and at least `nbytes` bytes follow it.
        let data = unsafe { base.add(base.align_offset(Self::ALIGN)) };
        if is_zeroed {
            // SAFETY: the `nbytes` bytes from `data` on are within `room`, and no other code has the block yet.
            unsafe { data.write_bytes(0, nbytes) };
        }
        header.data = Some(data);
        Ok(Storage(block.shareable()))
    }

    /// Memory in a separate allocation.
    fn allocate_apart(nbytes: usize, device: Device, is_zeroed: bool) -> Result<Storage> {
        // Over-allocated with the system's alignment and aligned here: only then is zeroing free (calloc).
        let padded = nbytes.checked_add(Self::ALIGN - spare::ALIGN);
        let layout = padded.and_then(|padded| alloc::Layout::from_size_align(padded, spare::ALIGN).ok());
        let Some(layout) = layout else { return Err(out_of_memory(nbytes)) };
        let (base, layout) = match (spare::take(layout), is_zeroed) {
            (Some((base, taken)), true) => {
                // SAFETY: `take` returns blocks of at least this size, which no other code uses.
                unsafe { base.write_bytes(0, layout.size()) };
                (Some(base), taken)
            }
            (Some((base, taken)), false) => (Some(base), taken),
            // SAFETY: the layout's size is at least `ALIGN - spare::ALIGN`, not zero.
            (None, true) => (NonNull::new(unsafe { alloc::alloc_zeroed(layout) }), layout),
            (None, false) => {
                // SAFETY: the layout's size is at least `ALIGN - spare::ALIGN`, not zero.
                let base = NonNull::new(unsafe { alloc::alloc(layout) });
                (base.inspect(|base| pages::widen(*base, layout.size())), layout)
            }
        };
        let Some(base) = base else { return Err(out_of_memory(nbytes)) };
        // SAFETY: `base` is a multiple of `spare::ALIGN`, so the next multiple of ALIGN is at most `ALIGN -
        // spare::ALIGN` bytes further, and at least `nbytes` bytes follow it.
        let data = unsafe { base.add(base.align_offset(Self::ALIGN)) };
        Ok(Self::from_inner(Some(data), nbytes, device, Owner::Heap { base, layout }))
    }

    /// Memory in an allocation that ends with its last byte, and is not reused when it is freed: so AddressSanitizer
    /// and Miri see every access beyond a block. (Other blocks are followed by padding, or preceded by what handles
    /// share.) Memory that is not zeroed holds other bytes each time, so that an element that a kernel leaves out
    /// differs between equal calls. It is chosen by `--cfg exact_blocks`.
    fn allocate_exactly(nbytes: usize, device: Device, is_zeroed: bool) -> Result<Storage> {
        static FILLER: AtomicU8 = AtomicU8::new(0x35);
        let layout = alloc::Layout::from_size_align(nbytes.max(1), Self::ALIGN);
        let Ok(layout) = layout else { return Err(out_of_memory(nbytes)) };
        // SAFETY: the layout's size is not zero.
        let base = NonNull::new(unsafe {
            if is_zeroed { alloc::alloc_zeroed(layout) } else { alloc::alloc(layout) }
        });
        let Some(base) = base else { return Err(out_of_memory(nbytes)) };
        if !is_zeroed && !cfg!(miri) {
            // SAFETY: the block has as many bytes, and no other code has it yet.
            unsafe { base.write_bytes(FILLER.fetch_add(0x1b, Ordering::Relaxed), nbytes) };
        }
        Ok(Self::from_inner(Some(base), nbytes, device, Owner::Heap { base, layout }))
    }

    /// The memory of a vector, which is not copied.
    pub fn from_vec<T: Element>(vec: Vec<T>) -> Storage {
        let mut vec = ManuallyDrop::new(vec); // the elements are Copy: only the allocation has to be freed
        let (nbytes, capacity) = (size_of_val(vec.as_slice()), vec.capacity());
        let layout = alloc::Layout::array::<T>(capacity).expect("a vector's allocation has a layout");
        let base = NonNull::new(vec.as_mut_ptr().cast::<u8>()).expect("a vector's pointer is not null");
        Self::from_inner(Some(base), nbytes, Device::CPU, Owner::Heap { base, layout })
    }

    /// A size without memory, for devices that only compute shapes.
    pub fn without_data(nbytes: usize, device: Device) -> Storage {
        Self::from_inner(None, nbytes, device, Owner::Nothing)
    }

    /// A backend's own memory.
    ///
    /// # Panics
    /// The backend's host memory is smaller than its `nbytes`, which is a bug in the backend.
    pub fn new(backend: impl StorageImpl) -> Storage {
        let (nbytes, device, host) =
            (backend.nbytes(), backend.device(), backend.host().map(Storage::root).cloned());
        let data = host.as_ref().and_then(|host| host.data_ptr());
        let enough = host.as_ref().is_none_or(|host| nbytes <= host.nbytes());
        assert!(enough, "the storage of {device} claims {nbytes} bytes, more than its host memory has");
        Self::from_inner(data, nbytes, device, Owner::Backend { backend: Box::new(backend), host })
    }

    /// Host memory owned by other code, which lives as long as `keeper`: a memory map, another library's tensor.
    ///
    /// # Safety
    /// From now until `keeper` is dropped:
    /// - `data` is valid for reads and writes of `nbytes` initialised bytes, from any thread;
    /// - no other code writes them while there may be a lease on this storage, or reads them while there may be an
    ///   exclusive one. Two storages over the same bytes know nothing of each other's leases.
    pub unsafe fn from_raw_parts(
        data: NonNull<u8>,
        nbytes: usize,
        device: Device,
        keeper: Box<dyn Any + Send + Sync>,
    ) -> Storage {
        Self::from_inner(Some(data), nbytes, device, Owner::Keeper { _keeper: keeper })
    }

    /// Like [`from_raw_parts`](Self::from_raw_parts), for memory that an object of another library keeps alive: nothing
    /// is allocated for the keeper.
    ///
    /// # Safety
    /// - The requirements of [`from_raw_parts`](Self::from_raw_parts), until the object is freed or the storage
    ///   [retired](Self::retire).
    #[inline]
    pub unsafe fn from_foreign(data: NonNull<u8>, nbytes: usize, device: Device, keeper: Foreign) -> Storage {
        Self::from_inner(Some(data), nbytes, device, Owner::Foreign { _keeper: keeper })
    }

    #[inline]
    fn from_inner(data: Option<NonNull<u8>>, nbytes: usize, device: Device, owner: Owner) -> Storage {
        let inner = Inner::new(data, nbytes, device, owner);
        Storage(Arc::from_header_and_iter(inner, std::iter::empty()))
    }

    #[inline(always)]
    fn inner(&self) -> &Inner {
        &self.0.header
    }

    /// The storage that owns this memory: this one, or the one that a backend lends.
    fn root(&self) -> &Storage {
        match &self.inner().owner {
            Owner::Backend { host: Some(host), .. } => host,
            _ => self,
        }
    }

    /// Whether both are the same memory: the same block, or one that a backend lends.
    #[inline]
    pub(super) fn is_memory_of(&self, other: &Storage) -> bool {
        self.is_same(other) || self.root().is_same(other.root())
    }

    /// The lease word of the memory.
    #[inline]
    pub(super) fn lease_word(&self) -> &LeaseWord {
        &self.root().inner().lease
    }

    /// The size of the block in bytes.
    #[inline]
    pub fn nbytes(&self) -> usize {
        self.inner().nbytes
    }

    /// The device of the block.
    #[inline]
    pub fn device(&self) -> Device {
        self.inner().device
    }

    /// The start of the block, if the host can access it: [`nbytes`](Storage::nbytes) initialised bytes, valid for as
    /// long as a handle lives. Code that dereferences the pointer holds a [`Lease`](crate::Lease) on a tensor over this
    /// storage meanwhile; [`bytes`](Storage::bytes) and [`bytes_mut`](Storage::bytes_mut) are slices with a lease of
    /// their own.
    #[inline]
    pub fn data_ptr(&self) -> Option<NonNull<u8>> {
        self.inner().data
    }

    /// The backend's own type, if this is its memory.
    pub fn downcast_ref<S: StorageImpl>(&self) -> Option<&S> {
        match &self.inner().owner {
            Owner::Backend { backend, .. } => (&**backend as &dyn Any).downcast_ref(),
            _ => None,
        }
    }

    /// Why the host cannot access the elements, if the backend says so.
    pub(crate) fn why_unreachable(&self) -> Option<&'static str> {
        match &self.inner().owner {
            Owner::Backend { backend, .. } => backend.why_unreachable(),
            _ => None,
        }
    }

    /// Whether this is the only handle of the block.
    pub(crate) fn is_sole_owner(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// A number that identifies this block while it lives, the same for all of its handles.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether both handles refer to one block.
    #[inline]
    pub fn is_same(&self, other: &Storage) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The version counter: how often the block was written in place, as counted by
    /// [`bump_version`](Storage::bump_version).
    #[inline]
    pub fn version(&self) -> u64 {
        self.inner().version.load(Ordering::Relaxed) // a counter, which publishes no other memory
    }

    /// Counts an in-place write.
    #[inline]
    pub fn bump_version(&self) {
        self.inner().version.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts to count where the memory that this block replaces has stopped, so that no version counts twice.
    pub(super) fn continue_version(&self, version: u64) {
        self.inner().version.store(version, Ordering::Relaxed);
    }

    /// Checks that a pointer into the block, `offset` bytes from its start, is aligned for elements of this alignment.
    pub(crate) fn check_alignment(&self, align: usize) -> Result<()> {
        let Some(data) = self.data_ptr() else { return Ok(()) };
        let address = data.addr().get();
        ensure!(
            self.nbytes() == 0 || address.is_multiple_of(align),
            Argument,
            "storage at address {address:#x} cannot hold elements that are aligned to {align} bytes"
        );
        Ok(())
    }
}

impl Inner {
    fn new(data: Option<NonNull<u8>>, nbytes: usize, device: Device, owner: Owner) -> Inner {
        Inner { data, nbytes, device, version: AtomicU64::new(0), lease: LeaseWord::new(), owner }
    }
}

thread_local! {
    static OWNERS: Queue<Owner> = const { Queue::new() };
}

impl Drop for Inner {
    fn drop(&mut self) {
        match self.owner {
            Owner::Heap { base, layout } if layout.size() != 0 => {
                // SAFETY: `base` came from the global allocator with this layout: in `allocate_apart` or
                // `allocate_exactly`, or in the vector that `from_vec` took; or else from `spare::take`. It was not
                // freed before, since an `Inner` is not copied, and it is no longer accessed: code that has `data` also
                // has a handle, of which this was the last.
                unsafe { spare::free(base, layout) }
            }
            Owner::Heap { .. } | Owner::Nothing => {}
            // The owner may hold storages, which may have such owners themselves, and so on: recursion could overflow
            // the stack.
            Owner::Backend { .. } | Owner::Keeper { .. } | Owner::Foreign { .. } => {
                dropping::in_turn(&OWNERS, mem::replace(&mut self.owner, Owner::Nothing));
            }
        }
    }
}

/// The block's device and size, not its bytes.
impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Storage").field("device", &self.device()).field("nbytes", &self.nbytes()).finish()
    }
}

#[cold]
fn out_of_memory(nbytes: usize) -> Error {
    Error::new(ErrorKind::OutOfMemory, format!("cannot allocate {nbytes} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_memory_is_aligned() {
        for nbytes in [0, 1, 63, 64, 1000, 1 << 20] {
            let storage = Storage::zeroed(nbytes, Device::CPU).unwrap();
            assert!(storage.data_ptr().unwrap().addr().get().is_multiple_of(Storage::ALIGN));
            assert_eq!(storage.nbytes(), nbytes);
        }
        assert!(Storage::zeroed(usize::MAX, Device::CPU).is_err());
        assert!(Storage::zeroed(isize::MAX as usize, Device::CPU).is_err());
    }

    #[test]
    fn a_block_that_comes_back_is_zeroed_again() {
        let zeroed = || Storage::zeroed(100_000, Device::CPU).unwrap();
        for _ in 0..3 {
            let storage = zeroed();
            let data = storage.data_ptr().unwrap().as_ptr();
            // SAFETY: the block has `nbytes` bytes, which are zeros or were written before, and there is no other
            // handle.
            let bytes = unsafe { std::slice::from_raw_parts_mut(data, storage.nbytes()) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(7);
        }
        let many: Vec<_> = (0..1000).map(|_| zeroed()).collect(); // more than are kept
        drop(many);
    }

    #[test]
    fn a_vector_is_taken_over_not_copied() {
        let mut vec = Vec::with_capacity(10);
        vec.extend([1i64, 2, 3]);
        let start = vec.as_ptr().addr();
        let storage = Storage::from_vec(vec);
        assert_eq!((storage.data_ptr().unwrap().addr().get(), storage.nbytes()), (start, 24));
        assert_eq!(Storage::from_vec(Vec::<f32>::new()).nbytes(), 0);
    }

    #[test]
    fn a_keeper_outlives_every_handle() {
        let keeper = Arc::new([0u8; 16]);
        let data = NonNull::from(&keeper[..]).cast();
        // SAFETY: the array has 16 bytes, and lives as long as the clone in the box; nothing here reads or writes it.
        let storage = unsafe { Storage::from_raw_parts(data, 16, Device::CPU, Box::new(keeper.clone())) };
        let second = storage.clone();
        drop(storage);
        assert_eq!(Arc::strong_count(&keeper), 2);
        drop(second);
        assert_eq!(Arc::strong_count(&keeper), 1);
    }

    #[test]
    fn a_backend_may_lend_its_host_memory() {
        struct Managed(Storage);
        impl StorageImpl for Managed {
            fn nbytes(&self) -> usize {
                self.0.nbytes()
            }
            fn device(&self) -> Device {
                Device::new(crate::DeviceType::PrivateUse1, Some(0))
            }
            fn host(&self) -> Option<&Storage> {
                Some(&self.0)
            }
        }
        let storage = Storage::new(Managed(Storage::zeroed(32, Device::CPU).unwrap()));
        assert_eq!(storage.device().to_string(), "privateuseone:0");
        assert!(storage.data_ptr().is_some() && storage.downcast_ref::<Managed>().is_some());
    }

    #[test]
    fn storages_that_own_storages_are_dropped_in_a_loop() {
        struct Outer(Storage);
        impl StorageImpl for Outer {
            fn nbytes(&self) -> usize {
                self.0.nbytes()
            }
            fn device(&self) -> Device {
                self.0.device()
            }
            fn host(&self) -> Option<&Storage> {
                Some(&self.0)
            }
        }
        let innermost = Storage::from_vec(vec![1i64, 2, 3]);
        let data = innermost.data_ptr().unwrap();
        let kept = |inside: Storage| {
            // SAFETY: `inside` keeps the vector alive, which nothing here reads or writes.
            unsafe { Storage::from_raw_parts(data, inside.nbytes(), Device::CPU, Box::new(inside)) }
        };
        let depth = if cfg!(miri) { 300 } else { 100_000 }; // Miri sees the same steps in a shorter chain
        let nested = (0..depth).fold(innermost, |inside, _| Storage::new(Outer(kept(inside))));
        assert_eq!((nested.data_ptr(), nested.nbytes()), (Some(data), 24));
    }
}
