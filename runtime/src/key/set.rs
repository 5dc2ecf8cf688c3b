//! Sets of dispatch keys in one word, and the slot of a dispatch table for each set.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Sub, SubAssign};

use super::{BackendComponent, DispatchKey};

const NUM_BACKENDS: u32 = BackendComponent::ALL.len() as u32;
const BACKENDS: u64 = (1 << NUM_BACKENDS) - 1;
const NUM_BITS: u32 = NUM_BACKENDS + DispatchKey::PythonDispatcher as u32;

const _: () = assert!(NUM_BITS <= 62, "bits 62 and 63 are spare");

/// The number of runtime keys, which is the length of a dispatch table.
///
/// PyTorch: `c10::num_runtime_entries`.
pub const NUM_RUNTIME_KEYS: usize = OFFSETS[DispatchKey::PythonDispatcher as usize][0] as usize + 1;

/// A set of dispatch keys.
///
/// # How it works
///
/// Bit *i* of the word is backend *i*; bit 15 + *v* is the functionality with value *v*. A key of a per-backend
/// functionality is two bits, and a set is always the cross product of its bits: `{CPU, AutogradCUDA}` also contains
/// `CUDA` and `AutogradCPU`. For the same reason removing `AutogradCPU` removes autograd for every backend: removing a
/// key only ever clears functionality bits.
///
/// ```
/// use torch_library::{DispatchKey, DispatchKeySet};
///
/// let keys = DispatchKeySet::from_keys(&[DispatchKey::CPU, DispatchKey::AutogradCPU]);
/// assert_eq!(keys.highest_priority(), DispatchKey::AutogradCPU);
/// assert_eq!(keys.remove(DispatchKey::AutogradCPU).highest_priority(), DispatchKey::CPU);
/// assert_eq!(keys.to_string(), "DispatchKeySet(CPU, AutogradCPU)");
/// ```
///
/// PyTorch: `c10::DispatchKeySet`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct DispatchKeySet(u64);

impl DispatchKeySet {
    /// No key.
    pub const EMPTY: Self = DispatchKeySet(0);
    /// Every backend and every functionality.
    pub const FULL: Self = DispatchKeySet((1 << NUM_BITS) - 1);
    /// Every backend and no functionality.
    ///
    /// PyTorch: `c10::full_backend_mask`.
    pub const ALL_BACKENDS: Self = DispatchKeySet(BACKENDS);

    /// The set with these bits. Bits 62 and 63 belong to no key.
    pub const fn from_raw(raw: u64) -> Self {
        DispatchKeySet(raw)
    }

    /// The bits.
    ///
    /// PyTorch: `raw_repr`.
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// The set of one key: empty for `Undefined` and for an alias; only a functionality bit for a building block.
    #[inline]
    pub const fn from_key(key: DispatchKey) -> Self {
        let functionality = match key.functionality() {
            DispatchKey::Undefined => 0,
            functionality => 1 << (NUM_BACKENDS - 1 + functionality as u32),
        };
        let backend = match key.backend() {
            Some(backend) => Self::from_backend(backend).0,
            None => 0,
        };
        DispatchKeySet(functionality | backend)
    }

    /// The set of one backend and no functionality.
    pub const fn from_backend(backend: BackendComponent) -> Self {
        DispatchKeySet(1 << backend.index())
    }

    /// The set of several keys.
    pub const fn from_keys(keys: &[DispatchKey]) -> Self {
        let mut set = Self::EMPTY;
        let mut idx = 0;
        while idx < keys.len() {
            set = set.add(keys[idx]);
            idx += 1;
        }
        set
    }

    /// Every functionality below that of a key, every backend, and `PythonDispatcher`: the mask with which a layer
    /// redispatches. For `Undefined` the backend Meta is missing, as in PyTorch.
    ///
    /// PyTorch: `DispatchKeySet(DispatchKeySet::FULL_AFTER, key)`.
    pub const fn full_after(key: DispatchKey) -> Self {
        DispatchKeySet((1 << (NUM_BACKENDS - 1 + key.functionality() as u32)) - 1)
            .add(DispatchKey::PythonDispatcher)
    }

    /// Whether no bit is set. A set with only backends is not empty, although it has no keys.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all bits of a key are set; true for `Undefined` and aliases, which have no bits.
    #[inline]
    pub const fn has(self, key: DispatchKey) -> bool {
        self.has_all(Self::from_key(key))
    }

    /// Whether the backend's bit is set.
    pub const fn has_backend(self, backend: BackendComponent) -> bool {
        self.has_all(Self::from_backend(backend))
    }

    /// Whether the two sets share a bit; backend bits count as well.
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all bits of the other set are set.
    ///
    /// PyTorch: `has_all`, `isSupersetOf`.
    pub const fn has_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set with a key.
    #[must_use]
    #[inline]
    pub const fn add(self, key: DispatchKey) -> Self {
        self.union(Self::from_key(key))
    }

    /// The set without the functionality of a key, on every backend; for an alias, without all keys that it covers.
    /// Backend bits stay. (In PyTorch the set of an alias is empty, and removing it removes nothing.)
    ///
    /// ```
    /// use torch_library::{DispatchKey, DispatchKeySet};
    ///
    /// let keys = DispatchKeySet::of_tensor(DispatchKey::CPU).remove(DispatchKey::Autograd);
    /// assert!(keys.has(DispatchKey::CPU) && !keys.has(DispatchKey::AutogradCPU));
    /// ```
    #[must_use]
    #[inline]
    pub const fn remove(self, key: DispatchKey) -> Self {
        self.difference(key.expansion())
    }

    /// The set without a backend.
    #[must_use]
    pub const fn remove_backend(self, backend: BackendComponent) -> Self {
        DispatchKeySet(self.0 & !Self::from_backend(backend).0)
    }

    /// The union of both sets; also `|`.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        DispatchKeySet(self.0 | other.0)
    }

    /// The intersection of both sets; also `&`.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        DispatchKeySet(self.0 & other.0)
    }

    /// The set without the functionalities of another; also `-`. Backend bits stay.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        DispatchKeySet(self.0 & !(other.0 & !BACKENDS))
    }

    /// The functionality with the highest priority; a building block if it is per backend.
    ///
    /// PyTorch: `highestFunctionalityKey`.
    pub const fn highest_functionality(self) -> DispatchKey {
        match DispatchKey::from_value(((self.0 & Self::FULL.0) >> (NUM_BACKENDS - 1) | 1).ilog2() as u8) {
            Some(key) => key,
            None => unreachable!(), // each bit of FULL has a functionality
        }
    }

    /// The backend with the highest priority.
    ///
    /// PyTorch: `highestBackendKey`.
    pub const fn highest_backend(self) -> Option<BackendComponent> {
        if self.0 & BACKENDS == 0 { None } else { Some(BackendComponent::ALL[self.backend_index()]) }
    }

    /// The runtime key that a call with this set dispatches on. For a per-backend functionality without any backend it
    /// is the building block, where PyTorch returns its block marker.
    ///
    /// PyTorch: `highestPriorityTypeId`.
    #[inline]
    pub const fn highest_priority(self) -> DispatchKey {
        match self.highest_backend() {
            Some(backend) => self.highest_functionality().on(backend),
            None => self.highest_functionality(),
        }
    }

    /// The index of the backend with the highest priority, 0 if there is none.
    ///
    /// PyTorch: `getBackendIndex`.
    #[inline(always)]
    pub const fn backend_index(self) -> usize {
        (self.0 as u16 | 1).ilog2() as usize
    }

    /// The slot of a dispatch table for a call with this set, below [`NUM_RUNTIME_KEYS`].
    ///
    /// Unused bits outrank every key: 62 selects slot `NUM_RUNTIME_KEYS`, 63 the one after.
    ///
    /// PyTorch: `getDispatchTableIndexForDispatchKeySet`.
    #[inline(always)]
    pub const fn table_index(self) -> usize {
        // `| 1` maps the empty set to functionality 0, and saves a test for zero.
        let [offset, backends] = OFFSETS[(self.0 >> (NUM_BACKENDS - 1) | 1).ilog2() as usize];
        offset as usize + (self.backend_index() & backends as usize)
    }

    /// The keys of the set: functionalities in order of rising priority; a per-backend functionality yields one key for
    /// each backend.
    pub const fn iter(self) -> DispatchKeySetIter {
        DispatchKeySetIter {
            rest: self.0 & Self::FULL.0 & !BACKENDS,
            backends: self.0 & BACKENDS,
            pending: 0,
        }
    }
}

/// For each functionality: its first slot, and a mask for the backend's index (0 unless it is per backend). The length
/// is a power of two, which removes the bounds check; it is a constant rather than a static, so that every crate that
/// inlines the code has its own copy.
const OFFSETS: &[[u8; 2]; 64] = &{
    let mut offsets = [[0; 2]; 64];
    let mut slot = 0;
    let mut value = 0;
    while value < offsets.len() {
        let width = match DispatchKey::from_value(value as u8) {
            Some(key) if key.is_per_backend_functionality() => NUM_BACKENDS as u8,
            _ => 1,
        };
        offsets[value] = [slot, width - 1];
        slot += width;
        value += 1;
    }
    offsets
};

/// The key of each slot of a dispatch table.
const fn slots() -> [DispatchKey; NUM_RUNTIME_KEYS] {
    let mut slots = [DispatchKey::Undefined; NUM_RUNTIME_KEYS];
    let mut value = 0;
    while value <= u8::MAX as usize {
        if let Some(key) = DispatchKey::from_value(value as u8)
            && key.is_runtime()
        {
            slots[DispatchKeySet::from_key(key).table_index()] = key;
        }
        value += 1;
    }
    slots
}

static SLOTS: [DispatchKey; NUM_RUNTIME_KEYS] = slots();

impl DispatchKey {
    /// The keys that have a slot in a dispatch table, in the order of the slots.
    pub const fn runtime_keys() -> &'static [DispatchKey; NUM_RUNTIME_KEYS] {
        &SLOTS
    }

    /// The slot of a runtime key in a dispatch table; `None` for building blocks and aliases.
    pub const fn slot(self) -> Option<usize> {
        if self.is_runtime() { Some(DispatchKeySet::from_key(self).table_index()) } else { None }
    }
}

impl From<DispatchKey> for DispatchKeySet {
    fn from(key: DispatchKey) -> Self {
        Self::from_key(key)
    }
}

impl FromIterator<DispatchKey> for DispatchKeySet {
    fn from_iter<I: IntoIterator<Item = DispatchKey>>(keys: I) -> Self {
        keys.into_iter().fold(Self::EMPTY, Self::add)
    }
}

impl BitOr for DispatchKeySet {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl BitAnd for DispatchKeySet {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.intersection(other)
    }
}

/// The symmetric difference of the sets.
impl BitXor for DispatchKeySet {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        DispatchKeySet(self.0 ^ other.0)
    }
}

impl Sub for DispatchKeySet {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.difference(other)
    }
}

impl BitOrAssign for DispatchKeySet {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl BitAndAssign for DispatchKeySet {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl SubAssign for DispatchKeySet {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl IntoIterator for DispatchKeySet {
    type Item = DispatchKey;
    type IntoIter = DispatchKeySetIter;
    fn into_iter(self) -> DispatchKeySetIter {
        self.iter()
    }
}

/// Prints `DispatchKeySet(CPU, AutogradCPU)`; backends without a functionality are not shown.
impl fmt::Display for DispatchKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DispatchKeySet(")?;
        for (idx, key) in self.iter().enumerate() {
            let comma = if idx == 0 { "" } else { ", " };
            write!(f, "{comma}{key}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Debug for DispatchKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The keys of a [`DispatchKeySet`].
#[derive(Clone, Debug)]
pub struct DispatchKeySetIter {
    /// The remaining functionality bits; the lowest is the current one while `pending` is not empty.
    rest: u64,
    backends: u64,
    /// The remaining backends of the current functionality.
    pending: u64,
}

impl Iterator for DispatchKeySetIter {
    type Item = DispatchKey;

    fn next(&mut self) -> Option<DispatchKey> {
        while self.rest != 0 {
            let lowest = DispatchKeySet(self.rest & self.rest.wrapping_neg());
            let functionality = lowest.highest_functionality();
            if !functionality.is_per_backend_functionality() {
                self.rest -= lowest.0;
                return Some(functionality);
            }
            if self.pending == 0 {
                self.pending = self.backends;
            }
            let backend = self.pending.trailing_zeros() as usize;
            self.pending &= self.pending.wrapping_sub(1);
            if self.pending == 0 {
                self.rest -= lowest.0;
            }
            if let Some(&backend) = BackendComponent::ALL.get(backend) {
                return Some(functionality.on(backend));
            }
        }
        None
    }
}

impl FusedIterator for DispatchKeySetIter {}
