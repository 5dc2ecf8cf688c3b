//! Runs operators that write as operators that only compute new tensors.

use super::calls::{call, values_of};
use super::view::{self, Functional, below, fresh, later};
use super::{is_functional, named};
use crate::device::Device;
use crate::ensure;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::{ForceDispatchKeyGuard, LocalDispatchKeySet};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::OperatorHandle;
use crate::registry::Variant;
use crate::tensor::geometry::Geometry;
use crate::tensor::{Counterparts, Storage, Tensor};
use crate::value::{Stack, Value};

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
    let moved = rehearse(operator, &arguments)?;
    let mut fresh_returns = match operator.tags().contains(&"inplace_view") {
        true => move_views(operator, &mut arguments, &written, moved).map(|()| Vec::new())?,
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

/// Moves a tensor within its memory: to the view that the operator's variant returns, or to where it went in the
/// rehearsal. If it went to other memory, the functional variant says what is there.
fn move_views(
    operator: OperatorHandle,
    arguments: &mut [Value<'_>],
    written: &[usize],
    moved: Option<Rehearsal>,
) -> Result<()> {
    let [index] = written else { return Err(cannot_move(operator)) };
    let view: Tensor = if let Some(variant) = Variant::View.of(operator)? {
        let mut stack = Stack::from_iter(arguments.iter().map(Value::borrowed));
        variant.call_boxed_for_key(DispatchKey::Functionalize, &mut stack)?;
        stack.pop_as()?
    } else {
        let tensor = arguments[*index].as_tensor().ok_or_else(|| cannot_move(operator))?;
        let place = moved.as_ref().and_then(|moved| moved.of(tensor));
        match place.ok_or_else(|| cannot_move(operator))? {
            Place::Here(geometry) => view::part_of(tensor, &geometry)?,
            Place::Elsewhere => moved_away(operator, tensor, arguments)?,
        }
    };
    arguments[*index].tensors_mut().iter_mut().try_for_each(|tensor| Functional::adopt(tensor, &view))
}

/// A tensor that an operator moves to other memory.
fn moved_away(operator: OperatorHandle, tensor: &Tensor, arguments: &[Value<'_>]) -> Result<Tensor> {
    // Other memory has the elements around the tensor, too, which the functional variant does not see.
    let is_view = tensor.numel() as usize * tensor.dtype().size() != tensor.storage().nbytes();
    let variant = Variant::Functional.of(operator)?.filter(|_| !is_view);
    let variant = variant.ok_or_else(|| cannot_move(operator))?;
    let returns = call(variant, values_of(operator, arguments)?)?;
    let value = returns.last().and_then(Value::as_tensor);
    later(value.ok_or_else(|| cannot_move(operator))?.clone())
}

#[cold]
fn cannot_move(operator: OperatorHandle) -> Error {
    Error::new(
        ErrorKind::NotSupported,
        format!(
            "{operator} moves a tensor to other memory, which cannot be functionalized\n  \
             help: compute a new tensor instead"
        ),
    )
}

/// The tensors of a call, each with the twin that the operator was given, and another one over the same memory.
#[derive(Default)]
struct Rehearsal {
    twins: Counterparts,
    memories: Counterparts,
}

/// Where an operator put a tensor.
enum Place {
    /// In the same memory.
    Here(Geometry),
    Elsewhere,
}

impl Rehearsal {
    fn twin(&mut self, tensor: &Tensor) -> Result<Tensor> {
        if let Some(twin) = self.twins.of(tensor) {
            return Ok(twin.clone());
        }
        if tensor.is_wrapped_number() {
            return Ok(tensor.clone());
        }
        let storage = match self.memories.of_same_memory(tensor) {
            Some(twin) => twin.storage().clone(),
            None => Storage::without_data(tensor.storage().nbytes(), Device::META),
        };
        let keys = DispatchKeySet::of_inference_tensor(DispatchKey::Meta);
        let twin = Tensor::from_storage_like(storage.clone(), tensor, keys)?;
        self.twins.add(tensor, &twin);
        self.memories.add(tensor, &Tensor::from_storage_like(storage, tensor, keys)?);
        Ok(twin)
    }

    fn of(&self, tensor: &Tensor) -> Option<Place> {
        let (twin, before) = (self.twins.of(tensor)?, self.memories.of(tensor)?);
        Some(match twin.shares_storage_with(before) {
            true => Place::Here(twin.geometry().clone()),
            false => Place::Elsewhere,
        })
    }
}

/// Lets the operator check its arguments, on tensors without elements that share memory as the functional ones do. No
/// result if it does so only when it runs.
fn rehearse(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Rehearsal>> {
    let mut rehearsal = Rehearsal::default();
    let arguments = arguments.iter().map(|argument| match argument {
        Value::Generator(_) => Ok(Value::None), // no number is drawn
        argument => Ok(argument.map_tensors(|tensor| rehearsal.twin(tensor))?.into_owned()),
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
            ErrorKind::MissingKernel | ErrorKind::NotSupported | ErrorKind::Device => Ok(None),
            _ => Err(error),
        },
        Ok(()) => Ok(Some(rehearsal)),
    }
}
