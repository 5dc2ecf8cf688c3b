//! Softmax and its logarithm along a dimension, and their derivatives: a block for each row.

use torch_library::prelude::*;
use torch_library_gpu::{KernelBuilder, Tensors, computed, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::kernel::Kernel;

kernels! {
    super::softmax: _softmax;
    super::log_softmax: _log_softmax;
    super::softmax_backward: _softmax_backward_data;
    super::log_softmax_backward: _log_softmax_backward_data;
}

const LARGEST: &str = "    T most = x(0);
    for (i64 i = thread; i < p.elements; i += threads) most = larger(x(i), most);
    T largest = over_max(most);
    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) sum += exp(x(i) - largest);
    T total = over_sum(sum);";

const PRODUCTS: &str = "    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) sum += x(i) * z(i);
    T total = over_sum(sum);";

const SUM: &str = "    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) sum += x(i);
    T total = over_sum(sum);";

fn softmax(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    rows(operator, arguments, 1, LARGEST, "exp(x(i) - largest) / total")
}

fn log_softmax(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    rows(operator, arguments, 1, LARGEST, "x(i) - largest - log(total)")
}

fn softmax_backward(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    rows(operator, arguments, 2, PRODUCTS, "z(i) * (x(i) - total)")
}

fn log_softmax_backward(operator: OperatorHandle, arguments: &[Value<'_>]) -> Result<Option<Tensor>> {
    rows(operator, arguments, 2, SUM, "x(i) - exp(z(i)) * total")
}

/// Runs a kernel on the rows of one tensor, or of two of the same sizes.
fn rows(
    operator: OperatorHandle,
    arguments: &[Value<'_>],
    tensors: usize,
    before: &str,
    value: &str,
) -> Result<Option<Tensor>> {
    let inputs: Vec<&Tensor> = arguments.iter().take(tensors).filter_map(Value::as_tensor).collect();
    let (Some(first), Some(Value::Int(dim))) = (inputs.first(), arguments.get(tensors)) else {
        return Ok(None);
    };
    let are_alike = inputs.iter().all(|input| input.sizes() == first.sizes());
    if inputs.len() != tensors || !are_alike || !Cuda::are_floats(inputs.iter().copied()) {
        return Ok(None);
    }
    let meta = on_meta(operator, arguments)?;
    if !meta.dtype().is_floating_point() {
        return Ok(None);
    }
    let (length, inner) = match first.dim() {
        0 => (1, 1),
        dims => {
            let dim = dim.rem_euclid(dims as i64) as usize;
            (first.sizes()[dim], first.sizes()[dim + 1..].iter().product())
        }
    };
    let result = Cuda::compact(meta.sizes(), meta.dtype(), index_of(first))?;
    let mut kernel = Kernel::new("softmax")
        .type_named("T", computed(first.dtype()))
        .type_named("R", meta.dtype())
        .number("elements", length)
        .number("inner", inner);
    for (name, input) in ["x", "z"].into_iter().zip(&inputs) {
        kernel = kernel.input(name, &Cuda::contiguous(input)?);
    }
    let body = format!(
        "    i64 start = row / p.inner * p.elements * p.inner + row % p.inner;
    auto x = [&](i64 i) {{ return as<T>(p.x[start + i * p.inner]); }};
    {}
{before}
    for (i64 i = thread; i < p.elements; i += threads) p.y[start + i * p.inner] = as<R>(T({value}));",
        if tensors == 2 { "auto z = [&](i64 i) { return as<T>(p.z[start + i * p.inner]); };" } else { "" }
    );
    kernel.result("y", &result).rows(first.numel() / length, length, &body, "")?;
    Cuda::laid_out(result, &meta).map(Some)
}
