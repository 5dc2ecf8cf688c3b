//! Converts PyTorch tensors to tensors of this library: over the same memory, or as stand-ins.
#![expect(unsafe_code, reason = "looks at memory of PyTorch, which a handle keeps")]

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;
use torch_library::geometry::Geometry;
use torch_library::{
    DType, Device, DeviceType, DispatchKey, DispatchKeySet, Result, Storage, StorageImpl, Tensor,
};

use crate::handle::{Description, Handle};
use crate::shim::{Shim, shim};
use crate::spares;
use crate::tracking::Tracking;
use retire::retire;

mod joined;
mod retire;

/// Memory on a device that the host cannot access: the storage of the tensors that a kernel for that device gets.
///
/// ```no_run
/// # fn kernel(x: &torch_library::Tensor) {
/// let storage = x.storage();
/// let memory = storage.downcast_ref::<torch_library_pytorch::DeviceMemory>();
/// let start = memory.map(torch_library_pytorch::DeviceMemory::start);
/// # }
/// ```
///
/// PyTorch: `Tensor.data_ptr()` of a CUDA tensor.
#[derive(Debug)]
pub struct DeviceMemory {
    start: usize,
    nbytes: usize,
    device: Device,
    _keeper: Handle,
}

impl DeviceMemory {
    /// The address of the storage's first byte on the device; 0 if the backend does not tell it. The tensor's storage
    /// offset is not included. PyTorch may free or move the memory once the call has ended.
    pub fn start(&self) -> usize {
        self.start
    }
}

impl StorageImpl for DeviceMemory {
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn device(&self) -> Device {
        self.device
    }

    fn why_unreachable(&self) -> Option<&'static str> {
        Some("it is PyTorch's memory on a device")
    }
}

/// The content of a stand-in: the PyTorch tensor that it stands for.
///
/// A stand-in has the key `Python`, like tensor subclasses in PyTorch: calls on it go to PyTorch's dispatcher.
#[derive(Debug)]
pub(crate) struct StandIn(Mutex<Arc<Handle>>);

impl StandIn {
    /// The PyTorch tensor.
    pub(crate) fn handle(&self) -> Arc<Handle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Makes the stand-in `before`, which was written to in place, stand for the tensor of `after`, which has the new
/// values.
pub(crate) fn rewritten(before: &Tensor, after: &Tensor) {
    if let (Some(before), Some(after)) = (before.content::<StandIn>(), after.content::<StandIn>()) {
        let after = after.handle();
        *before.0.lock().unwrap_or_else(PoisonError::into_inner) = after;
    }
}

/// How a kernel sees a PyTorch tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// With its elements.
    Elements,
    /// As a stand-in, whose calls go to PyTorch.
    StandIn,
}

/// A tensor of a call, and the PyTorch tensor that it was made from.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) tensor: Tensor,
    pub(crate) handle: Kept,
}

impl Seen {
    /// Whether its storage is exactly this block of memory.
    #[inline]
    fn is_over(&self, start: usize, nbytes: usize, device: Device) -> bool {
        let storage = self.tensor.original_storage();
        let own_start = match storage.data_ptr() {
            Some(start) => start.addr().get(),
            None => storage.downcast_ref::<DeviceMemory>().map_or(0, DeviceMemory::start),
        };
        own_start == start && start > 0 && storage.nbytes() == nbytes && storage.device() == device
    }

    /// Whether its storage has any byte of this block of host memory.
    #[inline]
    fn meets(&self, start: usize, nbytes: usize) -> bool {
        let storage = self.tensor.original_storage();
        storage.data_ptr().is_some_and(|own| {
            let own = own.addr().get();
            own.wrapping_sub(start) < nbytes || start.wrapping_sub(own) < storage.nbytes()
        })
    }

    /// Whether its storage was joined with others.
    fn is_joined(&self) -> bool {
        !self.tensor.storage().is_same(self.tensor.original_storage())
    }

    /// Where the elements of a tensor begin in the storage of this one's PyTorch tensor, in bytes; `None` if not all of
    /// them are there.
    pub(crate) fn position_of(&self, tensor: &Tensor) -> Option<usize> {
        let (own, storage, geometry) = (self.tensor.original_storage(), tensor.storage(), tensor.geometry());
        let in_bytes =
            |elements: i64| Some(usize::try_from(elements).ok()?.wrapping_mul(tensor.dtype().size()));
        let first = in_bytes(geometry.offset())?;
        if storage.is_same(own) {
            return Some(first);
        }
        // A tensor that an earlier call's kernel keeps is not in the memory that has its address now.
        let address =
            |of: &Storage| of.data_ptr().filter(|_| !storage.is_retired()).map(|start| start.addr().get());
        let before = address(&storage)?.wrapping_sub(address(own)?);
        let end = before.wrapping_add(in_bytes(geometry.end().ok()?)?);
        let first = before.wrapping_add(first);
        (first <= own.nbytes() && end <= own.nbytes()).then_some(first)
    }
}

/// The handle of a tensor of a call, by its owner.
#[derive(Debug)]
pub(crate) enum Kept {
    Here(Handle),
    /// Owned by the storage that the tensor was made over, which lives as long as the tensor.
    ByStorage(ManuallyDrop<Handle>),
    /// Shared by the stand-in and the call.
    Shared(Arc<Handle>),
}

impl Deref for Kept {
    type Target = Handle;

    #[inline]
    fn deref(&self) -> &Handle {
        match self {
            Kept::Here(handle) => handle,
            Kept::ByStorage(handle) => handle,
            Kept::Shared(handle) => handle,
        }
    }
}

/// The tensors of one call, with the PyTorch tensors that they were made from.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    tensors: SmallVec<[Seen; 3]>,
    /// The storages that were made for tensors whose memory overlaps.
    joined: Vec<Storage>,
    /// Whether tensors that were made here are passed to PyTorch operators that may be traced.
    lifts: bool,
}

impl Incoming {
    /// For the arguments and the returns of a call into PyTorch. Tensors that were made here are lifted (`lift_fresh`):
    /// they are constants for a tracer or a fake-tensor mode.
    pub(crate) fn of_call() -> Incoming {
        Incoming { tensors: SmallVec::new(), joined: Vec::new(), lifts: true }
    }

    pub(crate) fn lifts(&self) -> bool {
        self.lifts
    }

    /// The tensor of this library for a PyTorch tensor.
    ///
    /// # Errors
    /// The dtype, layout or device is not known here.
    pub(crate) fn tensor(&mut self, handle: Handle, sight: Sight) -> Result<Tensor> {
        match sight {
            Sight::Elements => self.see(handle, shim())?,
            Sight::StandIn => {
                if !handle.is_defined()? {
                    return Ok(Tensor::undefined());
                }
                let handle = Arc::new(handle);
                let tensor = stand_in(&handle)?;
                self.tensors.push(Seen { tensor, handle: Kept::Shared(handle) });
            }
        }
        Ok(self.tensors.last().expect("one has just come").tensor.clone())
    }

    /// Adds a tensor with its elements to this call.
    ///
    /// # Errors
    /// The errors of [`tensor`](Self::tensor).
    #[inline(always)]
    pub(crate) fn see(&mut self, handle: Handle, shim: &Shim) -> Result<()> {
        match self.over_host(handle, shim)? {
            None => Ok(()),
            Some(handle) => self.see_other(handle),
        }
    }

    #[cold]
    #[inline(never)]
    fn see_other(&mut self, handle: Handle) -> Result<()> {
        let seen = match handle.is_defined()? {
            true => self.over_memory(handle)?,
            false => Seen { tensor: Tensor::undefined(), handle: Kept::Here(handle) },
        };
        self.tensors.push(seen);
        self.join_last()
    }

    /// Adds a tensor if it lies in host memory that no other tensor of this call has a part of; otherwise returns the
    /// handle.
    #[inline(always)]
    fn over_host(&mut self, handle: Handle, shim: &Shim) -> Result<Option<Handle>> {
        const KEYS: DispatchKeySet = DispatchKeySet::from_key(DispatchKey::CPU);
        // SAFETY: it is used only until the end of this function, while the storage or the handle owns the reference.
        let lent = unsafe { handle.lent() };
        let Some(host) = lent.on_host(shim) else { return Ok(Some(handle)) };
        let Description { sizes, strides, offset, dtype, .. } = host.description;
        let is_shared = |seen: &Seen| seen.meets(host.start.addr().get(), host.nbytes);
        if self.tensors.iter().any(is_shared) {
            return Ok(Some(handle));
        }
        // SAFETY: the storage that the tensor is made over owns the reference, and lives as long as the tensor, which
        // is kept beside this handle.
        let kept = unsafe { handle.lent() };
        let (left, memory) = (spares::take(), (host.start, host.nbytes, handle.into_keeper(shim)));
        // SAFETY:
        // * the storage of a PyTorch tensor begins `offset` elements before the tensor's first element and has `nbytes`
        //   bytes; any thread may use them. They are there for the length of the call: the handle keeps the tensor, and
        //   PyTorch's rule is that nobody resizes it meanwhile, or gives it another storage. Then `Incoming` is
        //   dropped, which retires the storage if a kernel keeps it: no safe code accesses the bytes any more. PyTorch
        //   may never have written them: for Rust, memory that foreign code returns has some value.
        // * tensors of this call that share memory share one storage, and so its leases (`see_other`). For other calls
        //   and for PyTorch's own kernels, PyTorch's rule applies: the caller of an operator makes sure that no other
        //   thread writes its arguments during the call, or reads those that the operator writes.
        let tensor = unsafe { Tensor::over_foreign(left, memory, sizes, strides, offset, dtype, KEYS) }?;
        // Constructed in place: a copy would cost more than the construction.
        self.tensors.push(Seen { tensor, handle: Kept::ByStorage(kept) });
        Ok(None)
    }

    /// The tensors of the call, in order.
    pub(crate) fn tensors(&self) -> impl ExactSizeIterator<Item = &Tensor> {
        self.tensors.iter().map(|seen| &seen.tensor)
    }

    fn over_memory(&mut self, handle: Handle) -> Result<Seen> {
        // SAFETY: the reference is used only until the end of this function; the handle, wherever it moves, owns it.
        let lent = unsafe { handle.lent() };
        let description = lent.describe()?;
        let Description { sizes, strides, offset, dtype, device } = description;
        let keys = DispatchKeySet::from_key(device.kind.dispatch_key());
        let of = |storage| Tensor::from_storage(storage, sizes, strides, offset, dtype, keys);
        if device.kind == DeviceType::Meta {
            let nbytes = bytes_reached(&Geometry::new(sizes, strides, offset)?, dtype)?;
            let tensor = of(Storage::without_data(nbytes, device))?;
            return Ok(Seen { tensor, handle: Kept::Here(handle) });
        }
        let (start, nbytes) = extent(&handle, &description)?;
        let of_block = |storage: Storage, handle| Ok(Seen { tensor: of(storage)?, handle });
        let is_over = |seen: &&Seen| seen.is_over(start.addr(), nbytes, device) && !seen.is_joined();
        if let Some(seen) = self.tensors.iter().find(is_over) {
            return of_block(seen.tensor.original_storage().clone(), Kept::Here(handle));
        }
        if device != Device::CPU {
            let nbytes = match start.is_null() {
                // A backend that is written in Python tells neither address nor size; its kernels know where elements
                // are.
                true => nbytes.max(bytes_reached(&Geometry::new(sizes, strides, offset)?, dtype)?),
                false => nbytes,
            };
            let memory = DeviceMemory { start: start.addr(), nbytes, device, _keeper: handle.share()? };
            return of_block(Storage::new(memory), Kept::Here(handle));
        }
        if let Some(start) = NonNull::new(start).filter(|_| nbytes > 0) {
            let keeper = handle.share()?.into_keeper(shim());
            // SAFETY: as in `over_host`. It shares some memory with tensors that came before it, with which it is
            // joined before a kernel gets it.
            let storage = unsafe { Storage::from_foreign(start, nbytes, device, keeper) };
            return of_block(storage, Kept::Here(handle));
        }
        // PyTorch tells no address for a tensor without elements, though its storage may have some bytes.
        torch_library::ensure!(
            nbytes == 0 || sizes.contains(&0),
            NotSupported,
            "a tensor of PyTorch has no memory that could be read: it is fake, or wraps another"
        );
        of_block(Storage::zeroed(0, device)?, Kept::Here(handle))
    }

    /// The PyTorch tensor that this one was made from.
    pub(crate) fn handle_of(&self, tensor: &Tensor) -> Option<&Handle> {
        self.seen(tensor).map(|seen| &*seen.handle)
    }

    /// The tensor of this call for the same tensor.
    pub(crate) fn seen(&self, tensor: &Tensor) -> Option<&Seen> {
        self.tensors.iter().find(|seen| seen.tensor.is_same(tensor))
    }

    /// Whether a tensor lies in the memory of a tensor of this call.
    pub(crate) fn is_at_home(&self, tensor: &Tensor) -> bool {
        self.base_of(tensor).is_some()
    }

    /// Whether a tensor of this call needs a gradient, so that PyTorch records operations on it.
    pub(crate) fn wants_gradient(&self) -> bool {
        let handles = self.tensors.iter().map(|seen| seen.handle.as_object());
        // SAFETY: they are tensor handles that live as long as `self`.
        Tracking::get().is_some_and(|tracking| unsafe { tracking.wish(handles) }.gradient)
    }

    /// A tensor of this call that has the elements of the given one in its storage, of the same type if there is one;
    /// and their position in the storage of its PyTorch tensor, in bytes.
    pub(crate) fn base_of(&self, tensor: &Tensor) -> Option<(&Seen, usize)> {
        // Each meta tensor has a storage of its own here, which only the views that a kernel makes of it share.
        let bases = || self.tensors.iter().filter_map(|seen| Some((seen, seen.position_of(tensor)?)));
        bases().find(|(seen, _)| seen.tensor.dtype() == tensor.dtype()).or_else(|| bases().next())
    }
}

/// Releases the tensors at the end of a call, also if it panics. The allocations of those that nobody else has are kept
/// for the next call; the memory of the others is not accessed any more.
impl Drop for Incoming {
    #[inline(always)]
    fn drop(&mut self) {
        while let Some(Seen { tensor, handle }) = self.tensors.pop() {
            if matches!(handle, Kept::ByStorage(_))
                && let Err(kept) = spares::put(tensor)
            {
                retire(kept.original_storage());
            }
        }
        self.joined.iter().for_each(retire);
    }
}

/// The address of a tensor's storage, null if PyTorch does not tell it, and the storage's size in bytes.
fn extent(handle: &Handle, description: &Description<'_>) -> Result<(*mut u8, usize)> {
    let (data, nbytes) = (handle.data()?, handle.storage_nbytes()?);
    // For a tensor without elements the address may be null or arbitrary.
    let before = (description.offset as usize).wrapping_mul(description.dtype.size());
    Ok((if data.is_null() { data } else { data.wrapping_sub(before) }, nbytes))
}

/// Makes a stand-in for a PyTorch tensor.
pub(crate) fn stand_in(handle: &Arc<Handle>) -> Result<Tensor> {
    let description = handle.describe()?;
    let Description { sizes, strides, offset, dtype, device } = description;
    let geometry = Geometry::new(sizes, strides, offset)?;
    let storage = Storage::without_data(bytes_reached(&geometry, dtype)?, device);
    Tensor::wrapper(storage, &geometry, dtype, STAND_IN, StandIn(Mutex::new(handle.clone())))
}

/// The keys of a stand-in. `ADInplaceOrView` makes in-place writes increment the version, with which the tensors that a
/// formula names are saved.
const STAND_IN: DispatchKeySet =
    DispatchKeySet::from_keys(&[DispatchKey::Python, DispatchKey::ADInplaceOrView]);

/// Another stand-in for the tensor that this one stands for, without its autograd history here.
pub(crate) fn stand_in_again(tensor: &Tensor) -> Result<Tensor> {
    let Some(content) = tensor.content::<StandIn>() else {
        torch_library::bail!(Internal, "the tensor stands for none of PyTorch's")
    };
    let (storage, content) = (tensor.original_storage().clone(), StandIn(Mutex::new(content.handle())));
    Tensor::wrapper(storage, tensor.geometry(), tensor.dtype(), STAND_IN, content)
}

/// The number of bytes up to the end of the last element. PyTorch does not tell the size of a storage with symbolic
/// sizes.
fn bytes_reached(geometry: &Geometry, dtype: DType) -> Result<usize> {
    Ok(usize::try_from(geometry.end()?)?.saturating_mul(dtype.size()))
}
