//! Fills the registry from the records of the program, in an order that does not depend on the linker.

use super::entry::{Implementation, Origin, Registration};
use super::layer::Layers;
use super::names::Names;
use super::state::{Namespace, State};
use crate::collect::{self, FallbackRecord, KernelRecord, LibraryRecord, Record, RecordedKernel, TypedCode};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::kernel::BoxedKernel;
use crate::operator::{Operator, Place, SourceModule};
use crate::program::Program;

/// The state of the registry with the records that the linker collected.
pub(super) fn from_records(names: &'static Names) -> State {
    let mut state = State::new(names);
    default_fallbacks(&mut state);
    rescan(&mut state);
    state
}

/// Registers what was linked in since the last time, and returns how many records are new.
pub(super) fn rescan(state: &mut State) -> usize {
    let records: Vec<&'static Record> = collect::records().collect();
    // Records are never unlinked, so an equal count means that they are the same.
    let new = records.len() - state.absorbed;
    if new > 0 {
        state.absorbed = records.len();
        absorb(state, &records);
    }
    new
}

/// Registers records, whatever their order, and skips those that are registered already.
pub(super) fn absorb(state: &mut State, records: &[&'static Record]) {
    let mut libraries = Vec::new();
    let mut kernels: Vec<&KernelRecord> = Vec::new();
    let mut fallbacks = Vec::new();
    for record in records {
        match **record {
            Record::Library(library) => {
                libraries.push(library);
                kernels.extend(library.kernels);
            }
            Record::Kernels(block) => kernels.extend(block),
            Record::Fallback(fallback) => fallbacks.push(fallback),
            Record::Backend(_) => {} // collected by the tensors' module
        }
    }
    // The linker's order is unspecified: sort, so that ids, listings and reports are the same in every build.
    libraries.sort_by_key(|library| library.place);
    kernels.sort_by_key(|kernel| (kernel.place, kernel.key));
    fallbacks.sort_by_key(|fallback| fallback.place);

    libraries.into_iter().for_each(|library| add_library(state, library));
    for record in kernels {
        kernels_of(record).for_each(|(target, kernel)| add_kernel(state, record, target, kernel));
    }
    fallbacks.into_iter().for_each(|fallback| add_fallback(state, fallback));
    state.find_conflicts();
}

/// Registers an operator with its kernels, unless another thread has just done so.
pub(super) fn link(
    state: &mut State,
    operator: &'static Operator,
    kernels: impl Iterator<Item = &'static Option<&'static KernelRecord>>,
) {
    if operator.entry().is_none() {
        add_operator(state, operator);
        for record in kernels.flatten() {
            let kernels = kernels_of(record).filter(|(target, _)| std::ptr::eq(*target, operator));
            kernels.for_each(|(target, kernel)| add_kernel(state, record, target, kernel));
        }
        state.find_conflicts();
    }
}

fn add_operator(state: &mut State, operator: &'static Operator) {
    let index = state.entry_of_name(&operator.to_string());
    state.define(index, operator);
}

fn add_library(state: &mut State, library: &'static LibraryRecord) {
    let known =
        state.namespaces.iter().any(|n| n.place == library.place && *n.namespace == *library.namespace);
    if !library.extends && !known {
        let id = state.new_id();
        state.namespaces.push(Namespace { id, namespace: library.namespace.into(), place: library.place });
    }
    match library.kernels_in {
        Some(krate) if library.extends => {
            state.kernels_in.extend(library.operators.iter().map(|operator| (operator.to_string(), krate)));
        }
        Some(krate) => {
            state.kernels_in.insert(library.namespace.to_owned(), krate);
        }
        None => {}
    }
    for operator in library.operators {
        if state.defined(operator).is_none() {
            add_operator(state, operator);
        }
    }
}

/// The kernels in a record, each with its operator: several if the kernel serves variants.
fn kernels_of(record: &'static KernelRecord) -> impl Iterator<Item = (&'static Operator, RecordedKernel)> {
    let (one, variants) = match record.kernel {
        RecordedKernel::Variants(variants) => (None, variants),
        kernel => (Some((record.operator, kernel)), &[][..]),
    };
    let typed = |code: &'static TypedCode| (code.operator(), RecordedKernel::Typed(*code));
    one.into_iter().chain(variants.iter().map(typed))
}

fn add_kernel(
    state: &mut State,
    record: &'static KernelRecord,
    operator: &'static Operator,
    kernel: RecordedKernel,
) {
    let known = state.defined(operator).map(|entry| entry.name.entry);
    let index = known.unwrap_or_else(|| state.entry_of_name(&operator.to_string()));
    let registration = Registration {
        id: 0,
        key: record.key,
        implementation: implementation(kernel),
        derivative: record.derivative,
        origin: match kernel {
            _ if record.overrides => Origin::Override,
            RecordedKernel::Copying(_) => Origin::Copying,
            _ => Origin::Linked,
        },
        function: record.function.into(),
        place: record.place,
        signature: None,
        seat: None,
    };
    if !state.entries[index].registrations.iter().any(|other| is_same(other, &registration)) {
        state.add_kernel(index, registration);
    }
}

fn add_fallback(state: &mut State, record: &'static FallbackRecord) {
    for key in record.key.expansion().iter() {
        let registration = Registration {
            id: 0,
            key,
            implementation: match record.kernel {
                // The macros never make a typed fallback, which would have to serve operators of all types.
                RecordedKernel::Typed(_) | RecordedKernel::Copying(_) | RecordedKernel::Variants(_) => {
                    Implementation::Fallthrough
                }
                kernel => implementation(kernel),
            },
            derivative: None,
            origin: Origin::Linked,
            function: record.function.into(),
            place: record.place,
            signature: None,
            seat: None,
        };
        if !state.fallbacks.iter().any(|other| is_same(other, &registration)) {
            state.add_fallback(registration);
        }
    }
}

/// Whether both come from the same source line: the record was read before, or is linked twice with two copies of its
/// crate.
fn is_same(a: &Registration, b: &Registration) -> bool {
    (a.place, a.key, a.origin) == (b.place, b.key, b.origin)
}

fn implementation(kernel: RecordedKernel) -> Implementation {
    match kernel {
        RecordedKernel::Typed(typed) | RecordedKernel::Copying(typed) => {
            let (kernel, made_for) = typed.kernel();
            Implementation::Typed(kernel, made_for)
        }
        RecordedKernel::Boxed(function) => Implementation::Boxed(BoxedKernel::from_function(function)),
        // `kernels_of` splits variants up.
        RecordedKernel::Fallthrough | RecordedKernel::Variants(_) => Implementation::Fallthrough,
    }
}

/// The behaviour of each key without registrations.
///
/// Layers that are only sometimes needed fall through; autograd has defaults, which lose no gradient and track views
/// and writes.
fn default_fallbacks(state: &mut State) {
    let fallthrough = [DispatchKey::BackendSelect, DispatchKey::FuncTorchVmapMode, DispatchKey::VmapMode];
    for key in fallthrough.into_iter().chain(DispatchKeySet::AUTOCAST.iter()) {
        default_fallback(state, key, Implementation::Fallthrough, "fallthrough");
    }
    for layer in Program::LAYERS {
        let kernel = Implementation::Boxed(BoxedKernel::from_function(layer.kernel));
        default_fallback(state, layer.key, kernel, layer.name);
    }
    default_fallback(state, DispatchKey::ADInplaceOrView, Implementation::Bookkeeping, "views and versions");
    for key in DispatchKey::Autograd.expansion().iter() {
        default_fallback(state, key, Implementation::AutogradDefault, "autograd default");
    }
}

fn default_fallback(
    state: &mut State,
    key: DispatchKey,
    implementation: Implementation,
    function: &'static str,
) {
    // Without a file, so that listings show no source location.
    static NOWHERE: SourceModule = SourceModule { file: "", path: module_path!() };
    let place = Place { module: &NOWHERE, line: 0, column: 0 };
    state.add_fallback(Registration {
        id: 0,
        key,
        implementation,
        derivative: None,
        origin: Origin::Default,
        function: function.into(),
        place,
        signature: None,
        seat: None,
    });
}

#[cfg(test)]
mod tests;
