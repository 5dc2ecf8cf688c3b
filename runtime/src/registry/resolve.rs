//! Publishes tables that are computed from registrations.

use rustc_hash::FxHashSet;

use super::compute::Row;
use super::entry::{Implementation, Origin, Registration};
use super::layer::{Differentiating, LAYER};
use super::missing::{self, AMBIGUOUS, FALLTHROUGH, IN_CONFLICT, MISSING};
use super::state::State;
use crate::error::Result;
use crate::key::{DispatchKey, NUM_RUNTIME_KEYS};
use crate::operator::kernel::{BoxedKernel, Kernel};
use crate::operator::{Draft, Observing, Operator, Resolved, Rows};
use crate::program::Program;
use crate::table::{self, Source, Table};

impl State {
    /// The table of an operator, which is published when it is first needed.
    pub(super) fn resolve(&mut self, operator: &'static Operator) -> Result<Resolved> {
        self.entry(operator)?;
        match operator.published() {
            Some(resolved) => Ok(resolved),
            None => self.publish(operator),
        }
    }

    /// Publishes and returns an operator's table for the present registrations.
    pub(super) fn publish(&mut self, operator: &'static Operator) -> Result<Resolved> {
        let entry = self.entry(operator)?;
        if entry.in_conflict {
            return Err(missing::in_conflict_error(operator, self.report()));
        }
        let (draft, index) = (self.draft(operator, &self.table(entry)), entry.name.entry);
        let State { entries, rows, .. } = self;
        let make = || Resolved::leak(&draft, shared_rows(rows, &draft.rows));
        let resolved = entries[index].interned.find_or_add(&draft, make);
        operator.publish(resolved, resolved.masks_differ() || Program::is_active());
        Ok(resolved)
    }

    /// A computed table in the form that calls read: its distinct kernels, and the kernel of each row.
    pub(super) fn draft(&self, operator: &'static Operator, table: &Table<Row<'_>>) -> Draft {
        let mut kernels: Vec<Kernel> = Vec::new();
        let mut rows = [0u8; NUM_RUNTIME_KEYS];
        let is_own = |entry: &table::Entry<_>| matches!(entry.source, Source::Kernel | Source::Alias(_));
        for own in [true, false] {
            for ((row, entry), key) in rows.iter_mut().zip(table.entries()).zip(DispatchKey::runtime_keys()) {
                if is_own(entry) != own {
                    continue;
                }
                let kernel = self.row_kernel(operator, entry, *key);
                let position = kernels.iter().position(|known| *known == kernel).unwrap_or_else(|| {
                    kernels.push(kernel);
                    kernels.len() - 1
                });
                *row = position as u8; // there are at most 137
            }
        }
        Draft::new(table.mask().clone(), rows, kernels)
    }

    /// The kernel of a row. A row without one gets a boxed kernel that returns the error.
    fn row_kernel(
        &self,
        operator: &'static Operator,
        entry: &table::Entry<Row<'_>>,
        key: DispatchKey,
    ) -> Kernel {
        // In the process-wide dispatcher no kernel is missing at a layer's key, so `LAYER` can also report missing
        // kernels.
        let missing = if operator.spec().dispatcher.is_none() { LAYER } else { MISSING };
        let boxed = match (entry.source, entry.kernel) {
            (Source::BackendFallback, _) if self.fallback_in_conflict(key) => IN_CONFLICT,
            // No call gets here, because the mask removes the key. Only `Undefined` has no bit to remove.
            (_, Some(_)) if entry.is_fallthrough && key != DispatchKey::Undefined => missing,
            (_, Some(registration)) if registration.is_layer() => LAYER,
            (_, Some(registration)) => return registration.implementation.for_operator(operator),
            (Source::AmbiguousAutogradOther, None) => AMBIGUOUS,
            (_, None) => missing,
        };
        boxed.in_table_of(operator)
    }

    /// The kernel registered for exactly this key, otherwise the key's fallback.
    pub(super) fn kernel_for_key(
        &mut self,
        operator: &'static Operator,
        key: DispatchKey,
    ) -> Result<&'static Kernel> {
        let key = key.registration_key();
        let entry = self.entry(operator)?;
        let for_key = |all: &[Registration]| {
            let for_key = all.iter().filter(|registration| registration.key == key);
            for_key.max_by_key(|registration| registration.rank()).cloned() // the clone copies a label at most
        };
        let own = for_key(&entry.registrations);
        if entry.in_conflict || (own.is_none() && self.fallback_in_conflict(key)) {
            return Err(missing::in_conflict_error(operator, self.report()));
        }
        let registration = own.or_else(|| for_key(&self.fallbacks));
        let registration =
            registration.ok_or_else(|| missing::none_for_key(operator, key, &self.available(operator)))?;
        if registration.is_fallthrough_for(operator) {
            return Err(missing::falls_through(operator, key, &registration.info(true)));
        }
        self.keep_kernel(operator, registration.implementation.for_operator(operator))
    }

    /// Whether a kernel is registered for exactly this key.
    pub(super) fn has_kernel_for(&mut self, operator: &'static Operator, key: DispatchKey) -> bool {
        let key = key.registration_key();
        self.entry(operator).is_ok_and(|entry| entry.registrations.iter().any(|own| own.key == key))
    }

    /// Keeps a kernel outside the operator's table as long as the process runs; equal kernels are kept once.
    pub(super) fn keep_kernel(
        &mut self,
        operator: &'static Operator,
        kernel: Kernel,
    ) -> Result<&'static Kernel> {
        let index = self.entry(operator)?.name.entry;
        let kept = &mut self.entries[index].rare_mut().kept;
        let known = kept.iter().copied().find(|known| **known == kernel);
        Ok(known.unwrap_or_else(|| {
            kept.push(Box::leak(Box::new(kernel)));
            kept[kept.len() - 1]
        }))
    }

    fn fallback_in_conflict(&self, key: DispatchKey) -> bool {
        let linked = |fallback: &&Registration| fallback.key == key && fallback.origin != Origin::Default;
        self.fallbacks.iter().filter(linked).count() > 1
    }
}

/// A copy of these rows that is shared by all tables that have them.
fn shared_rows(known: &mut FxHashSet<&'static Rows>, rows: &Rows) -> &'static Rows {
    known.get(rows).copied().unwrap_or_else(|| {
        let rows: &'static Rows = Box::leak(Box::new(*rows));
        known.insert(rows);
        rows
    })
}

impl Implementation {
    /// The kernel for a row of this operator.
    fn for_operator(self, operator: &'static Operator) -> Kernel {
        let spec = operator.spec();
        match self {
            // The only way by which typed code gets into a table or to a caller. Code that was made for another
            // operator is a conflict, which is reported; even before it is found, the code is never called.
            Implementation::Typed(kernel, made_for) if operator.accepts_kernels_of(made_for) => kernel,
            Implementation::Typed(..) => IN_CONFLICT.in_table_of(operator),
            Implementation::Boxed(kernel) => kernel.in_table_of(operator),
            Implementation::Bookkeeping if spec.has_alias_info => {
                BoxedKernel::new(Program::keep_books).in_table_of(operator)
            }
            Implementation::Fallthrough | Implementation::Bookkeeping => FALLTHROUGH.in_table_of(operator),
            Implementation::AutogradDefault => {
                BoxedKernel::new(Program::differentiate).at_autograd_of(operator)
            }
        }
    }
}
