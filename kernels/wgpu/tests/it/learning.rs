//! Activations, losses, extremes, `arange` and steps of optimisers, compared with the CPU.

use torch_library::backend;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::optim::{AdamW, Optimizer};
use torch_library_kernels::prelude::*;

use crate::{all_same, device, falls, matrix, numbers, same, tensor};

#[test]
fn activations_and_their_gradients() {
    let Some(device) = device() else { return };
    let mut x = numbers(300, 0.0);
    x.iter_mut().for_each(|x| *x *= 4.0);
    x[..7].copy_from_slice(&[0.0, -0.0, f32::NAN, f32::INFINITY, 3.0, -3.0, 1e-5]);
    let x = Tensor::from_vec(x, &[300]).unwrap();
    for kind in ["none", "tanh"] {
        same(device, &[x.slice(0, 4, 300, 1).unwrap()], |x| aten::gelu::with(&x[0]).approximate(kind).call());
        same(device, &[x.slice(0, 4, 300, 1).unwrap(), tensor(&[296], 1.0)], |x| {
            aten::gelu_backward::with(&x[1], &x[0]).approximate(kind).call()
        });
    }
    all_same(device, &[x.clone(), tensor(&[300], 1.0)], |x| {
        Ok(vec![
            aten::erf(&x[0])?,
            aten::hardswish_backward(&x[1], &x[0])?,
            aten::hardsigmoid(&x[0])?,
            aten::hardsigmoid_backward(&x[1], &x[0])?,
            aten::hardtanh::call(&x[0], (-1).into(), 2.into())?,
            aten::hardtanh_backward(&x[1], &x[0], (-1).into(), 2.into())?,
            aten::clamp::call(&x[0], Some(0.5.into()), Some(1.into()))?,
            aten::clamp::call(&x[0], Some(2.into()), Some(1.into()))?,
            aten::clamp::call(&x[0], None, Some(1.into()))?,
            aten::clamp::call(&x[0], Some(1.into()), None)?,
            aten::leaky_relu_backward(&x[1], &x[0], 0.1.into(), false)?,
            aten::elu_backward(&x[1], 1.5.into(), 0.5.into(), 2.into(), true, &x[0])?,
        ])
    });
    all_same(device, &[x.slice(0, 4, 300, 1).unwrap(), tensor(&[296], 1.0)], |x| {
        let elu = aten::elu_backward(&x[1], 1.5.into(), 0.5.into(), 2.into(), false, &x[0])?;
        Ok(vec![aten::hardswish(&x[0])?, aten::silu_backward(&x[1], &x[0])?, elu])
    });
    same(device, std::slice::from_ref(&x), |x| {
        let mut y = aten::clone(&x[0])?;
        aten::masked_fill__Scalar(&mut y, &x[0].gt(0)?, 7.into())?;
        Ok(y)
    });
}

#[test]
fn the_likelihood_of_classes_and_its_gradient() {
    let Some(device) = device() else { return };
    let labels = |count: i64, sizes: &[i64]| {
        let labels = (0..count).map(|i| if i % 5 == 4 { -100 } else { i * i % 10 }).collect::<Vec<i64>>();
        Tensor::from_vec(labels, sizes).unwrap()
    };
    for (reduction, weighted) in [(1, false), (2, true), (1, true)] {
        let inputs =
            [matrix(70, 10, 0.0), labels(70, &[70]), tensor(&[10], 1.0).abs().unwrap(), Tensor::from(0.7f32)];
        all_same(device, &inputs, |x| {
            let weight = weighted.then_some(&x[2]);
            let (loss, total) = aten::nll_loss_forward(&x[0], &x[1], weight, reduction, -100)?;
            let back = aten::nll_loss_backward(&x[3], &x[0], &x[1], weight, reduction, -100, &total)?;
            Ok(vec![loss, total, back])
        });
        let inputs =
            [tensor(&[2, 10, 3, 4], 0.0), labels(24, &[2, 3, 4]), inputs[2].clone(), inputs[3].clone()];
        all_same(device, &inputs, |x| {
            let weight = weighted.then_some(&x[2]);
            let (loss, total) = aten::nll_loss2d_forward(&x[0], &x[1], weight, reduction, -100)?;
            let back = aten::nll_loss2d_backward(&x[3], &x[0], &x[1], weight, reduction, -100, &total)?;
            Ok(vec![loss, total, back])
        });
    }
    let (x, bad) = (matrix(2, 10, 0.0).to(device).unwrap(), Tensor::from([1i64, 10]).to(device).unwrap());
    assert!(aten::nll_loss_forward(&x, &bad, None, 1, -100).is_err());
}

#[test]
fn the_first_of_the_largest_is_found() {
    let Some(device) = device() else { return };
    let mut x = numbers(5 * 131 * 3, 0.0);
    x.iter_mut().for_each(|x| *x = (*x * 8.0).round());
    (x[700], x[900], x[1000]) = (f32::NAN, f32::NAN, f32::NEG_INFINITY);
    let x = Tensor::from_vec(x, &[5, 131, 3]).unwrap();
    for dim in [0, 1, -1] {
        all_same(device, std::slice::from_ref(&x), |x| {
            let (most, places) = aten::max_dim(&x[0], dim)?;
            let (least, places_of_least) = aten::min_dim(&x[0], dim)?;
            Ok(vec![most, places, least, places_of_least, x[0].argmax(dim, true)?])
        });
    }
    let whole = Tensor::from_vec((0..600).map(|i: i32| (i * 7919) % 211 - 100).collect(), &[2, 100, 3]);
    all_same(device, &[whole.unwrap()], |x| {
        let (most, places) = aten::max_dim(&x[0], 1)?;
        Ok(vec![most, places, x[0].argmax(2, false)?, aten::argmin(&x[0])?])
    });
    same(device, &[x], |x| aten::argmin(&x[0].slice(0, 3, 5, 1)?));
    let same_all_along = Tensor::full(&[1, 200], f64::NEG_INFINITY, DType::Float32, Device::CPU).unwrap();
    same(device, &[same_all_along], |x| x[0].argmax(1, false));
    let of_nine_dimensions = tensor(&[2, 1, 3, 1, 2, 1, 2, 1, 2], 0.0);
    same(device, &[of_nine_dimensions], |x| x[0].transpose(0, 8)?.argmax(2, false));
}

#[test]
fn series_and_fills_are_made_on_the_device() {
    let Some(device) = device() else { return };
    all_same(
        device,
        &[tensor(&[2, 3, 5], 0.0), tensor(&[2, 4, 5], 1.0), Tensor::from([[1i64 << 40], [2]])],
        |x| {
            let mut parts = vec![
                aten::cat::call(&[x[0].clone(), x[1].clone(), x[0].slice(1, 0, 2, 1)?], 1)?,
                aten::cat::call(&[x[2].clone(), x[2].clone()], 1)?,
            ];
            for dtype in [DType::Float32, DType::Int64, DType::Int32] {
                let on = x[0].device();
                parts.push(
                    aten::arange_start_step::with((-3).into(), 200.into())
                        .step(7)
                        .dtype(dtype)
                        .device(on)
                        .call()?,
                );
                parts.push(aten::arange::with(5.into()).dtype(dtype).device(on).call()?);
                parts.push(aten::full::with(&[3, 2], 9.into()).dtype(dtype).device(on).call()?);
            }
            parts.push(Tensor::full(&[7], true, DType::Bool, x[0].device())?);
            Ok(parts)
        },
    );
}

#[test]
fn optimisers_step() {
    let Some(device) = device() else { return };
    let states = |seed: f32| [tensor(&[37, 5], seed), tensor(&[3], seed + 1.0)];
    let inputs: Vec<Tensor> =
        [0.0, 2.0, 4.0, 6.0, 8.0].iter().flat_map(|seed| states(*seed)).map(|x| x.abs().unwrap()).collect();
    for (momentum, nesterov, first) in [(0.0, false, false), (0.9, false, true), (0.9, true, false)] {
        all_same(device, &inputs, |x| {
            let [mut x, mut grads, mut buffers] = [0, 2, 4].map(|at| x[at..at + 2].to_vec());
            aten::_fused_sgd_(
                &mut x,
                &mut grads,
                &mut buffers,
                0.1,
                momentum,
                0.05,
                0.2,
                nesterov,
                nesterov,
                first,
            )?;
            Ok(vec![])
        });
    }
    for (amsgrad, decoupled) in [(false, true), (true, true), (false, false), (true, false)] {
        all_same(device, &inputs, |x| {
            let [mut x, mut grads, mut means, mut squares, mut most] =
                [0, 2, 4, 6, 8].map(|at| x[at..at + 2].to_vec());
            let steps = [Tensor::from(3f32), Tensor::from(1f32)];
            let step = if decoupled { aten::_fused_adamw_::call } else { aten::_fused_adam_::call };
            step(
                &mut x,
                &mut grads,
                &mut means,
                &mut squares,
                &mut most,
                &steps,
                0.02,
                0.9,
                0.99,
                0.1,
                1e-8,
                amsgrad,
                decoupled,
                None,
                None,
            )?;
            Ok(vec![])
        });
    }
}

/// The losses of some training steps of a network with one layer of each kind.
fn train(device: Device) -> Vec<f32> {
    let leaf = |sizes: &[i64], seed: f32| {
        let leaf = tensor(sizes, seed).mul(0.2).unwrap();
        let leaf = backend::on_device(&leaf, device).unwrap();
        leaf.set_requires_grad(true).unwrap();
        leaf
    };
    let parameters = [
        leaf(&[8, 1, 3, 3], 0.0),
        leaf(&[8], 1.0),
        leaf(&[8], 2.0),
        leaf(&[8], 3.0),
        leaf(&[10, 8 * 16], 4.0),
        leaf(&[10], 5.0),
    ];
    let mut optimizer = AdamW::new(parameters.to_vec(), 0.01).unwrap();
    let images = backend::on_device(&tensor(&[16, 1, 8, 8], 6.0), device).unwrap();
    let labels = Tensor::from((0..16).map(|i| i % 10).collect::<Vec<i64>>());
    let labels = backend::on_device(&labels, device).unwrap();
    let mut losses = Vec::new();
    for _ in 0..4 {
        let [weight, bias, scale, shift, out, out_bias] = &parameters;
        let seen = aten::conv2d::with(&images, weight).bias(Some(bias)).padding(&[1, 1]).call().unwrap();
        let (scale, shift) = (Some(scale), Some(shift));
        let seen = aten::batch_norm(&seen, scale, shift, None, None, true, 0.1, 1e-5, false).unwrap();
        let pooled = aten::max_pool2d(&seen.relu().unwrap(), &[2, 2]).unwrap();
        let flat = aten::flatten_using_ints::with(&pooled).start_dim(1).call().unwrap();
        let scores = aten::linear::with(&flat, out).bias(Some(out_bias)).call().unwrap();
        let loss = aten::cross_entropy_loss(&scores, &labels).unwrap();
        optimizer.zero_grad().unwrap();
        loss.backward().unwrap();
        optimizer.step().unwrap();
        losses.extend(loss.to_vec::<f32>().unwrap());
    }
    losses
}

#[test]
fn a_convolutional_network_trains_without_the_cpu() {
    let Some(device) = device() else { return };
    let before = falls();
    let found = train(device);
    assert_eq!(before, falls(), "fell back to the CPU");
    let expected = train(Device::CPU);
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4), "{found:?} {expected:?}");
    assert!(found[3] < found[0], "{found:?}");
}
