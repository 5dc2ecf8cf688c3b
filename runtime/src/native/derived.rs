//! What derived kernels do around the kernel that they are derived from: copies, results, checks.
//!
//! Generated code names the operators that copy, `aten::clone` and `aten::copy_`; whoever declares variants in a file
//! links a crate that has them.

use crate::device::Device;
use crate::dtype::DType;
use crate::ensure;
use crate::error::Result;
use crate::registry::Dispatcher;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// A copy, by the operator of this name.
///
/// # Errors
/// There is no such operator, or it fails.
pub fn copy(operator: &str, tensor: &Tensor) -> Result<Tensor> {
    Dispatcher::global().find(operator)?.call_with([Value::from(tensor)], [])?.pop_as()
}

/// Copies of all, by the operator of this name.
///
/// # Errors
/// As [`copy`].
pub fn copy_all(operator: &str, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
    tensors.iter().map(|tensor| copy(operator, tensor)).collect()
}

/// Writes a result to an `out` argument, whose sizes become the result's.
///
/// # Errors
/// The argument cannot have these sizes, there is no such operator, or it fails.
pub fn write(operator: &str, out: &mut Tensor, result: &Tensor) -> Result<()> {
    out.resize(result.sizes(), None)?;
    copy_into(operator, out, result)
}

/// Writes a result to a tensor of its sizes, by the operator of this name.
///
/// # Errors
/// There is no such operator, or it fails.
pub fn copy_into(operator: &str, out: &mut Tensor, result: &Tensor) -> Result<()> {
    let mut stack = Stack::from_iter([Value::TensorMut(out), Value::from(result), Value::Bool(false)]);
    Dispatcher::global().find(operator)?.call_boxed(&mut stack)
}

/// As [`write`], for lists.
///
/// # Errors
/// The lists have different lengths, or as there.
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

/// A tensor for the result that `meta` describes.
///
/// # Errors
/// There is no memory, or none of this device here.
pub fn allocate(meta: &Tensor, device: Device) -> Result<Tensor> {
    Tensor::empty_strided(meta.sizes(), meta.strides(), meta.dtype(), device)
}

/// Makes an `out` argument ready for the result that `meta` describes.
///
/// # Errors
/// It has another dtype, or cannot have these sizes.
pub fn prepare_out(argument: &str, out: &mut Tensor, meta: &Tensor) -> Result<()> {
    check_dtype(argument, out, meta.dtype())?;
    out.resize(meta.sizes(), Some(meta.strides()))
}

/// Whether `self` can take the result that `meta` describes.
///
/// # Errors
/// Its sizes or its dtype are others.
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

/// Whether all tensors of a call are on one device.
///
/// # Errors
/// Two are not; the message names both arguments.
///
/// PyTorch: `device_check: ExactSame`.
pub fn check_same_device(arguments: &[(&str, Value<'_>)]) -> Result<()> {
    let mut first: Option<(&str, Device)> = None;
    for (name, value) in arguments {
        let optional = match value {
            Value::OptionalTensors(tensors) => &tensors[..],
            _ => &[],
        };
        for tensor in value.tensors().iter().chain(optional.iter().flatten()) {
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
