//! Finds an operator's variants by name and types.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use torch_library_schema::{Argument, Schema, Type};

use crate::error::Result;
use crate::operator::OperatorHandle;
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

impl Variant {
    /// The variant of an operator, if there is one.
    pub(crate) fn of(self, operator: OperatorHandle) -> Result<Option<OperatorHandle>> {
        static KNOWN: Mutex<Option<HashMap<(OperatorHandle, Variant), OperatorHandle>>> = Mutex::new(None);
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variant) = known().get_or_insert_default().get(&(operator, self))
            && variant.schema().is_ok()
        {
            return Ok(Some(*variant));
        }
        let variant = self.find(operator)?;
        if let Some(variant) = variant {
            known().get_or_insert_default().insert((operator, self), variant);
        }
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
        let others = registry::of(operator.operator()).operators().into_iter().map(|info| info.operator);
        let others =
            others.filter(|other| other.namespace() == operator.namespace() && is_named(other.name()));
        let mut fitting: Vec<_> =
            others.filter(|other| other.schema().is_ok_and(|other| self.fits(schema, other))).collect();
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

/// The types of the results that are not written arguments, then those of the written arguments.
fn returned(schema: &Schema) -> impl Iterator<Item = &Type> {
    let written = schema.arguments.iter().filter(|argument| Argument::is_mutable(argument));
    let fresh = schema.returns.iter().filter(|ret| !ret.alias.as_ref().is_some_and(|alias| alias.is_write));
    fresh.map(|ret| &ret.ty).chain(written.map(|argument| &argument.ty))
}
