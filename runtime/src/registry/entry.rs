//! What is registered under one operator name.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;
use torch_library_schema::Schema;

use super::interned::Interned;
use super::names::Name;
use super::seats::{Seat, Seats};
use super::{KernelInfo, OperatorInfo};
use crate::key::DispatchKey;
use crate::operator::kernel::{BoxedKernel, Kernel};
use crate::operator::{Derivative, Operator, Place};

/// A kernel as the registry keeps it.
#[derive(Clone, Copy)]
pub(super) enum Implementation {
    /// Checked at compile time; its code has this operator's calling convention.
    Typed(Kernel, &'static Operator),
    /// One function for any signature.
    Boxed(BoxedKernel),
    /// Takes its key out of the mask.
    Fallthrough,
    /// The operator's own default for autograd keys.
    AutogradDefault,
    /// The default for views and writes; operators that have neither skip its key.
    Bookkeeping,
}

/// Who registered something. What comes later counts for more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// This library, for keys of which nobody else says anything.
    Default,
    /// The library that declares a variant: where nobody has a kernel for it, what its operator gives is copied.
    Copying,
    /// A record in the program.
    Linked,
    /// A record in the program that is meant to replace another.
    Override,
    /// A library of the run time.
    Library,
}

/// A kernel that is registered, and who did it.
#[derive(Clone)]
pub(super) struct Registration {
    /// Unique in its dispatcher, rising; what a library remembers to undo it.
    pub(super) id: u64,
    pub(super) key: DispatchKey,
    pub(super) implementation: Implementation,
    pub(super) derivative: Option<&'static Derivative>,
    pub(super) origin: Origin,
    /// The function's name, or the label it was given.
    pub(super) function: Cow<'static, str>,
    pub(super) place: Place,
    /// The schema of a boxed kernel that is known to have one, to be checked against the operator's.
    pub(super) signature: Option<Arc<Schema>>,
    /// Where its closure sits, if it has one that goes with it.
    pub(super) seat: Option<Seat>,
}

impl Registration {
    /// The operator whose types the kernel has, if it has any's.
    pub(super) fn made_for(&self) -> Option<&'static Operator> {
        match self.implementation {
            Implementation::Typed(_, made_for) => Some(made_for),
            _ => None,
        }
    }

    pub(super) fn is_fallthrough(&self) -> bool {
        matches!(self.implementation, Implementation::Fallthrough)
    }

    /// Whether this operator skips the key for it.
    pub(super) fn is_fallthrough_for(&self, operator: &Operator) -> bool {
        match self.implementation {
            Implementation::Bookkeeping => !operator.spec().has_alias_info(),
            _ => self.is_fallthrough(),
        }
    }

    /// Whether it is a layer of this library's own, one of those that [`LAYER`](super::layer::LAYER) serves.
    pub(super) fn is_layer(&self) -> bool {
        self.origin == Origin::Default
            && matches!(self.implementation, Implementation::Boxed(_) | Implementation::Bookkeeping)
    }

    /// Of several registrations for a key, the one with the highest rank counts.
    pub(super) fn rank(&self) -> (Origin, u64) {
        (self.origin, self.id)
    }

    pub(super) fn info(&self, active: bool) -> KernelInfo {
        KernelInfo {
            key: self.key,
            function: self.function.clone(),
            place: self.place,
            is_fallthrough: self.is_fallthrough(),
            is_boxed: matches!(self.implementation, Implementation::Boxed(_)),
            derivative: self.derivative,
            overrides: self.origin == Origin::Override,
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
pub(super) struct Entry {
    pub(super) name: &'static Name,
    /// The first is the one that counts; more than one is a conflict, or the same crate linked twice.
    pub(super) definitions: SmallVec<[Definition; 1]>,
    /// The kernels, in the order of registration.
    pub(super) registrations: Vec<Registration>,
    /// Refuses every call.
    pub(super) in_conflict: bool,
    /// Tables that were published once: published again when the same registrations return.
    pub(super) interned: Interned,
    pub(super) rare: Option<Box<Rare>>,
}

/// What few operators have.
#[derive(Default)]
pub(super) struct Rare {
    /// Kernels outside of the table, called for their key alone or by a typed handle, kept as long as the process runs.
    pub(super) kept: Vec<&'static Kernel>,
    /// Where its closures sat that are gone.
    pub(super) seats: Seats,
    /// Operators that were defined at run time and may be defined again with the same schema.
    pub(super) retired: Vec<&'static Operator>,
}

impl Entry {
    pub(super) fn new(name: &'static Name) -> Self {
        Entry {
            name,
            definitions: SmallVec::new(),
            registrations: Vec::new(),
            in_conflict: false,
            interned: Interned::default(),
            rare: None,
        }
    }

    /// What few operators have, made where it is not there.
    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub(super) fn operator(&self) -> Option<&'static Operator> {
        self.definitions.first().map(|definition| definition.operator)
    }

    /// Whether anything is registered under the name now.
    pub(super) fn is_in_use(&self) -> bool {
        !self.definitions.is_empty() || !self.registrations.is_empty()
    }

    pub(super) fn is_defined_by(&self, operator: &'static Operator) -> bool {
        self.definitions.iter().any(|definition| std::ptr::eq(definition.operator, operator))
    }

    /// For each key the registration that counts, those that count for more after the others.
    pub(super) fn counting(&self) -> Vec<&Registration> {
        let mut counting: SmallVec<[&Registration; 8]> = SmallVec::new();
        let mut positions = [u8::MAX; 256];
        for registration in &self.registrations {
            let position = &mut positions[registration.key as usize];
            match counting.get_mut(usize::from(*position)) {
                None => {
                    *position = counting.len() as u8; // there are fewer keys
                    counting.push(registration);
                }
                Some(other) if other.rank() < registration.rank() => *other = registration,
                Some(_) => {}
            }
        }
        counting.sort_unstable_by_key(|registration| registration.rank());
        counting.into_vec()
    }

    /// The registrations, those that count for more after the others.
    pub(super) fn by_rank(&self) -> Vec<&Registration> {
        let mut registrations: Vec<_> = self.registrations.iter().collect();
        registrations.sort_unstable_by_key(|registration| registration.rank());
        registrations
    }

    /// The kernels, by key; for each key, first the one that counts.
    pub(super) fn kernels(&self) -> Vec<KernelInfo> {
        let mut registrations = self.by_rank();
        registrations.reverse();
        registrations.sort_by_key(|registration| registration.key);
        let mut before = None;
        let info = registrations.into_iter().map(|registration| {
            let first = before.replace(registration.key) != Some(registration.key);
            registration.info(first)
        });
        info.collect()
    }

    pub(super) fn info(&self) -> Option<OperatorInfo> {
        let operator = self.operator()?.handle();
        Some(OperatorInfo { operator, kernels: self.kernels(), in_conflict: self.in_conflict })
    }
}
