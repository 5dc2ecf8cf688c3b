//! Device memory: buffers, which are cached when they are freed, and access to their bytes.

use std::sync::{Arc, Mutex, mpsc};

use torch_library::backend::{Block, RawAllocator};
use torch_library::prelude::*;
use torch_library::{DeviceType, Storage, StorageImpl};

use crate::gpu::{Gpu, Opened};

/// The size in bytes of the words in which buffers are written and copied.
pub(crate) const WORD: usize = 4;

/// The source of the allocator's blocks.
pub(crate) struct Buffers(Arc<Gpu>);

impl Buffers {
    pub(crate) fn of(gpu: Arc<Gpu>) -> Buffers {
        Buffers(gpu)
    }
}

impl RawAllocator for Buffers {
    type Memory = wgpu::Buffer;

    fn allocate(&self, nbytes: usize) -> Result<wgpu::Buffer> {
        let gpu = &self.0;
        gpu.check()?;
        let limits = gpu.device.limits();
        let most = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        ensure!(
            nbytes as u64 <= most,
            OutOfMemory,
            "a buffer has at most {most} bytes on wgpu:{}",
            gpu.index
        );
        let scope = gpu.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: nbytes as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        match pollster::block_on(scope.pop()) {
            Some(error) => Err(Error::new(ErrorKind::OutOfMemory, error.to_string())),
            None => gpu.check().map(|()| buffer),
        }
    }
}

/// The memory of a tensor.
pub(crate) struct Memory {
    pub(crate) gpu: Arc<Gpu>,
    block: Block<Buffers>,
    nbytes: usize,
    /// Held while a part of a word is written: the rest of the word is read first, and must not be written in between.
    edges: Mutex<()>,
}

impl StorageImpl for Memory {
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn device(&self) -> Device {
        Device::new(DeviceType::PrivateUse2, Some(self.gpu.index))
    }
}

impl Memory {
    /// Allocates memory of `nbytes` bytes.
    pub(crate) fn allocate(opened: &Opened, nbytes: usize, is_zeroed: bool) -> Result<Memory> {
        let block = opened.memory.allocate(nbytes)?;
        if is_zeroed {
            opened.gpu.record(|encoder| encoder.clear_buffer(block.memory(), 0, None))?;
        }
        Ok(Memory { gpu: opened.gpu.clone(), block, nbytes, edges: Mutex::new(()) })
    }

    /// The memory of a storage.
    pub(crate) fn of(storage: &Storage) -> Result<&Memory> {
        let Some(memory) = storage.downcast_ref::<Memory>() else {
            bail!(Device, "expected memory on wgpu, got memory on {}", storage.device())
        };
        memory.gpu.check()?;
        Ok(memory)
    }

    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        self.block.memory()
    }

    fn check(&self, offset: usize, count: usize) -> Result<()> {
        let is_inside = offset.checked_add(count).is_some_and(|end| end <= self.nbytes);
        ensure!(
            is_inside,
            Argument,
            "a storage of {} bytes does not have {count} bytes at {offset}",
            self.nbytes
        );
        Ok(())
    }

    /// Writes bytes, before all commands that follow.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.check(offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let (start, end) = (offset / WORD * WORD, (offset + bytes.len()).next_multiple_of(WORD));
        if (start, end) == (offset, offset + bytes.len()) {
            return self.gpu.write(self.buffer(), offset, bytes);
        }
        let _alone = self.edges.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut words = vec![0; end - start];
        for edge in [start, end - WORD] {
            self.words(edge, WORD, |word| words[edge - start..][..WORD].copy_from_slice(word))?;
        }
        words[offset - start..][..bytes.len()].copy_from_slice(bytes);
        self.gpu.write(self.buffer(), start, &words)
    }

    /// Reads bytes, after all commands that were recorded before.
    pub(crate) fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        self.check(offset, bytes.len())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let (start, end) = (offset / WORD * WORD, (offset + bytes.len()).next_multiple_of(WORD));
        self.words(start, end - start, |words| {
            bytes.copy_from_slice(&words[offset - start..][..bytes.len()]);
        })
    }

    /// Reads whole words of the buffer, which may extend beyond the last byte of the memory.
    fn words(&self, start: usize, count: usize, take: impl FnOnce(&[u8])) -> Result<()> {
        let gpu = &self.gpu;
        let staging = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: count as u64,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.record(|encoder| {
            encoder.copy_buffer_to_buffer(self.buffer(), start as u64, &staging, 0, Some(count as u64));
        })?;
        gpu.submit()?; // a mapped buffer must not be in use
        let (sender, receiver) = mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
            let _ = sender.send(mapped); // the receiver waits below
        });
        gpu.wait()?;
        let failed = |why: String| {
            Error::new(ErrorKind::Device, format!("wgpu:{} does not return bytes: {why}", gpu.index))
        };
        match receiver.recv() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(error) => return Err(failed(error.to_string())),
        }
        let view = staging.get_mapped_range(..).map_err(|error| failed(format!("{error:?}")))?;
        take(&view);
        Ok(())
    }
}
