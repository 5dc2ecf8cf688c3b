//! Runs operators that write as operators that only compute new tensors.

use super::calls::{call, values_of};
use super::view::{Functional, below, fresh, later};
use super::{is_functional, named};
use crate::device::Device;
use crate::error::{ErrorKind, Result};
use crate::guard::{ForceDispatchKeyGuard, LocalDispatchKeySet};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::registry::Variant;
use crate::tensor::{Counterparts, Storage, Tensor};
use crate::value::{Stack, Value};
use crate::{bail, ensure};

/// Runs an operator that writes to arguments.
pub(super) fn mutate(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let mut arguments = operator.take_arguments(stack)?;
    let written: Vec<usize> = written(operator)?;
    let tensors = || written.iter().flat_map(|index| arguments[*index].tensors());
    if !arguments.iter().flat_map(Value::all_tensors).any(is_functional) {
        // No tensor is functional: the operator writes to plain tensors from outside.
        call(operator, arguments)?.into_iter().for_each(|value| stack.push(value));
        return Ok(());
    }
    ensure!(
        tensors().all(is_functional),
        Argument,
        "{operator} would write values of a functional program to a tensor that was made outside of it\n  \
         help: make that tensor an input, or write to a copy"
    );
    rehearse(operator, &arguments)?;
    let mut fresh_returns = match operator.tags().contains(&"inplace_view") {
        true => move_views(operator, &mut arguments, &written).map(|()| Vec::new())?,
        false => compute(operator, &mut arguments, &written)?,
    }
    .into_iter();
    let mut originals: Vec<_> = arguments.into_iter().map(Some).collect();
    for index in 0..operator.schema()?.returns.len() {
        let argument = operator.operator().returned_argument(index);
        let value = match argument.and_then(|argument| originals[argument].take()) {
            Some(original) => original,
            None => {
                let value = fresh_returns.next().unwrap_or(Value::None);
                value.map_tensors(|tensor| fresh(tensor.clone()))?.into_owned()
            }
        };
        stack.push(value);
    }
    Ok(())
}

/// The positions of the arguments that an operator writes to.
fn written(operator: OperatorHandle) -> Result<Vec<usize>> {
    let arguments = operator.schema()?.arguments.iter().enumerate();
    Ok(arguments.filter(|(_, argument)| argument.is_mutable()).map(|(index, _)| index).collect())
}

/// Computes the values that the operator would write, and stores them in the arguments. Returns the other results.
fn compute(
    operator: OperatorHandle,
    arguments: &mut [Value<'_>],
    written: &[usize],
) -> Result<Vec<Value<'static>>> {
    let schema = operator.schema()?;
    let values = values_of(operator, arguments)?;
    let (returns, results) = match Variant::Functional.of(operator)? {
        Some(variant) => {
            let taken = schema.arguments.iter().zip(values).filter(|(argument, _)| !argument.is_out());
            let mut returns = call(variant, taken.map(|(_, value)| value))?;
            let results = returns.split_off(returns.len().saturating_sub(written.len()));
            (returns, results)
        }
        None => write_to_copies(operator, values, written)?,
    };
    for (index, result) in written.iter().zip(&results) {
        let is_out = schema.arguments[*index].is_out();
        for (tensor, value) in arguments[*index].tensors_mut().iter_mut().zip(result.tensors()) {
            // An `out` argument takes the sizes of the result.
            if is_out && tensor.sizes() != value.sizes() {
                Functional::adopt(tensor, &later(value.clone())?)?;
            } else if let Some((functional, memory)) = Functional::of(tensor) {
                functional.write(&memory, tensor, value.clone())?;
            }
        }
    }
    Ok(returns)
}

/// Lets an operator write to temporary copies. Returns its results that are not arguments, and the copies.
fn write_to_copies(
    operator: OperatorHandle,
    mut values: Vec<Value<'static>>,
    written: &[usize],
) -> Result<(Vec<Value<'static>>, Vec<Value<'static>>)> {
    {
        let _below = below();
        for index in written {
            values[*index] = values[*index].map_tensors(named::clone)?.into_owned();
        }
    }
    let copies = written.iter().map(|index| values[*index].borrowed().into_owned()).collect();
    let is_fresh = |index: usize| operator.operator().returned_argument(index).is_none();
    let returns = call(operator, values)?.into_iter().enumerate();
    Ok((returns.filter(|(index, _)| is_fresh(*index)).map(|(_, value)| value).collect(), copies))
}

/// Gives tensors the geometry of the views that the functional variant returns.
fn move_views(operator: OperatorHandle, arguments: &mut [Value<'_>], written: &[usize]) -> Result<()> {
    let (Some(variant), [index]) = (Variant::View.of(operator)?, written) else {
        bail!(
            NotSupported,
            "{operator} moves a tensor to other memory, which cannot be functionalized\n  \
             help: compute a new tensor instead"
        );
    };
    let view: Tensor = {
        let mut stack = Stack::from_iter(arguments.iter().map(Value::borrowed));
        variant.call_boxed_for_key(DispatchKey::Functionalize, &mut stack)?;
        stack.pop_as()?
    };
    arguments[*index].tensors_mut().iter_mut().try_for_each(|tensor| Functional::adopt(tensor, &view))
}

/// Lets the operator check its arguments, on tensors without elements that share memory as the functional ones do.
fn rehearse(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<()> {
    let mut twins = Counterparts::default();
    let mut twin = |tensor: &Tensor| {
        if let Some(twin) = twins.of(tensor) {
            return Ok(twin.clone());
        }
        if tensor.is_wrapped_number() {
            return Ok(tensor.clone());
        }
        let storage = match twins.of_same_memory(tensor) {
            Some(twin) => twin.storage().clone(),
            None => Storage::without_data(tensor.storage().nbytes(), Device::META),
        };
        let keys = DispatchKeySet::of_inference_tensor(DispatchKey::Meta);
        let twin = Tensor::from_storage_like(storage, tensor, keys)?;
        twins.add(tensor, &twin);
        Ok(twin)
    };
    let arguments = arguments.iter().map(|argument| match argument {
        Value::Generator(_) => Ok(Value::None), // no number is drawn
        argument => Ok(argument.map_tensors(&mut twin)?.into_owned()),
    });
    let mut stack = Stack::from_iter(arguments.collect::<Result<Vec<_>>>()?);
    let _fresh_thread = ForceDispatchKeyGuard::new(LocalDispatchKeySet {
        included: DispatchKeySet::DEFAULT_INCLUDED,
        // What is written here has no versions that anything could compare.
        excluded: DispatchKeySet::DEFAULT_EXCLUDED.add(DispatchKey::ADInplaceOrView),
    });
    match operator.call_boxed(&mut stack) {
        // An operator that does not run on `meta`, or not without elements, checks its arguments when it runs.
        Err(error) => match error.kind() {
            ErrorKind::MissingKernel | ErrorKind::NotSupported | ErrorKind::Device => Ok(()),
            _ => Err(error),
        },
        Ok(()) => Ok(()),
    }
}
