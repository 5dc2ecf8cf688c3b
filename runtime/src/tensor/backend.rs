//! The interface between a backend and the runtime: memory, copies, streams, random numbers.

mod allocator;
mod current;
mod event;
mod generators;
mod stream;
mod table;
mod transfer;

use crate::bail;
use crate::device::{Device, DeviceType};
use crate::dtype::DType;
use crate::error::Result;
use crate::generator::Generator;
use crate::key::DispatchKeySet;

use super::Storage;

pub use allocator::{Block, CachingAllocator, MemoryStats, RawAllocator};
pub use current::{DeviceGuard, StreamGuard, current_device, current_stream, resolve};
pub use event::{Done, Event, Stream};
pub use generators::{default_generator, manual_seed_all};
pub(crate) use table::Linked;
pub use table::{backends, device_count, of, register};
pub(in crate::tensor) use transfer::allocate;
pub(crate) use transfer::range_of;
pub use transfer::{from_host, host_copy, on_device};

/// The devices of one type: the interface through which the runtime uses their memory.
///
/// A backend implements this once, registers it with [`torch_backend!`](crate::torch_backend), and registers kernels at
/// its key as any library does. From then on tensors can be created on its devices (`Tensor::empty`, `aten::zeros`,
/// `aten::randn`), copied to and from them, printed, and read with `to_vec` and `item`; with
/// [`cpu_fallback`](crate::backend::cpu_fallback) at its key, operators without a kernel there run on the CPU.
///
/// Memory consists of bytes: a storage on a device has as many as it would have in host memory, with the same layout of
/// elements. So every dtype can be *stored*; the backend's kernels decide which ones can be *computed* with.
///
/// Every backend needs the methods without a body; the others have defaults that suit a device with one queue.
///
/// ```
/// use std::sync::Mutex;
/// use torch_library::backend::{Allocation, Backend};
/// use torch_library::prelude::*;
/// use torch_library::{BackendRef, DeviceType, Storage, StorageImpl, torch_backend};
///
/// /// Memory that is only accessible through copies.
/// struct Drawer(Mutex<Vec<u8>>, usize);
///
/// impl StorageImpl for Drawer {
///     fn nbytes(&self) -> usize { self.1 }
///     fn device(&self) -> Device { Device::new(DeviceType::PrivateUse3, Some(0)) }
/// }
///
/// struct Desk;
///
/// impl Backend for Desk {
///     fn device_type(&self) -> DeviceType { DeviceType::PrivateUse3 }
///     fn name(&self) -> &'static str { "desk" }
///     fn device_count(&self) -> usize { 1 }
///     fn allocate(&self, wanted: &Allocation) -> Result<Storage> {
///         Ok(Storage::new(Drawer(Mutex::new(vec![0; wanted.nbytes]), wanted.nbytes)))
///     }
///     fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()> {
///         let Some(drawer) = to.downcast_ref::<Drawer>() else { bail!(Device, "no drawer") };
///         drawer.0.lock().unwrap()[offset..offset + bytes.len()].copy_from_slice(bytes);
///         Ok(())
///     }
///     fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()> {
///         let Some(drawer) = from.downcast_ref::<Drawer>() else { bail!(Device, "no drawer") };
///         bytes.copy_from_slice(&drawer.0.lock().unwrap()[offset..offset + bytes.len()]);
///         Ok(())
///     }
/// }
///
/// static DESK: Desk = Desk;
/// torch_backend!(DESK);
///
/// fn main() -> Result<()> {
///     let x = Tensor::full(&[2], 2.5, DType::Float32, "desk".parse()?)?;
///     assert_eq!(x.to_string(), "tensor([2.5000, 2.5000], device='desk:0')");
///     assert_eq!(x.to_vec::<f32>()?, [2.5, 2.5]);
///     Ok(())
/// }
/// ```
///
/// PyTorch: `c10::impl::DeviceGuardImplInterface`, `at::PrivateUse1HooksInterface` and `c10::Allocator`.
pub trait Backend: Send + Sync + 'static {
    /// The type of its devices; kernels are registered at this type's key.
    fn device_type(&self) -> DeviceType;

    /// Its name, with which devices and keys are printed and parsed if the device type is a private one.
    ///
    /// PyTorch: `torch.utils.rename_privateuse1_backend`.
    fn name(&self) -> &'static str;

    /// The number of devices at present; 0 without a driver.
    fn device_count(&self) -> usize;

    /// Checks whether its devices can be used at all. This is called if there are none, so that the error can say why.
    ///
    /// # Errors
    /// The driver or something else is missing; the message says where to get it.
    ///
    /// PyTorch: what `torch.cuda.init` raises.
    fn check_available(&self) -> Result<()> {
        Ok(())
    }

    /// Allocates memory on a device. If the host can access it, it is aligned for elements of the requested type.
    ///
    /// # Errors
    /// There is not enough memory, an error of the kind [`OutOfMemory`](crate::ErrorKind::OutOfMemory); the device
    /// cannot store such elements; it is lost.
    fn allocate(&self, wanted: &Allocation) -> Result<Storage>;

    /// Copies bytes from the host into a storage. May return before the device has them, as long as work that is queued
    /// later finds them there.
    ///
    /// # Errors
    /// The storage belongs to another backend, the range is not within it, the device is lost.
    fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()>;

    /// Copies bytes from a storage to the host, after all work that was queued on the device before.
    ///
    /// # Errors
    /// The errors of [`upload`](Self::upload).
    fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()>;

    /// Copies bytes between two storages of this backend, on one device or two.
    ///
    /// # Errors
    /// The errors of [`upload`](Self::upload).
    fn copy(
        &self,
        to: &Storage,
        to_offset: usize,
        from: &Storage,
        from_offset: usize,
        nbytes: usize,
    ) -> Result<()> {
        let mut bytes = vec![0; nbytes];
        self.download(from, from_offset, &mut bytes)?;
        self.upload(to, to_offset, &bytes)
    }

    /// Makes a device the current one of this thread; the runtime keeps track of which one that is.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// PyTorch: `DeviceGuardImplInterface::setDevice`.
    fn set_device(&self, _index: u8) -> Result<()> {
        Ok(())
    }

    /// Waits until a device has finished all queued work.
    ///
    /// # Errors
    /// The device is lost, or queued work failed.
    fn synchronize(&self, _index: u8) -> Result<()> {
        Ok(())
    }

    /// Creates a further queue on a device, and returns the number by which the backend identifies it; 0 is the first,
    /// which always exists.
    ///
    /// # Errors
    /// The device has only one queue.
    fn new_stream(&self, _index: u8) -> Result<u64> {
        bail!(NotSupported, "devices of {} have one stream each", self.name())
    }

    /// An event that is reached when a stream has finished the work queued so far. A backend without events waits for
    /// that here.
    ///
    /// # Errors
    /// The errors of [`synchronize`](Self::synchronize).
    fn record_event(&self, stream: Stream) -> Result<Box<dyn Event>> {
        self.synchronize(stream.device.index.unwrap_or(0))?;
        Ok(Box::new(Done))
    }

    /// Makes a stream wait for an event before it goes on; without support by the device, the caller waits.
    ///
    /// # Errors
    /// The errors of [`synchronize`](Self::synchronize).
    fn wait_event(&self, _stream: Stream, event: &dyn Event) -> Result<()> {
        event.synchronize()
    }

    /// Frees cached memory that is not in use.
    ///
    /// # Errors
    /// The errors of [`synchronize`](Self::synchronize).
    fn empty_cache(&self, _index: u8) -> Result<()> {
        Ok(())
    }

    /// How much memory is held, if the backend keeps statistics.
    fn memory_stats(&self, _index: u8) -> Option<MemoryStats> {
        None
    }

    /// Creates the default generator of a device, from which its random operators draw if they are given none. Called
    /// when it is first needed; of several threads that need it at the same time, all use that of one.
    fn new_generator(&self, index: u8) -> Generator {
        let device = Device::new(self.device_type(), Some(index));
        let keys = DispatchKeySet::from_key(self.device_type().dispatch_key());
        Generator::for_backend(device, keys, Generator::DEFAULT_SEED)
    }
}

/// A request for the memory of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allocation {
    /// The number of bytes.
    pub nbytes: usize,
    /// The index of the device.
    pub index: u8,
    /// The dtype of the first tensor in this memory.
    pub dtype: DType,
    /// Whether all bytes must be zero; otherwise everything is written before it is read.
    pub is_zeroed: bool,
}

impl Allocation {
    /// A request for zeroed memory for elements of a type.
    pub fn new(nbytes: usize, index: u8, dtype: DType) -> Allocation {
        Allocation { nbytes, index, dtype, is_zeroed: true }
    }
}
