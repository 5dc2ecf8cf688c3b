//! Tensors of PyTorch as tensors here: over the same memory, or as stand-ins.
#![expect(unsafe_code, reason = "looks at memory of PyTorch, which a handle keeps")]

use std::mem::ManuallyDrop;
use std::ops::Deref;
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

/// Memory on a device that the host does not reach: what a kernel for that device finds in a tensor's storage.
///
/// ```no_run
/// # fn kernel(x: &torch_library::Tensor) {
/// let storage = x.storage();
/// let memory = storage.downcast_ref::<torch_library_pytorch::DeviceMemory>();
/// let start = memory.map(torch_library_pytorch::DeviceMemory::start);
/// # }
/// ```
///
/// PyTorch: `Tensor.data_ptr()` of a tensor of CUDA.
#[derive(Debug)]
pub struct DeviceMemory {
    start: usize,
    nbytes: usize,
    device: Device,
    _keeper: Handle,
}

impl DeviceMemory {
    /// The address of the storage's first byte, on the device; 0 where the backend tells none. The tensor's offset is not
    /// in it.
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

/// What a stand-in stands for.
///
/// It has the key `Python`, as tensors have in PyTorch whose calls another program answers: what is called with it goes
/// to PyTorch's dispatcher.
#[derive(Debug)]
pub(crate) struct StandIn(Mutex<Arc<Handle>>);

impl StandIn {
    /// The tensor of PyTorch.
    pub(crate) fn handle(&self) -> Arc<Handle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Makes a stand-in stand for what another one does: it was written to, and this is what it holds since.
pub(crate) fn rewritten(before: &Tensor, after: &Tensor) {
    if let (Some(before), Some(after)) = (before.content::<StandIn>(), after.content::<StandIn>()) {
        let after = after.handle();
        *before.0.lock().unwrap_or_else(PoisonError::into_inner) = after;
    }
}

/// A tensor of PyTorch, as a kernel here is to see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// With its elements.
    Elements,
    /// As one whose calls PyTorch answers.
    StandIn,
}

/// A tensor of a call, and what it stands for.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) tensor: Tensor,
    pub(crate) handle: Kept,
}

impl Seen {
    /// Whether its memory is this block.
    #[inline]
    fn is_over(&self, start: usize, nbytes: usize, device: Device) -> bool {
        let storage = self.tensor.original_storage();
        let own_start = match storage.data_ptr() {
            Some(start) => start.addr().get(),
            None => storage.downcast_ref::<DeviceMemory>().map_or(0, DeviceMemory::start),
        };
        own_start == start && start > 0 && storage.nbytes() == nbytes && storage.device() == device
    }
}

/// The handle of a tensor of a call, and who deletes it.
#[derive(Debug)]
pub(crate) enum Kept {
    Here(Handle),
    /// The storage that the tensor was made over, which is there as long as the tensor.
    ByStorage(ManuallyDrop<Handle>),
    /// Whoever is the last that has it, the stand-in or the call.
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

/// The tensors of one call, with those that they stand for.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    tensors: SmallVec<[Seen; 3]>,
    /// Whether tensors that were made here go to operators of PyTorch that may be recording.
    lifts: bool,
}

impl Incoming {
    /// For the arguments and the returns of a call of PyTorch. Tensors that were made here are constants to whoever
    /// records it, or computes without elements.
    pub(crate) fn of_call() -> Incoming {
        Incoming { tensors: SmallVec::new(), lifts: true }
    }

    /// Lets go of the tensors at the end of a call, and keeps what of them nobody has for the next.
    #[inline(always)]
    pub(crate) fn leave(mut self) {
        while let Some(Seen { tensor, handle }) = self.tensors.pop() {
            if matches!(handle, Kept::ByStorage(_)) {
                spares::put(tensor);
            }
        }
    }

    pub(crate) fn lifts(&self) -> bool {
        self.lifts
    }

    /// The tensor here of one of PyTorch's.
    ///
    /// # Errors
    /// An element type, a layout or a device that is not known here.
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

    /// Takes a tensor in, with its elements.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
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
        Ok(())
    }

    /// Takes in a tensor over memory of the host that no other of this call has, or gives the handle of another back.
    #[inline(always)]
    fn over_host(&mut self, handle: Handle, shim: &Shim) -> Result<Option<Handle>> {
        const KEYS: DispatchKeySet = DispatchKeySet::from_key(DispatchKey::CPU);
        // SAFETY: it is looked at until the end of this function, while the storage or the handle owns the reference.
        let lent = unsafe { handle.lent() };
        let Some(host) = lent.on_host(shim) else { return Ok(Some(handle)) };
        let Description { sizes, strides, offset, dtype, .. } = host.description;
        let is_over = |seen: &Seen| seen.is_over(host.start.addr().get(), host.nbytes, Device::CPU);
        if self.tensors.iter().any(is_over) {
            return Ok(Some(handle));
        }
        // SAFETY: it is kept by the storage that the tensor is made over, which is there as long as the tensor beside it.
        let kept = unsafe { handle.lent() };
        let (left, memory) = (spares::take(), (host.start, host.nbytes, handle.into_keeper(shim)));
        // SAFETY:
        // * the storage of a tensor of PyTorch begins `offset` elements before its first and has `nbytes` bytes,
        //   which stay as long as the tensor, and that as long as the handle; any thread may use them. PyTorch may
        //   never have written them: to Rust, what comes from foreign code is some value.
        // * tensors of this call that share memory share one storage, and so its leases. Of other calls and of
        //   PyTorch's own kernels the rule is PyTorch's: who calls an operator lets nobody write its arguments
        //   meanwhile, nor read those that it writes.
        let tensor = unsafe { Tensor::over_foreign(left, memory, sizes, strides, offset, dtype, KEYS) }?;
        // Made where it goes: to copy what was just written costs more than to write it.
        self.tensors.push(Seen { tensor, handle: Kept::ByStorage(kept) });
        Ok(None)
    }

    /// The tensors that came in, in their order.
    pub(crate) fn tensors(&self) -> impl ExactSizeIterator<Item = &Tensor> {
        self.tensors.iter().map(|seen| &seen.tensor)
    }

    fn over_memory(&mut self, handle: Handle) -> Result<Seen> {
        // SAFETY: the reference is looked at until the end of this function, while the handle owns it.
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
        if let Some(seen) = self.tensors.iter().find(|seen| seen.is_over(start.addr(), nbytes, device)) {
            return of_block(seen.tensor.original_storage().clone(), Kept::Here(handle));
        }
        if device != Device::CPU {
            let nbytes = match start.is_null() {
                // A backend that is written in Python tells neither, and its kernels know where elements are.
                true => nbytes.max(bytes_reached(&Geometry::new(sizes, strides, offset)?, dtype)?),
                false => nbytes,
            };
            let memory = DeviceMemory { start: start.addr(), nbytes, device, _keeper: handle.share()? };
            return of_block(Storage::new(memory), Kept::Here(handle));
        }
        // PyTorch tells no address of a tensor without elements, whose storage may have some.
        torch_library::ensure!(
            nbytes == 0 || sizes.contains(&0),
            NotSupported,
            "a tensor of PyTorch has no memory that could be read: it is fake, or wraps another"
        );
        of_block(Storage::zeroed(0, device)?, Kept::Here(handle))
    }

    /// The tensor of PyTorch that this one was made from.
    pub(crate) fn handle_of(&self, tensor: &Tensor) -> Option<&Handle> {
        self.tensors.iter().find(|seen| seen.tensor.is_same(tensor)).map(|seen| &*seen.handle)
    }

    /// Whether a tensor lies in memory that came in.
    pub(crate) fn is_at_home(&self, tensor: &Tensor) -> bool {
        self.tensors.iter().any(|seen| seen.tensor.original_storage().is_same(&tensor.storage()))
    }

    /// Whether PyTorch records what is done with the tensors that came in.
    pub(crate) fn wants_gradient(&self) -> bool {
        let handles = self.tensors.iter().map(|seen| seen.handle.as_object());
        // SAFETY: they are handles that live as long as this.
        Tracking::get().is_some_and(|tracking| unsafe { tracking.wish(handles) }.gradient)
    }

    /// A tensor of PyTorch over the memory that this one has.
    pub(crate) fn base_of(&self, tensor: &Tensor) -> Option<&Seen> {
        // Meta tensors of PyTorch are each of their own here, and so is what a kernel derives from them.
        self.tensors.iter().find(|seen| seen.tensor.storage().is_same(&tensor.storage()))
    }
}

/// Where the storage of a tensor with elements begins, null where PyTorch does not tell, and how many bytes it has.
fn extent(handle: &Handle, description: &Description<'_>) -> Result<(*mut u8, usize)> {
    let (data, nbytes) = (handle.data()?, handle.storage_nbytes()?);
    // Of a tensor without elements the address is null or anything.
    let before = (description.offset as usize).wrapping_mul(description.dtype.size());
    Ok((if data.is_null() { data } else { data.wrapping_sub(before) }, nbytes))
}

/// A tensor whose calls PyTorch answers.
pub(crate) fn stand_in(handle: &Arc<Handle>) -> Result<Tensor> {
    let description = handle.describe()?;
    let Description { sizes, strides, offset, dtype, device } = description;
    let geometry = Geometry::new(sizes, strides, offset)?;
    let storage = Storage::without_data(bytes_reached(&geometry, dtype)?, device);
    Tensor::wrapper(storage, &geometry, dtype, STAND_IN, StandIn(Mutex::new(handle.clone())))
}

/// The keys of a stand-in. The upper is that of tensors whose writes are counted: what a formula names is saved with its
/// version.
const STAND_IN: DispatchKeySet =
    DispatchKeySet::from_keys(&[DispatchKey::Python, DispatchKey::ADInplaceOrView]);

/// Another stand-in for the same tensor, as it was when the first was made.
pub(crate) fn stand_in_again(tensor: &Tensor) -> Result<Tensor> {
    let Some(content) = tensor.content::<StandIn>() else {
        torch_library::bail!(Internal, "the tensor stands for none of PyTorch's")
    };
    let (storage, content) = (tensor.original_storage().clone(), StandIn(Mutex::new(content.handle())));
    Tensor::wrapper(storage, tensor.geometry(), tensor.dtype(), STAND_IN, content)
}

/// As many bytes as the elements reach: PyTorch does not tell it of tensors whose sizes it knows as symbols.
fn bytes_reached(geometry: &Geometry, dtype: DType) -> Result<usize> {
    Ok(usize::try_from(geometry.end()?)?.saturating_mul(dtype.size()))
}
