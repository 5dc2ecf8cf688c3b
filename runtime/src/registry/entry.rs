//! What is registered for one operator name.

use std::sync::Arc;

use torch_library_schema::Schema;

use super::{KernelInfo, OperatorInfo};
use crate::kernel::{BoxedKernel, Kernel};
use crate::key::DispatchKey;
use crate::operator::{Operator, Place, Resolved};

/// A kernel as the registry keeps it.
#[derive(Clone, Copy)]
pub(super) enum Implementation {
    /// Checked at compile time; its code has the operator's calling convention.
    Typed(Kernel),
    /// One function for any signature.
    Boxed(&'static BoxedKernel),
    /// Takes its key out of the mask.
    Fallthrough,
    /// The operator's own default for autograd keys.
    AutogradDefault,
}

/// A kernel that is registered, and who did it.
#[derive(Clone)]
pub(super) struct Registration {
    /// Unique in its dispatcher; what a library remembers to undo it.
    pub(super) id: u64,
    pub(super) key: DispatchKey,
    pub(super) implementation: Implementation,
    pub(super) function: &'static str,
    pub(super) overrides: bool,
    pub(super) place: Place,
    /// The schema of a typed kernel that was registered at run time, to be checked against the operator's.
    pub(super) inferred: Option<Arc<Schema>>,
}

impl Registration {
    pub(super) fn is_fallthrough(&self) -> bool {
        matches!(self.implementation, Implementation::Fallthrough)
    }

    pub(super) fn info(&self, active: bool) -> KernelInfo {
        KernelInfo {
            key: self.key,
            function: self.function,
            place: self.place,
            is_fallthrough: self.is_fallthrough(),
            is_boxed: !matches!(self.implementation, Implementation::Typed(_)),
            overrides: self.overrides,
            is_active: active,
        }
    }
}

/// A definition that is alive.
pub(super) struct Definition {
    pub(super) id: u64,
    pub(super) operator: &'static Operator,
}

/// Everything under one name. It stays when its last registration goes, so that a new one finds the old tables.
#[derive(Default)]
pub(super) struct Entry {
    /// The first is the one that counts; more than one is a conflict, or the same crate linked twice.
    pub(super) definitions: Vec<Definition>,
    /// In the order of registration: for a key that has several, the last one counts.
    pub(super) registrations: Vec<Registration>,
    /// Refuses every call, with a number into the list of conflicts.
    pub(super) in_conflict: bool,
    pub(super) schema: Option<Arc<Schema>>,
    /// Tables that were published once: published again when the same registrations return.
    pub(super) interned: Vec<&'static Resolved>,
    /// Operators that were defined at run time and may be defined again with the same schema.
    pub(super) retired: Vec<&'static Operator>,
}

impl Entry {
    pub(super) fn operator(&self) -> Option<&'static Operator> {
        self.definitions.first().map(|definition| definition.operator)
    }

    /// The registration that counts for a key, directly.
    pub(super) fn winner(&self, key: DispatchKey) -> Option<&Registration> {
        let of_key = self.registrations.iter().filter(|registration| registration.key == key);
        // An override wins over what is not one, whatever came first; after that the newest counts.
        of_key.clone().filter(|registration| registration.overrides).last().or_else(|| of_key.last())
    }

    pub(super) fn info(&self) -> Option<OperatorInfo> {
        let operator = self.operator()?;
        let mut kernels: Vec<_> = self
            .registrations
            .iter()
            .map(|registration| {
                let winner = self.winner(registration.key).is_some_and(|winner| winner.id == registration.id);
                registration.info(winner)
            })
            .collect();
        kernels.sort_by_key(|kernel| (kernel.key, !kernel.is_active, kernel.place));
        Some(OperatorInfo { operator: operator.handle(), kernels, in_conflict: self.in_conflict })
    }
}
