//! Computes the table for a name from its registrations; publishing comes later.

use super::entry::{Entry, Registration};
use super::state::State;
use crate::table::{self, Fallbacks, Table};

/// What a row of a computed table refers to: a registration of the operator, or a fallback.
pub(super) type Row<'s> = &'s Registration;

impl State {
    /// The table of an entry, from its present registrations.
    pub(super) fn table<'s>(&'s self, entry: &'s Entry) -> Table<Row<'s>> {
        Table::compute(&table_registrations(entry), &self.fallback_table(entry))
    }

    /// The fallbacks, as they apply to the operator of an entry.
    pub(super) fn fallback_table(&self, entry: &Entry) -> Fallbacks<Row<'_>> {
        let operator = entry.operator();
        let mut by_rank: Vec<_> = self.fallbacks.iter().collect();
        by_rank.sort_unstable_by_key(|fallback| fallback.rank());
        let mut fallbacks = Fallbacks::new();
        for fallback in by_rank {
            let passes_on =
                operator.map_or(fallback.is_fallthrough(), |operator| fallback.is_fallthrough_for(operator));
            let set = fallbacks.set(fallback.key, Some((fallback, passes_on)));
            debug_assert!(set.is_ok(), "fallbacks are registered for runtime keys alone");
        }
        fallbacks
    }
}

/// An entry's registrations in the form that the table takes; of several for one key, only the active one.
pub(super) fn table_registrations(entry: &Entry) -> Vec<table::Registration<Row<'_>>> {
    let registrations = entry.active_registrations().into_iter();
    let registrations = registrations.map(|registration| table::Registration {
        key: registration.key,
        kernel: registration,
        is_fallthrough: registration.is_fallthrough(),
    });
    registrations.collect()
}
