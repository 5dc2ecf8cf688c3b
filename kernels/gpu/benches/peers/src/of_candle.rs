//! candle, on the CPU.

use candle_core::{DType, Device, Tensor, Var};
use candle_nn::ops::{log_softmax, softmax};

use crate::{Row, numbers};

fn tensor(sizes: &[usize]) -> candle_core::Result<Tensor> {
    Tensor::from_vec(numbers(sizes.iter().product()), sizes, &Device::Cpu)
}

/// A row of a call whose result is dropped.
fn row<T: 'static>(name: &'static str, mut call: impl FnMut() -> candle_core::Result<T> + 'static) -> Row {
    let run = move |count| {
        for _ in 0..count {
            drop(call()?);
        }
        Ok(())
    };
    (name, Box::new(run))
}

pub(crate) fn rows() -> candle_core::Result<Vec<Row>> {
    let small = tensor(&[64])?;
    let long = tensor(&[1 << 20])?;
    let (a, b) = (long.clone(), long.clone());
    let (wide, weight) = (tensor(&[4096, 256])?, tensor(&[256])?);
    let (x, w, scale) = (wide.clone(), wide.clone(), weight.clone());
    let [p, r] = [tensor(&[512, 512])?, tensor(&[1024, 1024])?];
    let [image, filters] = [tensor(&[8, 32, 56, 56])?, tensor(&[64, 32, 3, 3])?];
    Ok(vec![
        row("relu, 64", move || small.relu()),
        row("gelu(a × b + c), 1 048 576", move || a.mul(&a)?.add(&a)?.gelu_erf()),
        row("ten operators, 1 048 576", move || (0..5).try_fold(b.clone(), |y, _| y.mul(&b)?.add(&b))),
        row("RMS norm, 4096×256", move || candle_nn::ops::rms_norm(&x, &scale, 1e-6)),
        row("mm, 512", move || p.matmul(&p)),
        row("mm, 1024", move || r.matmul(&r)),
        row("softmax, 4096×256", move || softmax(&w, 1)),
        row("layer norm, 4096×256", move || candle_nn::ops::layer_norm(&wide, &weight, &weight, 1e-5)),
        row("conv2d, 8×32×56×56, 64 of 3×3", move || image.conv2d(&filters, 1, 1, 1, 1)),
        training()?,
    ])
}

/// A step of a perceptron of 64, 128 and 10 units by gradient descent, on 32 examples.
fn training() -> candle_core::Result<Row> {
    let (x, classes) = (tensor(&[32, 64])?, tensor(&[32, 10])?);
    let parameters = [&[64, 128][..], &[128], &[128, 10], &[10]];
    let parameters: Vec<Var> = parameters
        .iter()
        .map(|sizes| Var::from_tensor(&tensor(sizes)?))
        .collect::<candle_core::Result<_>>()?;
    Ok(row("training step, 64-128-10, 32 examples", move || {
        let [w1, b1, w2, b2] = &parameters[..] else { unreachable!("four parameters") };
        let hidden = x.matmul(w1)?.broadcast_add(b1)?.relu()?;
        let scores = log_softmax(&hidden.matmul(w2)?.broadcast_add(b2)?, 1)?;
        let gradients = scores.mul(&classes)?.sum_all()?.neg()?.backward()?;
        for parameter in &parameters {
            let gradient = gradients.get(parameter).expect("it takes part").to_dtype(DType::F32)?;
            parameter.set(&parameter.sub(&(gradient * 1e-3)?)?)?;
        }
        Ok(())
    }))
}
