//! The promises that a schema makes about a call: types of returns, written arguments, shared memory.

use torch_library_schema::Value as _;
use torch_library_schema::{AliasInfo, Schema, Type};

use super::arguments::{self, TensorArgument};
use super::call::{Called, Outcome};
use super::compare::{bits, difference};
use super::{Check, Session};
use crate::tensor::{Storage, Tensor};
use crate::value::Value;

/// A tensor as it was before a call.
struct Before {
    argument: TensorArgument,
    bits: Option<Vec<(u64, u64)>>,
    geometry: crate::tensor::geometry::Geometry,
    storage: Storage,
    version: u64,
}

impl Before {
    fn new(argument: TensorArgument) -> Self {
        let tensor = &argument.tensor;
        let (geometry, storage) = (tensor.geometry().clone(), tensor.storage().clone());
        Before { bits: bits(tensor), geometry, storage, version: tensor.version(), argument }
    }

    fn has_moved(&self) -> bool {
        !self.storage.is_same(&self.argument.tensor.storage())
            || self.geometry != *self.argument.tensor.geometry()
    }

    fn is_rewritten(&self) -> bool {
        bits(&self.argument.tensor) != self.bits
    }
}

impl Session<'_> {
    /// Calls the operator with a sample, and compares what it did with the schema. Returns that call.
    pub(super) fn contract(&mut self, values: &[Value<'static>], written: &mut Vec<bool>) -> Option<Called> {
        let schema = self.operator.schema().ok()?;
        let copies = match arguments::copies(values) {
            Ok(copies) => copies,
            Err(error) => {
                self.fault(Check::Accepts, format!("cannot copy a sample for a call: {error}"));
                return None;
            }
        };
        let arguments = arguments::tensors(self.operator, &copies);
        let before: Vec<_> = arguments.iter().cloned().map(Before::new).collect();
        let returns = match self.call(copies) {
            Outcome::Returned(returns) => returns,
            Outcome::Panicked => return None,
            Outcome::Failed(error) => {
                self.fault(Check::Accepts, format!("fails for a sample: {error}"));
                return None;
            }
        };
        if !self.returns_fit(schema, &returns) {
            return None;
        }
        self.mutation(schema, &before, written);
        self.aliasing(schema, &before, &returns);
        if self.is_deterministic()
            && let Ok(copies) = arguments::copies(values)
            && let Outcome::Returned(again) = self.call(copies)
            && let Some(what) = difference(&again, &returns)
        {
            self.fault(
                Check::Deterministic,
                format!(
                    "a second call with the same arguments gives {what}; an operator that draws random numbers has \
                     the tag `nondeterministic_seeded`"
                ),
            );
        }
        Some(Called { arguments, returns })
    }

    fn returns_fit(&mut self, schema: &Schema, returns: &[Value<'static>]) -> bool {
        if returns.len() != schema.returns.len() {
            let message =
                format!("leaves {} returns, the schema has {}", returns.len(), schema.returns.len());
            self.fault(Check::Returns, message);
            return false;
        }
        for (index, (value, ret)) in returns.iter().zip(&schema.returns).enumerate() {
            // A number may stand for a tensor argument, but not for a tensor return.
            let is_tensor = || value.is_none() || value.as_tensor().is_some();
            if !value.is_a(&ret.ty) || (*ret.ty.without_optional() == Type::Tensor && !is_tensor()) {
                let message =
                    format!("return {index} is of type {}, the schema says {}", value.type_name(), ret.ty);
                self.fault(Check::Returns, message);
                return false;
            }
        }
        true
    }

    fn mutation(&mut self, schema: &Schema, before: &[Before], written: &mut Vec<bool>) {
        written.resize(schema.arguments.len(), false);
        for before in before {
            let (argument, name) = (&schema.arguments[before.argument.position], &before.argument.name);
            let (rewritten, moved) = (before.is_rewritten(), before.has_moved());
            let version = before.argument.tensor.version();
            if argument.is_mutable() {
                written[before.argument.position] |= rewritten || moved;
                if rewritten && version == before.version {
                    self.fault(
                        Check::Version,
                        format!(
                            "writes to `{name}` without bumping its version: `bump_version` is missing, or a layer \
                             at ADInplaceOrView"
                        ),
                    );
                }
                continue;
            }
            if moved {
                self.fault(
                    Check::Mutation,
                    format!("changes the sizes or the memory of `{name}`, which the schema only reads"),
                );
            } else if rewritten {
                self.fault(Check::Mutation, format!("writes to `{name}`, which the schema only reads"));
            } else if version != before.version {
                self.fault(Check::Version, format!("bumps the version of `{name}`, which it only reads"));
            }
        }
    }

    /// Reports arguments that the schema marks as written, but that no sample changed.
    pub(super) fn never_written(&mut self, written: &[bool]) {
        let Ok(schema) = self.operator.schema() else { return };
        let never = schema.arguments.iter().zip(written);
        let never = never.filter(|(argument, written)| argument.is_mutable() && !**written);
        if let Some((argument, _)) = never.into_iter().next() {
            let message =
                format!("no sample changes `{}`, which the schema says is written to", argument.name);
            self.fault(Check::Mutation, message);
        }
    }

    fn aliasing(&mut self, schema: &Schema, before: &[Before], returns: &[Value<'static>]) {
        let mut seen: Vec<(usize, Tensor)> = Vec::new();
        for (index, (value, ret)) in returns.iter().zip(&schema.returns).enumerate() {
            let alias = ret.alias.as_deref().map(AliasInfo::of_elements);
            for tensor in value.tensors() {
                self.shared_with_arguments(schema, before, (index, tensor), alias);
                let other =
                    seen.iter().find(|(other, shared)| *other != index && shared.shares_storage_with(tensor));
                let other = other.map(|(other, _)| *other);
                let may_share = |other: usize| {
                    let other = schema.returns[other].alias.as_deref().map(AliasInfo::of_elements);
                    alias.zip(other).is_some_and(|(left, right)| left.after.intersects(&right.after))
                };
                if let Some(other) = other.filter(|other| !may_share(*other)) {
                    let message =
                        format!("returns {other} and {index} share memory, the schema says they do not");
                    self.fault(Check::Aliasing, message);
                }
                seen.push((index, tensor.clone()));
            }
        }
    }

    fn shared_with_arguments(
        &mut self,
        schema: &Schema,
        before: &[Before],
        (index, tensor): (usize, &Tensor),
        alias: Option<&AliasInfo>,
    ) {
        if let Some(alias) = alias.filter(|alias| alias.is_write) {
            let source = |before: &&Before| {
                schema.arguments[before.argument.position].alias.as_deref().map(AliasInfo::of_elements)
                    == Some(alias)
            };
            let sources: Vec<_> = before.iter().filter(source).collect();
            if !sources.iter().any(|before| before.argument.tensor.is_same(tensor)) {
                let name = sources.first().map_or("?", |before| &before.argument.name);
                let message =
                    format!("return {index} is another tensor, the schema says it is `{name}` itself");
                self.fault(Check::Aliasing, message);
            }
            return;
        }
        for before in before.iter().filter(|before| before.storage.is_same(&tensor.storage())) {
            if tensor.storage().nbytes() == 0 {
                continue;
            }
            let argument =
                schema.arguments[before.argument.position].alias.as_deref().map(AliasInfo::of_elements);
            let may_share = alias.zip(argument).is_some_and(|(ret, argument)| {
                ret.after.intersects(&argument.after)
                    || ret.before.intersects(&argument.before)
                    || argument.after.is_wildcard()
            });
            if !may_share {
                let name = &before.argument.name;
                let message =
                    format!("return {index} shares memory with `{name}`, the schema says it does not");
                self.fault(Check::Aliasing, message);
            }
        }
    }
}
