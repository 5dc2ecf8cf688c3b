//! Primitives that create tensors.

use torch_library::Generator;
use torch_library::prelude::*;
use torch_library_aten::aten;

use crate::ops::prims;

fn with_grad(tensor: Tensor, requires_grad: bool) -> Result<Tensor> {
    if requires_grad {
        tensor.set_requires_grad(true)?;
    }
    Ok(tensor)
}

#[torch_impl(prims, CompositeImplicitAutograd)]
fn full_like(
    a: &Tensor,
    fill_value: Scalar,
    dtype: DType,
    device: Device,
    requires_grad: bool,
) -> Result<Tensor> {
    let full = aten::full_like::with(a, fill_value).dtype(dtype).device(device);
    with_grad(full.call()?, requires_grad)
}

/// Operators without a tensor argument.
#[torch_impl(prims, CompositeImplicitAutograd)]
mod select {
    use super::*;

    fn empty(shape: &[i64], dtype: DType, device: Device, requires_grad: bool) -> Result<Tensor> {
        let empty = aten::empty_memory_format::with(shape).dtype(dtype).device(device);
        with_grad(empty.call()?, requires_grad)
    }

    fn empty_permuted(
        shape: &[i64],
        physical_layout: &[i64],
        dtype: DType,
        device: Device,
        requires_grad: bool,
    ) -> Result<Tensor> {
        let empty = aten::empty_permuted::with(shape, physical_layout).dtype(dtype);
        with_grad(empty.device(device).call()?, requires_grad)
    }

    fn empty_strided(
        shape: &[i64],
        strides: &[i64],
        dtype: DType,
        device: Device,
        requires_grad: bool,
    ) -> Result<Tensor> {
        let empty = aten::empty_strided::with(shape, strides).dtype(dtype).device(device);
        with_grad(empty.call()?, requires_grad)
    }

    fn full(
        shape: &[i64],
        fill_value: Scalar,
        dtype: DType,
        device: Device,
        requires_grad: bool,
    ) -> Result<Tensor> {
        let full = aten::full::with(shape, fill_value).dtype(dtype).device(device);
        with_grad(full.call()?, requires_grad)
    }

    fn iota(
        length: i64,
        start: i64,
        step: i64,
        dtype: DType,
        device: Device,
        requires_grad: bool,
    ) -> Result<Tensor> {
        let end = length.checked_mul(step).and_then(|span| start.checked_add(span));
        let Some(end) = end else {
            bail!(
                Argument,
                "{}: {length} numbers from {start} on, {step} apart, are beyond the range of int64",
                prims::iota::NAME
            )
        };
        let numbers = aten::arange_start_step::with(start.into(), end.into()).step(step);
        with_grad(numbers.dtype(dtype).device(device).call()?, requires_grad)
    }

    fn scalar_tensor(s: Scalar, dtype: Option<DType>, device: Option<Device>) -> Result<Tensor> {
        aten::scalar_tensor::with(s).dtype(dtype).device(device).call()
    }

    fn normal(
        shape: &[i64],
        mean: Scalar,
        std: Scalar,
        dtype: DType,
        device: Device,
        requires_grad: bool,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        let mut numbers = aten::empty_memory_format::with(shape).dtype(dtype).device(device).call()?;
        aten::normal_::call(&mut numbers, mean.to()?, std.to()?, generator)?;
        with_grad(numbers, requires_grad)
    }

    fn uniform(
        shape: &[i64],
        low: Scalar,
        high: Scalar,
        dtype: DType,
        device: Device,
        stride: &[i64],
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        let mut numbers = aten::empty_strided::with(shape, stride).dtype(dtype).device(device).call()?;
        aten::uniform_::call(&mut numbers, low.to()?, high.to()?, generator)?;
        Ok(numbers)
    }
}
