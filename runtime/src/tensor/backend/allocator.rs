//! An allocator that keeps freed memory for reuse, for backends whose own allocation is slow.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Done, Event, Stream};
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};

/// The source of an allocator's memory: a driver.
pub trait RawAllocator: Send + Sync + 'static {
    /// A block of the driver, which is freed when it is dropped.
    type Memory: Send + Sync;

    /// Allocates a block of `nbytes` bytes.
    ///
    /// # Errors
    /// There is not enough memory, an error of the kind [`OutOfMemory`](ErrorKind::OutOfMemory); or another failure,
    /// which is passed on unchanged.
    fn allocate(&self, nbytes: usize) -> Result<Self::Memory>;

    /// An event that is reached when a stream has finished the work queued so far; memory that the stream uses is
    /// reused after it.
    ///
    /// # Errors
    /// The device fails.
    fn record(&self, _stream: Stream) -> Result<Box<dyn Event>> {
        Ok(Box::new(Done))
    }
}

/// Statistics of an allocator, in bytes.
///
/// PyTorch: `torch.cuda.memory_stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStats {
    /// The bytes that were requested for blocks in use.
    pub requested: usize,
    /// The bytes of blocks in use: the requested sizes, rounded up.
    pub allocated: usize,
    /// The maximum of `allocated`.
    pub peak_allocated: usize,
    /// The bytes held from the driver, in use or cached.
    pub reserved: usize,
    /// The maximum of `reserved`.
    pub peak_reserved: usize,
    /// The number of blocks that were requested.
    pub allocations: u64,
    /// How many of these were cached blocks.
    pub reused: u64,
    /// How often cached memory was freed because the driver had no more.
    pub retries: u64,
}

/// Blocks up to this size are rounded to a power of two, larger ones to a multiple of [`LARGE_STEP`].
const SMALL: usize = 1 << 20;
const SMALLEST: usize = 256;
const LARGE_STEP: usize = 2 << 20;

/// Keeps freed blocks for later requests of the same size, up to a limit.
///
/// ```
/// use torch_library::backend::{CachingAllocator, RawAllocator};
/// use torch_library::{Device, ErrorKind, Result};
///
/// struct Driver;
/// impl RawAllocator for Driver {
///     type Memory = Vec<u8>;
///     fn allocate(&self, nbytes: usize) -> Result<Vec<u8>> {
///         Ok(vec![0; nbytes])
///     }
/// }
///
/// let allocator = CachingAllocator::new(Device::CPU, Driver);
/// drop(allocator.allocate(1000)?);
/// let block = allocator.allocate(900)?;
/// assert_eq!((block.memory().len(), allocator.stats().reused), (1024, 1));
/// allocator.set_limit(Some(2000));
/// assert_eq!(allocator.allocate(1000).err().map(|error| error.kind()), Some(ErrorKind::OutOfMemory));
/// # Ok::<(), torch_library::Error>(())
/// ```
///
/// PyTorch: `c10::cuda::CUDACachingAllocator`.
pub struct CachingAllocator<R: RawAllocator>(Arc<Inner<R>>);

impl<R: RawAllocator> fmt::Debug for CachingAllocator<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachingAllocator").field("device", &self.0.device).finish_non_exhaustive()
    }
}

struct Inner<R: RawAllocator> {
    device: Device,
    raw: R,
    state: Mutex<State<R::Memory>>,
}

struct State<M> {
    stats: MemoryStats,
    limit: Option<usize>,
    /// Cached blocks by size, the last freed one at the end.
    waiting: BTreeMap<usize, Vec<M>>,
    /// Blocks that were freed while streams used them.
    pending: Vec<Pending<M>>,
}

impl<M> State<M> {
    /// Counts bytes as taken from the driver before it is asked for them, unless that exceeds the limit: other threads
    /// ask meanwhile.
    fn reserve(&mut self, nbytes: usize) -> bool {
        let reserved = self.stats.reserved.saturating_add(nbytes);
        let is_within = self.limit.is_none_or(|limit| reserved <= limit);
        if is_within {
            self.stats.reserved = reserved;
        }
        is_within
    }
}

/// The events after which a block can be reused, its size, and the block.
type Pending<M> = (Vec<Box<dyn Event>>, usize, M);

impl<R: RawAllocator> CachingAllocator<R> {
    /// An allocator for a device, which holds no memory yet.
    pub fn new(device: Device, raw: R) -> Self {
        let state = State {
            stats: MemoryStats::default(),
            limit: None,
            waiting: BTreeMap::new(),
            pending: Vec::new(),
        };
        CachingAllocator(Arc::new(Inner { device, raw, state: Mutex::new(state) }))
    }

    /// A block of at least `nbytes` bytes, with unspecified contents.
    ///
    /// # Errors
    /// Neither the driver nor the cached blocks have enough memory, or it would exceed the limit; the message says how
    /// much is held. The kind is [`OutOfMemory`](ErrorKind::OutOfMemory).
    pub fn allocate(&self, nbytes: usize) -> Result<Block<R>> {
        let Some(size) = rounded(nbytes) else { return Err(self.out_of_memory(nbytes, None)) };
        let memory = match self.take(size) {
            Some(memory) => memory,
            None => self.fresh(nbytes, size)?,
        };
        let mut state = self.0.state();
        let stats = &mut state.stats;
        stats.allocations += 1;
        stats.requested += nbytes;
        stats.allocated += size;
        stats.peak_allocated = stats.peak_allocated.max(stats.allocated);
        drop(state);
        Ok(Block {
            allocator: self.0.clone(),
            nbytes,
            size,
            memory: Some(memory),
            streams: Mutex::new(Vec::new()),
        })
    }

    /// A cached block of this size.
    fn take(&self, size: usize) -> Option<R::Memory> {
        self.settle();
        let mut state = self.0.state();
        let memory = state.waiting.get_mut(&size)?.pop()?;
        state.stats.reused += 1;
        Some(memory)
    }

    /// Moves blocks whose streams have finished to the cache. Events are asked and dropped without the lock, since they
    /// are a backend's code, which may call the allocator.
    fn settle(&self) {
        let pending = std::mem::take(&mut self.0.state().pending);
        if pending.is_empty() {
            return;
        }
        let is_done = |(events, ..): &Pending<_>| events.iter().all(|event| event.query().unwrap_or(false));
        let (done, pending): (Vec<_>, Vec<_>) = pending.into_iter().partition(is_done);
        let done: Vec<_> = done.into_iter().map(|(_, size, memory)| (size, memory)).collect();
        let mut state = self.0.state();
        state.pending.extend(pending);
        for (size, memory) in done {
            state.waiting.entry(size).or_default().push(memory);
        }
    }

    /// A new block from the driver, after freeing cached blocks if necessary.
    fn fresh(&self, nbytes: usize, size: usize) -> Result<R::Memory> {
        for is_last in [false, true] {
            let is_within = self.0.state().reserve(size);
            let why = match is_within.then(|| self.0.raw.allocate(size)) {
                Some(Ok(memory)) => {
                    let mut state = self.0.state();
                    state.stats.peak_reserved = state.stats.peak_reserved.max(state.stats.reserved);
                    return Ok(memory);
                }
                Some(Err(error)) => {
                    self.0.state().stats.reserved -= size;
                    if error.kind() != ErrorKind::OutOfMemory {
                        return Err(error);
                    }
                    Some(error)
                }
                None => None,
            };
            if is_last {
                return Err(self.out_of_memory(nbytes, why));
            }
            self.empty_cache()?;
            self.0.state().stats.retries += 1;
        }
        Err(self.out_of_memory(nbytes, None))
    }

    #[cold]
    fn out_of_memory(&self, nbytes: usize, why: Option<Error>) -> Error {
        let (stats, limit) = (self.stats(), self.0.state().limit);
        let limit = limit.map_or_else(String::new, |limit| format!(", the limit is {limit}"));
        let error = Error::new(
            ErrorKind::OutOfMemory,
            format!(
                "{} has no memory for {nbytes} bytes: {} are in use, {} taken from the driver{limit}",
                self.0.device, stats.allocated, stats.reserved
            ),
        );
        match why {
            Some(why) => error.with_source(why),
            None => error,
        }
    }

    /// Frees all cached blocks, after waiting for the streams that use them.
    ///
    /// # Errors
    /// A stream failed.
    ///
    /// PyTorch: `torch.cuda.empty_cache`.
    pub fn empty_cache(&self) -> Result<()> {
        let mut pending = std::mem::take(&mut self.0.state().pending).into_iter();
        while let Some((events, size, memory)) = pending.next() {
            if let Err(why) = events.iter().try_for_each(|event| event.synchronize()) {
                // Streams may still use these blocks, and the others were not waited for.
                let mut state = self.0.state();
                state.pending.push((events, size, memory));
                state.pending.extend(pending);
                return Err(why);
            }
            self.0.state().waiting.entry(size).or_default().push(memory);
        }
        let mut state = self.0.state();
        let waiting = std::mem::take(&mut state.waiting);
        state.stats.reserved -= waiting.iter().map(|(size, blocks)| size * blocks.len()).sum::<usize>();
        drop(state);
        drop(waiting); // the driver's code runs without the lock
        Ok(())
    }

    /// Limits the number of bytes that are taken from the driver.
    ///
    /// PyTorch: `torch.cuda.set_per_process_memory_fraction`.
    pub fn set_limit(&self, limit: Option<usize>) {
        self.0.state().limit = limit;
    }

    /// The present statistics.
    ///
    /// PyTorch: `torch.cuda.memory_stats`.
    pub fn stats(&self) -> MemoryStats {
        self.0.state().stats
    }
}

impl<R: RawAllocator> Clone for CachingAllocator<R> {
    fn clone(&self) -> Self {
        CachingAllocator(self.0.clone())
    }
}

impl<R: RawAllocator> Inner<R> {
    fn state(&self) -> MutexGuard<'_, State<R::Memory>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of bytes to take from the driver for `nbytes`.
fn rounded(nbytes: usize) -> Option<usize> {
    match nbytes <= SMALL {
        true => Some(nbytes.next_power_of_two().max(SMALLEST)),
        false => nbytes.checked_next_multiple_of(LARGE_STEP),
    }
}

/// A block in use; dropping it returns it to the cache.
pub struct Block<R: RawAllocator> {
    allocator: Arc<Inner<R>>,
    nbytes: usize,
    size: usize,
    memory: Option<R::Memory>,
    streams: Mutex<Vec<Stream>>,
}

impl<R: RawAllocator> Block<R> {
    /// The driver's block.
    pub fn memory(&self) -> &R::Memory {
        self.memory.as_ref().expect("a block has its memory until it is dropped")
    }

    /// The number of bytes that were requested.
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Records that a stream other than the current one uses the block: it is not reused before that stream has
    /// finished the work that is queued when the block is dropped.
    ///
    /// PyTorch: `Tensor.record_stream`.
    pub fn record_stream(&self, stream: Stream) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if !streams.contains(&stream) {
            streams.push(stream);
        }
    }
}

impl<R: RawAllocator> Drop for Block<R> {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        let streams = std::mem::take(self.streams.get_mut().unwrap_or_else(PoisonError::into_inner));
        // A stream that fails no longer uses the block.
        let events: Vec<_> =
            streams.into_iter().filter_map(|stream| self.allocator.raw.record(stream).ok()).collect();
        let mut state = self.allocator.state();
        state.stats.requested -= self.nbytes;
        state.stats.allocated -= self.size;
        match events.is_empty() {
            true => state.waiting.entry(self.size).or_default().push(memory),
            false => state.pending.push((events, self.size, memory)),
        }
    }
}

impl<R: RawAllocator> fmt::Debug for Block<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block of {} bytes on {}", self.nbytes, self.allocator.device)
    }
}

#[cfg(test)]
mod tests;
