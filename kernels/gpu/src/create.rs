//! Tensors that are made on the device: `arange` and `cat`.

use torch_library::prelude::*;

use crate::arguments::{Arguments, on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::KernelBuilder;

/// The kernel of `arange`.
#[derive(Clone, Copy, Debug)]
pub struct Create {
    /// One thread for each element of `y`: element `n` is `start + n * step`.
    pub arange: &'static str,
}

/// Concatenates tensors with the same number of dimensions, converted to one type.
pub fn cat<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (tensors, dim) = (arguments.tensors(0), arguments.int(1)?);
    let Some(first) = tensors.first() else { return Ok(None) };
    let is_ours = |tensor: &Tensor| {
        B::is_here(tensor) && tensor.dim() == first.dim() && tensor.device() == first.device()
    };
    if !tensors.iter().all(is_ours) || first.dim() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    if meta.dim() > 7 || !B::moves(meta.dtype()) || !B::reaches(&meta) {
        return Ok(None);
    }
    let result = B::unwritten(&meta, index_of(first))?;
    let dim = dim.rem_euclid(first.dim() as i64) as usize;
    let mut offset = 0;
    for tensor in tensors.iter().filter(|tensor| tensor.numel() > 0) {
        let part = result.strided_view(tensor.sizes(), result.strides(), offset)?;
        if !B::copy(&part, tensor)? {
            return Ok(None); // a type that kernels do not convert
        }
        offset += tensor.sizes()[dim] * result.strides()[dim];
    }
    Ok(Some(result))
}

/// Beyond this integer float32 has gaps.
const EXACT: i64 = 1 << 24;

/// Integers from a start to an end, by a step.
pub fn arange<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let [Ok(start), Ok(end), Ok(step)] = [0, 1, 2].map(|at| arguments.int(at)) else { return Ok(None) };
    let dtype = match values.get(3) {
        Some(Value::DType(dtype)) => *dtype,
        _ => DType::Int64,
    };
    let Some(Value::Device(device)) = values.get(5) else { return Ok(None) };
    let is_exact = [start, end, step].iter().all(|number| (-EXACT..=EXACT).contains(number));
    let is_ours = match dtype {
        DType::Int32 | DType::Float32 | DType::Float64 => B::computes(dtype),
        dtype => dtype == DType::Int64,
    };
    let is_ours = is_ours && device.kind == B::DEVICE;
    if !is_ours || !is_exact || step == 0 || (end - start) * step.signum() < 0 {
        return Ok(None);
    }
    let count = ((end - start) * step.signum() + step.abs() - 1) / step.abs();
    let index = torch_library::backend::resolve(*device)?.index.unwrap_or(0);
    let result = B::compact(&[count], dtype, index)?;
    B::Builder::new("arange")
        .type_named("R", dtype)
        .signed("start", start)
        .signed("step", step)
        .result("y", &result)
        .threads(count, B::CREATE.arange)?;
    Ok(Some(result))
}
