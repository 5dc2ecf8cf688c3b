//! The dispatch table of one operator: a pure function from its registrations to one entry per runtime key.
//!
//! # How it works
//!
//! The entry of a runtime key is decided by the first of these rules that applies:
//!
//! 1. the kernel registered at the key itself;
//! 2. `CompositeExplicitAutogradNonFunctional`, then `CompositeExplicitAutograd`, if the alias covers the key;
//! 3. `CompositeImplicitAutogradNestedTensor`, if it covers the key;
//! 4. `CompositeImplicitAutograd`, if it covers the key. On `AutogradOther` the entry is *ambiguous* if any of the
//!    backends below that key has a kernel of its own: the composite kernel brings its derivative along, that backend's
//!    kernel does not, and one entry has to serve both. On other keys the rule does not apply if a backend below the
//!    key has a kernel, or if there is a `CompositeExplicitAutograd` kernel;
//! 5. `Autograd`, then `FuncTorchBatchedDecomposition`, if they cover the key;
//! 6. the backend fallback of the key;
//! 7. otherwise the entry is missing.
//!
//! `Undefined`, the key of calls without keys, takes the two explicit composites and `CompositeImplicitAutograd`
//! besides its own kernel.
//!
//! [`Table::compute`] applies the rules from the last to the first and lets each overwrite the previous ones: each rule
//! is then one fixed set of slots. [`explain()`] applies the rules in order for a single key and reports the verdict of
//! each; a test checks that both agree.
//!
//! **Invariant:** the table depends only on the present registrations, never on their order. PyTorch updates only the
//! slots of a registered key, and keeps stale ones for some orders.
//!
//! PyTorch: `OperatorEntry::computeDispatchTableEntryWithDebug`,
//! `DispatchKeyExtractor::setOperatorHasFallthroughForKey`.

mod explain;
mod mask;
mod slots;

use std::fmt;

use crate::{DispatchKey, DispatchKeySet, NUM_RUNTIME_KEYS, Result, ensure};

pub use explain::{Explanation, Verdict, explain};
pub use mask::Mask;
use slots::Slots;

/// A kernel of one operator that is registered at a key; `K` identifies the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Registration<K> {
    /// The key that it is registered at: any key, aliases included; `Undefined` stands for all of them.
    pub key: DispatchKey,
    /// The kernel.
    pub kernel: K,
    /// Whether the kernel is a fallthrough, so that calls skip the key.
    pub is_fallthrough: bool,
}

/// The rule that decided an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A kernel registered at the key itself.
    Kernel,
    /// A kernel registered at an alias.
    Alias(DispatchKey),
    /// The fallback for all operators at this key.
    BackendFallback,
    /// A composite kernel and a backend's kernel both apply to `AutogradOther`.
    AmbiguousAutogradOther,
    /// No rule applies.
    Missing,
}

/// The contents of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<K> {
    /// The rule that decided.
    pub source: Source,
    /// The kernel; `None` if the entry is missing or ambiguous.
    pub kernel: Option<K>,
    /// Whether the kernel is a fallthrough, so that calls skip the key.
    pub is_fallthrough: bool,
}

/// One entry per runtime key, and the set of fallthrough entries.
#[derive(Clone, Debug)]
struct Rows<K> {
    entries: [Entry<K>; NUM_RUNTIME_KEYS],
    fallthrough: Slots,
}

/// The backend fallbacks of a registry: kernels that serve a key for every operator without a more specific kernel.
#[derive(Clone, Debug)]
pub struct Fallbacks<K>(Rows<K>);

/// The dispatch table of one operator.
///
/// ```
/// use torch_library::DispatchKey;
/// use torch_library::table::{Fallbacks, Registration, Source, Table};
///
/// let at = |key, kernel| Registration { key, kernel, is_fallthrough: false };
/// let composite = at(DispatchKey::CompositeImplicitAutograd, "composite");
/// let table = Table::compute(&[composite, at(DispatchKey::CPU, "cpu")], &Fallbacks::new());
/// assert_eq!(table.get(DispatchKey::CPU).kernel, Some("cpu"));
/// assert_eq!(table.get(DispatchKey::AutogradCUDA).kernel, Some("composite"));
/// // The kernel for CPU has no derivative, and that of the composite one does not fit it.
/// assert_eq!(table.get(DispatchKey::AutogradCPU).source, Source::Missing);
/// ```
#[derive(Clone, Debug)]
pub struct Table<K> {
    rows: Rows<K>,
    mask: Mask,
}

/// The aliases, from the first rule to the last.
const ALIASES: [DispatchKey; 6] = [
    DispatchKey::CompositeExplicitAutogradNonFunctional,
    DispatchKey::CompositeExplicitAutograd,
    DispatchKey::CompositeImplicitAutogradNestedTensor,
    DispatchKey::CompositeImplicitAutograd,
    DispatchKey::Autograd,
    DispatchKey::FuncTorchBatchedDecomposition,
];
const EXPLICIT: usize = 1;

const AUTOGRAD_OTHER: Slots = Slots::EMPTY.with(slot_of(DispatchKey::AutogradOther));

const fn slot_of(key: DispatchKey) -> usize {
    DispatchKeySet::from_key(key).table_index()
}

/// Whether an alias may decide a runtime key: the alias covers the key, or it is a composite, and the key that of calls
/// without keys.
const fn serves(alias: DispatchKey, key: DispatchKey) -> bool {
    let takes_undefined = matches!(
        alias,
        DispatchKey::CompositeExplicitAutogradNonFunctional
            | DispatchKey::CompositeExplicitAutograd
            | DispatchKey::CompositeImplicitAutograd
    );
    alias.covers(key) || matches!(key, DispatchKey::Undefined) && takes_undefined
}

/// Whether a kernel at this key, which is not an alias, belongs to a backend below an autograd key. PyTorch compares
/// bits, so a kernel at the building block `Dense`, which never runs, is below every backend's autograd key.
const fn is_below(key: DispatchKey, autograd: DispatchKey) -> bool {
    !key.is_alias() && autograd.backends_below_autograd().has(key)
}

/// The slots that each alias may decide.
static SERVED: [Slots; ALIASES.len()] = {
    let mut served = [Slots::EMPTY; ALIASES.len()];
    let mut idx = 0;
    while idx < ALIASES.len() {
        let mut slot = 0;
        while slot < NUM_RUNTIME_KEYS {
            if serves(ALIASES[idx], DispatchKey::runtime_keys()[slot]) {
                served[idx] = served[idx].with(slot);
            }
            slot += 1;
        }
        idx += 1;
    }
    served
};

/// For each key by value: the slots of the autograd keys above a kernel registered there.
static AUTOGRAD_ABOVE: [Slots; 256] = {
    let mut above = [Slots::EMPTY; 256];
    let mut slot = 0;
    while slot < NUM_RUNTIME_KEYS {
        let autograd = DispatchKey::runtime_keys()[slot];
        let mut value = 1;
        while value < above.len() && DispatchKey::Autograd.covers(autograd) {
            if let Some(key) = DispatchKey::from_value(value as u8)
                && is_below(key, autograd)
            {
                above[value] = above[value].with(slot);
            }
            value += 1;
        }
        slot += 1;
    }
    above
};

impl DispatchKey {
    /// The key that a registration at this key is for: `CompositeImplicitAutograd` for `Undefined`, which once was the
    /// catch-all.
    pub const fn registration_key(self) -> DispatchKey {
        match self {
            DispatchKey::Undefined => DispatchKey::CompositeImplicitAutograd,
            key => key,
        }
    }
}

impl<K: Copy> Registration<K> {
    fn entry(&self, source: Source) -> Entry<K> {
        Entry { source, kernel: Some(self.kernel), is_fallthrough: self.is_fallthrough }
    }
}

impl<K> Entry<K> {
    const MISSING: Self = Entry { source: Source::Missing, kernel: None, is_fallthrough: false };
}

impl<K: Copy> Rows<K> {
    fn get(&self, key: DispatchKey) -> Entry<K> {
        key.slot().map_or(Entry::MISSING, |slot| self.entries[slot])
    }

    fn write(&mut self, slots: Slots, entry: Entry<K>) {
        slots.iter().for_each(|slot| self.entries[slot] = entry);
        self.fallthrough = self.fallthrough.minus(slots);
        if entry.is_fallthrough {
            self.fallthrough = self.fallthrough.union(slots);
        }
    }
}

impl<K: Copy> Fallbacks<K> {
    /// No fallback at any key.
    pub const fn new() -> Self {
        Fallbacks(Rows { entries: [Entry::MISSING; NUM_RUNTIME_KEYS], fallthrough: Slots::EMPTY })
    }

    /// Makes a kernel the fallback of a runtime key, or removes the fallback.
    ///
    /// # Errors
    /// The key is an alias or a building block, which calls never dispatch on.
    pub fn set(&mut self, key: DispatchKey, fallback: Option<(K, bool)>) -> Result<()> {
        ensure!(
            key.is_runtime(),
            Argument,
            "no fallback can be registered at {key}: calls never dispatch on it"
        );
        let entry = match fallback {
            Some((kernel, is_fallthrough)) => {
                Entry { source: Source::BackendFallback, kernel: Some(kernel), is_fallthrough }
            }
            None => Entry::MISSING,
        };
        self.0.write(Slots::EMPTY.with(slot_of(key)), entry);
        Ok(())
    }

    /// The fallback of a key; missing for aliases and building blocks.
    pub fn get(&self, key: DispatchKey) -> Entry<K> {
        self.0.get(key)
    }
}

impl<K: Copy> Default for Fallbacks<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy> Table<K> {
    /// Computes the table. Of several registrations at one key the last one is used.
    pub fn compute(registrations: &[Registration<K>], fallbacks: &Fallbacks<K>) -> Self {
        let mut rows = fallbacks.0.clone();
        let mut by_alias = [None; ALIASES.len()];
        let mut above_backend = Slots::EMPTY;
        for registration in registrations {
            let key = registration.key.registration_key();
            match ALIASES.iter().position(|alias| *alias == key) {
                Some(idx) => by_alias[idx] = Some(registration),
                None => above_backend = above_backend.union(AUTOGRAD_ABOVE[key as usize]),
            }
        }
        for (idx, alias) in ALIASES.into_iter().enumerate().rev() {
            let Some(registration) = by_alias[idx] else { continue };
            let mut slots = SERVED[idx];
            if alias == DispatchKey::CompositeImplicitAutograd {
                slots = if by_alias[EXPLICIT].is_some() { Slots::EMPTY } else { slots.minus(above_backend) };
                let ambiguous =
                    Entry { source: Source::AmbiguousAutogradOther, kernel: None, is_fallthrough: false };
                rows.write(AUTOGRAD_OTHER.intersection(above_backend), ambiguous);
            }
            rows.write(slots, registration.entry(Source::Alias(alias)));
        }
        for registration in registrations {
            if let Some(slot) = registration.key.registration_key().slot() {
                rows.write(Slots::EMPTY.with(slot), registration.entry(Source::Kernel));
            }
        }
        let mask = Mask::without(rows.fallthrough);
        Table { rows, mask }
    }

    /// The entry of a key: missing for aliases and building blocks, which calls never dispatch on.
    pub fn get(&self, key: DispatchKey) -> Entry<K> {
        self.rows.get(key)
    }

    /// The entries, slot by slot, in the order of [`DispatchKey::runtime_keys`].
    pub fn entries(&self) -> &[Entry<K>; NUM_RUNTIME_KEYS] {
        &self.rows.entries
    }

    /// The mask, which removes the keys that calls skip.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }
}

/// Prints the word that PyTorch puts into its table dumps.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Source::Kernel => "kernel",
            Source::Alias(DispatchKey::CompositeImplicitAutograd) => "math kernel",
            Source::Alias(DispatchKey::CompositeImplicitAutogradNestedTensor) => "nested kernel",
            Source::Alias(DispatchKey::Autograd) => "autograd kernel",
            Source::Alias(DispatchKey::FuncTorchBatchedDecomposition) => "batched kernel",
            Source::Alias(_) => "default backend kernel",
            Source::BackendFallback => "backend fallback",
            Source::AmbiguousAutogradOther => "ambiguous autogradother",
            Source::Missing => "missing",
        })
    }
}

#[cfg(test)]
mod tests;
