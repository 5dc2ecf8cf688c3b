//! Views, versions, gradients and random numbers, as the layers above a backend see them.

use torch_library::backend::on_device;
use torch_library::prelude::*;
use torch_library_kernels::prelude::*;
use torch_library_kernels::{aten, random};

use super::{Test, same};
use crate::report::Report;

pub(super) fn run(device: Device) -> Report {
    const TESTS: [Test; 8] = [
        ("a write shows in views and in the base", writes_show),
        ("a write is counted once, by all who share the memory", versions),
        ("a result is on the device of its operands", results_stay),
        ("an `out` takes sizes and elements", out),
        ("gradients of a small network", gradients),
        ("a write after it was saved is found out", saved),
        ("random numbers follow the seed", randomness),
        ("vmap gives what a loop gives", vmapped),
    ];
    super::tests("layers", &TESTS, device)
}

fn vector(values: &[f32], device: Device) -> Result<Tensor> {
    on_device(&Tensor::from(values), device)
}

fn writes_show(device: Device) -> Result<()> {
    let x = vector(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], device)?;
    let table = x.view(&[2, 3])?;
    let mut column = table.select(1, 1)?;
    column.add_(10)?;
    same("the base", x.to_vec::<f32>()?, vec![1.0, 12.0, 3.0, 4.0, 15.0, 6.0])?;
    let mut x = x;
    x.mul_(2)?;
    same("the view", column.to_vec::<f32>()?, vec![24.0, 30.0])?;
    let mut front = x.slice(0, 0, 3, 1)?;
    let back = x.slice(0, 3, 6, 1)?;
    front.add_(&back)?;
    same("a part added", x.to_vec::<f32>()?, vec![10.0, 54.0, 18.0, 8.0, 30.0, 12.0])
}

fn versions(device: Device) -> Result<()> {
    let mut x = vector(&[1.0, 2.0], device)?;
    let (view, before) = (x.view(&[2, 1])?, x.version());
    x.add_(1)?;
    same("after a write", (x.version() - before, view.version() - before), (1, 1))?;
    let _sum = x.add(&view.view(&[2])?)?;
    same("after a read", x.version() - before, 1)?;
    aten::copy_(&mut x, &Tensor::from([0f32, 0.0]))?;
    same("after a copy", view.version() - before, 2)
}

fn results_stay(device: Device) -> Result<()> {
    let x = vector(&[3.0, 1.0, 2.0], device)?;
    let here = x.device();
    same("a sum", x.add(&x)?.device(), here)?;
    same("with a number", x.mul(2)?.device(), here)?;
    let (values, order) = aten::sort(&x)?;
    same("a sort", (values.device(), order.device()), (here, here))?;
    same("its order", order.to_vec::<i64>()?, vec![1, 2, 0])?;
    same("zeros like it", aten::zeros_like(&x)?.device(), here)?;
    same("a comparison", x.gt(1.5)?.to_vec::<bool>()?, vec![true, false, true])?;
    let parts = aten::split_Tensor(&x, 2)?;
    ensure!(parts.iter().all(|part| part.shares_storage_with(&x)), Kernel, "a split made copies");
    same("an item", x.select(0, 1)?.item()?, Scalar::Float(1.0))
}

fn out(device: Device) -> Result<()> {
    let (x, mut out) = (vector(&[1.0, 2.0, 3.0], device)?, Tensor::zeros(&[0], DType::Float32, device)?);
    let handle = out.clone();
    aten::add_out(&x, &x, &mut out)?;
    same("elements", handle.to_vec::<f32>()?, vec![2.0, 4.0, 6.0])?;
    let mut turned = Tensor::zeros(&[2, 2], DType::Float32, device)?.t()?;
    let square = vector(&[1.0, 2.0, 3.0, 4.0], device)?.view(&[2, 2])?;
    aten::mul_out(&square, &square, &mut turned)?;
    same("strides", turned.strides().to_vec(), vec![1, 2])?;
    same("products", turned.to_vec::<f32>()?, vec![1.0, 4.0, 9.0, 16.0])
}

/// The same network on the CPU and on the device.
fn gradients(device: Device) -> Result<()> {
    let of = |device: Device| -> Result<Vec<Vec<f32>>> {
        let numbers =
            |count: usize, step: f32| (0..count).map(|i| (i as f32 * step).sin()).collect::<Vec<f32>>();
        let leaf = |count, sizes: &[i64], step| -> Result<Tensor> {
            let leaf = vector(&numbers(count, step), device)?.strided_view(sizes, &[sizes[1], 1], 0)?;
            leaf.set_requires_grad(true)?;
            Ok(leaf)
        };
        let (x, first, second) = (leaf(12, &[4, 3], 0.7)?, leaf(15, &[5, 3], 1.3)?, leaf(10, &[2, 5], 0.9)?);
        let hidden = aten::linear(&x, &first)?.relu()?;
        let scores = aten::linear(&hidden, &second)?.log_softmax(1)?;
        let labels = Tensor::from([0i64, 1, 1, 0]).to(device)?;
        aten::nll_loss(&scores, &labels)?.backward()?;
        let grads = [x, first, second].into_iter().map(|leaf| leaf.grad());
        grads.map(|grad| grad.map_or(Ok(vec![]), |grad| grad.to_vec::<f32>())).collect()
    };
    for (got, want) in of(device)?.into_iter().zip(of(Device::CPU)?) {
        let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
        let all = got.len() == want.len() && !want.is_empty() && got.iter().zip(&want).all(is_close);
        ensure!(all, Kernel, "gradients {got:?} instead of {want:?}");
    }
    Ok(())
}

fn saved(device: Device) -> Result<()> {
    let x = vector(&[1.0, 2.0], device)?;
    x.set_requires_grad(true)?;
    let mut y = x.exp()?;
    let loss = aten::sum(&y.mul(&y)?)?;
    y.add_(1)?;
    ensure!(loss.backward().is_err(), Kernel, "a tensor that was saved and then written gave gradients");
    Ok(())
}

fn randomness(device: Device) -> Result<()> {
    let draw = || -> Result<Vec<f32>> {
        let x = aten::randn::with(&[64]).device(Some(device)).call()?;
        same("its device", x.device(), torch_library::backend::resolve(device)?)?;
        x.to_vec::<f32>()
    };
    random::manual_seed(5);
    let (first, second) = (draw()?, draw()?);
    random::manual_seed(5);
    same("after the same seed", draw()?, first.clone())?;
    ensure!(first != second, Kernel, "two draws are the same");
    let mean = first.iter().sum::<f32>() / 64.0;
    ensure!(
        mean.abs() < 0.6 && first.iter().any(|x| x.abs() > 1.0),
        Kernel,
        "these are no normal numbers: {first:?}"
    );
    Ok(())
}

fn vmapped(device: Device) -> Result<()> {
    let x = vector(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], device)?.view(&[3, 2])?;
    let squares = torch_library_kernels::vmap::vmap([&x], |[x]| aten::sum(&x.mul(&x)?))?;
    same("sums of squares", squares.to_vec::<f32>()?, vec![5.0, 25.0, 61.0])
}
