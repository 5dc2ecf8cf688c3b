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

/// The names of rows, and the sizes that they use.
struct Sizes {
    gelu: &'static str,
    ten: &'static str,
    long: usize,
    rms_norm: &'static str,
    softmax: &'static str,
    layer_norm: &'static str,
    wide: [usize; 2],
    conv2d: &'static str,
    image: [usize; 4],
    filters: [usize; 4],
}

const SMALL: Sizes = Sizes {
    gelu: "gelu(a × b + c), 1 048 576",
    ten: "ten operators, 1 048 576",
    long: 1 << 20,
    rms_norm: "RMS norm, 4096×256",
    softmax: "softmax, 4096×256",
    layer_norm: "layer norm, 4096×256",
    wide: [4096, 256],
    conv2d: "conv2d, 8×32×56×56, 64 of 3×3",
    image: [8, 32, 56, 56],
    filters: [64, 32, 3, 3],
};

const LARGE: Sizes = Sizes {
    gelu: "gelu(a × b + c), 67 108 864",
    ten: "ten operators, 67 108 864",
    long: 1 << 26,
    rms_norm: "RMS norm, 16384×4096",
    softmax: "softmax, 16384×4096",
    layer_norm: "layer norm, 16384×4096",
    wide: [16_384, 4096],
    conv2d: "conv2d, 64×64×56×56, 64 of 3×3",
    image: [64, 64, 56, 56],
    filters: [64, 64, 3, 3],
};

pub(crate) fn rows(is_large: bool) -> Result<Vec<Row>, Box<dyn Error>> {
    let device = Device::wgpu(DeviceKind::DefaultDevice);
    let sizes = if is_large { LARGE } else { SMALL };
    let mut rows = elementwise_and_norms(&sizes, &device);
    let [image, filters] = [tensor(sizes.image, &device), tensor(sizes.filters, &device)];
    rows.push(row(sizes.conv2d, &device, move || {
        conv2d(image.clone(), filters.clone(), None, ConvOptions::new([1, 1], [1, 1], [1, 1], 1))
    }));
    if is_large {
        rows.push(product("mm, 4096", [4096, 4096], &device));
        rows.push(product("bmm, 64×512", [64, 512, 512], &device));
        return Ok(rows);
    }
    let small = tensor([64], &device);
    rows.push(row("relu, 64", &device, move || relu(small.clone())));
    rows.push(product("mm, 512", [512, 512], &device));
    rows.push(product("mm, 1024", [1024, 1024], &device));
    rows.push(upload(&device));
    rows.push(training(&device.autodiff()));
    Ok(rows)
}

fn elementwise_and_norms(sizes: &Sizes, device: &Device) -> Vec<Row> {
    let long = [0; 3].map(|_| tensor([sizes.long], device));
    let (a, b, c) = (long[0].clone(), long[1].clone(), long[2].clone());
    let (wide, weight) = (tensor(sizes.wide, device), tensor([sizes.wide[1]], device));
    let [x, w] = [wide.clone(), wide.clone()];
    let scale = weight.clone().unsqueeze::<2>();
    vec![
        row(sizes.gelu, device, move || gelu(a.clone() * b.clone() + c.clone())),
        row(sizes.ten, device, move || {
            (0..5).fold(long[0].clone(), |y, _| y * long[1].clone() + long[2].clone())
        }),
        row(sizes.rms_norm, device, move || {
            let mean = (x.clone() * x.clone()).mean_dim(1);
            x.clone() * (mean + 1e-6).sqrt().recip() * scale.clone()
        }),
        row(sizes.softmax, device, move || softmax(w.clone(), 1)),
        row(sizes.layer_norm, device, move || {
            layer_norm(wide.clone(), weight.clone(), Some(weight.clone()), 1e-5)
        }),
    ]
}

fn product<const D: usize>(name: &'static str, sizes: [usize; D], device: &Device) -> Row {
    let [a, b] = [tensor(sizes, device), tensor(sizes, device)];
    row(name, device, move || a.clone().matmul(b.clone()))
}

/// There is no row for copies to the host, since burn caches what it has read.
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
