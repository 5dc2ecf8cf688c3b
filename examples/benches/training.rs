//! What a step of training takes: forward, backward and AdamW, for a multi-layer perceptron and for the network of `digits`.
//!
//! Prints `case nanoseconds` lines; `training.sh` puts them beside those of PyTorch.

use std::time::{Duration, Instant};

use glyphs_fused::glyphs_fused as glyphs;
use torch_library::prelude::*;
use torch_library_kernels::optim::{AdamW, Optimizer};
use torch_library_kernels::{aten, init};

const BUDGET: Duration = Duration::from_millis(700);

fn main() -> Result<()> {
    for batch in [1, 32, 128] {
        measure(
            "perceptron",
            batch,
            &[&[256, 64], &[256], &[256, 256], &[256], &[10, 256], &[10]],
            perceptron,
        )?;
        measure(
            "digits",
            batch,
            &[&[16, 1, 3, 3], &[16], &[32, 16, 3, 3], &[32], &[10, 512], &[10]],
            convolutional,
        )?;
    }
    Ok(())
}

fn perceptron(parameters: &[Tensor], images: &Tensor) -> Result<Tensor> {
    let images = aten::reshape(images, &[-1, 64])?;
    let layer = |x: &Tensor, layer: usize| {
        aten::linear::with(x, &parameters[2 * layer]).bias(Some(&parameters[2 * layer + 1])).call()
    };
    layer(&aten::relu(&layer(&aten::relu(&layer(&images, 0)?)?, 1)?)?, 2)
}

fn convolutional(parameters: &[Tensor], images: &Tensor) -> Result<Tensor> {
    let convolve = |x: &Tensor, layer: usize| {
        let x = aten::conv2d::with(x, &parameters[2 * layer]).padding(&[1, 1]).call()?;
        glyphs::biased_relu(&x, &parameters[2 * layer + 1])
    };
    let seen = aten::max_pool2d(&convolve(&convolve(images, 0)?, 1)?, &[2, 2])?;
    let flat = aten::flatten_using_ints::with(&seen).start_dim(1).call()?;
    aten::linear::with(&flat, &parameters[4]).bias(Some(&parameters[5])).call()
}

fn measure(
    name: &str,
    batch: i64,
    shapes: &[&[i64]],
    logits: fn(&[Tensor], &Tensor) -> Result<Tensor>,
) -> Result<()> {
    let generator = Generator::with_seed(0);
    let parameters = shapes.iter().map(|shape| init::uniform(shape, -0.1, 0.1, &generator));
    let mut optimizer = AdamW::new(parameters.collect::<Result<Vec<_>>>()?, 1e-3)?;
    let images = init::uniform(&[batch, 1, 8, 8], 0.0, 1.0, &generator)?;
    images.set_requires_grad(false)?;
    let labels = Tensor::from((0..batch).map(|index| index % 10).collect::<Vec<i64>>());
    let mut step = || {
        optimizer.zero_grad()?;
        aten::cross_entropy_loss(&logits(optimizer.parameters(), &images)?, &labels)?.backward()?;
        optimizer.step()
    };
    for _ in 0..5 {
        step()?;
    }
    let (mut best, start) = (Duration::MAX, Instant::now());
    while start.elapsed() < BUDGET {
        let begin = Instant::now();
        step()?;
        best = best.min(begin.elapsed());
    }
    println!("{name}-{batch} {}", best.as_nanos());
    Ok(())
}
