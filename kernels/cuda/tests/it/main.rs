//! The backend beside the CPU: each operator, of each type that it computes with, without falling back.

use torch_library::backend;
use torch_library::prelude::*;
use torch_library::{DeviceType, warning};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[path = "../emulator/mod.rs"]
mod emulator;

mod operators;

/// The first device, if there is any. What falls back is no test's business unless it says so.
pub(crate) fn device() -> Option<Device> {
    let device = emulator::device(&emulator::ALL)?;
    std::mem::forget(warning::listen(|_| ()));
    Some(device)
}

/// Numbers of both signs, none far from 0.
pub(crate) fn tensor(sizes: &[i64], seed: f32) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let numbers = (0..count).map(|i| ((i as f32 + seed) * 0.77).sin() * 2.0).collect();
    Tensor::from_vec(numbers, sizes).unwrap()
}

/// How far a number may be from the CPU's: of its size, or of 1 where it is smaller.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::Float64 => 1e-12,
        DType::Float16 => 1.0 / 512.0,
        DType::BFloat16 => 1.0 / 64.0,
        _ => 2e-5,
    }
}

/// Fails unless two tensors have the same sizes, strides and elements; floats up to a tolerance.
#[track_caller]
pub(crate) fn close(what: &str, found: &Tensor, expected: &Tensor) {
    assert_eq!(found.dtype(), expected.dtype(), "{what}: type");
    assert_eq!(found.sizes(), expected.sizes(), "{what}: sizes");
    assert_eq!(found.strides(), expected.strides(), "{what}: strides");
    let numbers = |tensor: &Tensor| {
        let here = tensor.to(Device::CPU).unwrap();
        aten::to_dtype(&here, DType::Float64).unwrap().to_vec::<f64>().unwrap()
    };
    let tolerance = if expected.dtype().is_floating_point() { tolerance(expected.dtype()) } else { 0.0 };
    for (at, (a, b)) in numbers(found).into_iter().zip(numbers(expected)).enumerate() {
        let is_near = (a - b).abs() <= tolerance * b.abs().max(1.0);
        assert!(is_near || a == b || a.is_nan() && b.is_nan(), "{what}: element {at}: {a} instead of {b}");
    }
}

/// The same on the device and on the CPU, without falling back, and so for what is written to the inputs.
#[track_caller]
pub(crate) fn same(
    device: Device,
    what: &str,
    inputs: &[Tensor],
    compute: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
) {
    let there: Vec<_> = inputs.iter().map(|input| backend::on_device(input, device).unwrap()).collect();
    let here: Vec<_> = inputs.iter().map(|input| backend::on_device(input, Device::CPU).unwrap()).collect();
    let before = backend::fallback_counts(DeviceType::Cuda);
    let found = compute(&there).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(before, backend::fallback_counts(DeviceType::Cuda), "{what} fell back to the CPU");
    let expected = compute(&here).unwrap_or_else(|error| panic!("{what} on the CPU: {error}"));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().chain(&there).zip(expected.iter().chain(&here)) {
        assert_eq!(found.is_defined(), expected.is_defined(), "{what}");
        if expected.is_defined() {
            assert_eq!(found.device(), device, "{what}");
            close(what, found, expected);
        }
    }
}
