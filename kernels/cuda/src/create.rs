//! Tensors that are made on the device: series, and several tensors one behind the other.

use torch_library::DeviceType;
use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::copy::copy;
use crate::kernel::{Kernel, c_type};

kernels! {
    super::cat: cat;
    super::arange: arange_start_step;
}

/// Of tensors with as many dimensions each, which are converted to one type.
fn cat(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (tensors, dim) = (arguments.tensors(0), arguments.int(1)?);
    let Some(first) = tensors.first() else { return Ok(None) };
    let is_ours = |tensor: &Tensor| {
        Cuda::is_here(tensor) && tensor.dim() == first.dim() && tensor.device() == first.device()
    };
    if !tensors.iter().all(is_ours) || first.dim() == 0 {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    if meta.dim() > 7 || c_type(meta.dtype()).is_none() {
        return Ok(None);
    }
    let result = Cuda::unwritten(&meta, index_of(first))?;
    let dim = dim.rem_euclid(first.dim() as i64) as usize;
    let mut offset = 0;
    for tensor in tensors.iter().filter(|tensor| tensor.numel() > 0) {
        let part = result.strided_view(tensor.sizes(), result.strides(), offset)?;
        ensure!(copy(&part, tensor)?, Internal, "{operator}: a tensor was not copied");
        offset += tensor.sizes()[dim] * result.strides()[dim];
    }
    Ok(Some(result))
}

/// Beyond these whole numbers float32 has gaps.
const EXACT: i64 = 1 << 24;

/// Whole numbers in steps.
fn arange(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let [Ok(start), Ok(end), Ok(step)] = [0, 1, 2].map(|at| arguments.int(at)) else { return Ok(None) };
    let dtype = match values.get(3) {
        Some(Value::DType(dtype)) => *dtype,
        _ => DType::Int64,
    };
    let Some(Value::Device(device)) = values.get(5) else { return Ok(None) };
    let is_exact = [start, end, step].iter().all(|number| (-EXACT..=EXACT).contains(number));
    let is_ours = matches!(dtype, DType::Int64 | DType::Int32 | DType::Float32 | DType::Float64)
        && device.kind == DeviceType::Cuda;
    if !is_ours || !is_exact || step == 0 || (end - start) * step.signum() < 0 {
        return Ok(None);
    }
    let count = ((end - start) * step.signum() + step.abs() - 1) / step.abs();
    let index = torch_library::backend::resolve(*device)?.index.unwrap_or(0);
    let result = Cuda::compact(&[count], dtype, index)?;
    Kernel::new("arange")
        .type_named("R", dtype)
        .number("start", start)
        .number("step", step)
        .result("y", &result)
        .threads(count, "    p.y[n] = as<R>(p.start + n * p.step);")?;
    Ok(Some(result))
}
