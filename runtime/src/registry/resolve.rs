//! From registrations to published tables.
#![expect(unsafe_code, reason = "rows whose code serves many operators are told which one they are for")]

use super::entry::{Implementation, Registration};
use super::missing::{AMBIGUOUS, FALLTHROUGH, MISSING};
use super::state::State;
use super::{KernelInfo, removed};
use crate::autograd;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{BoxedKernel, Kernel, call_boxed_state};
use crate::key::{BackendComponent, NUM_RUNTIME_KEYS};
use crate::operator::{Operator, Resolved};
use crate::table::{self, Source};
use crate::trace;

/// What a row of a computed table names: a registration of the operator, or a fallback.
type Row<'s> = &'s Registration;

impl State {
    /// Publishes an operator's table and returns it.
    pub(super) fn resolve(&mut self, operator: &'static Operator) -> Result<&'static Resolved> {
        let index = self.index(operator).ok_or_else(|| removed(operator))?;
        let entry = &self.entries[index];
        if !entry.definitions.iter().any(|definition| std::ptr::eq(definition.operator, operator)) {
            return Err(removed(operator));
        }
        if entry.in_conflict {
            let report = self.report().unwrap_or_default();
            return Err(Error::new(ErrorKind::Conflict, format!("{operator} cannot be called\n{report}")));
        }
        let resolved = self.build(index, operator);
        operator.publish(resolved, resolved.masks_differ() || trace::is_active());
        Ok(resolved)
    }

    /// The table of an entry, from the registrations that are alive.
    fn table(&self, index: usize) -> table::Table<Row<'_>> {
        let entry = &self.entries[index];
        let mut keys: Vec<_> = entry.registrations.iter().map(|registration| registration.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let registrations: Vec<_> = keys
            .into_iter()
            .filter_map(|key| entry.winner(key))
            .map(|winner| table::Registration {
                key: winner.key,
                kernel: winner,
                is_fallthrough: winner.is_fallthrough(),
            })
            .collect();
        let mut fallbacks = table::Fallbacks::new();
        let mut by_age: Vec<_> = self.fallbacks.iter().collect();
        by_age.sort_by_key(|fallback| fallback.id);
        for fallback in by_age {
            // Only runtime keys get this far, and those are accepted.
            let _ = fallbacks.set(fallback.key, Some((fallback, fallback.is_fallthrough())));
        }
        table::Table::compute(&registrations, &fallbacks)
    }

    fn build(&mut self, index: usize, operator: &'static Operator) -> &'static Resolved {
        let table = self.table(index);
        let mut kernels: Vec<Kernel> = Vec::new();
        let mut rows = [0u8; NUM_RUNTIME_KEYS];
        for (row, entry) in rows.iter_mut().zip(table.entries()) {
            let kernel = row_kernel(operator, entry);
            let position = kernels.iter().position(|known| *known == kernel).unwrap_or_else(|| {
                kernels.push(kernel);
                kernels.len() - 1
            });
            *row = position as u8;
        }
        let mask = table.mask();
        let masks = mask
            .requires_bitset_per_backend()
            .then(|| Box::new(BackendComponent::ALL.map(|backend| mask.for_backend(backend))));
        let shared = mask.shared();
        let interned = &mut self.entries[index].interned;
        if let Some(known) = interned.iter().find(|known| known.is(shared, masks.as_deref(), &rows, &kernels))
        {
            return known;
        }
        let resolved = Resolved::leak(shared, masks, rows, kernels);
        interned.push(resolved);
        resolved
    }

    /// Lets the next call of an entry's operators compute their table anew.
    pub(super) fn republish(&mut self, index: usize) {
        self.entries[index].definitions.iter().for_each(|definition| definition.operator.retract());
    }

    /// As [`republish`](Self::republish), for all operators.
    pub(super) fn republish_all(&mut self) {
        (0..self.entries.len()).for_each(|index| self.republish(index));
    }

    pub(super) fn kernel_at(&self, operator: &'static Operator, row: usize) -> Option<KernelInfo> {
        let table = self.table(self.index(operator)?);
        table.entries().get(row)?.kernel.map(|registration| registration.info(true))
    }
}

/// The kernel that a row leads to. Rows without one lead to a boxed kernel that says so.
fn row_kernel(operator: &'static Operator, entry: &table::Entry<Row<'_>>) -> Kernel {
    let spec = operator.spec();
    let boxed = |kernel: &'static BoxedKernel| {
        // SAFETY: a `&'static`.
        unsafe { Kernel::with_state(spec.boxing, call_boxed_state, kernel).of_operator(operator) }
    };
    match entry.kernel.map(|registration| registration.implementation) {
        Some(Implementation::Typed(kernel)) => kernel,
        Some(Implementation::Boxed(kernel)) => boxed(kernel),
        Some(Implementation::Fallthrough) => boxed(&FALLTHROUGH),
        Some(Implementation::AutogradDefault) => {
            // SAFETY: a `&'static`.
            unsafe { Kernel::new(spec.autograd_default, autograd::default_boxed).of_operator(operator) }
        }
        None if entry.source == Source::AmbiguousAutogradOther => boxed(&AMBIGUOUS),
        None => boxed(&MISSING),
    }
}
