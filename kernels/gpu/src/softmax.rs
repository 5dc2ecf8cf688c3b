//! Softmax and log-softmax along a dimension, and their gradients: one workgroup for each row.

use torch_library::prelude::*;

use crate::arguments::on_meta;
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::{KernelBuilder, computed};

/// The kernels of softmax: a row has `elements` elements from `start` on, `inner` apart, in `x`, and in `z` if there
/// are two tensors.
#[derive(Clone, Copy, Debug)]
pub struct Softmax {
    /// The start of the row.
    pub start: &'static str,
    /// The largest element, and the sum of the exponentials of all elements minus it.
    pub largest: &'static str,
    /// The sum of the products of the elements of both tensors.
    pub products: &'static str,
    /// The sum of the elements.
    pub sum: &'static str,
    /// Writes the softmax to `y`, after `largest`.
    pub softmax: &'static str,
    /// Writes the log-softmax to `y`, after `largest`.
    pub log_softmax: &'static str,
    /// Writes the gradient of softmax, after `products`: `x` is the gradient of the result, and `z` the result.
    pub softmax_backward: &'static str,
    /// Writes the gradient of log-softmax, after `sum`.
    pub log_softmax_backward: &'static str,
}

pub fn softmax<B: GpuBackend>(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    rows::<B>(operator, arguments, 1, B::SOFTMAX.largest, B::SOFTMAX.softmax)
}

pub fn log_softmax<B: GpuBackend>(
    operator: OperatorHandle,
    arguments: &[Value<'_>],
) -> Result<Option<Tensor>> {
    rows::<B>(operator, arguments, 1, B::SOFTMAX.largest, B::SOFTMAX.log_softmax)
}

pub fn softmax_backward<B: GpuBackend>(
    operator: OperatorHandle,
    arguments: &[Value<'_>],
) -> Result<Option<Tensor>> {
    rows::<B>(operator, arguments, 2, B::SOFTMAX.products, B::SOFTMAX.softmax_backward)
}

pub fn log_softmax_backward<B: GpuBackend>(
    operator: OperatorHandle,
    arguments: &[Value<'_>],
) -> Result<Option<Tensor>> {
    rows::<B>(operator, arguments, 2, B::SOFTMAX.sum, B::SOFTMAX.log_softmax_backward)
}

/// Runs a kernel on the rows of one tensor, or of two of the same sizes.
fn rows<B: GpuBackend>(
    operator: OperatorHandle,
    arguments: &[Value<'_>],
    tensors: usize,
    body: &str,
    write: &str,
) -> Result<Option<Tensor>> {
    let inputs: Vec<&Tensor> = arguments.iter().take(tensors).filter_map(Value::as_tensor).collect();
    let (Some(first), Some(Value::Int(dim))) = (inputs.first(), arguments.get(tensors)) else {
        return Ok(None);
    };
    let are_alike = inputs.iter().all(|input| input.sizes() == first.sizes());
    if inputs.len() != tensors || !are_alike || !B::are_floats(inputs.iter().copied()) {
        return Ok(None);
    }
    // `half_to_float` is only for 16-bit floats; with any other type it is an error.
    if let Some(Value::Bool(true)) = arguments.get(2)
        && computed(first.dtype()) == first.dtype()
    {
        return Ok(None);
    }
    let meta = on_meta(operator, arguments)?;
    if !meta.dtype().is_floating_point() || !B::computes(meta.dtype()) {
        return Ok(None);
    }
    let (length, inner) = match first.dim() {
        0 => (1, 1),
        dims => {
            let dim = dim.rem_euclid(dims as i64) as usize;
            (first.sizes()[dim], first.sizes()[dim + 1..].iter().product())
        }
    };
    let result = B::compact(meta.sizes(), meta.dtype(), index_of(first))?;
    let mut kernel = B::Builder::new("softmax")
        .type_named("T", computed(first.dtype()))
        .type_named("R", meta.dtype())
        .number("elements", length)
        .number("inner", inner);
    for (name, input) in ["x", "z"].into_iter().zip(&inputs) {
        kernel = kernel.input(name, &B::contiguous(input)?);
    }
    let body = [B::SOFTMAX.start, body].concat();
    kernel.result("y", &result).rows(first.numel() / length, length, &body, write)?;
    B::laid_out(result, &meta).map(Some)
}
