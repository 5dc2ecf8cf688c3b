//! Queries about all registrations: kernels by key, kernels without a definition, inconsistencies.

use std::fmt;

use super::compute::table_registrations;
use super::entry::{Entry, Registration};
use super::state::State;
use super::{Dispatcher, KernelInfo};
use crate::key::DispatchKey;
use crate::operator::{self, Operator};
use crate::table;

/// A kernel, and the operator that it is registered for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistrationInfo {
    /// The operator's name: `aten::add.Tensor`.
    pub name: String,
    /// The kernel.
    pub kernel: KernelInfo,
}

/// An inconsistency in a dispatcher, which is a bug of this library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The operator: `aten::add.Tensor`.
    pub name: String,
    /// The rule that is violated.
    pub message: String,
}

impl Dispatcher {
    /// The kernels registered for exactly this key, which may be an alias; without a key, all kernels.
    ///
    /// PyTorch: `Dispatcher::getRegistrationsForDispatchKey`.
    pub fn registrations(&self, key: Option<DispatchKey>) -> Vec<RegistrationInfo> {
        let key = key.map(DispatchKey::registration_key);
        self.lock().kernels_of(|_, kernel| key.is_none_or(|key| kernel.key == key))
    }

    /// The kernels of operators that are not defined. They wait for a definition, and are used once there is one.
    ///
    /// PyTorch: `Dispatcher::findDanglingImpls`.
    pub fn dangling(&self) -> Vec<RegistrationInfo> {
        self.lock().kernels_of(|entry, _| entry.operator().is_none())
    }

    /// The kernels that are registered with `override` but override nothing: the crate with the other kernel is not
    /// linked, or no longer has that kernel.
    pub fn idle_overrides(&self) -> Vec<RegistrationInfo> {
        self.lock().kernels_of(|entry, kernel| {
            let of_key = |other: &&Registration| other.key == kernel.key;
            kernel.overrides && entry.registrations.iter().filter(of_key).count() == 1
        })
    }

    /// Recomputes everything and compares it with the tables that calls use. Finds nothing, unless this library has a
    /// bug.
    ///
    /// ```
    /// assert_eq!(torch_library::Dispatcher::global().check(), []);
    /// ```
    ///
    /// PyTorch: `Dispatcher::checkInvariants`.
    pub fn check(&self) -> Vec<Violation> {
        let state = self.lock();
        let entries = state.entries.iter().enumerate();
        entries.flat_map(|(index, entry)| state.violations(index, entry)).collect()
    }
}

impl State {
    fn kernels_of(&self, wanted: impl Fn(&Entry, &KernelInfo) -> bool) -> Vec<RegistrationInfo> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|entry| entry.name.text());
        let of_entry = |entry: &Entry| {
            let kernels = entry.kernels().into_iter().filter(|kernel| wanted(entry, kernel));
            kernels
                .map(|kernel| RegistrationInfo { name: entry.name.to_string(), kernel })
                .collect::<Vec<_>>()
        };
        entries.into_iter().flat_map(of_entry).collect()
    }

    fn violations(&self, index: usize, entry: &Entry) -> Vec<Violation> {
        let mut messages = Vec::new();
        let mut require = |holds: bool, message: &str| {
            if !holds {
                messages.push(message.to_owned());
            }
        };
        let name = self.names.get(entry.name.text());
        require(name.is_some_and(|name| name.entry == index), "its name leads to another entry");
        let operator = entry.operator();
        let same = |other: &'static Operator| operator.is_some_and(|operator| std::ptr::eq(operator, other));
        require(
            entry.name.operator().map_or(operator.is_none(), same),
            "its name leads to another operator than its definition",
        );
        for definition in &entry.definitions {
            self.check_operator(index, entry, definition.operator, &mut require);
        }
        self.check_table(entry, &mut require);
        let violation = |message| Violation { name: entry.name.to_string(), message };
        messages.into_iter().map(violation).collect()
    }

    fn check_operator(
        &self,
        index: usize,
        entry: &Entry,
        operator: &'static Operator,
        require: &mut impl FnMut(bool, &str),
    ) {
        let spec = operator.spec();
        require(operator.to_string() == entry.name.text(), "the operator has another name");
        require(operator.entry() == Some(index), "the operator has the index of another entry");
        match operator.schema() {
            Ok(schema) => {
                let counts = (operator::arity(schema), schema.returns.len());
                require(
                    counts == (spec.arity, usize::from(spec.returns)),
                    "the schema has another number of arguments or returns than the operator",
                );
                require(
                    schema.has_alias_info() == spec.has_alias_info,
                    "the schema has aliases and the operator has none, or the other way round",
                );
            }
            Err(error) => require(false, &format!("the schema does not parse: {error}")),
        }
        if let Some(published) = operator.published() {
            let draft = self.draft(operator, &self.table(entry));
            require(!entry.in_conflict, "it is in conflict, but has a published table");
            require(published.matches(&draft), "the published table is not the computed one");
        }
    }

    /// Compares the table with the rules, applied one by one.
    fn check_table(&self, entry: &Entry, require: &mut impl FnMut(bool, &str)) {
        let (table, registrations, fallbacks) =
            (self.table(entry), table_registrations(entry), self.fallback_table(entry));
        for key in DispatchKey::runtime_keys() {
            let row = table.get(*key);
            let why = table::explain(&registrations, &fallbacks, *key);
            require(
                row.source == why.source,
                &format!("{key}: {} in the table, {} by the rules", row.source, why.source),
            );
            let masked = !table.mask().apply((*key).into()).has(*key);
            let undefined = *key == DispatchKey::Undefined; // it has no bit, so no mask removes it
            require(
                undefined || masked == row.is_fallthrough,
                &format!("{key}: the mask does not fit the kernel"),
            );
        }
    }
}

/// Prints `function at file:line (crate …)`, after the operator and the key.
impl fmt::Display for RegistrationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.name, self.kernel.key, self.kernel)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

#[cfg(test)]
mod tests {
    use crate::{DispatchKey, Dispatcher, Library, LibraryKind, Result, RuntimeKernel};

    #[test]
    fn a_table_that_is_not_the_computed_one_is_found() -> Result<()> {
        let dispatcher = Dispatcher::leak_empty();
        let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None)?;
        for name in ["one", "other"] {
            library.define(&format!("{name}(int x) -> int"))?;
            let kernel = RuntimeKernel::boxed(|_, _, _| Ok(())).named(name);
            let key = if name == "one" { DispatchKey::CompositeExplicitAutograd } else { DispatchKey::CPU };
            library.implement(name, key, kernel)?;
        }
        let operator = |name| dispatcher.names.get(name).and_then(|name| name.operator()).unwrap();
        operator("ns::one").resolved()?;
        assert_eq!(dispatcher.check(), []);

        operator("ns::one").publish(operator("ns::other").resolved()?, false);
        let violations: Vec<_> = dispatcher.check().iter().map(ToString::to_string).collect();
        assert_eq!(violations, ["ns::one: the published table is not the computed one"]);
        Ok(())
    }
}
