//! Initialisation of parameters: `float32` tensors that require a gradient, with random numbers from a seeded
//! generator, which are those that PyTorch draws from the same seed.
//!
//! ```
//! use torch_library::prelude::*;
//! use torch_library_kernels::init;
//!
//! let generator = Generator::with_seed(7);
//! let weight = init::kaiming_uniform(&[16, 1, 3, 3], &generator)?;
//! assert!(weight.requires_grad());
//! let same = init::kaiming_uniform(&[16, 1, 3, 3], &Generator::with_seed(7))?;
//! assert_eq!(weight.to_vec::<f32>()?, same.to_vec::<f32>()?);
//! assert_eq!(init::ones(&[2])?.to_vec::<f32>()?, [1.0, 1.0]); // the weight of a normalisation
//! # Ok::<(), Error>(())
//! ```

use torch_library::geometry::numel;
use torch_library::prelude::*;

use crate::aten;

/// Uniformly distributed numbers from `low` to `high`.
///
/// # Errors
/// Negative sizes.
///
/// PyTorch: `torch.nn.init.uniform_`.
pub fn uniform(sizes: &[i64], low: f64, high: f64, generator: &Generator) -> Result<Tensor> {
    let mut tensor = zeroed(sizes)?;
    aten::uniform_::with(&mut tensor).from(low).to(high).generator(generator).call()?;
    parameter(tensor)
}

/// Zeros.
///
/// # Errors
/// Negative sizes.
///
/// PyTorch: `torch.nn.init.zeros_`.
pub fn zeros(sizes: &[i64]) -> Result<Tensor> {
    parameter(zeroed(sizes)?)
}

/// Ones, with which the weights of normalisation layers begin.
///
/// # Errors
/// Negative sizes.
///
/// PyTorch: `torch.nn.init.ones_`.
pub fn ones(sizes: &[i64]) -> Result<Tensor> {
    parameter(aten::ones::with(sizes).dtype(DType::Float32).call()?)
}

/// Normally distributed numbers.
///
/// # Errors
/// Negative sizes.
///
/// PyTorch: `torch.nn.init.normal_`.
pub fn normal(sizes: &[i64], mean: f64, std: f64, generator: &Generator) -> Result<Tensor> {
    let mut tensor = zeroed(sizes)?;
    aten::normal_::with(&mut tensor).mean(mean).std(std).generator(generator).call()?;
    parameter(tensor)
}

/// Uniform numbers that keep the scale of signals through layers with ReLU.
///
/// # Errors
/// Negative sizes, or fewer than two.
///
/// PyTorch: `torch.nn.init.kaiming_uniform_(nonlinearity="relu")`.
pub fn kaiming_uniform(sizes: &[i64], generator: &Generator) -> Result<Tensor> {
    let bound = (6.0 / fan_in(sizes)?).sqrt();
    uniform(sizes, -bound, bound, generator)
}

/// Normally distributed numbers that keep the scale of signals through layers with ReLU.
///
/// # Errors
/// Negative sizes, or fewer than two.
///
/// PyTorch: `torch.nn.init.kaiming_normal_(nonlinearity="relu")`.
pub fn kaiming_normal(sizes: &[i64], generator: &Generator) -> Result<Tensor> {
    normal(sizes, 0.0, (2.0 / fan_in(sizes)?).sqrt(), generator)
}

/// The fan-in of a weight: the number of inputs of each output.
fn fan_in(sizes: &[i64]) -> Result<f64> {
    match sizes {
        [_, inputs @ ..] if !inputs.is_empty() => Ok(numel(inputs)?.max(1) as f64),
        _ => bail!(Shape, "a weight has sizes [outputs, inputs, …], {sizes:?} has no inputs"),
    }
}

fn zeroed(sizes: &[i64]) -> Result<Tensor> {
    aten::zeros::with(sizes).dtype(DType::Float32).call()
}

fn parameter(tensor: Tensor) -> Result<Tensor> {
    tensor.set_requires_grad(true)?;
    Ok(tensor)
}
