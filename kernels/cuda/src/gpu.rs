//! The devices of the machine: counted once, opened on first use, and opened again after they were lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use torch_library::DeviceType;
use torch_library::backend::{self, CachingAllocator, Event, RawAllocator};
use torch_library::prelude::*;

use crate::blas::Blas;
use crate::driver::{self, Context, Function, Memory, Pinned, Stream};
use crate::functions::Functions;

/// An open device.
pub(crate) struct Gpu {
    pub(crate) context: Arc<Context>,
    /// The default stream.
    first: Stream,
    /// The streams that the program made, by their number minus one.
    others: Mutex<Vec<Arc<Stream>>>,
    /// Whether there are any of these: from then on each block tracks which streams use it.
    has_others: AtomicBool,
    pub(crate) functions: Functions<Function>,
    pub(crate) blas: Mutex<Option<Blas>>,
}

/// An open device, with the allocators of its memory and of pinned host memory.
pub(crate) struct Opened {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) memory: CachingAllocator<OfDevice>,
    pub(crate) pinned: CachingAllocator<OfHost>,
}

/// The source of blocks of device memory.
pub(crate) struct OfDevice(Arc<Gpu>);

impl RawAllocator for OfDevice {
    type Memory = Memory;

    fn allocate(&self, nbytes: usize) -> Result<Memory> {
        self.0.context.allocate(nbytes)
    }

    fn record(&self, stream: backend::Stream) -> Result<Box<dyn Event>> {
        self.0.mark(stream.id)
    }
}

/// The source of blocks of pinned memory.
pub(crate) struct OfHost(Arc<Gpu>);

impl RawAllocator for OfHost {
    type Memory = Pinned;

    fn allocate(&self, nbytes: usize) -> Result<Pinned> {
        self.0.context.allocate_pinned(nbytes)
    }

    fn record(&self, stream: backend::Stream) -> Result<Box<dyn Event>> {
        self.0.mark(stream.id)
    }
}

/// A stream of a device, as a call uses it.
pub(crate) enum Current<'a> {
    First(&'a Stream),
    Other(Arc<Stream>),
}

impl std::ops::Deref for Current<'_> {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        match self {
            Current::First(stream) => stream,
            Current::Other(stream) => stream,
        }
    }
}

impl Gpu {
    fn open(index: u8) -> Result<Arc<Gpu>> {
        let context = Context::open(index)?;
        let first = Stream::new(&context)?;
        Ok(Arc::new(Gpu {
            context,
            first,
            others: Mutex::default(),
            has_others: AtomicBool::new(false),
            functions: Functions::new(),
            blas: Mutex::default(),
        }))
    }

    pub(crate) fn index(&self) -> u8 {
        self.context.index
    }

    pub(crate) fn device(&self) -> Device {
        Device::new(DeviceType::Cuda, Some(self.index()))
    }

    fn others(&self) -> MutexGuard<'_, Vec<Arc<Stream>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stream with a number.
    pub(crate) fn stream(&self, id: u64) -> Result<Current<'_>> {
        let Some(at) = usize::try_from(id).ok().and_then(|id| id.checked_sub(1)) else {
            return Ok(Current::First(&self.first));
        };
        let others = self.others();
        let Some(stream) = others.get(at) else {
            bail!(
                Argument,
                "{} has no stream {id}, the number of its streams is {}",
                self.device(),
                others.len() + 1
            )
        };
        Ok(Current::Other(stream.clone()))
    }

    /// The stream that this thread's calls go to, and its number.
    pub(crate) fn current(&self) -> Result<(Current<'_>, u64)> {
        if !self.has_others() {
            return Ok((Current::First(&self.first), 0));
        }
        let id = backend::current_stream(self.device())?.id;
        Ok((self.stream(id)?, id))
    }

    /// Whether blocks have to track which streams use them.
    pub(crate) fn has_others(&self) -> bool {
        self.has_others.load(Ordering::Acquire)
    }

    /// Makes another stream.
    pub(crate) fn new_stream(&self) -> Result<u64> {
        let stream = Arc::new(Stream::new(&self.context)?);
        // Work that was enqueued on the default stream before is not in any block's list, so wait for it.
        self.has_others.store(true, Ordering::Release);
        self.context.synchronize()?;
        let mut others = self.others();
        others.push(stream);
        Ok(others.len() as u64)
    }

    /// An event after all work on a stream so far.
    pub(crate) fn mark(&self, id: u64) -> Result<Box<dyn Event>> {
        Ok(Box::new(self.stream(id)?.mark()?))
    }

    /// Waits until all work on the device is done.
    pub(crate) fn wait(&self) -> Result<()> {
        match self.has_others() {
            true => self.context.synchronize(),
            false => self.first.synchronize(),
        }
    }
}

/// The slots of all devices, which hold those that are open.
fn slots() -> Result<&'static [Mutex<Option<Arc<Opened>>>]> {
    static SLOTS: OnceLock<Vec<Mutex<Option<Arc<Opened>>>>> = OnceLock::new();
    let count = driver::device_count()?;
    Ok(SLOTS.get_or_init(|| (0..count).map(|_| Mutex::default()).collect()))
}

fn slot(index: u8) -> Result<MutexGuard<'static, Option<Arc<Opened>>>> {
    let slots = slots()?;
    let Some(slot) = slots.get(usize::from(index)) else {
        bail!(Device, "there is no device cuda:{index}, the number of devices is {}", slots.len())
    };
    Ok(slot.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(crate) fn count() -> usize {
    slots().map_or(0, <[_]>::len)
}

/// The device of an index, opened again if it was lost.
pub(crate) fn opened(index: u8) -> Result<Arc<Opened>> {
    let mut slot = slot(index)?;
    if let Some(opened) = slot.as_ref() {
        if !opened.gpu.context.is_lost() {
            return Ok(opened.clone());
        }
        opened.gpu.context.reset();
    }
    let gpu = Gpu::open(index)?;
    let opened = Arc::new(Opened {
        memory: CachingAllocator::new(gpu.device(), OfDevice(gpu.clone())),
        pinned: CachingAllocator::new(Device::CPU, OfHost(gpu.clone())),
        gpu,
    });
    *slot = Some(opened.clone());
    Ok(opened)
}

/// The names of the devices, by index, such as `NVIDIA H100 80GB HBM3`.
///
/// # Errors
/// There is no driver, it finds no GPU, or a GPU does not open; the message says what would help.
///
/// PyTorch: `torch.cuda.get_device_name`.
pub fn devices() -> Result<Vec<String>> {
    let indices = 0..slots()?.len();
    indices
        .map(|index| Ok(opened(u8::try_from(index).unwrap_or(u8::MAX))?.gpu.context.name.clone()))
        .collect()
}

/// Resets a device, once the calls of other threads that use it are over: its tensors are lost, and calls with them are
/// errors. The next tensor opens it again.
///
/// # Errors
/// There is no such device.
///
/// PyTorch: none; CUDA's `cudaDeviceReset`.
pub fn reset(index: u8) -> Result<()> {
    if let Some(opened) = slot(index)?.take() {
        opened.gpu.context.reset();
    }
    Ok(())
}
