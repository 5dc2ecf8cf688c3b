//! Elements, rows, products and copies on a device; its memory, and losing it.

use torch_library::backend::{self, FallbackPolicy, set_fallback_policy};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::{ALONE, all_same, device, matrix, numbers, same};

#[test]
fn elements_are_computed_in_any_layout() {
    let Some(device) = device() else { return };
    let (x, y, row) = (matrix(37, 53, 0.0), matrix(37, 53, 9.0), matrix(1, 53, 3.0));
    same(device, &[x.clone(), y.clone()], |x| x[0].mul(&x[1])?.add(&x[0])?.sub(0.5));
    same(device, &[x.clone(), row], |x| x[0].add(&x[1]));
    same(device, &[x.clone(), y.clone()], |x| x[0].t()?.add(&x[1].t()?));
    same(device, &[x.clone(), y.clone()], |x| x[0].slice(0, 3, 30, 2)?.mul(&x[1].slice(0, 4, 31, 2)?));
    same(device, std::slice::from_ref(&x), |x| x[0].relu()?.exp()?.add(1)?.log()?.tanh()?.sigmoid());
    same(device, &[x.clone(), y.clone()], |x| aten::where_self(&x[0].gt(&x[1])?, &x[0], &x[1]));
    same(device, &[x.clone(), y], |x| aten::to_dtype(&x[0].le(&x[1])?, DType::Float32));
    same(device, &[x], |x| aten::div_Tensor(&x[0].pow(2)?, &x[0].abs()?.add(1)?));
}

#[test]
fn rows_are_summed_and_normalised() {
    let Some(device) = device() else { return };
    let x = Tensor::from_vec(numbers(3 * 70 * 11, 0.0), &[3, 70, 11]).unwrap();
    same(device, std::slice::from_ref(&x), |x| aten::sum(&x[0]));
    same(device, std::slice::from_ref(&x), |x| x[0].sum_dim(&[1], false));
    same(device, std::slice::from_ref(&x), |x| x[0].transpose(0, 2)?.sum_dim(&[0, 1], true));
    same(device, std::slice::from_ref(&x), |x| x[0].mean_dim(&[-1], true));
    same(device, std::slice::from_ref(&x), |x| x[0].amax(&[1, 2], false)?.add(&x[0].amin(&[1, 2], false)?));
    for dim in 0..3 {
        same(device, std::slice::from_ref(&x), |x| x[0].softmax(dim));
        same(device, std::slice::from_ref(&x), |x| x[0].log_softmax(dim));
        same(device, std::slice::from_ref(&x), |x| x[0].transpose(0, 2)?.softmax(dim));
    }
}

#[test]
fn bools_are_counted() {
    let Some(device) = device() else { return };
    for bound in [-9.0, 0.5, 9.0] {
        let x = Tensor::from_vec(numbers(3 * 70 * 11, 0.0), &[3, 70, 11]).unwrap().gt(bound).unwrap();
        all_same(device, &[x], |x| {
            let mut found = vec![aten::all(&x[0])?, aten::any(&x[0])?];
            for keepdim in [false, true] {
                found.push(aten::all_dim::call(&x[0], 1, keepdim)?);
                found.push(aten::any_dim::call(&x[0], -1, keepdim)?);
                found.push(aten::all_dims::call(&x[0], Some(&[0, 2]), keepdim)?);
                found.push(aten::any_dims::call(&x[0], None, keepdim)?);
            }
            Ok(found)
        });
    }
}

#[test]
fn matrices_are_multiplied_by_tiles() {
    let Some(device) = device() else { return };
    for (rows, inner, columns) in [(1, 1, 1), (3, 5, 2), (16, 16, 16), (33, 47, 65), (100, 1, 7)] {
        let (x, y) = (matrix(rows, inner, 0.0), matrix(inner, columns, 4.0));
        same(device, &[x.clone(), y.clone()], |x| x[0].mm(&x[1]));
        same(device, &[x.t().unwrap().contiguous().unwrap(), y.clone()], |x| x[0].t()?.mm(&x[1]));
        let bias = matrix(1, columns, 8.0).view(&[columns]).unwrap();
        same(device, &[bias, x, y], |x| aten::addmm::call(&x[0], &x[1], &x[2], 0.5.into(), 2.into()));
    }
    let (x, y) = (matrix(10, 21, 1.0).view(&[5, 6, 7]), matrix(5, 56, 2.0).view(&[5, 7, 8]));
    same(device, &[x.unwrap(), y.unwrap()], |x| aten::bmm(&x[0], &x[1]));
}

#[test]
fn copies_keep_to_strides_and_convert() {
    let Some(device) = device() else { return };
    let x = matrix(20, 30, 0.0);
    same(device, std::slice::from_ref(&x), |x| x[0].t()?.contiguous());
    same(device, std::slice::from_ref(&x), |x| {
        let mut zeros = aten::zeros_like(&x[0])?;
        aten::copy_(&mut zeros.slice(1, 2, 30, 3)?, &x[0].slice(1, 0, 10, 1)?.slice(0, 0, 1, 1)?)?;
        zeros.select(0, 3)?.fill_(7)?;
        zeros.add_(&x[0])?;
        Ok(zeros)
    });
    same(device, &[x], |x| aten::to_dtype(&aten::to_dtype(&x[0].gt(0)?, DType::Int32)?, DType::Float32));
}

/// Types that kernels do not support are stored in full, and computed on the CPU.
#[test]
fn wide_numbers_are_exact() {
    let Some(device) = device() else { return };
    let x = Tensor::from([i64::MAX - 1, i64::MIN + 1, 1 << 53]).to(device).unwrap();
    assert_eq!(x.add(1).unwrap().to_vec::<i64>().unwrap(), [i64::MAX, i64::MIN + 2, (1 << 53) + 1]);
    let x = Tensor::from([1e300, 1e-300]).to(device).unwrap();
    assert_eq!(x.mul(0.5).unwrap().to_vec::<f64>().unwrap(), [5e299, 5e-301]);
    let x = Tensor::from([i32::MAX, 5]).to(device).unwrap();
    assert_eq!(x.sub(1).unwrap().to_vec::<i32>().unwrap(), [i32::MAX - 1, 4]);
    assert_eq!(x.sub(1i64 << 40).is_ok(), Tensor::from([1i32]).sub(1i64 << 40).is_ok());
}

#[test]
fn a_network_has_the_gradients_that_it_has_on_the_cpu() {
    let Some(device) = device() else { return };
    let train = |device: Device| -> Vec<f32> {
        let weights = backend_leaf(&matrix(10, 64, 0.0), device);
        let x = matrix(32, 64, 5.0).to(device).unwrap();
        let labels = Tensor::from((0..32).map(|i| i % 10).collect::<Vec<i64>>()).to(device).unwrap();
        for _ in 0..3 {
            let scores = aten::linear(&x, &weights).unwrap().log_softmax(1).unwrap();
            aten::nll_loss(&scores, &labels).unwrap().backward().unwrap();
        }
        weights.grad().unwrap().to_vec::<f32>().unwrap()
    };
    let (found, expected) = (train(device), train(Device::CPU));
    assert!(
        found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4),
        "{found:?} instead of {expected:?}"
    );
}

fn backend_leaf(values: &Tensor, device: Device) -> Tensor {
    let leaf = values.to(device).unwrap();
    leaf.set_requires_grad(true).unwrap();
    leaf
}

#[test]
fn too_much_is_refused_and_freed_memory_is_used_again() {
    let Some(device) = device() else { return };
    let error = Tensor::empty(&[1 << 40], DType::Float32, device).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
    let before = backend::memory_stats(device).unwrap().unwrap();
    for _ in 0..20 {
        let x = Tensor::zeros(&[1000, 100], DType::Float32, device).unwrap();
        assert_eq!(x.to_vec::<f32>().unwrap()[99_999], 0.0);
    }
    let after = backend::memory_stats(device).unwrap().unwrap();
    assert!(after.reused >= before.reused + 19, "{before:?} {after:?}");
    backend::empty_cache(device).unwrap();
    backend::synchronize(device).unwrap();
}

/// Uses the last device of the machine, so that concurrent tests keep theirs; or the first, in a process of its own.
#[test]
fn a_lost_device_takes_its_tensors_with_it_and_the_next_call_works() {
    let Some(first) = device() else { return };
    let last = u8::try_from(backend::device_count(first.kind) - 1).unwrap();
    if Some(last) == first.index {
        let again = std::env::var_os("TORCH_LIBRARY_WGPU_ALONE").is_some();
        if !again {
            let name = "a_lost_device_takes_its_tensors_with_it_and_the_next_call_works";
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            let status = child.env("TORCH_LIBRARY_WGPU_ALONE", "1").args(["--exact", name]).status();
            return assert!(status.unwrap().success());
        }
    }
    let device = Device::new(first.kind, Some(last));
    let x = Tensor::full(&[4], 2, DType::Float32, device).unwrap();
    torch_library_wgpu::reset(last).unwrap();
    let error = x.to_vec::<f32>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device);
    assert!(error.to_string().contains("is lost"), "{error}");
    assert!(x.add(&x).is_err());
    let y = Tensor::full(&[4], 3, DType::Float32, device).unwrap();
    assert_eq!(y.add(&y).unwrap().to_vec::<f32>().unwrap(), [6.0; 4]);
    assert!(y.add(&x).is_err(), "{:?}", y.add(&x));
}

#[test]
fn falling_back_may_be_refused() {
    let Some(device) = device() else { return };
    ALONE.with(|_| ());
    let x = Tensor::from([3f32, 1.0]).to(device).unwrap();
    set_fallback_policy(device.kind, FallbackPolicy::Error);
    let refused = aten::sort(&x);
    let computed = x.add(&x);
    set_fallback_policy(device.kind, FallbackPolicy::Warn);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::MissingKernel);
    assert_eq!(computed.unwrap().to_vec::<f32>().unwrap(), [6.0, 2.0]);
}
