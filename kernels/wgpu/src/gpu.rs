//! The devices of the machine: found once, opened on first use, and opened again after they were lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use torch_library::DeviceType;
use torch_library::backend::CachingAllocator;
use torch_library::prelude::*;

use crate::commands::Commands;
use crate::launch::Ready;
use crate::memory::Buffers;

/// An open device.
pub(crate) struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) index: u8,
    pub(crate) pipelines: Mutex<HashMap<String, Ready>>,
    commands: Mutex<Commands>,
    /// An error since the last check: its kind and message.
    trouble: Mutex<Option<(ErrorKind, String)>>,
    lost: OnceLock<String>,
}

/// An open device with the allocator of its memory.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) memory: CachingAllocator<Buffers>,
}

struct Found {
    adapter: wgpu::Adapter,
    opened: Mutex<Option<Opened>>,
}

/// The adapters that support compute shaders, GPUs first.
fn found() -> &'static [Found] {
    static FOUND: OnceLock<Vec<Found>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let options = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        let instance = wgpu::Instance::new(options);
        let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        adapters.retain(|adapter| {
            adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
        });
        adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
            wgpu::DeviceType::DiscreteGpu => 0,
            wgpu::DeviceType::IntegratedGpu => 1,
            wgpu::DeviceType::VirtualGpu => 2,
            _ => 3,
        });
        adapters.into_iter().map(|adapter| Found { adapter, opened: Mutex::new(None) }).collect()
    })
}

/// The names of the devices, by index, such as `llvmpipe (LLVM 19.1.7, 256 bits) by Vulkan`. Empty if there is no driver.
pub fn adapters() -> Vec<String> {
    let name = |found: &Found| {
        let info = found.adapter.get_info();
        format!("{} by {}", info.name, info.backend)
    };
    found().iter().map(name).collect()
}

/// Closes a device: its tensors are lost, and calls with them are errors. The next tensor opens it again.
///
/// # Errors
/// There is no such device.
///
/// PyTorch: none; CUDA's `cudaDeviceReset`.
pub fn reset(index: u8) -> Result<()> {
    let found = of_index(index)?;
    let opened = found.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(opened) = opened {
        let _ = opened.gpu.lost.set("it was reset".to_owned());
        opened.gpu.device.destroy();
    }
    Ok(())
}

pub(crate) fn count() -> usize {
    found().len()
}

fn of_index(index: u8) -> Result<&'static Found> {
    let Some(found) = found().get(usize::from(index)) else {
        bail!(Device, "there is no device wgpu:{index}, the number of devices is {}", count())
    };
    Ok(found)
}

/// The device of an index, opened again if it was lost.
pub(crate) fn opened(index: u8) -> Result<Opened> {
    let found = of_index(index)?;
    let mut slot = found.opened.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(opened) = slot.as_ref().filter(|opened| opened.gpu.lost.get().is_none()) {
        return Ok(opened.clone());
    }
    let gpu = open(&found.adapter, index)?;
    let device = torch_library::Device::new(DeviceType::PrivateUse2, Some(index));
    let opened = Opened { memory: CachingAllocator::new(device, Buffers::of(gpu.clone())), gpu };
    *slot = Some(opened.clone());
    Ok(opened)
}

fn open(adapter: &wgpu::Adapter, index: u8) -> Result<Arc<Gpu>> {
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("torch-library"),
        required_limits: adapter.limits(), // for the largest buffers
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).map_err(|error| {
        Error::new(ErrorKind::Device, format!("wgpu:{index} does not open")).with_source(error)
    })?;
    let gpu = Arc::new(Gpu {
        device,
        queue,
        index,
        pipelines: Mutex::default(),
        commands: Mutex::default(),
        trouble: Mutex::default(),
        lost: OnceLock::new(),
    });
    let weak = Arc::downgrade(&gpu);
    gpu.device.set_device_lost_callback(move |reason, message| {
        if let Some(gpu) = weak.upgrade() {
            let _ = gpu.lost.set(format!("{reason:?}: {message}"));
        }
    });
    let weak = Arc::downgrade(&gpu);
    gpu.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        if let Some(gpu) = weak.upgrade() {
            gpu.note(&error);
        }
    }));
    Ok(gpu)
}

impl Gpu {
    fn note(&self, error: &wgpu::Error) {
        let kind = match error {
            wgpu::Error::OutOfMemory { .. } => ErrorKind::OutOfMemory,
            _ => ErrorKind::Internal,
        };
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.get_or_insert((kind, error.to_string()));
    }

    /// Checks that the device works.
    ///
    /// # Errors
    /// The device is lost, or an earlier command failed, which is reported once.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(why) = self.lost.get() {
            bail!(Device, "wgpu:{} is lost, with everything on it: {why}", self.index);
        }
        match self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((kind, message)) => Err(Error::new(kind, format!("wgpu:{}: {message}", self.index))),
            None => Ok(()),
        }
    }

    fn commands(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits all commands that were recorded so far.
    pub(crate) fn submit(&self) -> Result<()> {
        self.check()?;
        self.commands().submit(&self.queue);
        self.check()
    }

    /// Waits until the device has finished all commands.
    pub(crate) fn wait(&self) -> Result<()> {
        self.submit()?;
        if let Err(error) = self.device.poll(wgpu::PollType::wait_indefinitely()) {
            return Err(Error::new(ErrorKind::Device, format!("wgpu:{} does not answer", self.index))
                .with_source(error));
        }
        self.check()
    }

    /// Records a launch, with a place for its parameters.
    pub(crate) fn launch(
        &self,
        parameters: &[u32],
        record: impl FnOnce(&mut wgpu::ComputePass<'_>, wgpu::BufferBinding<'_>),
    ) -> Result<()> {
        self.check()?;
        let mut commands = self.commands();
        let (page, offset) = commands.parameters(&self.device, &self.queue, parameters);
        let size = wgpu::BufferSize::new(size_of_val(parameters) as u64);
        commands.launch(&self.device, &self.queue, |pass| {
            record(pass, wgpu::BufferBinding { buffer: &page, offset, size });
        });
        drop(commands);
        self.check()
    }

    /// Records commands that are not launches.
    pub(crate) fn record(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Result<()> {
        self.check()?;
        self.commands().record(&self.device, &self.queue, record);
        self.check()
    }

    /// Writes words, after all commands that were recorded before.
    pub(crate) fn write(&self, buffer: &wgpu::Buffer, offset: usize, words: &[u8]) -> Result<()> {
        self.submit()?;
        self.queue.write_buffer(buffer, offset as u64, words);
        self.check()
    }
}
