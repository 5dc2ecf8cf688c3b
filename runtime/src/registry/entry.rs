//! The registrations under one operator name.

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
    /// Checked at compile time; its code has the calling convention of this operator.
    Typed(Kernel, &'static Operator),
    /// A boxed kernel, which serves any signature.
    Boxed(BoxedKernel),
    /// Removes its key from the mask.
    Fallthrough,
    /// The operator's own default for autograd keys.
    AutogradDefault,
    /// The default tracking of views and versions; operators that need neither skip its key.
    Bookkeeping,
}

/// The source of a registration. Later variants take precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// This library's default for a key.
    Default,
    /// The library that declares a variant: a kernel that copies the operator's result, unless the variant has its own.
    Copying,
    /// A record in the program.
    Linked,
    /// A record in the program that says `override`.
    Override,
    /// A run-time library.
    Library,
}

/// A registered kernel, with its origin.
#[derive(Clone)]
pub(super) struct Registration {
    /// Unique and increasing in its dispatcher; a library stores it to undo the registration.
    pub(super) id: u64,
    pub(super) key: DispatchKey,
    pub(super) implementation: Implementation,
    pub(super) derivative: Option<&'static Derivative>,
    pub(super) origin: Origin,
    /// The function's name, or a label.
    pub(super) function: Cow<'static, str>,
    pub(super) place: Place,
    /// The schema of a boxed kernel, if it has one, to be checked against the operator's.
    pub(super) signature: Option<Arc<Schema>>,
    /// The seat of its closure, if that can be removed.
    pub(super) seat: Option<Seat>,
}

impl Registration {
    /// The operator whose types the kernel has, if it is typed.
    pub(super) fn made_for(&self) -> Option<&'static Operator> {
        match self.implementation {
            Implementation::Typed(_, made_for) => Some(made_for),
            _ => None,
        }
    }

    pub(super) fn is_fallthrough(&self) -> bool {
        matches!(self.implementation, Implementation::Fallthrough)
    }

    /// Whether this registration makes the operator skip the key.
    pub(super) fn is_fallthrough_for(&self, operator: &Operator) -> bool {
        match self.implementation {
            Implementation::Bookkeeping => !operator.spec().has_alias_info,
            _ => self.is_fallthrough(),
        }
    }

    /// Whether it is one of this library's own layers, those that [`LAYER`](super::layer::LAYER) serves.
    pub(super) fn is_layer(&self) -> bool {
        self.origin == Origin::Default
            && matches!(self.implementation, Implementation::Boxed(_) | Implementation::Bookkeeping)
    }

    /// Of several registrations for a key, the one with the highest rank is active.
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

/// A present definition.
pub(super) struct Definition {
    pub(super) id: u64,
    pub(super) operator: &'static Operator,
}

/// Everything under one name. It remains when its last registration is removed, so that a new one finds the old tables.
pub(super) struct Entry {
    pub(super) name: &'static Name,
    /// The first one is used; several are a conflict, or come from one crate that is linked twice.
    pub(super) definitions: SmallVec<[Definition; 1]>,
    /// The kernels, in the order of registration.
    pub(super) registrations: Vec<Registration>,
    /// Whether it is in conflict, so that every call is refused.
    pub(super) in_conflict: bool,
    /// All tables that were published: one is published again when the same registrations return.
    pub(super) interned: Interned,
    pub(super) rare: Option<Box<Rare>>,
}

/// The parts of an entry that few operators have.
#[derive(Default)]
pub(super) struct Rare {
    /// Kernels outside the table, which are called by key alone or through a typed handle; they are never freed.
    pub(super) kept: Vec<&'static Kernel>,
    /// The empty seats of closures that were removed.
    pub(super) seats: Seats,
    /// Operators that were defined at run time, for reuse if the same schema is defined again.
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

    /// The rare parts, created if there are none.
    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    pub(super) fn operator(&self) -> Option<&'static Operator> {
        self.definitions.first().map(|definition| definition.operator)
    }

    /// Whether anything is registered under the name at present.
    pub(super) fn is_in_use(&self) -> bool {
        !self.definitions.is_empty() || !self.registrations.is_empty()
    }

    pub(super) fn is_defined_by(&self, operator: &'static Operator) -> bool {
        self.definitions.iter().any(|definition| std::ptr::eq(definition.operator, operator))
    }

    /// The active registration of each key, in order of rising rank.
    pub(super) fn active_registrations(&self) -> Vec<&Registration> {
        let mut active: SmallVec<[&Registration; 8]> = SmallVec::new();
        let mut positions = [u8::MAX; 256];
        for registration in &self.registrations {
            let position = &mut positions[registration.key as usize];
            match active.get_mut(usize::from(*position)) {
                None => {
                    *position = active.len() as u8; // there are fewer than 255 keys
                    active.push(registration);
                }
                Some(other) if other.rank() < registration.rank() => *other = registration,
                Some(_) => {}
            }
        }
        active.sort_unstable_by_key(|registration| registration.rank());
        active.into_vec()
    }

    /// The registrations, in order of rising rank.
    pub(super) fn by_rank(&self) -> Vec<&Registration> {
        let mut registrations: Vec<_> = self.registrations.iter().collect();
        registrations.sort_unstable_by_key(|registration| registration.rank());
        registrations
    }

    /// The kernels, by key; for each key, the active one first.
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
