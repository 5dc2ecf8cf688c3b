//! Memory: it holds what was written at the place where it was written, for every dtype, and is zero before.

use torch_library::backend::{self, DeviceGuard, from_host, host_copy, on_device, synchronize};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use super::{Test, same};
use crate::report::Report;

pub(super) fn run(device: Device) -> Report {
    const TESTS: [Test; 10] = [
        ("new memory is zero, also where some was freed", new_memory_is_zero),
        ("elements of every type come and go", every_type),
        ("parts of a storage are written and read by themselves", parts),
        ("copies within the device leave the source as it was", within),
        ("copies convert, broadcast and keep strides", converting),
        ("odd sizes of small types", odd_sizes),
        ("tensors without elements", empty),
        ("what does not fit is an error, and the next call works", too_much),
        ("the device is known by its number and as the current one", current),
        ("a tensor prints with its elements", printing),
    ];
    super::tests("memory", &TESTS, device)
}

fn new_memory_is_zero(device: Device) -> Result<()> {
    for round in 0..3 {
        let mut x = Tensor::zeros(&[1000], DType::Float32, device)?;
        same("elements", x.to_vec::<f32>()?, vec![0.0; 1000])?;
        x.fill(1.0f32 + round as f32)?;
    }
    Ok(())
}

fn every_type(device: Device) -> Result<()> {
    for dtype in [
        DType::Bool,
        DType::UInt8,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
        DType::Complex64,
        DType::Complex128,
    ] {
        let host = aten::to_dtype(&Tensor::from([1i64, 0, 3, 4, 5]), dtype)?;
        let moved = host.to(device)?;
        same("dtype", moved.dtype(), dtype)?;
        let back = moved.to(Device::CPU)?;
        torch_library::match_dtype!(dtype, T => same("elements", back.to_vec::<T>()?, host.to_vec::<T>()?))?;
    }
    Ok(())
}

fn parts(device: Device) -> Result<()> {
    let x = on_device(&Tensor::from((0..20).map(|i| i as f32).collect::<Vec<_>>()), device)?;
    let mut part = x.strided_view(&[2, 2], &[6, 2], 3)?;
    same("a part", part.to_vec::<f32>()?, vec![3.0, 5.0, 9.0, 11.0])?;
    part.copy_from_slice(&[-1.0f32, -2.0, -3.0, -4.0])?;
    let mut want: Vec<f32> = (0..20).map(|i| i as f32).collect();
    for (at, value) in [(3, -1.0), (5, -2.0), (9, -3.0), (11, -4.0)] {
        want[at] = value;
    }
    same("the whole", x.to_vec::<f32>()?, want.clone())?;
    let copy = host_copy(&x.strided_view(&[3], &[1], 17)?)?;
    same("the end", copy.to_vec::<f32>()?, want[17..].to_vec())?;
    if device != Device::CPU {
        let end = x.strided_view(&[3], &[1], 17)?;
        from_host(&Tensor::from([7f32, 8.0, 9.0]), &end)?;
        same("the end, written", x.to_vec::<f32>()?[16..].to_vec(), vec![want[16], 7.0, 8.0, 9.0])?;
    }
    Ok(())
}

fn within(device: Device) -> Result<()> {
    let x = on_device(&Tensor::from([1f32, 2.0, 3.0, 4.0]), device)?;
    let mut y = aten::clone(&x)?;
    same("a copy", y.to_vec::<f32>()?, vec![1.0, 2.0, 3.0, 4.0])?;
    ensure!(!y.shares_storage_with(&x), Kernel, "a copy is in the memory of the tensor");
    y.fill(0f32)?;
    same("the source", x.to_vec::<f32>()?, vec![1.0, 2.0, 3.0, 4.0])?;
    let mut back = y.strided_view(&[2], &[1], 2)?;
    aten::copy_(&mut back, &x.strided_view(&[2], &[1], 1)?)?;
    same("a part copied", y.to_vec::<f32>()?, vec![0.0, 0.0, 2.0, 3.0])
}

fn converting(device: Device) -> Result<()> {
    let mut x = Tensor::zeros(&[2, 3], DType::Float32, device)?;
    aten::copy_(&mut x, &Tensor::from([1i64, 2, 3]))?;
    same("broadcast", x.to_vec::<f32>()?, vec![1.0, 2.0, 3.0, 1.0, 2.0, 3.0])?;
    let turned = x.t()?;
    same("strides", turned.strides().to_vec(), vec![1, 3])?;
    let copy = turned.to(Device::CPU)?;
    same("turned", copy.to_vec::<f32>()?, vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0])?;
    let dense = aten::contiguous(&turned)?;
    same("dense", (dense.strides().to_vec(), dense.to_vec::<f32>()?), (vec![2, 1], copy.to_vec::<f32>()?))?;
    same("as integers", aten::to_dtype(&turned, DType::Int64)?.to_vec::<i64>()?, vec![1, 1, 2, 2, 3, 3])
}

fn odd_sizes(device: Device) -> Result<()> {
    for count in [1usize, 2, 3, 5, 7, 255, 257, 1023] {
        let bytes: Vec<u8> = (0..count).map(|i| (i * 7 % 251) as u8).collect();
        let x = on_device(&Tensor::from(bytes.clone()), device)?;
        same("bytes", x.to_vec::<u8>()?, bytes.clone())?;
        let last = x.strided_view(&[1], &[1], count as i64 - 1)?;
        same("the last", last.to_vec::<u8>()?, vec![bytes[count - 1]])?;
        let mut first = x.strided_view(&[1], &[1], 0)?;
        first.fill(99u8)?;
        same("the rest", x.to_vec::<u8>()?[1..].to_vec(), bytes[1..].to_vec())?;
    }
    Ok(())
}

fn empty(device: Device) -> Result<()> {
    let x = Tensor::zeros(&[0, 3], DType::Float32, device)?;
    same("no elements", x.to_vec::<f32>()?, vec![])?;
    same("moved", x.to(Device::CPU)?.to(device)?.sizes().to_vec(), vec![0, 3])?;
    same("its sum", aten::sum(&x)?.item()?, Scalar::Float(0.0))?;
    same("its device", aten::clone(&x)?.device(), x.device())
}

fn too_much(device: Device) -> Result<()> {
    let all = Tensor::empty(&[i64::MAX / 1024], DType::Float32, device);
    ensure!(all.is_err(), Kernel, "there was memory for 2^55 bytes");
    let x = Tensor::full(&[2], 3, DType::Float32, device)?;
    same("the next call", x.to_vec::<f32>()?, vec![3.0, 3.0])
}

fn current(device: Device) -> Result<()> {
    let resolved = backend::resolve(device)?;
    let _guard = DeviceGuard::new(resolved)?;
    let x = Tensor::zeros(&[1], DType::Float32, device.kind.into())?;
    same("the current device", x.device(), resolved)?;
    same("its name", resolved.to_string().parse::<Device>()?, resolved)?;
    ensure!(x.to(device.kind)?.is_same(&x), Kernel, "a tensor that is there already was copied");
    if device != Device::CPU {
        let count = backend::device_count(device.kind);
        let beyond = Device::new(device.kind, u8::try_from(count).ok());
        let there = Tensor::zeros(&[1], DType::Float32, beyond);
        ensure!(there.is_err(), Kernel, "there are {count} devices, and a tensor is on {beyond}");
    }
    synchronize(resolved)
}

fn printing(device: Device) -> Result<()> {
    let x = on_device(&Tensor::from([[1.5f32, -2.0], [f32::NAN, 4.0]]), device)?;
    let text = x.to_string();
    let is_shown = text.starts_with("tensor([[ 1.5000, -2.0000],\n        [    nan,  4.0000]]");
    ensure!(is_shown, Kernel, "it prints {text}");
    Ok(())
}
