//! The memory of functional tensors: nothing is ever written there, its base is replaced.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::error::Result;
use crate::tensor::geometry::Geometry;
use crate::tensor::{BackendRef, Storage, StorageImpl, Tensor};

/// What a functional tensor and all its views have as storage.
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
    /// Memory with these elements: a tensor that [is whole](is_whole).
    pub(super) fn around(base: Tensor) -> Storage {
        let (nbytes, device) = (base.storage().nbytes(), base.device());
        Storage::new(Memory { nbytes, device, state: Mutex::new(State { base, generation: 0 }) })
    }

    /// That of a functional tensor.
    pub(super) fn of(tensor: &Tensor) -> Option<BackendRef<'_, Memory>> {
        tensor.storage().downcast()
    }

    /// The tensor that has all elements now, and how many there were before it.
    pub(super) fn base(&self) -> (Tensor, u64) {
        let state = self.state();
        (state.base.clone(), state.generation)
    }

    /// Whether there was another base before.
    pub(super) fn is_written(&self) -> bool {
        self.state().generation > 0
    }

    pub(super) fn replace(&self, base: Tensor) {
        let mut state = self.state();
        state.generation += 1;
        let before = std::mem::replace(&mut state.base, base);
        drop(state);
        drop(before); // outside of the lock
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All that lies in the memory of a tensor, as one dimension of its type.
pub(super) fn geometry_of_whole(tensor: &Tensor) -> Result<Geometry> {
    let count = tensor.storage().nbytes() / tensor.dtype().size();
    Geometry::new(&[count as i64], &[1], 0)
}

/// Whether a tensor shows all of its memory, in any order of dimensions. What stands for others has none of its own,
/// and is taken to.
pub(super) fn is_whole(tensor: &Tensor) -> bool {
    if tensor.is_wrapper() {
        return true;
    }
    let shown = tensor.numel() as u64 * tensor.dtype().size() as u64;
    shown == tensor.storage().nbytes() as u64
        && tensor.storage_offset() == 0
        && tensor.is_non_overlapping_and_dense()
}
