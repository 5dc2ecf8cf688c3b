//! burn, on the first adapter.

use std::error::Error;

use burn::tensor::activation::{gelu, log_softmax, relu, softmax};
use burn::tensor::module::{conv2d, layer_norm};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, DeviceKind, Tensor, TensorData};

use crate::{Row, numbers};

fn tensor<const D: usize>(sizes: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers(sizes.iter().product()), sizes), device)
}

/// A row of a call whose result is dropped.
fn row<T: 'static>(name: &'static str, device: &Device, mut call: impl FnMut() -> T + 'static) -> Row {
    let device = device.clone();
    let run = move |count| {
        for _ in 0..count {
            drop(call());
        }
        device.sync().map_err(|error| format!("{error:?}").into())
    };
    (name, Box::new(run))
}

pub(crate) fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let device = Device::wgpu(DeviceKind::DefaultDevice);
    let small = tensor([64], &device);
    let long = [0; 3].map(|_| tensor([1 << 20], &device));
    let (a, b, c) = (long[0].clone(), long[1].clone(), long[2].clone());
    let (wide, weight) = (tensor([4096, 256], &device), tensor([256], &device));
    let [x, w] = [wide.clone(), wide.clone()];
    let scale = weight.clone().unsqueeze::<2>();
    let [p, q] = [tensor([512, 512], &device), tensor([512, 512], &device)];
    let [r, s] = [tensor([1024, 1024], &device), tensor([1024, 1024], &device)];
    let [image, filters] = [tensor([8, 32, 56, 56], &device), tensor([64, 32, 3, 3], &device)];
    let mut rows = vec![
        row("relu, 64", &device, move || relu(small.clone())),
        row("gelu(a × b + c), 1 048 576", &device, move || gelu(a.clone() * b.clone() + c.clone())),
        row("ten operators, 1 048 576", &device, move || {
            (0..5).fold(long[0].clone(), |y, _| y * long[1].clone() + long[2].clone())
        }),
        row("RMS norm, 4096×256", &device, move || {
            let mean = (x.clone() * x.clone()).mean_dim(1);
            x.clone() * (mean + 1e-6).sqrt().recip() * scale.clone()
        }),
        row("mm, 512", &device, move || p.clone().matmul(q.clone())),
        row("mm, 1024", &device, move || r.clone().matmul(s.clone())),
        row("softmax, 4096×256", &device, move || softmax(w.clone(), 1)),
        row("layer norm, 4096×256", &device, move || {
            layer_norm(wide.clone(), weight.clone(), Some(weight.clone()), 1e-5)
        }),
        row("conv2d, 8×32×56×56, 64 of 3×3", &device, move || {
            conv2d(image.clone(), filters.clone(), None, ConvOptions::new([1, 1], [1, 1], [1, 1], 1))
        }),
    ];
    rows.push(upload(&device));
    rows.push(training(&device.autodiff()));
    Ok(rows)
}

/// There is no row for the way back: burn keeps what it has read.
fn upload(device: &Device) -> Row {
    let (here, to) = (tensor([1 << 22], device).to_data(), device.clone());
    row("16 MiB to the device", device, move || Tensor::<1>::from_data(here.clone(), &to))
}

/// A step of a perceptron of 64, 128 and 10 units by gradient descent, on 32 examples.
fn training(device: &Device) -> Row {
    let (x, classes) = (tensor([32, 64], device), tensor([32, 10], device));
    let mut w1 = tensor([64, 128], device).require_grad();
    let mut b1 = tensor([1, 128], device).require_grad();
    let mut w2 = tensor([128, 10], device).require_grad();
    let mut b2 = tensor([1, 10], device).require_grad();
    row("training step, 64-128-10, 32 examples", device, move || {
        let hidden = relu(x.clone().matmul(w1.clone()) + b1.clone());
        let scores = log_softmax(hidden.matmul(w2.clone()) + b2.clone(), 1);
        let gradients = (scores * classes.clone()).sum().neg().backward();
        for parameter in [&mut w1, &mut b1, &mut w2, &mut b2] {
            let gradient = parameter.grad(&gradients).expect("it takes part");
            *parameter = Tensor::from_inner(parameter.clone().inner() - gradient * 1e-3).require_grad();
        }
    })
}
