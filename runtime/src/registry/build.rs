//! From the records of the program to the registry: takes them in, in an order of its own, and finds every conflict.

use std::collections::HashMap;

use super::can_run;
use super::conflict::Conflict;
use super::entry::{Entry, Implementation, Registration};
use super::state::{Namespace, State};
use crate::collect::{self, FallbackRecord, KernelRecord, LibraryRecord, Record, RecordedKernel};
use crate::kernel::{BoxedFn, BoxedKernel};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::{Operator, Place};

/// The registry as the linker filled it.
pub(super) fn from_records() -> State {
    let mut state = State::default();
    default_fallbacks(&mut state);
    rescan(&mut state);
    state
}

/// Takes in what was linked in since the last time.
pub(super) fn rescan(state: &mut State) {
    let records: Vec<&'static Record> = collect::records().collect();
    if records.len() == state.absorbed {
        return;
    }
    // Entries are never unlinked, so the new ones are all but the old; those already taken in are recognised below.
    state.absorbed = records.len();
    absorb(state, &records);
}

/// Takes records in, whatever their order, skipping those that are there already.
pub(super) fn absorb(state: &mut State, records: &[&'static Record]) {
    let mut libraries = Vec::new();
    let mut kernels = Vec::new();
    let mut fallbacks = Vec::new();
    for record in records {
        match **record {
            Record::Library(library) => libraries.push(library),
            Record::Kernels(block) => kernels.extend(block),
            Record::Fallback(fallback) => fallbacks.push(fallback),
        }
    }
    // The linker's order is unspecified: sort, so that ids, listings and reports are the same in every build.
    libraries.sort_by_key(|library| library.place);
    kernels.sort_by_key(|kernel| (kernel.place, kernel.key));
    fallbacks.sort_by_key(|fallback| fallback.place);

    let mut boxed = HashMap::new();
    libraries.into_iter().for_each(|library| add_library(state, library));
    kernels.into_iter().for_each(|kernel| add_kernel(state, kernel, &mut boxed));
    fallbacks.into_iter().for_each(|fallback| add_fallback(state, fallback, &mut boxed));
    find_conflicts(state);
}

fn add_library(state: &mut State, library: &'static LibraryRecord) {
    let known = state.namespaces.iter().any(|n| n.place == library.place && n.namespace == library.namespace);
    if !library.extends && !known {
        let id = state.new_id();
        state.namespaces.push(Namespace { id, namespace: library.namespace, place: library.place });
    }
    if let Some(krate) = library.kernels_in {
        state.kernels_in.insert(library.namespace, krate);
    }
    for operator in library.operators {
        if state.index(operator).is_none() {
            state.define(operator);
        }
    }
}

fn add_kernel(
    state: &mut State,
    record: &'static KernelRecord,
    boxed: &mut HashMap<usize, &'static BoxedKernel>,
) {
    let spec = record.operator.spec();
    let index = state.entry_of_name((spec.namespace, spec.name, spec.overload));
    // The same lines linked twice (a crate that is there in two copies) are one kernel.
    let same = |other: &Registration| other.place == record.place && other.key == record.key;
    if state.entries[index].registrations.iter().any(same) {
        return;
    }
    let id = state.new_id();
    state.entries[index].registrations.push(Registration {
        id,
        key: record.key,
        implementation: implementation(record.kernel, boxed),
        function: record.function,
        overrides: record.overrides,
        place: record.place,
        inferred: None,
    });
}

fn add_fallback(
    state: &mut State,
    record: &'static FallbackRecord,
    boxed: &mut HashMap<usize, &'static BoxedKernel>,
) {
    for key in record.key.expansion().iter() {
        let same = |other: &Registration| other.place == record.place && other.key == key;
        if state.fallbacks.iter().any(same) {
            continue;
        }
        let id = state.new_id();
        state.fallbacks.push(Registration {
            id,
            key,
            implementation: implementation(record.kernel, boxed),
            function: record.function,
            overrides: false,
            place: record.place,
            inferred: None,
        });
    }
}

/// Boxed functions of records, each wrapped once.
fn implementation(
    kernel: RecordedKernel,
    boxed: &mut HashMap<usize, &'static BoxedKernel>,
) -> Implementation {
    match kernel {
        RecordedKernel::Typed(kernel) => Implementation::Typed(kernel),
        RecordedKernel::Fallthrough => Implementation::Fallthrough,
        RecordedKernel::Boxed(function) => {
            let wrap = || -> &'static BoxedKernel { Box::leak(Box::new(BoxedKernel::new(function))) };
            Implementation::Boxed(*boxed.entry(address(function)).or_insert_with(wrap))
        }
    }
}

fn address(function: BoxedFn) -> usize {
    function as usize
}

/// What every key does for which nobody registered anything.
///
/// The layers that only sometimes have something to do fall through; autograd has a default of its own, which loses no
/// gradient (see [`crate::autograd`]).
fn default_fallbacks(state: &mut State) {
    let fallthrough = [
        DispatchKey::BackendSelect,
        DispatchKey::ADInplaceOrView,
        DispatchKey::FuncTorchVmapMode,
        DispatchKey::VmapMode,
    ];
    for key in fallthrough.into_iter().chain(DispatchKeySet::AUTOCAST.iter()) {
        default_fallback(state, key, Implementation::Fallthrough, "fallthrough");
    }
    for key in DispatchKey::Autograd.expansion().iter() {
        default_fallback(state, key, Implementation::AutogradDefault, "not_implemented");
    }
}

fn default_fallback(
    state: &mut State,
    key: DispatchKey,
    implementation: Implementation,
    function: &'static str,
) {
    let place = Place { file: file!(), line: line!(), column: 1, module: module_path!() };
    // The id 0 is below all others: whatever a program registers for the key replaces the default.
    state.fallbacks.push(Registration {
        id: 0,
        key,
        implementation,
        function,
        overrides: false,
        place,
        inferred: None,
    });
}

fn find_conflicts(state: &mut State) {
    let mut conflicts = Vec::new();
    namespace_conflicts(state, &mut conflicts);
    for entry in &mut state.entries {
        entry_conflicts(entry, &mut conflicts);
    }
    fallback_conflicts(state, &mut conflicts);
    conflicts.sort();
    state.conflicts = conflicts;
}

fn namespace_conflicts(state: &mut State, conflicts: &mut Vec<Conflict>) {
    let mut places: HashMap<&str, Vec<Place>> = HashMap::new();
    for namespace in &state.namespaces {
        places.entry(namespace.namespace).or_default().push(namespace.place);
    }
    places.retain(|_, places| places.len() > 1);
    for entry in &mut state.entries {
        let in_conflict =
            entry.operator().is_some_and(|operator| places.contains_key(operator.spec().namespace));
        entry.in_conflict |= in_conflict;
    }
    conflicts.extend(places.into_iter().map(|(namespace, mut places)| {
        places.sort();
        Conflict::Namespace { namespace: namespace.to_owned(), places }
    }));
}

fn entry_conflicts(entry: &mut Entry, conflicts: &mut Vec<Conflict>) {
    let before = conflicts.len();
    let Some(operator) = entry.operator() else {
        conflicts.extend(entry.registrations.iter().map(|registration| Conflict::Undeclared {
            operator: registration.function.to_owned(),
            place: registration.place,
        }));
        return;
    };
    let mut definitions: Vec<_> = entry
        .definitions
        .iter()
        .map(|definition| (definition.operator.spec().place, definition.operator.spec().schema.to_owned()))
        .collect();
    definitions.sort();
    definitions.dedup();
    if definitions.len() > 1 {
        conflicts.push(Conflict::Operator { operator: operator.to_string(), places: definitions });
    }
    kernel_conflicts(operator, &entry.registrations, conflicts);
    entry.in_conflict |= conflicts.len() > before;
}

fn kernel_conflicts(operator: &Operator, registrations: &[Registration], conflicts: &mut Vec<Conflict>) {
    let mut by_key: HashMap<DispatchKey, Vec<&Registration>> = HashMap::new();
    for registration in registrations {
        by_key.entry(registration.key).or_default().push(registration);
        if !can_run(registration.key) {
            let (operator, key, place) = (operator.to_string(), registration.key, registration.place);
            conflicts.push(Conflict::Key { operator, key, place });
        }
    }
    for (key, registrations) in by_key {
        let overriding = registrations.iter().filter(|registration| registration.overrides).count();
        let plain = registrations.len() - overriding;
        if plain > 1 || overriding > 1 {
            let mut places: Vec<_> = registrations.iter().map(|r| (r.place, r.function)).collect();
            places.sort();
            conflicts.push(Conflict::Kernel { operator: operator.to_string(), key, places });
        }
    }
}

fn fallback_conflicts(state: &State, conflicts: &mut Vec<Conflict>) {
    let mut by_key: HashMap<DispatchKey, Vec<(Place, &'static str)>> = HashMap::new();
    for fallback in state.fallbacks.iter().filter(|fallback| fallback.id != 0) {
        by_key.entry(fallback.key).or_default().push((fallback.place, fallback.function));
    }
    for (key, mut places) in by_key.into_iter().filter(|(_, places)| places.len() > 1) {
        places.sort();
        conflicts.push(Conflict::Fallback { key, places });
    }
}
