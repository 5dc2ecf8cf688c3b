//! The backend on the devices of this machine; most of these files are tests of the backend on CUDA, too. Where there is none, each test says
//! so and ends; `.ci/wgpu` installs one.

use torch_library::backend;
use torch_library::prelude::*;
use torch_library::{DeviceType, warning};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_wgpu as _; // the backend

mod convolution;
mod device;
mod elementwise;
mod fuse;
mod index;
mod learning;
mod models;
mod narrow;
mod norm;
mod pooling;
mod random;
mod wide;

/// The first device, if there is one. Falling back is allowed unless a test forbids it.
pub(crate) fn device() -> Option<Device> {
    let device = "wgpu".parse::<Device>().ok().and_then(|device| backend::resolve(device).ok());
    if device.is_none() {
        eprintln!("skipped: this machine has no adapter");
    }
    let silent = warning::listen(|_| ());
    std::mem::forget(silent);
    ALONE.with(|_| ());
    device
}

pub(crate) fn numbers(count: usize, seed: f32) -> Vec<f32> {
    (0..count).map(|i| ((i as f32 + seed) * 0.77).sin() * 2.0).collect()
}

pub(crate) fn matrix(rows: i64, columns: i64, seed: f32) -> Tensor {
    Tensor::from_vec(numbers((rows * columns) as usize, seed), &[rows, columns]).unwrap()
}

/// A tensor of any sizes.
pub(crate) fn tensor(sizes: &[i64], seed: f32) -> Tensor {
    Tensor::from_vec(numbers(sizes.iter().product::<i64>() as usize, seed), sizes).unwrap()
}

/// Numbers of both signs, zeros, infinities and NaN.
pub(crate) fn special() -> Tensor {
    let numbers =
        [-2.5f32, -1.0, -0.5, -0.0, 0.0, 0.3, 1.0, 2.0, 7.75, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    Tensor::from_vec(numbers.to_vec(), &[3, 4]).unwrap()
}

/// The tolerated difference from the CPU's number, relative to it, or to 1 if that is larger.
const TOLERANCE: f64 = 2e-5;

/// Fails unless two tensors have the same sizes, strides and elements; floats up to a tolerance.
pub(crate) fn close(found: &Tensor, expected: &Tensor) {
    assert_eq!(found.dtype(), expected.dtype());
    assert_eq!(found.sizes(), expected.sizes());
    assert_eq!(found.strides(), expected.strides());
    match expected.dtype() {
        DType::Bool => assert_eq!(found.to_vec::<bool>().unwrap(), expected.to_vec::<bool>().unwrap()),
        DType::Int64 => assert_eq!(found.to_vec::<i64>().unwrap(), expected.to_vec::<i64>().unwrap()),
        DType::Int32 => assert_eq!(found.to_vec::<i32>().unwrap(), expected.to_vec::<i32>().unwrap()),
        DType::UInt8 => assert_eq!(found.to_vec::<u8>().unwrap(), expected.to_vec::<u8>().unwrap()),
        DType::Float16 | DType::BFloat16 => near(found, expected),
        _ => {
            let (found, expected) = (found.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
            for (at, (a, b)) in found.iter().zip(&expected).enumerate() {
                let is_near = f64::from((a - b).abs()) <= TOLERANCE * f64::from(b.abs().max(1.0));
                assert!(is_near || a == b || a.is_nan() && b.is_nan(), "element {at}: {a} instead of {b}");
            }
        }
    }
}

/// Fails unless 16-bit floats are equal or adjacent.
fn near(found: &Tensor, expected: &Tensor) {
    let numbers = |tensor: &Tensor| {
        let here = tensor.to(Device::CPU).unwrap();
        aten::to_dtype(&here, DType::Float32).unwrap().to_vec::<f32>().unwrap()
    };
    let step = if expected.dtype() == DType::Float16 { 1.0 / 1024.0 } else { 1.0 / 128.0 };
    for (at, (a, b)) in numbers(found).into_iter().zip(numbers(expected)).enumerate() {
        let is_near = (a - b).abs() <= (step * b.abs()).max(6e-8);
        assert!(is_near || a == b || a.is_nan() && b.is_nan(), "element {at}: {a} instead of {b}");
    }
}

/// Checks that the device and the CPU give the same, without falling back.
#[track_caller]
pub(crate) fn same(device: Device, inputs: &[Tensor], compute: impl Fn(&[Tensor]) -> Result<Tensor>) {
    all_same(device, inputs, |inputs| Ok(vec![compute(inputs)?]));
}

/// As [`same`], for a computation with several results, and for what it writes to its inputs.
#[track_caller]
pub(crate) fn all_same(
    device: Device,
    inputs: &[Tensor],
    compute: impl Fn(&[Tensor]) -> Result<Vec<Tensor>>,
) {
    let there: Vec<_> = inputs.iter().map(|input| backend::on_device(input, device).unwrap()).collect();
    let here: Vec<_> = inputs.iter().map(|input| backend::on_device(input, Device::CPU).unwrap()).collect();
    let before = falls();
    let found = compute(&there).unwrap();
    assert_eq!(before, falls(), "fell back to the CPU");
    let expected = compute(&here).unwrap();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().chain(&there).zip(expected.iter().chain(&here)) {
        assert_eq!(found.is_defined(), expected.is_defined());
        if expected.is_defined() {
            assert_eq!(found.device(), device);
            close(found, expected);
        }
    }
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
    backend::fallback_counts(DeviceType::PrivateUse2)
}
