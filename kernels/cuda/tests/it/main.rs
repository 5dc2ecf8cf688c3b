//! The backend compared with the CPU: each operator, for each type that it supports, without falling back.

use torch_library::backend;
use torch_library::prelude::*;
use torch_library::{DeviceType, warning};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

#[path = "../emulator/mod.rs"]
mod emulator;
#[path = "../found/mod.rs"]
mod found;

mod bounds;
mod device;
mod models;
mod operators;

// Tests that the wgpu backend passes, too.
#[path = "../../../wgpu/tests/it/convolution.rs"]
mod convolution;
#[path = "../../../wgpu/tests/it/elementwise.rs"]
mod elementwise;
#[path = "../../../wgpu/tests/it/index.rs"]
mod index;
#[path = "../../../wgpu/tests/it/learning.rs"]
mod learning;
#[path = "../../../wgpu/tests/it/norm.rs"]
mod norm;
#[path = "../../../wgpu/tests/it/pooling.rs"]
mod pooling;
#[path = "../../../wgpu/tests/it/random.rs"]
mod random;
#[path = "../../../wgpu/tests/it/wide.rs"]
mod wide;

/// The first device, if there is one. Falling back is allowed unless a test forbids it.
pub(crate) fn device() -> Option<Device> {
    let device = emulator::device(&emulator::ALL)?;
    std::mem::forget(warning::listen(|_| ()));
    ALONE.with(|_| ());
    Some(device)
}

thread_local! {
    static ALONE: std::sync::MutexGuard<'static, ()> = {
        static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    };
}

/// How often operators fell back. Counts are per process, so tests that read them run one by one.
pub(crate) fn falls() -> Vec<(String, u64)> {
    ALONE.with(|_| ());
    backend::fallback_counts(DeviceType::Cuda)
}

pub(crate) fn numbers(count: usize, seed: f32) -> Vec<f32> {
    (0..count).map(|i| ((i as f32 + seed) * 0.77).sin() * 2.0).collect()
}

pub(crate) fn matrix(rows: i64, columns: i64, seed: f32) -> Tensor {
    tensor(&[rows, columns], seed)
}

/// Numbers of both signs, zeros, infinities and NaN.
pub(crate) fn special() -> Tensor {
    let numbers =
        [-2.5f32, -1.0, -0.5, -0.0, 0.0, 0.3, 1.0, 2.0, 7.75, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    Tensor::from_vec(numbers.to_vec(), &[3, 4]).unwrap()
}

/// Numbers of both signs, none far from 0.
pub(crate) fn tensor(sizes: &[i64], seed: f32) -> Tensor {
    Tensor::from_vec(numbers(sizes.iter().product::<i64>() as usize, seed), sizes).unwrap()
}

/// The tolerated difference from the CPU's number, relative to it, or to 1 if that is larger.
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
pub(crate) fn close(found: &Tensor, expected: &Tensor) {
    close_as_named("the result", found, expected);
}

#[track_caller]
fn close_as_named(what: &str, found: &Tensor, expected: &Tensor) {
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

/// Checks that the device and the CPU give the same, without falling back, also for writes to the inputs.
#[track_caller]
pub(crate) fn all_same(
    device: Device,
    inputs: &[Tensor],
    compute: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
) {
    same_as_named(device, "the computation", inputs, compute);
}

/// As [`all_same`], for a computation with one result.
#[track_caller]
pub(crate) fn same(device: Device, inputs: &[Tensor], compute: impl Fn(&[Tensor]) -> Result<Tensor>) {
    all_same(device, inputs, |inputs| Ok(vec![compute(inputs)?]));
}

/// As [`all_same`], with a name for the message.
#[track_caller]
pub(crate) fn same_as_named(
    device: Device,
    what: &str,
    inputs: &[Tensor],
    compute: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
) {
    let there: Vec<_> = inputs.iter().map(|input| backend::on_device(input, device).unwrap()).collect();
    let here: Vec<_> = inputs.iter().map(|input| backend::on_device(input, Device::CPU).unwrap()).collect();
    let before = falls();
    let found = compute(&there).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(before, falls(), "{what} fell back to the CPU");
    let expected = compute(&here).unwrap_or_else(|error| panic!("{what} on the CPU: {error}"));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().chain(&there).zip(expected.iter().chain(&here)) {
        assert_eq!(found.is_defined(), expected.is_defined(), "{what}");
        if expected.is_defined() {
            assert_eq!(found.device(), device, "{what}");
            close_as_named(what, found, expected);
        }
    }
}
