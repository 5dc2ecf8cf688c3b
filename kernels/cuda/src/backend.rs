//! The implementation of the runtime's backend interface.

use torch_library::backend::{Allocation, Backend, Event, MemoryStats, Stream};
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage, torch_backend};

use crate::driver::{self, Mark};
use crate::gpu;
use crate::memory::Memory;

struct Cuda;

static CUDA: Cuda = Cuda;
torch_backend!(CUDA);

impl Backend for Cuda {
    fn device_type(&self) -> DeviceType {
        DeviceType::Cuda
    }

    fn name(&self) -> &'static str {
        "cuda"
    }

    fn device_count(&self) -> usize {
        gpu::count()
    }

    fn check_available(&self) -> Result<()> {
        driver::device_count().map(|_| ())
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
        let (start, end) = (to_offset.min(from_offset), to_offset.max(from_offset));
        if to.is_same(from) && end - start < nbytes {
            // The driver does not define a copy between overlapping ranges.
            let mut bytes = vec![0; nbytes];
            source.read(from_offset, &mut bytes)?;
            return target.write(to_offset, &bytes);
        }
        target.copy_from(to_offset, source, from_offset, nbytes)
    }

    fn set_device(&self, index: u8) -> Result<()> {
        gpu::opened(index)?.gpu.context.enter().map(|_| ())
    }

    fn synchronize(&self, index: u8) -> Result<()> {
        gpu::opened(index)?.gpu.wait()
    }

    fn new_stream(&self, index: u8) -> Result<u64> {
        gpu::opened(index)?.gpu.new_stream()
    }

    fn record_event(&self, stream: Stream) -> Result<Box<dyn Event>> {
        gpu::opened(stream.device.index.unwrap_or(0))?.gpu.mark(stream.id)
    }

    fn wait_event(&self, stream: Stream, event: &dyn Event) -> Result<()> {
        match event.downcast_ref::<Mark>() {
            Some(mark) => {
                gpu::opened(stream.device.index.unwrap_or(0))?.gpu.stream(stream.id)?.wait_for(mark)
            }
            None => event.synchronize(),
        }
    }

    fn empty_cache(&self, index: u8) -> Result<()> {
        let opened = gpu::opened(index)?;
        opened.memory.empty_cache()?;
        opened.pinned.empty_cache()
    }

    fn memory_stats(&self, index: u8) -> Option<MemoryStats> {
        Some(gpu::opened(index).ok()?.memory.stats())
    }
}
