//! Rules for copies, and for new tensors that resemble a batched one.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{call, front, rules, take, wrapped};
use crate::aten;

/// Runs an operator on the first argument's value. A memory format is one of an example: with the batch in front, rows
/// stay rows, and what only images have is left to the operators that ask for it.
fn like_example(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = take(operator, stack)?;
    let Some(tensor) = arguments[0].as_tensor() else { bail!(Internal, "{operator} has no tensor in front") };
    arguments[0] = front(level, tensor)?.into();
    if let Some(index) = operator.schema()?.argument_index("memory_format")
        && matches!(arguments[index], Value::MemoryFormat(MemoryFormat::ChannelsLast))
    {
        arguments[index] = Value::None;
    }
    let returns = call(operator, arguments)?.into_iter().map(Value::into_owned).collect();
    wrapped(level, stack, returns, 0)
}

rules! {
    copies: like_example => clone _to_copy empty_like zeros_like ones_like full_like constant_pad_nd;
}
