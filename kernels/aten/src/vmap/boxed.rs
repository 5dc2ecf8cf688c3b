//! The building blocks of batching rules: values with the batch in front, and boxed calls.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::moved;
use crate::aten;

/// Defines the kernels at `FuncTorchBatched` of operators that share one boxed rule.
#[doc(hidden)]
#[macro_export]
macro_rules! rules {
    ($($module:ident: $rule:expr => $($operator:ident)+;)+) => { $(
        #[torch_impl(aten, FuncTorchBatched)]
        mod $module {
            use super::*;

            $(
                #[torch_impl(boxed)]
                fn $operator(operator: OperatorHandle, _: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
                    $rule(operator, stack)
                }
            )+
        }
    )+ };
}
pub use crate::rules;

/// The tensor of all examples, with the batch as its first dimension; a tensor that is not batched at this level is
/// returned as it is.
///
/// # Errors
/// The errors of the view operators that it calls.
pub fn front(level: Level, tensor: &Tensor) -> Result<Tensor> {
    match level.unwrap(tensor) {
        (value, Some(dim)) => moved(&value, dim, 0),
        (value, None) => Ok(value),
    }
}

/// Like [`front`], but a tensor that is not batched is expanded, which takes no memory.
///
/// # Errors
/// The errors of the view operators that it calls.
pub fn expanded(level: Level, tensor: &Tensor) -> Result<Tensor> {
    if level.has(tensor) {
        return front(level, tensor);
    }
    aten::expand(&aten::unsqueeze(tensor, 0)?, &[&[level.batch_size()], tensor.sizes()].concat())
}

/// Like [`front`], with dimensions of size 1 inserted after the batch, so that examples have `rank` dimensions and
/// broadcast against others with as many. A tensor that is not batched is returned as it is, since it broadcasts
/// anyway.
///
/// # Errors
/// The errors of the view operators that it calls.
pub fn aligned(level: Level, tensor: &Tensor, rank: usize) -> Result<Tensor> {
    let value = front(level, tensor)?;
    match level.has(tensor) {
        true => (tensor.dim()..rank).try_fold(value, |value, _| aten::unsqueeze(&value, 1)),
        false => Ok(value),
    }
}

/// Calls an operator with these arguments, and returns its results.
pub fn call<'v>(
    operator: OperatorHandle,
    arguments: impl IntoIterator<Item = Value<'v>>,
) -> Result<Vec<Value<'v>>> {
    let mut stack = Stack::from_iter(arguments);
    operator.call_boxed(&mut stack)?;
    Ok(stack.into_iter().collect())
}

/// Pushes the results of a rule, as tensors that are batched along dimension `dim`.
pub fn wrapped(level: Level, stack: &mut Stack<'_>, returns: Vec<Value<'_>>, dim: usize) -> Result<()> {
    for value in returns {
        match value.into_owned() {
            Value::Tensor(tensor) if tensor.is_defined() => stack.push(level.wrap(tensor, dim)?),
            Value::Tensors(list) => {
                let list = list.iter().map(|tensor| level.wrap(tensor.clone(), dim));
                stack.push(list.collect::<Result<Vec<_>>>()?);
            }
            other => stack.push(other),
        }
    }
    Ok(())
}

/// Whether a value contains a tensor that is batched at this level.
pub fn is_batched(level: Level, value: &Value<'_>) -> bool {
    value.all_tensors().any(|tensor| level.has(tensor))
}

/// The error for an in-place write to a tensor that all examples share.
pub fn shared_write(operator: OperatorHandle) -> Error {
    Error::new(
        ErrorKind::Argument,
        format!(
            "{operator} would write a value of each example to one tensor that they all share\n  \
             help: use the operator that returns a new tensor, or make that tensor an input with a batch"
        ),
    )
}
