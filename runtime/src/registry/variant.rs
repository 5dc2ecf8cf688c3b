//! Finds an operator's variants by name and types.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use torch_library_schema::{Argument, Schema, Type};

use super::entry::Entry;
use super::state::State;
use crate::error::Result;
use crate::operator::{Operator, OperatorHandle};
use crate::registry;

/// The kind of variant to find.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Variant {
    /// An operator that computes what another one writes: `add.Tensor` for `add_.Tensor` and for `add.out`.
    ///
    /// It returns the results of the original that are not written arguments, then the new value of each written
    /// argument.
    Functional,
    /// An operator that returns as a view what another one does to its argument in place: `transpose.int` for
    /// `transpose_`.
    View,
}

/// What a search has found, and the number of [changes](super::names::Names::changes) before it.
type Found = (Option<OperatorHandle>, usize);

impl Variant {
    /// The variant of an operator, if there is one.
    ///
    /// Layers ask this for every call, so what was found is kept: a variant while it is defined, and that there is none
    /// until another operator is defined.
    pub(crate) fn of(self, operator: OperatorHandle) -> Result<Option<OperatorHandle>> {
        static KNOWN: Mutex<Option<HashMap<(OperatorHandle, Variant), Found>>> = Mutex::new(None);
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = registry::of(operator.operator()).names.changes();
        let found = known().get_or_insert_default().get(&(operator, self)).copied();
        match found {
            Some((Some(variant), _)) if variant.schema().is_ok() => return Ok(Some(variant)),
            Some((None, before)) if before == changes => return Ok(None),
            _ => {}
        }
        let variant = self.find(operator)?;
        known().get_or_insert_default().insert((operator, self), (variant, changes));
        Ok(variant)
    }

    fn find(self, operator: OperatorHandle) -> Result<Option<OperatorHandle>> {
        let schema = operator.schema()?;
        let name = operator.name();
        let plain = name.strip_suffix('_').unwrap_or(name);
        let is_named = |other: &str| {
            other == plain
                || other.strip_suffix("_functional").is_some_and(|other| other == name || other == plain)
        };
        let others = registry::of(operator.operator()).lock().defined_in(operator.namespace(), is_named);
        let fits = |other: &OperatorHandle| other.schema().is_ok_and(|other| self.fits(schema, other));
        let mut fitting: Vec<_> = others.into_iter().filter(fits).collect();
        // Of several, the one with the most similar name.
        fitting.sort_by_key(|other| (other.overload() != operator.overload(), other.to_string()));
        Ok(fitting.first().copied())
    }

    fn fits(self, schema: &Schema, other: &Schema) -> bool {
        let taken = schema.arguments.iter().filter(|argument| self == Variant::View || !argument.is_out());
        let is_same =
            taken.map(|argument| &argument.ty).eq(other.arguments.iter().map(|argument| &argument.ty));
        is_same
            && !other.is_mutable()
            && match self {
                Variant::Functional => {
                    !other.has_alias_info() && returned(schema).eq(other.returns.iter().map(|ret| &ret.ty))
                }
                Variant::View => {
                    matches!(&other.returns[..], [ret] if ret.alias.is_some() && ret.ty == Type::Tensor)
                }
            }
    }
}

impl State {
    /// The operators of a namespace whose names, without overloads, are wanted.
    fn defined_in(&self, namespace: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<OperatorHandle> {
        let entries = self.entries.iter().filter(|entry| entry.name.namespace() == namespace);
        let operators = entries.filter_map(Entry::operator).map(Operator::handle);
        operators.filter(|operator| is_wanted(operator.name())).collect()
    }
}

/// The types of the results that are not written arguments, then those of the written arguments.
fn returned(schema: &Schema) -> impl Iterator<Item = &Type> {
    let written = schema.arguments.iter().filter(|argument| Argument::is_mutable(argument));
    let fresh = schema.returns.iter().filter(|ret| !ret.alias.as_ref().is_some_and(|alias| alias.is_write));
    fresh.map(|ret| &ret.ty).chain(written.map(|argument| &argument.ty))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::registry::{Dispatcher, Library, LibraryKind};

    #[test]
    fn that_there_is_no_variant_is_known_until_another_operator_is_defined() -> Result<()> {
        let dispatcher = Dispatcher::leak_empty();
        let mut library = Library::open(dispatcher, LibraryKind::Definition, "ns", None)?;
        let writes = library.define("f_(Tensor(a!) self) -> Tensor(a!)")?;
        assert_eq!(Variant::Functional.of(writes)?, None);
        {
            let _locked = dispatcher.lock(); // a search would wait for it
            let (answer, answers) = mpsc::channel();
            thread::spawn(move || answer.send(Variant::Functional.of(writes).ok()));
            assert_eq!(answers.recv_timeout(Duration::from_secs(10)), Ok(Some(None)));
        }
        let mut other = Library::open(dispatcher, LibraryKind::Fragment, "ns", None)?;
        let computes = other.define("f(Tensor self) -> Tensor")?;
        assert_eq!(Variant::Functional.of(writes)?, Some(computes));
        drop(other);
        assert_eq!(Variant::Functional.of(writes)?, None);
        Ok(())
    }
}
