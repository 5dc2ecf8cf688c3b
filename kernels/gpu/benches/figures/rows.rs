//! The rows of the table: what is measured.

use torch_library::prelude::*;
use torch_library::tracer::trace;
use torch_library::{Error, backend, guard};
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use super::measure::Run;
use super::{Backend, Program, Row};

type Function = fn(&[Tensor]) -> Result<Tensor>;

impl Backend {
    fn numbers(&self, sizes: &[i64]) -> Result<Tensor> {
        let count = sizes.iter().product::<i64>();
        let here = Tensor::from_vec((0..count).map(|i| ((i as f32) * 0.77).sin()).collect(), sizes)?;
        here.to(self.device)
    }

    fn inputs(&self, sizes: &[&[i64]]) -> Result<Vec<Tensor>> {
        sizes.iter().map(|sizes| self.numbers(sizes)).collect()
    }

    fn run(&self, inputs: Vec<Tensor>, call: Program) -> Run<Error> {
        let device = self.device;
        Box::new(move |count| {
            guard::inference_mode(|| (0..count).try_for_each(|_| call(&inputs)))?;
            backend::synchronize(device)
        })
    }

    /// A row for a function of tensors of these sizes.
    fn row(&self, name: &'static str, sizes: &[&[i64]], f: Function) -> Result<Row> {
        let run = self.run(self.inputs(sizes)?, Box::new(move |inputs| f(inputs).map(drop)));
        Ok(Row { name, run, fused: None })
    }

    /// As [`row`](Self::row), for a function that can be fused.
    fn chain(&self, name: &'static str, sizes: &[&[i64]], f: Function) -> Result<Row> {
        let inputs = self.inputs(sizes)?;
        let fused = match self.fuse {
            Some(fuse) => Some(fuse(trace(&inputs, |inputs| Ok(vec![f(inputs)?]))?.1)),
            None => None,
        };
        let fused = fused.map(|program| self.run(inputs, program));
        Ok(Row { fused, ..self.row(name, sizes, f)? })
    }

    /// The rows for calls, for copies to the device and back, and for a training step.
    pub(super) fn rows(&self, is_large: bool) -> Result<Vec<Row>> {
        if is_large {
            return self.large_rows();
        }
        const WIDE: &[i64] = &[4096, 256];
        let long: &[&[i64]] = &[&[1 << 20], &[1 << 20], &[1 << 20]];
        let mut rows = vec![
            self.row("relu, 64", &[&[64]], |x| x[0].relu())?,
            self.chain("gelu(a × b + c), 1 048 576", long, gelu)?,
            self.chain("ten operators, 1 048 576", long, ten)?,
            self.chain("RMS norm, 4096×256", &[WIDE, &[256]], rms_norm)?,
            self.row("mm, 512", &[&[512, 512], &[512, 512]], |x| x[0].mm(&x[1]))?,
            self.row("mm, 1024", &[&[1024, 1024], &[1024, 1024]], |x| x[0].mm(&x[1]))?,
            self.row("softmax, 4096×256", &[WIDE], |x| x[0].softmax(1))?,
            self.row("layer norm, 4096×256", &[WIDE, &[256], &[256]], layer_norm)?,
            self.row("conv2d, 8×32×56×56, 64 of 3×3", &[&[8, 32, 56, 56], &[64, 32, 3, 3]], conv2d)?,
        ];
        rows.extend(self.transfers()?);
        rows.push(self.training()?);
        Ok(rows)
    }

    /// The rows with sizes that fill a GPU.
    fn large_rows(&self) -> Result<Vec<Row>> {
        const WIDE: &[i64] = &[16_384, 4096];
        let long: &[&[i64]] = &[&[1 << 26], &[1 << 26], &[1 << 26]];
        Ok(vec![
            self.chain("gelu(a × b + c), 67 108 864", long, gelu)?,
            self.chain("ten operators, 67 108 864", long, ten)?,
            self.chain("RMS norm, 16384×4096", &[WIDE, &[4096]], rms_norm)?,
            self.row("mm, 4096", &[&[4096, 4096], &[4096, 4096]], |x| x[0].mm(&x[1]))?,
            self.row("bmm, 64×512", &[&[64, 512, 512], &[64, 512, 512]], |x| x[0].bmm(&x[1]))?,
            self.row("softmax, 16384×4096", &[WIDE], |x| x[0].softmax(1))?,
            self.row("layer norm, 16384×4096", &[WIDE, &[4096], &[4096]], layer_norm)?,
            self.row("conv2d, 64×64×56×56, 64 of 3×3", &[&[64, 64, 56, 56], &[64, 64, 3, 3]], conv2d)?,
        ])
    }

    fn transfers(&self) -> Result<Vec<Row>> {
        let (there, device) = (self.numbers(&[1 << 22])?, self.device);
        let here = there.to(Device::CPU)?;
        let up = move |count| {
            (0..count).try_for_each(|_| here.to(device).map(drop))?;
            backend::synchronize(device)
        };
        let down = move |count| (0..count).try_for_each(|_| there.to(Device::CPU).map(drop));
        Ok(vec![
            Row { name: "16 MiB to the device", run: Box::new(up), fused: None },
            Row { name: "16 MiB to the host", run: Box::new(down), fused: None },
        ])
    }

    /// A step of a perceptron of 64, 128 and 10 units by gradient descent, on 32 examples.
    fn training(&self) -> Result<Row> {
        let parameters = self.inputs(&[&[64, 128], &[128], &[128, 10], &[10]])?;
        let (x, classes, device) = (self.numbers(&[32, 64])?, self.numbers(&[32, 10])?, self.device);
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
        Ok(Row { name: "training step, 64-128-10, 32 examples", run: Box::new(run), fused: None })
    }
}

fn gelu(x: &[Tensor]) -> Result<Tensor> {
    x[0].mul(&x[1])?.add(&x[2])?.gelu()
}

fn ten(x: &[Tensor]) -> Result<Tensor> {
    (0..5).try_fold(x[0].clone(), |y, _| y.mul(&x[1])?.add(&x[2]))
}

fn rms_norm(x: &[Tensor]) -> Result<Tensor> {
    let mean = aten::mean_dim::call(&x[0].mul(&x[0])?, Some(&[-1]), true, None)?;
    x[0].mul(&aten::rsqrt(&aten::add_Scalar(&mean, 1e-6.into())?)?)?.mul(&x[1])
}

fn layer_norm(x: &[Tensor]) -> Result<Tensor> {
    aten::layer_norm::with(&x[0], x[1].sizes()).weight(Some(&x[1])).bias(Some(&x[2])).call()
}

fn conv2d(x: &[Tensor]) -> Result<Tensor> {
    aten::conv2d::with(&x[0], &x[1]).padding(&[1, 1]).call()
}
