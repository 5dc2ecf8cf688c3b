//! The fallback at `Functionalize`: how a call on functional tensors is run.

use std::sync::Arc;

use torch_library_schema::{AliasInfo, Schema};

use super::calls::{call, place, shift, values_of};
use super::view::{Step, fresh, nth, step_from};
use super::{from_functional, is_functional, mutation};
use crate::error::Result;
use crate::guard::LocalDispatchKeySet;
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::registry;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// The fallback.
///
/// PyTorch: `functionalizeFallback`, and the kernels that it generates for its own operators.
pub(crate) fn fallback(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    // The call belongs to another layer, whose wrappers stand for functional tensors.
    let is_foreign = |tensor: &Tensor| tensor.is_wrapper() && !is_functional(tensor);
    if operator.arguments(stack)?.iter().flat_map(Value::all_tensors).any(is_foreign) {
        return operator.redispatch_boxed(keys & DispatchKeySet::AFTER_FUNCTIONALIZE, stack);
    }
    const PARTS: DispatchKey = DispatchKey::CompositeImplicitAutograd;
    if registry::kernel_for_key(operator.operator(), PARTS).is_ok() {
        return operator.call_boxed_for_key(PARTS, stack);
    }
    let schema = operator.schema()?;
    if schema.is_mutable() {
        return mutation::mutate(operator, stack);
    }
    match source(schema) {
        Some(source) => views(operator, source, stack),
        None => compute(operator, stack),
    }
}

/// The first argument that a return may be a view of.
fn source(schema: &Schema) -> Option<usize> {
    let returned = schema.returns.iter().filter_map(|ret| ret.alias.as_deref());
    let sets: Vec<&AliasInfo> = returned.map(AliasInfo::of_elements).collect();
    schema.arguments.iter().position(|argument| {
        let alias = argument.alias.as_deref().map(AliasInfo::of_elements);
        alias.is_some_and(|alias| sets.iter().any(|set| set.before.intersects(&alias.before)))
    })
}

/// Runs an operator that neither writes nor returns views.
fn compute(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    let is_wanted = arguments.iter().flat_map(Value::all_tensors).any(is_functional)
        || LocalDispatchKeySet::current().included.has(DispatchKey::Functionalize);
    for value in call(operator, values_of(operator, &arguments)?)? {
        let value =
            if is_wanted { value.map_tensors(|tensor| fresh(tensor.clone()))? } else { value.borrowed() };
        stack.push(value.into_owned());
    }
    Ok(())
}

/// Runs an operator whose results are views of an argument.
fn views(operator: OperatorHandle, source: usize, stack: &mut Stack<'_>) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    let Some(base) = arguments[source].as_tensor().cloned().filter(is_functional) else {
        call(operator, values_of(operator, &arguments)?)?.into_iter().for_each(|value| stack.push(value));
        return Ok(());
    };
    let mut others = values_of(operator, &arguments)?;
    let value = from_functional(&base)?;
    others[source] = Value::None; // each step puts the base here
    // A base that was computed starts elsewhere than the memory that the program sees.
    let place = place(operator)?;
    shift(&mut others, place, -value.storage_offset());
    let again = Arc::new(move |base: &Tensor| -> Result<Vec<Value<'static>>> {
        let mut arguments: Vec<_> = others.iter().map(Value::borrowed).collect();
        arguments[source] = base.into();
        shift(&mut arguments, place, base.storage_offset());
        let returns = call(operator, arguments)?;
        Ok(returns.into_iter().map(Value::into_owned).collect())
    });
    let returns = again(&value)?;
    for (position, value) in returns.iter().enumerate() {
        let mut indices = 0..;
        let view = value.map_tensors(|tensor| {
            let (again, index) = (Arc::clone(&again), indices.next().unwrap_or_default());
            let step = Step::new(move |base| nth(again(base)?[position].tensors().to_vec(), index));
            step_from(&base, tensor.clone(), step)
        })?;
        stack.push(view.into_owned());
    }
    Ok(())
}
