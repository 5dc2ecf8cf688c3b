//! Operators by name, for readers without a lock.
//!
//! # How it works
//!
//! A hash table of pointers with linear probing, at most half full. Names are never removed: a name that lost its
//! operator stays, and may get one again. There is one writer at a time, the holder of the registry's lock. It fills a
//! slot with one release store; before the table becomes more than half full, the writer copies it into one of twice
//! the size and publishes that. Replaced tables are never freed; together they are smaller than the one in use.
//!
//! # Orderings
//!
//! A name is written before its slot is filled, and a table before it is published, both with release stores; readers
//! load slots and tables with acquire ordering. A reader of a replaced table may miss a name that was added since, as
//! if the reader had come a moment earlier.
#![expect(unsafe_code, reason = "readers follow pointers that are published and never freed")]

use std::fmt;
use std::hash::Hasher;

use crate::operator::Operator;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering};

/// The name of an operator, `ns::name.overload`, and the operator that has it.
pub(super) struct Name {
    text: Box<str>,
    /// The index at which the name begins, after `::`.
    name: usize,
    /// The index of the registry's entry.
    pub(super) entry: usize,
    /// Null while the operator is not defined; otherwise from a `&'static`.
    operator: AtomicPtr<Operator>,
}

impl Name {
    fn leak(text: &str, entry: usize) -> &'static Name {
        let name = text.find(':').map_or(0, |colons| colons + 2);
        let operator = AtomicPtr::new(std::ptr::null_mut());
        Box::leak(Box::new(Name { text: text.into(), name, entry, operator }))
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn namespace(&self) -> &str {
        &self.text[..self.name.saturating_sub(2)]
    }

    /// The name as in a schema: `add.Tensor`.
    pub(super) fn name_and_overload(&self) -> &str {
        &self.text[self.name..]
    }

    #[inline]
    pub(super) fn operator(&self) -> Option<&'static Operator> {
        let operator = self.operator.load(Ordering::Acquire);
        // SAFETY: `set_operator` stores null or a pointer from a `&'static Operator`, and `leak` stores null.
        unsafe { operator.cast_const().as_ref() }
    }

    pub(super) fn set_operator(&self, operator: Option<&'static Operator>) {
        let operator = operator.map_or(std::ptr::null(), std::ptr::from_ref);
        self.operator.store(operator.cast_mut(), Ordering::Release);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// All names of a registry.
pub(super) struct Names {
    /// Points to a leaked box.
    table: AtomicPtr<Table>,
    /// How often a name got an operator or lost it.
    changes: AtomicUsize,
}

struct Table {
    /// Their number is a power of two, and at least one is empty.
    slots: Box<[AtomicPtr<Name>]>,
    /// The table that this one replaced, which readers may still be using. The reference keeps it reachable, so that
    /// leak detectors do not report it.
    _replaced: Option<&'static Table>,
}

impl Names {
    /// An empty table. It is never freed, because handles to operators are not.
    pub(super) fn leak() -> &'static Names {
        let table = AtomicPtr::new(Table::leak(16, None));
        Box::leak(Box::new(Names { table, changes: AtomicUsize::new(0) }))
    }

    /// A number that is another one after a name got an operator or lost it: what was found by name before is still
    /// true while this is the same.
    pub(super) fn changes(&self) -> usize {
        self.changes.load(Ordering::Acquire)
    }

    /// Counts such a change, once it is made.
    pub(super) fn count_change(&self) {
        self.changes.fetch_add(1, Ordering::Release);
    }

    /// The name with this text.
    #[inline]
    pub(super) fn get(&self, text: &str) -> Option<&'static Name> {
        self.table().probe(text).1
    }

    /// All operators, in no particular order, by their names.
    pub(super) fn operators(&self) -> impl Iterator<Item = &'static str> {
        self.table().names().filter(|name| name.operator().is_some()).map(|name| &*name.text)
    }

    /// Adds a new name; `count` is the number of present names, and the caller holds the registry's lock.
    pub(super) fn add(&self, text: &str, count: usize, entry: usize) -> &'static Name {
        let name = Name::leak(text, entry);
        let mut table = self.table();
        if 2 * (count + 1) > table.slots.len() {
            let larger = Table::leak(2 * table.slots.len(), Some(table));
            // SAFETY: `Table::leak` has just made it from a box, which is never freed.
            let copy = unsafe { &*larger };
            table.names().for_each(|name| copy.put(name));
            self.table.store(larger, Ordering::Release);
            table = copy;
        }
        table.put(name);
        name
    }

    #[inline]
    fn table(&self) -> &'static Table {
        // SAFETY: `leak` and `add` store only pointers from `Table::leak`, made from boxes that are never freed, with
        // release ordering after the table was filled.
        unsafe { &*self.table.load(Ordering::Acquire) }
    }
}

impl Table {
    fn leak(slots: usize, replaced: Option<&'static Table>) -> *mut Table {
        let slots = (0..slots).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        Box::into_raw(Box::new(Table { slots, _replaced: replaced }))
    }

    /// The name with this text, and the slot that has it or where it belongs.
    #[inline]
    fn probe(&self, text: &str) -> (&AtomicPtr<Name>, Option<&'static Name>) {
        let mut slot = hash(text);
        loop {
            let place = &self.slots[slot & (self.slots.len() - 1)];
            // SAFETY: slots start as null, and only `put` stores to them, pointers from `&'static Name`, with release
            // ordering.
            match unsafe { place.load(Ordering::Acquire).cast_const().as_ref() } {
                None => return (place, None),
                Some(name) if *name.text == *text => return (place, Some(name)),
                Some(_) => slot = slot.wrapping_add(1),
            }
        }
    }

    fn put(&self, name: &'static Name) {
        self.probe(&name.text).0.store(std::ptr::from_ref(name).cast_mut(), Ordering::Release);
    }

    fn names(&self) -> impl Iterator<Item = &'static Name> {
        // SAFETY: slots start as null, and only `put` stores to them, pointers from `&'static Name`, with release
        // ordering.
        self.slots.iter().filter_map(|slot| unsafe { slot.load(Ordering::Acquire).cast_const().as_ref() })
    }
}

#[inline]
fn hash(text: &str) -> usize {
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_its_parts() {
        let parts = |text: &str| {
            let name = Name::leak(text, 0);
            [name.namespace(), name.name_and_overload()].map(str::to_owned)
        };
        assert_eq!(parts("aten::add.Tensor"), ["aten", "add.Tensor"]);
        assert_eq!(parts("aten::add"), ["aten", "add"]);
    }

    #[test]
    fn names_are_found_through_every_growth() {
        let names = Names::leak();
        for entry in 0..1000 {
            assert!(names.get(&format!("ns::op{entry}")).is_none());
            names.add(&format!("ns::op{entry}"), entry, entry);
            assert!((0..=entry).all(|old| names.get(&format!("ns::op{old}")).unwrap().entry == old));
        }
    }

    #[test]
    fn readers_see_whole_names_while_others_come() {
        let names = Names::leak();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for entry in 0..2000 {
                    names.add(&format!("ns::op{entry}"), entry, entry);
                }
            });
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut known = 0;
                    while known < 2000 {
                        while let Some(name) = names.get(&format!("ns::op{known}")) {
                            assert_eq!(
                                (name.entry, name.name_and_overload()),
                                (known, &*format!("op{known}"))
                            );
                            known += 1;
                        }
                    }
                });
            }
        });
    }
}
