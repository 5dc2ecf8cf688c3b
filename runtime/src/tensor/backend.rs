//! What a backend tells the core about its devices: memory, copies, streams, random numbers.

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
pub use transfer::{from_host, host_copy, on_device};

/// The devices of one kind: what the core asks of whoever owns their memory.
///
/// A backend implements this once, leaves it in the program by [`torch_backend!`](crate::torch_backend), and registers
/// kernels at its key as any library does. From then on tensors are made on its devices (`Tensor::empty`,
/// `aten::zeros`, `aten::randn`), copied to and from them, printed, and looked at by `to_vec` and `item`; with
/// [`cpu_fallback`](crate::backend::cpu_fallback) at its key, operators without a kernel there run on the CPU.
///
/// Memory is bytes: a storage on a device has as many as it would have in host memory, and elements lie in them as they
/// would there. So every dtype can be *held*; which ones kernels *compute* with is for the backend to say.
///
/// Methods without a body are what any backend needs; the others have answers that suit a device with one queue.
///
/// ```
/// use std::sync::Mutex;
/// use torch_library::backend::{Allocation, Backend};
/// use torch_library::prelude::*;
/// use torch_library::{BackendRef, DeviceType, Storage, StorageImpl, torch_backend};
///
/// /// Memory that only copies reach.
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
    /// The kind of its devices; kernels are registered at this kind's key.
    fn device_type(&self) -> DeviceType;

    /// Its name, under which devices and keys print and parse where the kind is a private one.
    ///
    /// PyTorch: `torch.utils.rename_privateuse1_backend`.
    fn name(&self) -> &'static str;

    /// How many devices there are now; none where there is no driver.
    fn device_count(&self) -> usize;

    /// Whether its devices can be used at all: asked where there are none, so that the error says why.
    ///
    /// # Errors
    /// There is no driver, or another thing is missing; the message says where it comes from.
    ///
    /// PyTorch: what `torch.cuda.init` raises.
    fn check_available(&self) -> Result<()> {
        Ok(())
    }

    /// Memory on a device.
    ///
    /// # Errors
    /// There is not enough, which is of the kind [`OutOfMemory`](crate::ErrorKind::OutOfMemory); the device cannot hold
    /// such elements; it is lost.
    fn allocate(&self, wanted: &Allocation) -> Result<Storage>;

    /// Copies bytes from the host into a storage. May return before the device has them, as long as whatever is asked
    /// of it next finds them there.
    ///
    /// # Errors
    /// The storage is another backend's, the range is not in it, the device is lost.
    fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()>;

    /// Copies bytes from a storage to the host, after all that was asked of the device before.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()>;

    /// Copies bytes between two storages of this backend, on one device or two.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
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

    /// Makes a device the current one of this thread; the core keeps which one that is.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// PyTorch: `DeviceGuardImplInterface::setDevice`.
    fn set_device(&self, _index: u8) -> Result<()> {
        Ok(())
    }

    /// Waits until a device has done all that was asked of it.
    ///
    /// # Errors
    /// The device is lost, or something that was asked of it failed.
    fn synchronize(&self, _index: u8) -> Result<()> {
        Ok(())
    }

    /// A further queue of a device, by the number that the backend knows it by; 0 is the first, which is always there.
    ///
    /// # Errors
    /// The device has one queue.
    fn new_stream(&self, _index: u8) -> Result<u64> {
        bail!(NotSupported, "devices of {} have one stream each", self.name())
    }

    /// An event that happens when a stream has done what was asked of it so far. A backend that cannot tell waits for
    /// that here.
    ///
    /// # Errors
    /// As [`synchronize`](Self::synchronize).
    fn record_event(&self, stream: Stream) -> Result<Box<dyn Event>> {
        self.synchronize(stream.device.index.unwrap_or(0))?;
        Ok(Box::new(Done))
    }

    /// Lets a stream wait for an event before it goes on; without help of the device, the caller waits.
    ///
    /// # Errors
    /// As [`synchronize`](Self::synchronize).
    fn wait_event(&self, _stream: Stream, event: &dyn Event) -> Result<()> {
        event.synchronize()
    }

    /// Gives memory back that waits for its next use.
    ///
    /// # Errors
    /// As [`synchronize`](Self::synchronize).
    fn empty_cache(&self, _index: u8) -> Result<()> {
        Ok(())
    }

    /// How much memory is held, where somebody counts.
    fn memory_stats(&self, _index: u8) -> Option<MemoryStats> {
        None
    }

    /// The generator that random operators of a device draw from when they are given none, made once.
    fn new_generator(&self, index: u8) -> Generator {
        let device = Device::new(self.device_type(), Some(index));
        let keys = DispatchKeySet::from_key(self.device_type().dispatch_key());
        Generator::for_backend(device, keys, Generator::DEFAULT_SEED)
    }
}

/// The memory that a tensor asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allocation {
    /// How many bytes.
    pub nbytes: usize,
    /// On which device of the backend.
    pub index: u8,
    /// Of which type the elements are that come there first.
    pub dtype: DType,
    /// Whether all bytes are to be zero: otherwise everything is written before it is read.
    pub is_zeroed: bool,
}

impl Allocation {
    /// Zeroed memory for elements of a type.
    pub fn new(nbytes: usize, index: u8, dtype: DType) -> Allocation {
        Allocation { nbytes, index, dtype, is_zeroed: true }
    }
}
