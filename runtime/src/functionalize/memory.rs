//! The memory of functional tensors: nothing is ever written to it; instead its base is replaced.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::ensure;
use crate::error::Result;
use crate::tensor::geometry::Geometry;
use crate::tensor::{BackendRef, StorageImpl, Tensor};

/// The storage of a functional tensor and all of its views.
///
/// PyTorch: `FunctionalStorageImpl`.
pub(super) struct Memory {
    nbytes: usize,
    device: Device,
    origin: Origin,
    /// Whether a tensor was moved here while the program ran.
    is_later: bool,
    state: Mutex<State>,
}

struct State {
    base: Tensor,
    generation: u64,
    /// Written places that no input may show.
    strays: Vec<Geometry>,
}

/// Where the first base starts in the memory that the program sees. Each further base starts at 0.
#[derive(Clone, Copy)]
pub(super) struct Origin(i64);

impl Origin {
    /// Where a part of the memory is in a base.
    ///
    /// # Errors
    /// The base ends before the part does.
    pub(super) fn within(self, base: &Tensor, part: &Geometry) -> Result<Geometry> {
        let offset = part.offset() - self.0;
        ensure!(
            base.is_wrapper() || offset >= 0 && part.end()? - self.0 <= base.numel(),
            NotSupported,
            "a view reaches beyond the input that it was made from, so its elements are unknown here\n  \
             help: make a tensor that covers all of the view the input"
        );
        Geometry::new(part.sizes(), part.strides(), offset + base.storage_offset())
    }
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
    /// Memory with these elements; the tensor must be a wrapper, or [dense](Tensor::is_non_overlapping_and_dense).
    pub(super) fn around(base: Tensor) -> Memory {
        let (nbytes, device, origin) =
            (base.storage().nbytes(), base.device(), Origin(base.storage_offset()));
        let state = Mutex::new(State { base, generation: 0, strays: Vec::new() });
        Memory { nbytes, device, origin, is_later: false, state }
    }

    /// Memory to which a tensor is moved while the program runs.
    pub(super) fn later(base: Tensor) -> Memory {
        Memory { is_later: true, ..Memory::around(base) }
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

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn is_later(&self) -> bool {
        self.is_later
    }

    /// Whether the tensor that entered has other elements now.
    pub(super) fn is_written(&self) -> bool {
        self.is_later || self.state().generation > 0
    }

    /// Sets the base, after a write to places that no input may show, if there are any.
    pub(super) fn replace(&self, base: Tensor, stray: Option<&Geometry>) {
        let mut state = self.state();
        state.generation += 1;
        if let Some(stray) = stray.filter(|stray| !state.strays.contains(stray)) {
            state.strays.push(stray.clone());
        }
        let before = std::mem::replace(&mut state.base, base);
        drop(state);
        drop(before); // after the lock is released
    }

    /// Written places that no input may show.
    pub(super) fn take_strays(&self) -> Vec<Geometry> {
        std::mem::take(&mut self.state().strays)
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

/// The geometry of the memory from a tensor's first element to its last, as one dimension.
pub(super) fn geometry_of_extent(tensor: &Tensor) -> Result<Geometry> {
    let geometry = tensor.geometry();
    Geometry::new(&[(geometry.end()? - geometry.offset()).max(0)], &[1], geometry.offset())
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
