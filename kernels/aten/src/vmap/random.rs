//! Random operators under vmap, whose behaviour the caller of vmap chooses.

use torch_library::prelude::*;
use torch_library::vmap::{Level, Randomness};

use super::boxed::{call, expanded, is_batched, shared_write, wrapped};
use super::fallback::each_example;
use crate::aten;

/// Runs before all rules while a vmap is active: handles random operators, and redispatches all others.
#[torch_fallback(FuncTorchVmapMode)]
fn random(operator: OperatorHandle, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::innermost().filter(|_| is_drawn_here(operator));
    // A gradient level inside of the vmap is handled first.
    let arguments = operator.arguments(stack)?;
    let level = level
        .filter(|level| !arguments.iter().flat_map(Value::tensors).any(|tensor| level.is_around(tensor)));
    let Some(level) = level else {
        const BELOW: DispatchKeySet = DispatchKeySet::full_after(DispatchKey::FuncTorchVmapMode);
        return operator.redispatch_boxed(keys & BELOW, stack);
    };
    match level.randomness() {
        Randomness::Error => bail!(
            Argument,
            "{operator} is random, and vmap was not told whether examples share their numbers\n  \
             help: `.randomness(Randomness::Same)` or `.randomness(Randomness::Different)`"
        ),
        Randomness::Same if arguments.iter().any(|value| is_batched(level, value)) => {
            one_draw(level, operator, stack)
        }
        Randomness::Same => level.outside(|| operator.call_boxed(stack)),
        Randomness::Different if fills(operator) => level.serve(|| own_elements(level, operator, stack)),
        Randomness::Different => level.serve(|| level.outside(|| each_example(operator, stack))),
    }
}

/// Whether an operator is random itself: dropout draws its mask by another operator.
fn is_drawn_here(operator: OperatorHandle) -> bool {
    let is_dropout = operator.name().trim_end_matches('_').ends_with("dropout");
    operator.tags().contains(&"nondeterministic_seeded") && !is_dropout
}

/// Whether each element of the result is a draw of its own, from a distribution that does not depend on what the
/// elements of the first argument were: only its sizes count, or the sizes that are given.
fn fills(operator: OperatorHandle) -> bool {
    const FILLING: &[&str] = &[
        "bernoulli_",
        "cauchy",
        "cauchy_",
        "exponential",
        "exponential_",
        "geometric",
        "geometric_",
        "log_normal",
        "log_normal_",
        "normal_",
        "normal_functional",
        "rand",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "random",
        "random_",
        "uniform",
        "uniform_",
    ];
    let is_bernoulli_p = operator.name() == "bernoulli" && operator.overload() == "p";
    operator.namespace() == "aten" && (is_bernoulli_p || FILLING.contains(&operator.name()))
}

/// The same numbers for all examples: one draw in the sizes of an example.
fn one_draw(level: Level, operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let mut arguments = operator.take_arguments(stack)?;
    ensure!(
        fills(operator) && !arguments.iter().skip(1).any(|value| is_batched(level, value)),
        NotSupported,
        "{operator} cannot give all examples the same numbers for arguments that differ between them"
    );
    let Some(tensor) = arguments[0].as_tensor() else { bail!(Internal, "{operator} has no tensor in front") };
    let like = Tensor::empty(tensor.sizes(), tensor.dtype(), tensor.device())?;
    let of_one = [Value::Tensor(like)].into_iter().chain(arguments.iter().skip(1).map(Value::borrowed));
    let drawn = level.outside(|| call(operator, of_one))?.pop().map(Value::into_owned);
    let Some(Value::Tensor(drawn)) = drawn else { bail!(Internal, "{operator} returns no tensor") };
    if !operator.schema()?.arguments[0].is_mutable() {
        stack.push(drawn);
        return Ok(());
    }
    arguments[0].tensors_mut().iter_mut().try_for_each(|tensor| aten::copy_(tensor, &drawn).map(drop))?;
    stack.push(arguments.swap_remove(0));
    Ok(())
}

/// Numbers of each example's own, in one draw for the whole batch.
///
/// PyTorch: the same, which decides which numbers an example gets.
fn own_elements(level: Level, operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let schema = operator.schema()?;
    let mut arguments = operator.take_arguments(stack)?;
    let writes = schema.arguments[0].is_mutable();
    if writes && !is_batched(level, &arguments[0]) {
        return Err(shared_write(operator));
    }
    let original = writes.then(|| arguments[0].borrowed().into_owned());
    for argument in &mut arguments {
        let Some(tensor) = argument.as_tensor() else { continue };
        *argument = expanded(level, tensor)?.into();
    }
    if let Some(index) = schema.argument_index("size") {
        let Value::Ints(sizes) = &arguments[index] else { bail!(Internal, "{operator} has no sizes") };
        arguments[index] = [&[level.batch_size()], &sizes[..]].concat().into();
    }
    let returns = level.outside(|| call(operator, arguments))?;
    match original {
        Some(original) => stack.push(original),
        None => wrapped(level, stack, returns, 0)?,
    }
    Ok(())
}
