//! Finds conflicts between registrations: a pure function of what is registered.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::conflict::Conflict;
use super::entry::{Entry, Implementation, Origin, Registration};
use super::state::State;
use crate::collect::{self, BackendRecord, Record};
use crate::device::DeviceType;
use crate::key::DispatchKey;
use crate::operator::{Operator, Place};

impl State {
    /// Finds all conflicts, and marks the affected operators, for which no tables are published.
    pub(super) fn find_conflicts(&mut self) {
        let namespaces = self.namespace_conflicts();
        let mut conflicts = self.fallback_conflicts();
        for entry in &mut self.entries {
            let of_entry = entry_conflicts(entry);
            let namespace = entry.name.namespace();
            entry.in_conflict = !of_entry.is_empty() || namespaces.contains_key(namespace);
            conflicts.extend(of_entry);
        }
        let namespaces = namespaces.into_iter();
        conflicts.extend(namespaces.map(|(namespace, places)| Conflict::Namespace { namespace, places }));
        conflicts.sort();
        self.conflicts = conflicts;
        self.refresh_all();
    }

    fn namespace_conflicts(&self) -> BTreeMap<String, Vec<Place>> {
        let mut places: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        for namespace in &self.namespaces {
            places.entry(namespace.namespace.to_string()).or_default().push(namespace.place);
        }
        places.values_mut().for_each(|places| places.sort());
        places.retain(|_, places| places.len() > 1);
        places
    }

    fn fallback_conflicts(&self) -> Vec<Conflict> {
        let fallbacks = self.fallbacks.iter().filter(|fallback| fallback.origin != Origin::Default);
        let conflicts = duplicates(fallbacks).into_iter();
        conflicts.map(|(key, places)| Conflict::Fallback { key, places }).collect()
    }
}

/// Plug-ins that were compiled with another build of this crate.
pub(super) fn build_conflicts() -> Vec<Conflict> {
    let modules: BTreeSet<&'static str> = collect::foreign_modules().into_iter().collect();
    modules.into_iter().map(|module| Conflict::Build { module }).collect()
}

/// Backends of the program that are for one device type. Only the first of them is used.
pub(super) fn backend_conflicts() -> Vec<Conflict> {
    let mut by_type: BTreeMap<DeviceType, Vec<(Place, &'static str)>> = BTreeMap::new();
    for record in collect::records() {
        if let Record::Backend(BackendRecord { backend, place }) = record {
            let places = by_type.entry(backend.device_type()).or_default();
            if places.iter().all(|(_, name)| *name != backend.name()) {
                places.push((*place, backend.name())); // of two with one name, the table of backends takes either
            }
        }
    }
    by_type.values_mut().for_each(|places| places.sort());
    by_type.retain(|_, places| places.len() > 1);
    by_type.into_iter().map(|(kind, places)| Conflict::Backend { kind, places }).collect()
}

fn entry_conflicts(entry: &Entry) -> Vec<Conflict> {
    let name = || entry.name.to_string();
    let Some(operator) = entry.operator() else {
        // A run-time library may register kernels before the operator is defined.
        let linked = entry.registrations.iter().filter(|registration| registration.origin != Origin::Library);
        return linked.map(|linked| Conflict::Undeclared { operator: name(), place: linked.place }).collect();
    };
    let mut conflicts = foreign(entry);
    let places = declarations(entry, operator);
    if places.len() > 1 {
        let places = places.into_iter().map(|(place, schema)| (place, schema.to_owned())).collect();
        conflicts.push(Conflict::Operator { operator: name(), places });
    }
    let of = |origin| entry.registrations.iter().filter(move |registration| registration.origin == origin);
    let duplicates = duplicates(of(Origin::Linked)).into_iter().chain(duplicates(of(Origin::Override)));
    conflicts.extend(duplicates.map(|(key, places)| Conflict::Kernel { operator: name(), key, places }));
    conflicts
}

/// Kernels that were made for an operator with another name, by a record that no macro generates.
fn foreign(entry: &Entry) -> Vec<Conflict> {
    let foreign = entry.registrations.iter().filter_map(|registration| match registration.implementation {
        Implementation::Typed(_, made_for) => Some((registration, made_for.to_string())),
        _ => None,
    });
    let foreign = foreign.filter(|(_, made_for)| made_for != entry.name.text());
    let conflict = |(registration, made_for): (&Registration, String)| Conflict::Foreign {
        operator: entry.name.to_string(),
        made_for,
        key: registration.key,
        place: registration.place,
    };
    foreign.map(conflict).collect()
}

/// The source locations where an operator is declared: those of its definitions, and of the declarations that kernels
/// were checked against.
fn declarations(entry: &Entry, operator: &'static Operator) -> Vec<(Place, &'static str)> {
    let defined = entry.definitions.iter().map(|definition| definition.operator);
    let kernels = entry.registrations.iter().filter_map(|registration| match registration.implementation {
        Implementation::Typed(_, made_for) => Some(made_for),
        _ => None,
    });
    let kernels = kernels.filter(|made_for| {
        !operator.accepts_kernels_of(made_for) && made_for.to_string() == entry.name.text()
    });
    let declared = defined.chain(kernels).map(Operator::spec);
    let mut places: Vec<_> = declared.map(|spec| (spec.place, spec.schema)).collect();
    places.sort();
    places.dedup();
    places
}

/// The keys with more than one registration, with the source locations and names of these.
fn duplicates<'r>(
    registrations: impl Iterator<Item = &'r Registration> + Clone,
) -> BTreeMap<DispatchKey, Vec<(Place, Cow<'static, str>)>> {
    // This runs for every operator at start-up, and almost none has a duplicate: find that out without a map.
    let mut seen = [false; 256];
    if !registrations
        .clone()
        .any(|registration| std::mem::replace(&mut seen[registration.key as usize], true))
    {
        return BTreeMap::new();
    }
    let mut by_key: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for registration in registrations {
        by_key.entry(registration.key).or_default().push((registration.place, registration.function.clone()));
    }
    by_key.values_mut().for_each(|places| places.sort());
    by_key.retain(|_, places| places.len() > 1);
    by_key
}
