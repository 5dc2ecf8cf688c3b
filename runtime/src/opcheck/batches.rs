//! The operator under vmap, compared with a loop over the examples.

use super::arguments::{copy, map, tensors};
use super::compare;
use super::{Check, Session};
use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::key::DispatchKey;
use crate::match_dtype;
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};
use crate::vmap::{Level, Randomness};

/// The number of examples.
const EXAMPLES: i64 = 3;

/// Which arguments are batched, and along which dimension: the first, or the last one possible.
struct Plan {
    batched: Vec<usize>,
    last: bool,
}

impl Session<'_> {
    pub(super) fn batches(&mut self, values: &[Value<'static>], expected: &[Value<'static>]) {
        let gives_tensors = expected.iter().all(|value| !value.tensors().is_empty());
        if !self.wants(Check::Vmap)
            || self.row(DispatchKey::FuncTorchBatched).is_none_or(|row| row.kernel.is_none())
            || self.depends_on_values()
            || !gives_tensors
        {
            return;
        }
        let operator = self.operator;
        for plan in self.plans(values) {
            // If a single example is refused, so is a batch.
            let Ok(expected) = looped(operator, values, &plan) else { continue };
            let passed = self.passes(Check::Vmap, || match batched(operator, values, &plan) {
                // Operators may say that they are not supported under vmap.
                Err(error) if error.kind() == ErrorKind::NotSupported => Ok(None),
                found => {
                    Ok(differs(&found?, &expected).map(|what| format!("{}: {what}", plan.name(operator))))
                }
            });
            if !passed {
                return;
            }
        }
    }

    /// Each argument by itself, then all of them. An argument that is written to must be batched if another one is.
    fn plans(&self, values: &[Value<'static>]) -> Vec<Plan> {
        let places = tensors(self.operator, values);
        let places = places.iter().filter(|place| !place.tensor.is_wrapped_number());
        let mut all: Vec<usize> = places.map(|argument| argument.position).collect();
        all.dedup();
        let Ok(schema) = self.operator.schema() else { return Vec::new() };
        let is_written = |argument: &&usize| schema.arguments[**argument].is_mutable();
        let written: Vec<usize> = all.iter().filter(is_written).copied().collect();
        let alone = all.iter().filter(|argument| written.iter().all(|written| written == *argument));
        let mut plans: Vec<Plan> =
            alone.map(|argument| Plan { batched: vec![*argument], last: false }).collect();
        if !all.is_empty() {
            plans.extend([false, true].map(|last| Plan { batched: all.clone(), last }));
        }
        plans
    }
}

impl Plan {
    fn name(&self, operator: OperatorHandle) -> String {
        let arguments = operator.schema().map(|schema| &schema.arguments[..]).unwrap_or_default();
        let names: Vec<_> = self.batched.iter().map(|at| format!("`{}`", arguments[*at].name)).collect();
        let dim = if self.last { "last" } else { "first" };
        format!("with a batch of {} along the {dim} dimension", names.join(", "))
    }

    /// The batch dimension of an argument, if it is batched.
    fn dim(&self, at: usize, example: &Tensor) -> Option<usize> {
        let is_batched = self.batched.contains(&at) && !example.is_wrapped_number();
        is_batched.then(|| if self.last { example.dim() } else { 0 })
    }

    /// The arguments, where the batched ones hold all examples.
    fn stacked(&self, values: &[Value<'static>]) -> Result<Vec<Value<'static>>> {
        map(values, |at, tensor| match self.dim(at, tensor) {
            Some(dim) => examples(tensor, dim),
            None => copy(tensor),
        })
    }
}

/// Variants of a tensor, stacked along a new dimension: each has the elements in other places, and slightly smaller
/// numbers.
fn examples(tensor: &Tensor, dim: usize) -> Result<Tensor> {
    let mut sizes = tensor.sizes().to_vec();
    sizes.insert(dim, EXAMPLES);
    let all = Tensor::zeros(&sizes, tensor.dtype(), tensor.device())?;
    for index in 0..EXAMPLES {
        let mut example = slice_of(&all, dim, index)?;
        match_dtype!(tensor.dtype(), T => {
            let mut elements = tensor.to_vec::<T>()?;
            let count = elements.len().max(1);
            elements.rotate_left(index as usize % count);
            example.copy_from_slice(&elements)
        })?;
        if tensor.dtype() == DType::Float64 {
            let elements = example.to_vec::<f64>()?;
            example.fill_from(elements.into_iter().map(|x| x * (1.0 - index as f64 / 16.0)))?;
        }
    }
    Ok(all)
}

/// The operator's results, then the arguments that it wrote.
fn run(operator: OperatorHandle, values: Vec<Value<'static>>) -> Result<Vec<Tensor>> {
    let arguments = operator.schema()?.arguments.iter().zip(&values);
    let written = arguments.filter(|(argument, _)| argument.is_mutable());
    let written: Vec<Tensor> = written.flat_map(|(_, value)| value.tensors().to_vec()).collect();
    let mut stack: Stack<'static> = values.into_iter().collect();
    operator.call_boxed(&mut stack)?;
    let returned = stack.into_iter().flat_map(|value| value.tensors().to_vec());
    Ok(returned.chain(written).collect())
}

/// The operator's results for each example.
fn looped(operator: OperatorHandle, values: &[Value<'static>], plan: &Plan) -> Result<Vec<Vec<Tensor>>> {
    let stacked = plan.stacked(values)?;
    let example = |index| {
        map(&stacked, |at, tensor| match plan.dim(at, tensor) {
            Some(dim) => slice_of(tensor, dim.saturating_sub(1), index), // `dim` was computed from the stacked tensor
            None => Ok(tensor.clone()),
        })
    };
    (0..EXAMPLES).map(|index| run(operator, example(index)?)).collect()
}

/// The same results, from one call with all examples.
fn batched(operator: OperatorHandle, values: &[Value<'static>], plan: &Plan) -> Result<Vec<Vec<Tensor>>> {
    let guard = Level::enter(EXAMPLES, Randomness::Error)?;
    let level = guard.level();
    let values = map(values, |at, tensor| match plan.dim(at, tensor) {
        Some(dim) => level.wrap(examples(tensor, dim)?, dim),
        None => copy(tensor),
    })?;
    let results = run(operator, values)?;
    let example = |index| results.iter().map(|result| part(level, result, index)).collect();
    (0..EXAMPLES).map(example).collect()
}

/// The part of a result for one example; a result that is not batched is the same for all.
fn part(level: Level, result: &Tensor, index: i64) -> Result<Tensor> {
    match level.unwrap(result) {
        (value, Some(dim)) => slice_of(&value, dim, index),
        (value, None) => Ok(value),
    }
}

fn slice_of(value: &Tensor, dim: usize, index: i64) -> Result<Tensor> {
    let without = |list: &[i64]| [&list[..dim], &list[dim + 1..]].concat();
    let offset = value.storage_offset() + index * value.strides()[dim];
    value.strided_view(&without(value.sizes()), &without(value.strides()), offset)
}

/// Describes where the result of the batch differs from that of the loop.
fn differs(found: &[Vec<Tensor>], expected: &[Vec<Tensor>]) -> Option<String> {
    found.iter().zip(expected).enumerate().find_map(|(index, (found, expected))| {
        if found.len() != expected.len() {
            return Some(format!("{} results instead of {}", found.len(), expected.len()));
        }
        let what =
            found.iter().zip(expected).find_map(|(found, expected)| compare::tensors(found, expected))?;
        Some(format!("example {index}: {what}"))
    })
}
