//! The operators that the engine itself calls, by name, because they are declared in crates above this one.

use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::registry::find_for;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// Calls an operator that returns one tensor, with all of its arguments, so that no schema is consulted for defaults.
fn call<'v, const N: usize>(
    name: &'static str,
    purpose: &'static str,
    arguments: [Value<'v>; N],
) -> Result<Tensor> {
    let mut stack = Stack::from_iter(arguments);
    find_for(purpose, name)?.call_boxed(&mut stack)?;
    stack.pop_as()
}

/// The sum of two gradients.
pub(super) fn add(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    call("aten::add.Tensor", "adding gradients", [Value::TensorRef(a), Value::TensorRef(b), Value::Int(1)])
}

/// Adds to a gradient to which nothing else refers.
pub(super) fn add_in_place(sum: &mut Tensor, b: &Tensor) -> Result<()> {
    let arguments = [Value::TensorMut(sum), Value::TensorRef(b), Value::Int(1)];
    call("aten::add_.Tensor", "adding gradients", arguments).map(drop)
}

/// Sums over the dimensions that were broadcast.
pub(super) fn sum_to_size(x: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let arguments = [Value::TensorRef(x), Value::Ints(sizes.into())];
    call("aten::sum_to_size", "summing a gradient over broadcast dimensions", arguments)
}

/// Casts to another element type.
pub(super) fn cast(x: &Tensor, dtype: DType) -> Result<Tensor> {
    let [no, default] = [Value::Bool(false), Value::None];
    call(
        "aten::to.dtype",
        "casting a gradient",
        [Value::TensorRef(x), Value::DType(dtype), no, Value::Bool(false), default],
    )
}

/// Copies to another device.
pub(super) fn moved(x: &Tensor, device: Device) -> Result<Tensor> {
    let [no, default] = [Value::Bool(false), Value::None];
    call(
        "aten::to.device",
        "moving a gradient",
        [
            Value::TensorRef(x),
            Value::Device(device),
            Value::DType(x.dtype()),
            no,
            Value::Bool(false),
            default,
        ],
    )
}

/// The default gradient of the root of a backward pass.
pub(super) fn ones_like(x: &Tensor) -> Result<Tensor> {
    let [dtype, layout, device, pin_memory, format] = [const { Value::None }; 5];
    let arguments = [Value::TensorRef(x), dtype, layout, device, pin_memory, format];
    call("aten::ones_like", "creating the initial gradient", arguments)
}

/// A view with any strides.
pub(super) fn as_strided(x: &Tensor, sizes: &[i64], strides: &[i64], offset: i64) -> Result<Tensor> {
    let arguments =
        [Value::TensorRef(x), Value::Ints(sizes.into()), Value::Ints(strides.into()), Value::Int(offset)];
    call("aten::as_strided", "recomputing a view from its base", arguments)
}

/// A view of complex numbers as pairs of real ones.
pub(super) fn view_as_real(x: &Tensor) -> Result<Tensor> {
    call("aten::view_as_real", "recomputing a view from its base", [Value::TensorRef(x)])
}

/// A view of pairs of real numbers as complex ones.
pub(super) fn view_as_complex(x: &Tensor) -> Result<Tensor> {
    call("aten::view_as_complex", "recomputing a view from its base", [Value::TensorRef(x)])
}

/// A view whose elements are the conjugates.
pub(super) fn conj(x: &Tensor) -> Result<Tensor> {
    call("aten::_conj", "recomputing a view from its base", [Value::TensorRef(x)])
}

/// A view whose elements are the negatives.
pub(super) fn neg_view(x: &Tensor) -> Result<Tensor> {
    call("aten::_neg_view", "recomputing a view from its base", [Value::TensorRef(x)])
}

/// A new tensor of the same type and device, with any strides.
pub(super) fn new_empty_strided(x: &Tensor, sizes: &[i64], strides: &[i64]) -> Result<Tensor> {
    let [dtype, layout, device, pin_memory] = [const { Value::None }; 4];
    let (sizes, strides) = (Value::Ints(sizes.into()), Value::Ints(strides.into()));
    let arguments = [Value::TensorRef(x), sizes, strides, dtype, layout, device, pin_memory];
    call("aten::new_empty_strided", "allocating a gradient", arguments)
}

/// Copies the elements of one tensor into another.
pub(super) fn copy(to: &mut Tensor, from: &Tensor) -> Result<()> {
    let arguments = [Value::TensorMut(to), Value::TensorRef(from), Value::Bool(false)];
    call("aten::copy_", "copying a gradient", arguments).map(drop)
}

/// A copy in new memory, with dense strides.
pub(crate) fn clone(x: &Tensor) -> Result<Tensor> {
    call("aten::clone", "copying a gradient", [Value::TensorRef(x), Value::None])
}
