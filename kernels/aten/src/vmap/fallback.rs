//! Operators without a batching rule: those made of other operators run as these, those tagged `pointwise` broadcast,
//! others run for one example after the other.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use torch_library::can_cast;
use torch_library::functionalize::functional_variant;
use torch_library::limits::check_tensors;
use torch_library::prelude::*;
use torch_library::vmap::Level;
use torch_library::warning::warn;

use super::boxed::{call, is_batched, shared_write};
use super::pointwise::broadcasting;
use crate::aten;

#[torch_fallback(FuncTorchBatched)]
fn without_rule(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    // Autograd takes apart what is made of other operators, before a call gets here. Tensors of inference mode have no
    // key of autograd.
    const PARTS: DispatchKey = DispatchKey::CompositeImplicitAutograd;
    if operator.has_kernel_for(PARTS) {
        return operator.call_boxed_for_key(PARTS, stack);
    }
    // An `out` argument does not broadcast: it is resized to the result.
    let has_out = operator.schema()?.arguments.iter().any(|argument| argument.is_out());
    if operator.tags().contains(&"pointwise") && !has_out {
        return broadcasting(operator, stack);
    }
    if let Some(variant) = computing(operator)? {
        return computed(operator, variant, stack);
    }
    each_example(operator, stack)?;
    say_once(operator);
    Ok(())
}

/// The functional variant of an operator that writes to its first argument.
fn computing(operator: OperatorHandle) -> Result<Option<OperatorHandle>> {
    let arguments = &operator.schema()?.arguments;
    let is_in_place = arguments.first().is_some_and(|argument| argument.is_mutable())
        && !arguments.iter().skip(1).any(|argument| argument.is_mutable());
    if is_in_place { functional_variant(operator) } else { Ok(None) }
}

/// Runs the functional variant, and copies its result to the first argument.
fn computed(operator: OperatorHandle, variant: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = operator.take_arguments(stack)?;
    if !is_batched(level, &arguments[0]) {
        return Err(shared_write(operator));
    }
    let results = call(variant, arguments.iter().map(Value::borrowed))?;
    let results: Vec<Tensor> = results.last().into_iter().flat_map(Value::tensors).cloned().collect();
    for (tensor, result) in arguments[0].tensors_mut().iter_mut().zip(&results) {
        ensure!(
            can_cast(result.dtype(), tensor.dtype()),
            DType,
            "{operator}: a result of {} cannot be written to a tensor of {}",
            result.dtype(),
            tensor.dtype()
        );
        aten::copy_(tensor, result)?;
    }
    if !operator.schema()?.returns.is_empty() {
        stack.push(arguments.swap_remove(0));
    }
    Ok(())
}

/// Warns, the first time, that an operator is slow under vmap.
fn say_once(operator: OperatorHandle) {
    static SAID: Mutex<Option<HashSet<OperatorHandle>>> = Mutex::new(None);
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    let is_first = said.get_or_insert_default().insert(operator);
    drop(said); // a listener may call the operator
    if is_first {
        warn(format_args!(
            "{operator} has no batching rule, so vmap runs it one example at a time; a kernel at FuncTorchBatched \
             makes it faster"
        ));
    }
}

/// Runs an operator for each example separately, and stacks the results.
pub(super) fn each_example(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = operator.take_arguments(stack)?;
    let writes = check(level, operator, &arguments)?;
    let mut returns: Vec<Vec<Value<'static>>> = Vec::new();
    for index in 0..level.batch_size() {
        let of_example = |tensor: &Tensor| match level.unwrap(tensor) {
            (value, Some(dim)) => aten::select_int(&value, dim as i64, index),
            (value, None) => Ok(value),
        };
        let example = arguments.iter().map(|argument| argument.map_tensors(of_example));
        let outputs = call(operator, example.collect::<Result<Vec<_>>>()?)?;
        returns.resize_with(outputs.len(), Vec::new);
        returns.iter_mut().zip(outputs).for_each(|(all, output)| all.push(output.into_owned()));
    }
    if writes {
        if !operator.schema()?.returns.is_empty() {
            stack.push(arguments.swap_remove(0));
        }
        return Ok(());
    }
    for all in returns {
        joined(level, operator, &all).map(|value| stack.push(value))?;
    }
    Ok(())
}

/// What errors say of an operator that cannot be run example by example.
const REMEDY: &str = "\n  help: write a rule for all examples at once, at the key FuncTorchBatched";

/// Whether the operator writes to its first argument; an error if it cannot be run example by example.
fn check(level: Level, operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<bool> {
    let schema = operator.schema()?;
    ensure!(
        level.batch_size() > 0,
        NotSupported,
        "{operator} has no batching rule, and an empty batch cannot be run one example at a time{REMEDY}"
    );
    check_tensors(level.batch_size()).map_err(|error| {
        error.context(format_args!("{operator} has no batching rule, and is run one example at a time"))
    })?;
    let is_dynamic = may_differ(operator, arguments);
    for (tag, refused) in [("inplace_view", true), ("dynamic_output_shape", is_dynamic)] {
        ensure!(
            !(refused && operator.tags().contains(&tag)),
            NotSupported,
            "{operator} has no batching rule, and an operator tagged `{tag}` cannot be run one example at a time{REMEDY}"
        );
    }
    let writes = schema.arguments.first().is_some_and(|argument| argument.is_mutable());
    let aliases = |returns: &[_], own: usize| returns.len() > own;
    let returned: Vec<_> = schema.returns.iter().filter(|returned| returned.alias.is_some()).collect();
    let written = schema.arguments.iter().filter(|argument| argument.is_mutable()).count();
    if written > usize::from(writes) || aliases(&returned, usize::from(writes)) {
        bail!(
            NotSupported,
            "{operator} has no batching rule, and an operator that returns views or writes to `out` cannot be run \
             one example at a time{REMEDY}"
        );
    }
    if writes && !is_batched(level, &arguments[0]) {
        return Err(shared_write(operator));
    }
    Ok(writes)
}

/// Whether an operator refuses batches because of sizes that depend on elements. As in PyTorch, others with such sizes
/// run, and fail if the results of two examples differ in size.
fn may_differ(operator: OperatorHandle, arguments: &[Value<'_>]) -> bool {
    let is_mask = |value: &Value<'_>| match value {
        Value::OptionalTensors(list) => list.iter().flatten().any(|index| index.dtype() == DType::Bool),
        value => value.as_tensor().is_some(),
    };
    match operator.name() {
        // Integer indices give results of one size.
        "index" => arguments.iter().skip(1).any(is_mask),
        // Without an `output_size`.
        "repeat_interleave" => matches!(arguments.last(), Some(Value::None)),
        "bincount" | "_ctc_loss" => false,
        _ => true,
    }
}

/// Stacks the results of all examples.
fn joined(level: Level, operator: OperatorHandle, all: &[Value<'static>]) -> Result<Value<'static>> {
    let stacked = |tensors: &[Tensor]| level.wrap(aten::stack(tensors)?, 0);
    match &all[0] {
        Value::Tensor(_) => {
            Ok(stacked(&all.iter().filter_map(Value::as_tensor).cloned().collect::<Vec<_>>())?.into())
        }
        Value::Tensors(first) => {
            let nth =
                |index| all.iter().filter_map(|list| list.tensors().get(index)).cloned().collect::<Vec<_>>();
            let lists = (0..first.len()).map(|index| stacked(&nth(index)));
            Ok(lists.collect::<Result<Vec<_>>>()?.into())
        }
        Value::None => Ok(Value::None),
        other => bail!(
            NotSupported,
            "{operator} returns `{}` for each example, which a batched tensor cannot hold{REMEDY}",
            other.type_name()
        ),
    }
}
