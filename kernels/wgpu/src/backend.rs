//! The implementation of the runtime's backend interface.

use std::sync::mpsc;

use torch_library::backend::{Allocation, Backend, Event, MemoryStats, Stream};
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage, torch_backend};

use crate::gpu;
use crate::memory::{Memory, WORD};

struct Wgpu;

static WGPU: Wgpu = Wgpu;
torch_backend!(WGPU);

impl Backend for Wgpu {
    fn device_type(&self) -> DeviceType {
        DeviceType::PrivateUse2
    }

    fn name(&self) -> &'static str {
        "wgpu"
    }

    fn device_count(&self) -> usize {
        gpu::count()
    }

    fn check_available(&self) -> Result<()> {
        ensure!(
            gpu::count() > 0,
            Device,
            "wgpu finds no adapter for compute shaders: there is no driver for Vulkan, Metal or Direct3D 12\n  \
             help: it comes with the driver of the GPU; Debian's `mesa-vulkan-drivers` is one that needs none"
        );
        Ok(())
    }

    fn allocate(&self, wanted: &Allocation) -> Result<Storage> {
        let opened = gpu::opened(wanted.index)?;
        Ok(Storage::new(Memory::allocate(&opened, wanted.nbytes, wanted.is_zeroed)?))
    }

    fn upload(&self, to: &Storage, offset: usize, bytes: &[u8]) -> Result<()> {
        Memory::of(to)?.write(offset, bytes)
    }

    fn download(&self, from: &Storage, offset: usize, bytes: &mut [u8]) -> Result<()> {
        Memory::of(from)?.read(offset, bytes)
    }

    fn copy(
        &self,
        to: &Storage,
        to_offset: usize,
        from: &Storage,
        from_offset: usize,
        nbytes: usize,
    ) -> Result<()> {
        let (target, source) = (Memory::of(to)?, Memory::of(from)?);
        let are_words = [to_offset, from_offset, nbytes].iter().all(|place| place.is_multiple_of(WORD));
        let is_direct = are_words && !to.is_same(from) && std::sync::Arc::ptr_eq(&target.gpu, &source.gpu);
        if !is_direct {
            let mut bytes = vec![0; nbytes];
            source.read(from_offset, &mut bytes)?;
            return target.write(to_offset, &bytes);
        }
        target.gpu.record(|encoder| {
            let (from_offset, to_offset, nbytes) = (from_offset as u64, to_offset as u64, nbytes as u64);
            encoder.copy_buffer_to_buffer(
                source.buffer(),
                from_offset,
                target.buffer(),
                to_offset,
                Some(nbytes),
            );
        })
    }

    fn synchronize(&self, index: u8) -> Result<()> {
        gpu::opened(index)?.gpu.wait()
    }

    fn record_event(&self, stream: Stream) -> Result<Box<dyn Event>> {
        let gpu = gpu::opened(stream.device.index.unwrap_or(0))?.gpu;
        gpu.submit()?;
        let (sender, receiver) = mpsc::channel();
        gpu.queue.on_submitted_work_done(move || {
            let _ = sender.send(()); // the receiver may be gone
        });
        Ok(Box::new(Submitted { gpu, done: std::sync::Mutex::new((receiver, false)) }))
    }

    fn empty_cache(&self, index: u8) -> Result<()> {
        gpu::opened(index)?.memory.empty_cache()
    }

    fn memory_stats(&self, index: u8) -> Option<MemoryStats> {
        Some(gpu::opened(index).ok()?.memory.stats())
    }
}

/// An event after everything that was submitted so far.
struct Submitted {
    gpu: std::sync::Arc<gpu::Gpu>,
    done: std::sync::Mutex<(mpsc::Receiver<()>, bool)>,
}

impl Event for Submitted {
    fn query(&self) -> Result<bool> {
        self.gpu.check()?;
        let _ = self.gpu.device.poll(wgpu::PollType::Poll); // runs callbacks of finished work
        let mut done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        done.1 |= done.0.try_recv().is_ok();
        Ok(done.1)
    }

    fn synchronize(&self) -> Result<()> {
        self.gpu.wait()
    }
}
