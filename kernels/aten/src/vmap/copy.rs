//! Batching rules for copies, and for new tensors with the properties of a batched one.

use torch_library::geometry::Geometry;
use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{call, front, rules, wrapped};
use crate::aten;

/// Runs an operator on the value of the first argument. A memory format applies to an example: with the batch in front,
/// row-major stays row-major, and operators that are asked for a format of images handle it themselves.
fn like_example(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = operator.take_arguments(stack)?;
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
    copies: like_example => clone _to_copy empty_like zeros_like ones_like full_like constant_pad_nd tril triu;
    new: of_sizes => new_empty new_zeros new_ones new_full;
}

/// Creates a tensor of the given sizes for each example.
fn of_sizes(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = operator.take_arguments(stack)?;
    let Some(tensor) = arguments[0].as_tensor() else { bail!(Internal, "{operator} has no tensor in front") };
    let value = front(level, tensor)?;
    let Value::Ints(sizes) = &arguments[1] else { bail!(Internal, "{operator} has no sizes") };
    arguments[1] = [&[level.batch_size()], &sizes[..]].concat().into();
    arguments[0] = value.into();
    let returns = call(operator, arguments)?.into_iter().map(Value::into_owned).collect();
    wrapped(level, stack, returns, 0)
}

#[torch_impl(aten, FuncTorchBatched)]
fn new_empty_strided(
    this: &Tensor,
    size: &[i64],
    stride: &[i64],
    dtype: Option<DType>,
    layout: Option<Layout>,
    device: Option<Device>,
    pin_memory: Option<bool>,
) -> Result<Tensor> {
    let level = Level::current()?;
    // The examples lie one after the other in memory.
    let end = Geometry::new(size, stride, 0)?.end()?;
    let (size, stride) = ([&[level.batch_size()], size].concat(), [&[end], stride].concat());
    let value = front(level, this)?;
    level.wrap(aten::new_empty_strided::call(&value, &size, &stride, dtype, layout, device, pin_memory)?, 0)
}
