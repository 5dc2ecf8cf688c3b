//! The arguments of a sample: completed with defaults, copied for every call, given other memory layouts.

use std::borrow::Cow;

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::match_dtype;
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::{Value, fit};

/// A value for each argument of the schema, first the positional ones, then the others by name.
pub(super) fn normalize(
    operator: OperatorHandle,
    mut sample: Vec<Value<'static>>,
) -> Result<Vec<Value<'static>>> {
    let schema = operator.schema()?;
    let positional = schema.arguments.iter().take_while(|argument| !argument.kwarg_only).count();
    let count = sample.len();
    let wrong =
        |what: String| Error::new(ErrorKind::Argument, format!("a sample does not fit the schema: {what}"));
    if count > schema.arguments.len() {
        let takes = schema.arguments.len();
        let s = if takes == 1 { "" } else { "s" };
        return Err(wrong(format!("{count} values for {takes} argument{s}")));
    }
    let rest = sample.split_off(positional.min(count));
    let names = schema.arguments.iter().skip(positional).map(|argument| &*argument.name);
    let values = schema.normalize(sample, names.zip(rest)).map_err(|error| wrong(error.kind.to_string()))?;
    let values = values.into_iter().zip(&schema.arguments);
    values
        .map(|(value, argument)| {
            let name = &argument.name;
            fit(value, argument).ok_or_else(|| wrong(format!("`{name}` takes a list, not one number")))
        })
        .collect()
}

/// A tensor among arguments.
#[derive(Clone, Debug)]
pub(super) struct TensorArgument {
    /// The index of the argument that it is, or is in.
    pub(super) position: usize,
    /// As messages name it: `self`, `tensors[1]`.
    pub(super) name: String,
    pub(super) tensor: Tensor,
}

/// All tensors of the arguments, with the names that the schema gives them.
pub(super) fn tensors(operator: OperatorHandle, values: &[Value<'static>]) -> Vec<TensorArgument> {
    let names = operator.schema().map(|schema| &schema.arguments[..]).unwrap_or_default();
    let mut tensors = Vec::new();
    for (position, value) in values.iter().enumerate() {
        let name = names.get(position).map_or("?", |argument| &argument.name);
        let is_list = !matches!(value, Value::Tensor(_) | Value::TensorRef(_) | Value::TensorMut(_));
        tensors.extend(value.all_tensors().enumerate().map(|(index, tensor)| {
            let name = if is_list { format!("{name}[{index}]") } else { name.to_owned() };
            TensorArgument { position, name, tensor: tensor.clone() }
        }));
    }
    tensors
}

/// The same values, with each tensor replaced by the result of `change`, which also gets the argument's index.
pub(super) fn map(
    values: &[Value<'static>],
    mut change: impl FnMut(usize, &Tensor) -> Result<Tensor>,
) -> Result<Vec<Value<'static>>> {
    let each = values.iter().enumerate();
    each.map(|(at, value)| {
        Ok(match value {
            Value::Tensor(tensor) => Value::Tensor(change(at, tensor)?),
            Value::TensorRef(tensor) => Value::Tensor(change(at, tensor)?),
            Value::TensorMut(tensor) => Value::Tensor(change(at, tensor)?),
            Value::Tensors(list) => {
                let list: Result<Vec<_>> = list.iter().map(|tensor| change(at, tensor)).collect();
                Value::Tensors(Cow::Owned(list?))
            }
            Value::OptionalTensors(list) => {
                let mut one =
                    |tensor: &Option<Tensor>| tensor.as_ref().map(|tensor| change(at, tensor)).transpose();
                let list: Result<Vec<_>> = list.iter().map(&mut one).collect();
                Value::OptionalTensors(Cow::Owned(list?))
            }
            other => duplicate(other),
        })
    })
    .collect()
}

/// Copies for one call, with the same memory layouts.
pub(super) fn copies(values: &[Value<'static>]) -> Result<Vec<Value<'static>>> {
    map(values, |_, tensor| copy(tensor))
}

/// A copy with the same memory layout.
pub(super) fn copy(tensor: &Tensor) -> Result<Tensor> {
    copy_as(tensor, tensor.sizes(), tensor.strides(), tensor.storage_offset())
}

/// A copy of the value with the same tensors.
fn duplicate(value: &Value<'static>) -> Value<'static> {
    match value {
        Value::None => Value::None,
        Value::Tensor(tensor) => Value::Tensor(tensor.clone()),
        Value::TensorRef(tensor) => Value::Tensor((*tensor).clone()),
        Value::TensorMut(tensor) => Value::Tensor((*tensor).clone()),
        Value::Int(value) => Value::Int(*value),
        Value::Float(value) => Value::Float(*value),
        Value::Bool(value) => Value::Bool(*value),
        Value::Complex(value) => Value::Complex(*value),
        Value::Str(text) => Value::Str(text.clone()),
        Value::DType(dtype) => Value::DType(*dtype),
        Value::Layout(layout) => Value::Layout(*layout),
        Value::MemoryFormat(format) => Value::MemoryFormat(*format),
        Value::Device(device) => Value::Device(*device),
        Value::Generator(generator) => Value::Generator(generator.clone()),
        Value::Tensors(list) => Value::Tensors(list.clone()),
        Value::TensorsMut(list) => Value::Tensors(Cow::Owned(list.to_vec())),
        Value::OptionalTensors(list) => Value::OptionalTensors(list.clone()),
        Value::Ints(list) => Value::Ints(list.clone()),
        Value::Floats(list) => Value::Floats(list.clone()),
        Value::Bools(list) => Value::Bools(list.clone()),
        Value::Scalars(list) => Value::Scalars(list.clone()),
        Value::Strs(list) => Value::Strs(list.clone()),
    }
}

/// The elements of a tensor in memory of their own, with this layout.
pub(super) fn copy_as(tensor: &Tensor, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    if tensor.is_wrapped_number() {
        return Ok(Tensor::wrapped_number(tensor.item()?));
    }
    let end = [end(sizes, strides, offset)];
    match_dtype!(tensor.dtype(), T => {
        let mut memory = Tensor::zeros(&end, tensor.dtype(), Device::CPU)?;
        // Element by element: where the layout has several in one place, they are equal.
        memory.strided_view(sizes, strides, offset)?.elements_mut()?.copy_from_slice(&tensor.to_vec::<T>()?)?;
        if tensor.device() != Device::CPU {
            let elements = memory.to_vec::<T>()?;
            memory = Tensor::zeros(&end, tensor.dtype(), tensor.device())?;
            memory.copy_from_slice(&elements)?;
        }
        memory.strided_view(sizes, strides, offset)
    })
}

/// A tensor on `meta` like this one.
pub(super) fn on_meta(tensor: &Tensor) -> Result<Tensor> {
    let (sizes, strides, offset) = (tensor.sizes(), tensor.strides(), tensor.storage_offset());
    let memory = Tensor::empty(&[end(sizes, strides, offset)], tensor.dtype(), Device::META)?;
    memory.strided_view(sizes, strides, offset)
}

/// The number of elements that memory needs to hold a layout.
fn end(sizes: &[i64], strides: &[i64], offset: i64) -> i64 {
    let last: i64 = sizes.iter().zip(strides).map(|(size, stride)| (size - 1) * stride).sum();
    (last + 1 + offset).max(offset)
}
