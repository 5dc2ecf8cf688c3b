//! The mask of an operator, which removes the keys that calls skip because their kernel is a fallthrough.

use super::slots::Slots;
use crate::{BackendComponent, DispatchKey, DispatchKeySet};

/// The mask for the keys of an operator's calls: everything but the functionalities whose kernel is a fallthrough.
///
/// Which functionalities these are may depend on the backend: the mask of the highest backend of a call is used.
///
/// PyTorch: `DispatchKeyExtractor::nonFallthroughKeys_`, `nonFallthroughKeysPerBackend_`,
/// `requiresBitsetPerBackend_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    per_backend: [DispatchKeySet; BackendComponent::ALL.len()],
}

impl Mask {
    pub(super) fn without(fallthrough: Slots) -> Self {
        let mut everywhere = DispatchKeySet::EMPTY;
        let mut per_backend = [DispatchKeySet::EMPTY; BackendComponent::ALL.len()];
        for slot in fallthrough.iter() {
            let key = DispatchKey::runtime_keys()[slot];
            let removed = key.backend().map_or(&mut everywhere, |backend| &mut per_backend[backend.index()]);
            *removed = removed.add(key);
        }
        Mask { per_backend: per_backend.map(|removed| DispatchKeySet::FULL - everywhere - removed) }
    }

    /// The mask for calls whose highest backend is this one; that of the first backend is also used for calls without a
    /// backend.
    pub fn for_backend(&self, backend: BackendComponent) -> DispatchKeySet {
        self.per_backend[backend.index()]
    }

    /// The masks of all backends, in their order.
    pub(crate) fn per_backend(&self) -> [DispatchKeySet; BackendComponent::ALL.len()] {
        self.per_backend
    }

    /// The mask for all calls, if it is the same on every backend; otherwise that of the last backend, as in PyTorch.
    pub fn shared(&self) -> DispatchKeySet {
        self.for_backend(BackendComponent::Meta)
    }

    /// Whether the mask differs between backends.
    pub fn requires_bitset_per_backend(&self) -> bool {
        self.per_backend.iter().any(|mask| *mask != self.per_backend[0])
    }

    /// The keys of a call without those that it skips.
    pub fn apply(&self, keys: DispatchKeySet) -> DispatchKeySet {
        keys & self.per_backend[keys.backend_index()]
    }
}
