//! The registry's data, and the steps by which it changes.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::conflict::{self, Conflict};
use super::entry::{Definition, Entry, Origin, Registration};
use super::listener::{Listener, RegistrationEvent};
use super::names::Names;
use super::seats::{Leaving, Seat, Seats};
use super::{KernelInfo, OperatorInfo, removed};
use crate::error::Result;
use crate::key::DispatchKey;
use crate::operator::{Operator, Place, Rows};

/// A namespace that a library other than a fragment declares.
pub(super) struct Namespace {
    pub(super) id: u64,
    pub(super) namespace: Box<str>,
    pub(super) place: Place,
}

pub(super) struct State {
    pub(super) names: &'static Names,
    /// The entries, by the index that names and operators store.
    pub(super) entries: Vec<Entry>,
    pub(super) namespaces: Vec<Namespace>,
    /// The crate to link for the kernels of a namespace or an operator, if its library names one.
    pub(super) kernels_in: HashMap<String, &'static str>,
    /// The kernels that serve all operators at a runtime key.
    pub(super) fallbacks: Vec<Registration>,
    /// The free seats of fallback closures, by the key that they were registered for.
    pub(super) fallback_seats: Seats,
    /// Closures that are no longer registered, to be dropped after the lock is released.
    pub(super) leaving: Vec<Leaving>,
    pub(super) conflicts: Vec<Conflict>,
    /// The rows of all published tables.
    pub(super) rows: FxHashSet<&'static Rows>,
    /// The number of linked records that were registered, see `build`.
    pub(super) absorbed: usize,
    pub(super) listeners: Vec<Arc<Listener>>,
    /// Whether there are events for the listeners.
    pub(super) has_events: bool,
    /// The number of threads that wait for a registration.
    pub(super) waiting: usize,
    next_id: u64,
}

impl State {
    pub(super) fn new(names: &'static Names) -> Self {
        State {
            names,
            entries: Vec::new(),
            namespaces: Vec::new(),
            kernels_in: HashMap::new(),
            fallbacks: Vec::new(),
            fallback_seats: Seats::default(),
            leaving: Vec::new(),
            conflicts: Vec::new(),
            rows: FxHashSet::default(),
            absorbed: 0,
            listeners: Vec::new(),
            has_events: false,
            waiting: 0,
            next_id: 0,
        }
    }

    pub(super) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// The entry of a full name, created if there is none.
    pub(super) fn entry_of_name(&mut self, text: &str) -> usize {
        if let Some(name) = self.names.get(text) {
            return name.entry;
        }
        let index = self.entries.len();
        let name = self.names.add(text, index, index);
        self.entries.push(Entry::new(name));
        index
    }

    /// The entry of a full name, if there is one.
    pub(super) fn entry_named(&self, text: &str) -> Option<&Entry> {
        self.names.get(text).map(|name| &self.entries[name.entry])
    }

    /// The entry whose definition an operator is, if there is one.
    pub(super) fn defined(&self, operator: &'static Operator) -> Option<&Entry> {
        let entry = operator.entry().and_then(|index| self.entries.get(index));
        entry.filter(|entry| entry.is_defined_by(operator))
    }

    /// The entry whose definition an operator is.
    pub(super) fn entry(&self, operator: &'static Operator) -> Result<&Entry> {
        self.defined(operator).ok_or_else(|| removed(operator))
    }

    /// Adds a definition; the caller has checked that this is allowed.
    pub(super) fn define(&mut self, index: usize, operator: &'static Operator) -> u64 {
        let id = self.new_id();
        operator.set_entry(Some(index));
        let entry = &mut self.entries[index];
        entry.definitions.push(Definition { id, operator });
        entry.name.set_operator(entry.operator());
        self.names.count_change();
        self.queue_event(RegistrationEvent::Registered(operator.handle()));
        id
    }

    /// Removes a definition.
    pub(super) fn undefine(&mut self, index: usize, id: u64) {
        let entry = &mut self.entries[index];
        let Some(position) = entry.definitions.iter().position(|definition| definition.id == id) else {
            return;
        };
        let operator = entry.definitions.remove(position).operator;
        entry.name.set_operator(entry.operator());
        self.names.count_change();
        operator.set_entry(None);
        operator.retract();
        entry.rare_mut().retired.push(operator);
        self.queue_event(RegistrationEvent::Deregistered(operator.handle()));
    }

    /// Adds a kernel and returns its id.
    pub(super) fn add_kernel(&mut self, index: usize, registration: Registration) -> u64 {
        let id = self.new_id();
        let registrations = &mut self.entries[index].registrations;
        if registrations.is_empty() {
            registrations.reserve_exact(1); // most operators have one kernel
        }
        registrations.push(Registration { id, ..registration });
        self.refresh(index);
        id
    }

    /// Removes a kernel; the caller refreshes the tables, and then empties the seat.
    pub(super) fn remove_kernel(&mut self, index: usize, id: u64) -> Option<(DispatchKey, Seat)> {
        remove(&mut self.entries[index].registrations, id)
    }

    /// Removes a fallback; the caller refreshes the tables, and then empties the seat.
    pub(super) fn remove_fallback(&mut self, id: u64) -> Option<(DispatchKey, Seat)> {
        remove(&mut self.fallbacks, id)
    }

    /// The free seats of an entry, or those of the fallbacks.
    pub(super) fn seats(&mut self, entry: Option<usize>) -> &mut Seats {
        match entry {
            Some(index) => &mut self.entries[index].rare_mut().seats,
            None => &mut self.fallback_seats,
        }
    }

    /// Adds a kernel for all operators at a runtime key and returns its id.
    pub(super) fn add_fallback(&mut self, registration: Registration) -> u64 {
        let id = self.new_id();
        self.fallbacks.push(Registration { id, ..registration });
        id
    }

    /// Publishes new tables for an entry's operators that are in use already: so a call waits for the registry only if
    /// it is the first of its operator, never because other code registers something.
    pub(super) fn refresh(&mut self, index: usize) {
        for definition in 0..self.entries[index].definitions.len() {
            let operator = self.entries[index].definitions[definition].operator;
            if operator.published().is_some() && self.publish(operator).is_err() {
                operator.retract(); // in conflict: the next call gets the report
            }
        }
    }

    /// Like [`refresh`](Self::refresh), for all operators.
    pub(super) fn refresh_all(&mut self) {
        (0..self.entries.len()).for_each(|index| self.refresh(index));
    }

    /// The fallback of a runtime key that was registered by other code than this library.
    pub(super) fn fallback(&self, key: DispatchKey) -> Option<&Registration> {
        self.fallbacks.iter().find(|fallback| fallback.key == key && fallback.origin != Origin::Default)
    }

    pub(super) fn operators(&self) -> Vec<OperatorInfo> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|entry| entry.name.text());
        entries.into_iter().filter_map(Entry::info).collect()
    }

    pub(super) fn fallbacks(&self) -> Vec<KernelInfo> {
        let mut fallbacks: Vec<_> = self.fallbacks.iter().collect();
        fallbacks.sort_by_key(|fallback| (fallback.key, fallback.place));
        let is_active = |of: &Registration| {
            let of_key = self.fallbacks.iter().filter(|fallback| fallback.key == of.key);
            of_key.max_by_key(|fallback| fallback.rank()).is_some_and(|winner| winner.id == of.id)
        };
        fallbacks.into_iter().map(|fallback| fallback.info(is_active(fallback))).collect()
    }

    pub(super) fn report(&self) -> Option<String> {
        conflict::report(&self.conflicts)
    }
}

/// Removes a registration. They are sorted by id, since ids increase.
fn remove(registrations: &mut Vec<Registration>, id: u64) -> Option<(DispatchKey, Seat)> {
    let position = registrations.binary_search_by_key(&id, |registration| registration.id).ok()?;
    let removed = registrations.remove(position);
    removed.seat.map(|seat| (removed.key, seat))
}
