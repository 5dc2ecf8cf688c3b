//! Support for derived kernels: the copies, outputs and checks around the kernel that they are derived from.
//!
//! Generated code calls the operators that copy, `aten::clone` and `aten::copy_`, by name, so a crate that declares
//! variants in a file must link a crate that has these operators.

use crate::device::Device;
use crate::dtype::DType;
use crate::ensure;
use crate::error::Result;
use crate::registry::Dispatcher;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// A copy, made by the operator with this name.
///
/// # Errors
/// The operator does not exist, or fails.
pub fn copy(operator: &str, tensor: &Tensor) -> Result<Tensor> {
    Dispatcher::global().find(operator)?.call_with([Value::from(tensor)], [])?.pop_as()
}

/// Copies of several tensors, made by the operator with this name.
///
/// # Errors
/// The errors of [`copy`].
pub fn copy_all(operator: &str, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| copy(operator, tensor)).collect()
}

/// Writes a result to an `out` argument, which takes the result's sizes.
///
/// # Errors
/// The argument cannot take these sizes; the operator does not exist, or fails.
pub fn write(operator: &str, out: &mut Tensor, result: &Tensor) -> Result<()> {
    out.resize(result.sizes(), None)?;
    copy_into(operator, out, result)
}

/// Writes a result to a tensor of the same sizes, with the operator of this name.
///
/// # Errors
/// The operator does not exist, or fails.
pub fn copy_into(operator: &str, out: &mut Tensor, result: &Tensor) -> Result<()> {
    let mut stack = Stack::from_iter([Value::TensorMut(out), Value::from(result), Value::Bool(false)]);
    Dispatcher::global().find(operator)?.call_boxed(&mut stack)
}

/// Like [`write`], for lists.
///
/// # Errors
/// The lists have different lengths; the errors of [`write`].
pub fn write_all(operator: &str, outs: &mut [Tensor], results: &[Tensor]) -> Result<()> {
    ensure!(
        outs.len() == results.len(),
        Argument,
        "{} `out` tensors were passed for {} results",
        outs.len(),
        results.len()
    );
    outs.iter_mut().zip(results).try_for_each(|(out, result)| write(operator, out, result))
}

/// A new tensor for the result that `meta` describes.
///
/// # Errors
/// There is not enough memory, or no such device.
pub fn allocate(meta: &Tensor, device: Device) -> Result<Tensor> {
    Tensor::empty_strided(meta.sizes(), meta.strides(), meta.dtype(), device)
}

/// Prepares an `out` argument for the result that `meta` describes.
///
/// # Errors
/// The argument has another dtype, or cannot take these sizes.
pub fn prepare_out(argument: &str, out: &mut Tensor, meta: &Tensor) -> Result<()> {
    check_dtype(argument, out, meta.dtype())?;
    out.resize(meta.sizes(), Some(meta.strides()))
}

/// Checks that `self` can hold the result that `meta` describes.
///
/// # Errors
/// The sizes or the dtypes differ.
pub fn check_in_place(this: &Tensor, meta: &Tensor) -> Result<()> {
    ensure!(
        this.sizes() == meta.sizes(),
        Shape,
        "the result has sizes {:?}, `self` has {:?}: use the variant that returns a new tensor",
        meta.sizes(),
        this.sizes()
    );
    check_dtype("self", this, meta.dtype())
}

fn check_dtype(argument: &str, tensor: &Tensor, dtype: DType) -> Result<()> {
    ensure!(tensor.dtype() == dtype, DType, "the result is of {dtype}, `{argument}` of {}", tensor.dtype());
    Ok(())
}

/// Checks that all tensors of a call are on one device.
///
/// # Errors
/// Two tensors are on different devices; the message names both arguments.
///
/// PyTorch: `device_check: ExactSame`.
pub fn check_same_device(arguments: &[(&str, Value<'_>)]) -> Result<()> {
    let mut first: Option<(&str, Device)> = None;
    for (name, value) in arguments {
        for tensor in value.all_tensors() {
            let (other, device) = *first.get_or_insert((name, tensor.device()));
            ensure!(
                device == tensor.device(),
                Device,
                "expected all tensors on one device, `{other}` is on {device} and `{name}` on {}",
                tensor.device()
            );
        }
    }
    Ok(())
}
