//! What is measured.

use torch_library::prelude::*;
use torch_library::tracer::trace;
use torch_library::{backend, guard};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;
use torch_library_wgpu::{adapters, fuse};

use crate::Row;

type Function = fn(&[Tensor]) -> Result<Tensor>;
type Call = Box<dyn Fn(&[Tensor]) -> Result<()>>;

fn device() -> Result<Device> {
    backend::resolve("wgpu".parse()?)
}

/// The adapter that is measured.
pub(crate) fn adapter() -> Result<String> {
    let index = usize::from(device()?.index.unwrap_or(0));
    Ok(adapters().into_iter().nth(index).unwrap_or_default())
}

fn numbers(sizes: &[i64]) -> Result<Tensor> {
    let count = sizes.iter().product::<i64>();
    Tensor::from_vec((0..count).map(|i| ((i as f32) * 0.77).sin()).collect(), sizes)?.to(device()?)
}

/// A row of a function of tensors of such sizes, by itself or fused.
fn row(name: &'static str, is_fused: bool, sizes: &[&[i64]], f: Function) -> Result<Row> {
    let inputs = sizes.iter().map(|sizes| numbers(sizes)).collect::<Result<Vec<_>>>()?;
    let device = device()?;
    let run: Call = match is_fused {
        false => Box::new(move |inputs| f(inputs).map(drop)),
        true => {
            let fused = fuse(trace(&inputs, |inputs| Ok(vec![f(inputs)?]))?.1);
            Box::new(move |inputs| fused.run(inputs).map(drop))
        }
    };
    let run = move |count| {
        guard::inference_mode(|| (0..count).try_for_each(|_| run(&inputs)))?;
        backend::synchronize(device)
    };
    Ok(Row { name, run: Box::new(run) })
}

/// All rows, or those that fusing changes, fused.
pub(crate) fn rows(is_fused: bool) -> Result<Vec<Row>> {
    const WIDE: &[i64] = &[4096, 256];
    let long: &[&[i64]] = &[&[1 << 20], &[1 << 20], &[1 << 20]];
    let mut rows = vec![
        row("gelu(a × b + c), 1 048 576", is_fused, long, |x| x[0].mul(&x[1])?.add(&x[2])?.gelu())?,
        row("ten operators, 1 048 576", is_fused, long, |x| {
            (0..5).try_fold(x[0].clone(), |y, _| y.mul(&x[1])?.add(&x[2]))
        })?,
        row("RMS norm, 4096×256", is_fused, &[WIDE, &[256]], |x| {
            let mean = aten::mean_dim::call(&x[0].mul(&x[0])?, Some(&[-1]), true, None)?;
            x[0].mul(&aten::rsqrt(&aten::add_Scalar(&mean, 1e-6.into())?)?)?.mul(&x[1])
        })?,
    ];
    if is_fused {
        return Ok(rows);
    }
    rows.insert(0, row("relu, 64", false, &[&[64]], |x| x[0].relu())?);
    rows.extend([
        row("mm, 512", false, &[&[512, 512], &[512, 512]], |x| x[0].mm(&x[1]))?,
        row("mm, 1024", false, &[&[1024, 1024], &[1024, 1024]], |x| x[0].mm(&x[1]))?,
        row("softmax, 4096×256", false, &[WIDE], |x| x[0].softmax(1))?,
        row("layer norm, 4096×256", false, &[WIDE, &[256], &[256]], |x| {
            aten::layer_norm::with(&x[0], &[256]).weight(Some(&x[1])).bias(Some(&x[2])).call()
        })?,
        row("conv2d, 8×32×56×56, 64 of 3×3", false, &[&[8, 32, 56, 56], &[64, 32, 3, 3]], |x| {
            aten::conv2d::with(&x[0], &x[1]).padding(&[1, 1]).call()
        })?,
    ]);
    rows.extend(transfers()?);
    rows.push(training()?);
    Ok(rows)
}

fn transfers() -> Result<Vec<Row>> {
    let (there, device) = (numbers(&[1 << 22])?, device()?);
    let here = there.to(Device::CPU)?;
    let up = move |count| {
        (0..count).try_for_each(|_| here.to(device).map(drop))?;
        backend::synchronize(device)
    };
    let down = move |count| (0..count).try_for_each(|_| there.to(Device::CPU).map(drop));
    Ok(vec![
        Row { name: "16 MiB to the device", run: Box::new(up) },
        Row { name: "16 MiB to the host", run: Box::new(down) },
    ])
}

/// A step of a perceptron of 64, 128 and 10 units by gradient descent, on 32 examples.
fn training() -> Result<Row> {
    let parameters =
        [&[64, 128][..], &[128], &[128, 10], &[10]].map(numbers).into_iter().collect::<Result<Vec<_>>>()?;
    let (x, classes, device) = (numbers(&[32, 64])?, numbers(&[32, 10])?, device()?);
    for parameter in &parameters {
        parameter.set_requires_grad(true)?;
    }
    let step = move || -> Result<()> {
        let [w1, b1, w2, b2] = &parameters[..] else { bail!(Internal, "four parameters") };
        let hidden = x.mm(w1)?.add(b1)?.relu()?;
        let scores = hidden.mm(w2)?.add(b2)?.log_softmax(1)?;
        scores.mul(&classes)?.sum()?.neg()?.backward()?;
        guard::no_grad(|| {
            parameters.iter().try_for_each(|parameter| {
                let gradient =
                    parameter.grad().ok_or_else(|| Error::new(ErrorKind::Internal, "no gradient"))?;
                aten::add__Tensor::call(&mut parameter.clone(), &gradient, (-1e-3).into())?;
                parameter.set_grad(None)
            })
        })
    };
    let run = move |count| {
        (0..count).try_for_each(|_| step())?;
        backend::synchronize(device)
    };
    Ok(Row { name: "training step, 64-128-10, 32 examples", run: Box::new(run) })
}

/// What is held of the device, and what was asked for.
pub(crate) fn memory() -> Result<String> {
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    Ok(backend::memory_stats(device()?)?.map_or_else(String::new, |stats| {
        format!(
            "{:.0} MiB asked for now, {:.0} at the most; {:.0} held of the device",
            mib(stats.requested),
            mib(stats.peak_allocated),
            mib(stats.reserved)
        )
    }))
}
