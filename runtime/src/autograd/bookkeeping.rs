//! Tracks views and versions for operators without a kernel at `ADInplaceOrView`, by their schemas.

use smallvec::SmallVec;
use torch_library_schema::{AliasInfo, Schema};

use super::creation::CreationMeta;
use super::record::{BELOW_AD_INPLACE_OR_VIEW, check_counted};
use super::view;
use crate::error::Result;
use crate::guard::AutoDispatchBelowADInplaceOrView;
use crate::key::DispatchKeySet;
use crate::operator::Operator;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// Bumps the versions of the tensors that a call writes to, and marks its results as views where the schema says so.
///
/// PyTorch: generated kernels for its own operators; `autogradNotImplementedInplaceOrViewFallback` for others.
pub(super) fn bookkeeping_boxed(
    operator: &'static Operator,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    let handle = operator.handle();
    let schema = operator.schema()?;
    let arguments = handle.arguments(stack)?;
    let written: SmallVec<[Tensor; 1]> = written(schema, arguments).cloned().collect();
    written.iter().try_for_each(check_counted)?;
    let bases: SmallVec<[Option<Tensor>; 1]> =
        schema.returns.iter().map(|ret| base(schema, ret.alias.as_deref()?, arguments)).collect();
    {
        let _guard = AutoDispatchBelowADInplaceOrView::new();
        handle.redispatch_boxed(keys & BELOW_AD_INPLACE_OR_VIEW, stack)?;
    }
    written.iter().for_each(Tensor::bump_version);
    for (value, base) in stack.last_mut(bases.len()).iter_mut().zip(&bases) {
        let Some(base) = base else { continue };
        let creation = CreationMeta::now(matches!(value, Value::Tensors(_)));
        each_result(value, |result| view::track(base, result, creation));
    }
    Ok(())
}

/// Visits the tensors of a result, each of which may be replaced.
pub(super) fn each_result(value: &mut Value<'_>, mut visit: impl FnMut(&mut Tensor)) {
    match value {
        Value::TensorRef(tensor) => *value = Value::Tensor(tensor.clone()),
        Value::Tensors(tensors) => return tensors.to_mut().iter_mut().for_each(visit),
        Value::OptionalTensors(tensors) => return tensors.to_mut().iter_mut().flatten().for_each(visit),
        _ => {}
    }
    if let Value::Tensor(tensor) = value {
        visit(tensor);
    }
}

/// The tensors that a call writes to.
pub(super) fn written<'s>(schema: &Schema, arguments: &'s [Value<'_>]) -> impl Iterator<Item = &'s Tensor> {
    let arguments = schema.arguments.iter().zip(arguments);
    arguments.filter(|(argument, _)| argument.is_mutable()).flat_map(|(_, value)| value.tensors())
}

/// The tensor that a return is a view of: the first argument of its alias set.
fn base(schema: &Schema, alias: &AliasInfo, arguments: &[Value<'_>]) -> Option<Tensor> {
    let set = alias.of_elements();
    if alias.is_write {
        return None;
    }
    let is_source = |info: &AliasInfo| !info.is_write && set.before.intersects(&info.of_elements().before);
    let of_argument = schema.arguments.iter().map(|argument| argument.alias.as_deref());
    let source = of_argument.into_iter().position(|alias| alias.is_some_and(is_source))?;
    arguments[source].as_tensor().cloned()
}
