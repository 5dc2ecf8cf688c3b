//! Memory of tensors: blocks, which are cached when they are freed, and access to their bytes.
#![expect(unsafe_code, reason = "pinned blocks are written while streams may read others")]

use std::sync::Arc;

use torch_library::backend::{self, Block};
use torch_library::prelude::*;
use torch_library::{Storage, StorageImpl};

use crate::gpu::{Gpu, OfDevice, Opened};

/// Uploads of up to this many bytes are copied to pinned memory, from which the device reads them while the host goes on.
const STAGED: usize = 1 << 20;

/// The memory of a tensor.
pub(crate) struct Memory {
    pub(crate) opened: Arc<Opened>,
    block: Block<OfDevice>,
    nbytes: usize,
}

impl StorageImpl for Memory {
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn device(&self) -> Device {
        self.gpu().device()
    }
}

impl Memory {
    /// Allocates memory of `nbytes` bytes.
    pub(crate) fn allocate(opened: &Arc<Opened>, nbytes: usize, is_zeroed: bool) -> Result<Memory> {
        let block = opened.memory.allocate(nbytes)?;
        let memory = Memory { opened: opened.clone(), block, nbytes };
        if is_zeroed {
            let (stream, id) = memory.gpu().current()?;
            memory.used_by(id);
            stream.clear(memory.block.memory(), nbytes)?;
        }
        Ok(memory)
    }

    /// The memory of a storage.
    pub(crate) fn of(storage: &Storage) -> Result<&Memory> {
        let Some(memory) = storage.downcast_ref::<Memory>() else {
            bail!(Device, "expected memory on cuda, got memory on {}", storage.device())
        };
        memory.gpu().context.check()?;
        Ok(memory)
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.opened.gpu
    }

    /// The address of its bytes, for kernels.
    pub(crate) fn address(&self) -> u64 {
        self.block.memory().address
    }

    /// Records that a stream uses the memory: after it is freed, it is not reused before that stream is done.
    pub(crate) fn used_by(&self, id: u64) {
        if self.gpu().has_others() {
            self.block.record_stream(backend::Stream { device: self.gpu().device(), id });
        }
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

    /// Writes bytes, before all work that is enqueued later.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.check(offset, bytes.len())?;
        let (stream, id) = self.gpu().current()?;
        self.used_by(id);
        if bytes.len() > STAGED {
            return stream.write(self.block.memory(), offset, bytes);
        }
        let pinned = self.opened.pinned.allocate(bytes.len())?;
        // SAFETY: a block is not given out again before the streams that copy from it are done, since their use is recorded
        // below.
        unsafe { pinned.memory().write(bytes)? };
        pinned.record_stream(backend::Stream { device: self.gpu().device(), id });
        // SAFETY: before it is written again or freed, the block waits for the recorded stream.
        unsafe { stream.write_pinned(self.block.memory(), offset, pinned.memory(), bytes.len()) }
    }

    /// Reads bytes, after all earlier work.
    pub(crate) fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.check(offset, bytes.len())?;
        if self.gpu().has_others() {
            self.gpu().wait()?;
        }
        self.gpu().current()?.0.read(self.block.memory(), offset, bytes)
    }

    /// Copies bytes from other memory, of this device or another.
    pub(crate) fn copy_from(
        &self,
        offset: usize,
        from: &Memory,
        from_offset: usize,
        count: usize,
    ) -> Result<()> {
        if count == 0 {
            return Ok(()); // an empty view may begin behind the end
        }
        self.check(offset, count)?;
        from.check(from_offset, count)?;
        let (stream, id) = self.gpu().current()?;
        let (target, source) = ((self.block.memory(), offset), (from.block.memory(), from_offset));
        if Arc::ptr_eq(self.gpu(), from.gpu()) {
            self.used_by(id);
            from.used_by(id);
            return stream.copy(target, source, count);
        }
        from.gpu().wait()?;
        self.used_by(id);
        stream.copy_from_peer(target, source, count)
    }
}
