//! The time of a training step: forward, backward and AdamW, for a multi-layer perceptron, for the network of `digits` and
//! for a transformer block.
//!
//! Prints lines of `case nanoseconds kibibytes`, the last being the peak growth of the process; `training.sh` puts them next to
//! PyTorch's. With the name of a case as argument, such as `digits-32`, it runs only that one.

use std::fs;
use std::time::{Duration, Instant};

use glyphs_fused::glyphs_fused as glyphs;
use torch_library::prelude::*;
use torch_library_kernels::optim::{AdamW, Optimizer};
use torch_library_kernels::{aten, init};

const BUDGET: Duration = Duration::from_millis(700);

fn main() -> Result<()> {
    for batch in [1, 32, 128] {
        measure(
            "transformer",
            batch,
            &[
                &[64],
                &[64],
                &[192, 64],
                &[192],
                &[64, 64],
                &[64],
                &[64],
                &[64],
                &[256, 64],
                &[256],
                &[10, 256],
                &[10],
            ],
            transformer,
        )?;
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
        aten::linear::with(x, &parameters[2 * layer]).bias(&parameters[2 * layer + 1]).call()
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
    aten::linear::with(&flat, &parameters[4]).bias(&parameters[5]).call()
}

/// One block: self-attention of sixteen positions with four heads, then a perceptron.
fn transformer(parameters: &[Tensor], images: &Tensor) -> Result<Tensor> {
    let [g1, b1, w_in, b_in, w_out, b_out, g2, b2, w_up, b_up, w_down, b_down] = parameters else {
        bail!(Internal, "a block has twelve parameters")
    };
    let linear = |x: &Tensor, w, b| aten::linear::with(x, w).bias(Some(b)).call();
    let norm = |x: &Tensor, g, b| aten::layer_norm::with(x, &[64]).weight(Some(g)).bias(Some(b)).call();
    let x = aten::expand(&aten::reshape(images, &[-1, 1, 64])?, &[-1, 16, 64])?;
    let qkv = linear(&norm(&x, g1, b1)?, w_in, b_in)?;
    let heads = aten::permute(&aten::reshape(&qkv, &[-1, 16, 3, 4, 16])?, &[2, 0, 3, 1, 4])?;
    let [q, k, v] = [0, 1, 2].map(|index| aten::select_int(&heads, 0, index));
    let seen = aten::scaled_dot_product_attention(&q?, &k?, &v?)?;
    let seen = aten::reshape(&aten::transpose_int(&seen, 1, 2)?, &[-1, 16, 64])?;
    let x = aten::add_Tensor(&x, &linear(&seen, w_out, b_out)?)?;
    let up = aten::gelu(&linear(&norm(&x, g2, b2)?, w_up, b_up)?)?;
    aten::mean_dim::with(&linear(&up, w_down, b_down)?, Some(&[1])).call()
}

fn measure(
    name: &str,
    batch: i64,
    shapes: &[&[i64]],
    logits: fn(&[Tensor], &Tensor) -> Result<Tensor>,
) -> Result<()> {
    if std::env::args().nth(1).is_some_and(|case| case != "--bench" && case != format!("{name}-{batch}")) {
        return Ok(());
    }
    let _ = fs::write("/proc/self/clear_refs", "5"); // resets the peak
    let before = memory("VmRSS:");
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
    println!("{name}-{batch} {} {}", best.as_nanos(), memory("VmHWM:") - before);
    Ok(())
}

/// A field of `/proc/self/status`, in kibibytes.
fn memory(what: &str) -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let number = |line: &str| line.strip_prefix(what)?.split_whitespace().next()?.parse().ok();
    status.lines().find_map(number).unwrap_or(0)
}
