//! One storage for each block of memory that is shared with Python objects, however many tensors are over it.
//!
//! A lease on a storage keeps calls apart that use the same elements. Two storages over the same bytes would know
//! nothing of each other's leases, so this module records which blocks have a storage: those that came from Python, and
//! those of ours that are lent.
#![expect(unsafe_code, reason = "makes storages over memory of Python's objects")]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use torch_library::geometry::Geometry;
use torch_library::{DType, Device, Result, Storage, StorageImpl, Tensor, WeakTensor, ensure};

/// A block: its end, and a tensor over it that everybody keeps with whom the block is shared.
type Block = (usize, WeakTensor);

/// Blocks by their start. Those that are alive do not overlap.
struct Blocks {
    known: BTreeMap<usize, Block>,
    /// The number of blocks after which dead ones are removed.
    room: usize,
}

static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks { known: BTreeMap::new(), room: 64 });

fn blocks() -> MutexGuard<'static, Blocks> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Blocks {
    /// The blocks that are alive and share a byte with a range, and possibly one that ends before it. The caller drops
    /// the tensors only after the list is unlocked: dropping the last one may run user code.
    fn touching(&self, from: usize, to: usize) -> Vec<(usize, usize, Tensor)> {
        let mut found = Vec::new();
        for (begin, (end, tensor)) in self.known.range(..to).rev() {
            match tensor.upgrade() {
                Some(tensor) if *end > from => found.push((*begin, *end, tensor)),
                // The one before it ends even earlier.
                Some(tensor) => {
                    found.push((*begin, *end, tensor));
                    break;
                }
                None => {}
            }
        }
        found
    }

    fn insert(&mut self, from: usize, to: usize, tensor: &Tensor) -> Vec<Tensor> {
        let mut alive = Vec::new();
        if self.known.len() >= self.room {
            self.known.retain(|_, (_, tensor)| {
                let tensor = tensor.upgrade();
                let is_alive = tensor.is_some();
                alive.extend(tensor);
                is_alive
            });
            self.room = 64 + 2 * self.known.len();
        }
        self.known.insert(from, (to, tensor.downgrade()));
        alive
    }
}

/// The memory of a block from Python, for one tensor: it keeps alive the tensor by which the block is known.
struct Lent {
    block: Tensor,
    memory: Storage,
}

impl StorageImpl for Lent {
    fn nbytes(&self) -> usize {
        self.memory.nbytes()
    }

    fn device(&self) -> Device {
        self.block.device()
    }

    fn host(&self) -> Option<&Storage> {
        Some(&self.memory)
    }
}

/// Records that a block of ours is lent, and returns the tensor by which it is known: this one, or that of an earlier
/// loan. Whoever is lent the block keeps it, so that the block is known until the last loan ends.
pub(crate) fn lend(tensor: &Tensor) -> Tensor {
    let storage = tensor.storage();
    let Some(start) = storage.data_ptr().filter(|_| storage.nbytes() > 0) else { return tensor.clone() };
    let (from, to) = (start.addr().get(), start.addr().get() + storage.nbytes());
    let mut blocks = blocks();
    let touching = blocks.touching(from, to);
    let known = touching.iter().find(|(begin, end, _)| *begin <= from && to <= *end);
    let (known, alive) = match known {
        Some((_, _, known)) => (known.clone(), Vec::new()),
        None => (tensor.clone(), blocks.insert(from, to, tensor)),
    };
    drop(blocks);
    drop((touching, alive));
    known
}

/// Elements in memory that a Python object keeps alive.
pub(crate) struct Elements<'a> {
    /// The address of the first element.
    pub(crate) start: *mut c_void,
    pub(crate) sizes: &'a [i64],
    pub(crate) strides: &'a [i64],
    pub(crate) dtype: DType,
    /// The address range of the block that contains them, if that is known to be larger.
    pub(crate) block: Option<(usize, usize)>,
}

/// A tensor over memory that a Python object keeps alive.
///
/// # Safety
/// - Until `keeper` is dropped there are initialised elements at these addresses, and other bytes in the rest of the
///   block; every bit pattern is a valid value of the type, so it is not `bool`.
/// - Other code that writes or reads them follows the rule of the guide: not on another thread while an operator uses
///   them.
pub(crate) unsafe fn over(elements: &Elements<'_>, keeper: Py<PyAny>) -> Result<Tensor> {
    let Elements { start, sizes, strides, dtype, block } = *elements;
    let keys = Tensor::empty(&[0], dtype, Device::CPU)?.key_set();
    let geometry = Geometry::new(sizes, strides, 0)?;
    if geometry.numel() == 0 {
        return Tensor::from_storage(
            Storage::zeroed(0, Device::CPU)?,
            sizes,
            &vec![0; sizes.len()],
            0,
            dtype,
            keys,
        );
    }
    let nbytes = usize::try_from(geometry.end()?).ok().and_then(|end| end.checked_mul(dtype.size()));
    let end =
        nbytes.filter(|nbytes| isize::try_from(*nbytes).is_ok()).and_then(|n| start.addr().checked_add(n));
    let Some(end) = end else {
        torch_library::bail!(Shape, "sizes {sizes:?} with strides {strides:?} are beyond memory")
    };
    ensure!(!start.is_null(), Argument, "memory at null for sizes {sizes:?}");
    ensure!(
        start.addr().is_multiple_of(dtype.align()),
        Argument,
        "elements of {dtype} at {start:?}, which is no multiple of {}, cannot be shared; `torch_library.tensor(array)` \
         copies them",
        dtype.align()
    );
    let around = |(from, to): &(usize, usize)| *from != 0 && *from <= start.addr() && end <= *to;
    let (from, to) = block.filter(around).unwrap_or((start.addr(), end));
    // SAFETY: the caller promises that these bytes exist as long as the keeper, and which code may use them.
    let storage = unsafe { storage_around(start.with_addr(from), to, (start.addr(), end), keeper) }?;
    let base = storage.data_ptr().map_or(0, |data| data.addr().get());
    let offset = start.addr() - base;
    ensure!(
        offset.is_multiple_of(dtype.size()),
        Argument,
        "elements of {dtype} that begin {offset} bytes behind their block lie askew in it; copy them"
    );
    Tensor::from_storage(storage, sizes, strides, (offset / dtype.size()) as i64, dtype, keys)
}

/// A tensor over memory that no other code uses while it lives, and which is not recorded.
///
/// # Safety
/// - The requirements of [`over`], where the caller is the keeper: it neither writes the elements meanwhile nor lets
///   other code write them.
pub(crate) unsafe fn alone(elements: &Elements<'_>) -> Result<Tensor> {
    let Elements { start, sizes, strides, dtype, .. } = *elements;
    let keys = Tensor::empty(&[0], dtype, Device::CPU)?.key_set();
    let geometry = Geometry::new(sizes, strides, 0)?;
    let nbytes = if geometry.numel() == 0 { 0 } else { geometry.end()?.saturating_mul(dtype.size() as i64) };
    let data = NonNull::new(start.cast::<u8>()).filter(|_| nbytes > 0);
    let Some(data) = data else {
        return Tensor::from_storage(
            Storage::zeroed(0, Device::CPU)?,
            sizes,
            &vec![0; sizes.len()],
            0,
            dtype,
            keys,
        );
    };
    // SAFETY: as the caller promises.
    let storage = unsafe { Storage::from_raw_parts(data, nbytes as usize, Device::CPU, Box::new(())) };
    Tensor::from_storage(storage, sizes, strides, 0, dtype, keys)
}

/// The storage of the block that contains these bytes, or a new one for the whole block.
///
/// # Safety
/// - The requirements of [`over`], for the bytes from `start` to `to`.
unsafe fn storage_around(
    start: *mut c_void,
    to: usize,
    wanted: (usize, usize),
    keeper: Py<PyAny>,
) -> Result<Storage> {
    let from = start.addr();
    // Declared before the lock, and so dropped after it, even where something fails: the last clone of a tensor may run
    // code of the user's, which may come back here.
    let (touching, around);
    let mut blocks = blocks();
    touching = blocks.touching(wanted.0, wanted.1);
    if let Some((begin, end, block)) = touching.iter().find(|(_, end, _)| *end > wanted.0) {
        drop(blocks);
        ensure!(
            *begin <= wanted.0 && wanted.1 <= *end,
            Busy,
            "another tensor is over a part of this memory, and does not know of the rest: share the whole first, or copy"
        );
        return Ok(lent(block.clone()));
    }
    around = blocks.touching(from, to);
    let (from, to) = if around.iter().any(|(_, end, _)| *end > from) { wanted } else { (from, to) };
    // `over` refuses null.
    let data = NonNull::new(start.with_addr(from).cast::<u8>()).unwrap_or(NonNull::dangling());
    // SAFETY: the caller promises that the bytes exist as long as the keeper, and which code may use them. There is no
    // other storage over them: none of the blocks overlaps these bytes.
    let storage = unsafe { Storage::from_raw_parts(data, to - from, Device::CPU, Box::new(keeper)) };
    let keys = Tensor::empty(&[0], DType::UInt8, Device::CPU)?.key_set();
    let block = Tensor::from_storage(storage, &[(to - from) as i64], &[1], 0, DType::UInt8, keys)?;
    let alive = blocks.insert(from, to, &block);
    drop(blocks);
    drop((touching, around, alive));
    Ok(lent(block))
}

/// A storage with the memory, and so with the leases, of a block.
fn lent(block: Tensor) -> Storage {
    let memory = block.storage().clone();
    Storage::new(Lent { block, memory })
}
