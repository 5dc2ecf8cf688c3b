//! The bytes of an archive, read or mapped into memory, and storages over parts of them.
#![expect(unsafe_code, reason = "tensors lie in the memory of the archive, which is not copied")]

use std::fs::{File, Metadata};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

#[cfg(target_os = "linux")]
use memmap2::Advice;
use memmap2::{MmapMut, MmapOptions};
use torch_library::prelude::*;
use torch_library::{Device, Storage};

/// A block of memory with exclusive access, which lives as long as there is a handle to it.
pub(crate) struct Memory {
    /// Valid for reads and writes of `len` bytes while `keeper` lives.
    base: NonNull<u8>,
    len: usize,
    keeper: Arc<Keeper>,
}

enum Keeper {
    Map { _map: MmapMut },
    Read { _storage: Storage },
    Forever,
}

impl Memory {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Memory> {
        let mut file = open(path)?;
        let len = usize::try_from(file.metadata()?.len())?;
        ensure!(len > 0, Argument, "the file is empty");
        let Ok(mut map) = MmapOptions::new().len(len).map_anon() else {
            return Self::copied(&std::fs::read(path)?); // a system without memory maps, such as WASI
        };
        // The first access to a page costs more than copying it, and a huge page has one first access instead of 512.
        // Where they are not supported, nothing is lost.
        #[cfg(target_os = "linux")]
        let _ = map.advise(Advice::HugePage);
        file.read_exact(&mut map)?;
        Self::of(map)
    }

    /// A copy of bytes.
    pub(crate) fn copied(bytes: &[u8]) -> Result<Memory> {
        let memory = Self::zeroed(bytes.len())?;
        // SAFETY: no other code has the memory yet, which is valid for writes of as many bytes.
        unsafe { memory.base.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        Ok(memory)
    }

    fn zeroed(len: usize) -> Result<Memory> {
        let storage = Storage::zeroed(len, Device::CPU)?;
        let Some(base) = storage.data_ptr() else { bail!(Internal, "host memory has no address") };
        Ok(Memory { base, len, keeper: Arc::new(Keeper::Read { _storage: storage }) })
    }

    /// Maps a file. Writes to the memory stay in memory; the file is not changed.
    ///
    /// # Safety
    /// - Until the last storage in the memory is dropped, the file is not truncated or written to.
    pub(crate) unsafe fn map(path: &Path) -> Result<Memory> {
        let file = open(path)?;
        ensure!(file.metadata()?.len() > 0, Argument, "the file is empty");
        // SAFETY: the caller promises that the file does not change. The map is private: a write copies the page.
        Self::of(unsafe { MmapOptions::new().map_copy(&file) }?)
    }

    /// Memory of the program itself.
    ///
    /// # Safety
    /// - `base` is valid for reads and writes of `len` initialised bytes as long as the process lives, from any thread.
    /// - No other code uses the memory.
    pub(crate) unsafe fn forever(base: NonNull<u8>, len: usize) -> Memory {
        Memory { base, len, keeper: Arc::new(Keeper::Forever) }
    }

    fn of(mut map: MmapMut) -> Result<Memory> {
        let (base, len) = (map.as_mut_ptr(), map.len());
        let Some(base) = NonNull::new(base) else { bail!(Internal, "a file was mapped without an address") };
        Ok(Memory { base, len, keeper: Arc::new(Keeper::Map { _map: map }) })
    }

    /// All bytes, to read the archive. There is no storage yet that could be written to.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `keeper` keeps the memory alive. Nothing writes to it: storages begin with `into_storages`, which
        // takes `self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }

    /// Makes storages over parts of the memory. An empty part, and one whose start is not a multiple of `align`, is
    /// copied.
    ///
    /// # Errors
    /// Parts overlap, or exceed the memory; not enough memory.
    pub(crate) fn into_storages(self, parts: &[(Range<usize>, usize)]) -> Result<Vec<Storage>> {
        let mut sorted: Vec<_> = parts.iter().map(|(range, _)| range.clone()).collect();
        sorted.sort_by_key(|range| range.start);
        ensure!(
            sorted.windows(2).all(|pair| pair[0].end <= pair[1].start || pair[0].is_empty())
                && sorted.iter().all(|range| range.start <= range.end && range.end <= self.len),
            Argument,
            "records of the archive overlap"
        );
        parts.iter().map(|(range, align)| self.storage(range, *align)).collect()
    }

    fn storage(&self, range: &Range<usize>, align: usize) -> Result<Storage> {
        // SAFETY: `into_storages` has checked that the range is within the memory.
        let data = unsafe { self.base.add(range.start) };
        if range.is_empty() || !data.addr().get().is_multiple_of(align) {
            let storage = Storage::zeroed(range.len(), Device::CPU)?;
            // SAFETY: the range is within the memory, and there is no storage over it: only this function makes any,
            // and the parts do not overlap.
            let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr(), range.len()) };
            storage.bytes_mut()?.copy_from_slice(bytes);
            return Ok(storage);
        }
        let keeper = Box::new(Arc::clone(&self.keeper));
        // SAFETY: the range is within memory that is valid for reads and writes, from any thread, while the keeper
        // lives. It is initialised: it is a file's, the program's own, or was zeroed. No two parts overlap, so this
        // storage is the only one over these bytes; the code that mapped the file, or gave memory for ever, promised
        // that nothing else writes to them.
        Ok(unsafe { Storage::from_raw_parts(data, range.len(), Device::CPU, keeper) })
    }
}

fn open(path: &Path) -> Result<File> {
    let check = |metadata: Metadata| {
        ensure!(metadata.is_file(), Io, "it is not a file");
        Ok(())
    };
    check(std::fs::metadata(path)?)?; // a pipe would be waited for until somebody writes to it
    let file = File::open(path)?;
    check(file.metadata()?)?;
    Ok(file)
}
