//! The memory of functional tensors: nothing is ever written to it; instead its base is replaced.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::error::Result;
use crate::tensor::geometry::Geometry;
use crate::tensor::{BackendRef, Storage, StorageImpl, Tensor};

/// The storage of a functional tensor and all of its views.
///
/// PyTorch: `FunctionalStorageImpl`.
pub(super) struct Memory {
    nbytes: usize,
    device: Device,
    state: Mutex<State>,
}

struct State {
    base: Tensor,
    generation: u64,
}

impl StorageImpl for Memory {
    fn nbytes(&self) -> usize {
        self.nbytes
    }

    fn device(&self) -> Device {
        self.device
    }
}

impl Memory {
    /// Memory with these elements; the tensor must be [whole](is_whole).
    pub(super) fn around(base: Tensor) -> Storage {
        let (nbytes, device) = (base.storage().nbytes(), base.device());
        Storage::new(Memory { nbytes, device, state: Mutex::new(State { base, generation: 0 }) })
    }

    /// The memory of a functional tensor.
    pub(super) fn of(tensor: &Tensor) -> Option<BackendRef<'_, Memory>> {
        tensor.storage().downcast()
    }

    /// The present base, and its generation: the number of bases before it.
    pub(super) fn base(&self) -> (Tensor, u64) {
        let state = self.state();
        (state.base.clone(), state.generation)
    }

    /// Whether the base was ever replaced.
    pub(super) fn is_written(&self) -> bool {
        self.state().generation > 0
    }

    pub(super) fn replace(&self, base: Tensor) {
        let mut state = self.state();
        state.generation += 1;
        let before = std::mem::replace(&mut state.base, base);
        drop(state);
        drop(before); // after the lock is released
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The geometry of all elements in a tensor's memory, as one dimension.
pub(super) fn geometry_of_whole(tensor: &Tensor) -> Result<Geometry> {
    let count = tensor.storage().nbytes() / tensor.dtype().size();
    Geometry::new(&[count as i64], &[1], 0)
}

/// Whether a tensor covers all of its memory, with its dimensions in any order. A wrapper has no memory of its own, and
/// counts as whole.
pub(super) fn is_whole(tensor: &Tensor) -> bool {
    if tensor.is_wrapper() {
        return true;
    }
    let shown = tensor.numel() as u64 * tensor.dtype().size() as u64;
    shown == tensor.storage().nbytes() as u64
        && tensor.storage_offset() == 0
        && tensor.is_non_overlapping_and_dense()
}
