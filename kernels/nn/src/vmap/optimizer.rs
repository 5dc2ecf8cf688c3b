//! Batching rules for fused steps of optimisers: steps are element-wise, so all examples take theirs in one call.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{call, expanded, is_batched, rules, shared_write};
use crate::aten;

rules! {
    fused: step => _fused_sgd_ _fused_adam_ _fused_adamw_ _fused_adagrad_;
}

/// Runs a step on all examples; parameters that are not batched take their step in the same call.
fn step(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let arguments = operator.take_arguments(stack)?;
    let schema = &operator.schema()?.arguments;
    // The numbers of steps are read, also where PyTorch's schema says that they are written.
    let is_list = |at: usize| schema[at].is_mutable() && schema[at].name != "state_steps";
    let others = schema.iter().zip(&arguments).enumerate().filter(|(at, _)| !is_list(*at));
    for (_, (argument, value)) in others {
        ensure!(
            !is_batched(level, value),
            NotSupported,
            "{operator}: `{}` differs between examples, but a step takes it once, take a step for each example",
            argument.name
        );
    }
    let lists = || (0..arguments.len()).filter(|at| is_list(*at)).map(|at| arguments[at].tensors());
    let is_batched_at =
        |index: usize| lists().filter_map(|list| list.get(index)).any(|tensor| level.has(tensor));
    // Gradients are only written to if they are unscaled.
    let is_read = |at: usize| schema[at].name == "grads";
    let mut values = Vec::with_capacity(arguments.len());
    for (at, value) in arguments.iter().enumerate() {
        if !is_list(at) {
            values.push(value.borrowed());
            continue;
        }
        let mut list = Vec::with_capacity(value.tensors().len());
        for (index, tensor) in value.tensors().iter().enumerate() {
            if is_batched_at(index) && !level.has(tensor) && !is_read(at) {
                return Err(shared_write(operator));
            }
            list.push(if is_batched_at(index) { expanded(level, tensor)? } else { tensor.clone() });
        }
        values.push(list.into());
    }
    call(operator, values).map(drop)
}
