//! In-place operators without a derivative whose functional variant has one: the variant's result is copied into the
//! argument, and gradients flow through the copy.

use super::arithmetic;
use super::node::NOT_IMPLEMENTED;
use super::view::check_write;
use crate::dtype::can_cast;
use crate::error::Result;
use crate::key::DispatchKeySet;
use crate::operator::{Operator, OperatorHandle};
use crate::registry::Variant;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// Runs an operator that writes to its first argument by its functional variant. Returns `false`, with nothing changed,
/// if there is no functional variant with a derivative.
pub(super) fn compute(
    operator: &'static Operator,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<bool> {
    let handle = operator.handle();
    let Some(variant) = variant(handle)? else { return Ok(false) };
    let arguments = handle.arguments(stack)?;
    let Some(tensor) = arguments.first().and_then(Value::as_tensor).cloned() else { return Ok(false) };
    check_write(&operator.to_string(), &tensor)?;
    let before = arithmetic::clone(&tensor)?; // the variant saves its input, which is overwritten below
    let result: Tensor = {
        let of_copy =
            |other: &Tensor| Ok(if other.is_same(&tensor) { before.clone() } else { other.clone() });
        let arguments = arguments.iter().map(|argument| Ok(argument.map_tensors(of_copy)?.into_owned()));
        let mut inner = Stack::from_iter(arguments.collect::<Result<Vec<_>>>()?);
        // If the variant refuses the arguments, the operator itself is called and reports the error under its own name.
        let Ok(()) = variant.redispatch_boxed(keys, &mut inner) else { return Ok(false) };
        inner.pop_as()?
    };
    let is_alike = result.sizes() == tensor.sizes() && can_cast(result.dtype(), tensor.dtype());
    let has_derivative = result.grad_fn()?.is_none_or(|node| node.name() != NOT_IMPLEMENTED);
    if !is_alike || !has_derivative {
        return Ok(false);
    }
    arithmetic::copy(&mut tensor.clone(), &result)?;
    let first = handle.take_arguments(stack)?.swap_remove(0);
    if !operator.schema()?.returns.is_empty() {
        stack.push(first);
    }
    Ok(true)
}

/// The functional variant: the operator that returns what this one writes to its first argument.
fn variant(handle: OperatorHandle) -> Result<Option<OperatorHandle>> {
    let schema = handle.schema()?;
    let is_written = |argument: &torch_library_schema::Argument| argument.is_mutable();
    let writes = schema.arguments.first().is_some_and(is_written)
        && !schema.arguments.iter().skip(1).any(is_written)
        && schema.returns.len() <= 1;
    let is_other = ["inplace_view", "nondeterministic_seeded"].iter().any(|tag| handle.tags().contains(tag));
    if writes && !is_other { Variant::Functional.of(handle) } else { Ok(None) }
}
