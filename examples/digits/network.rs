//! The network: two convolutions, each followed by the fused operator of a third crate, and a linear layer.

use glyphs_fused::glyphs_fused as glyphs;
use torch_library::guard::no_grad;
use torch_library::{Device, Generator, Result, Tensor};
use torch_library_aten::aten;
use torch_library_aten::prelude::*;
use torch_library_nn::init;
use torch_library_nn::loader::Batches;

use crate::data::{CLASSES, SIDE};

/// The number of images to classify at once: activations take fifty times the memory of the images.
const AT_ONCE: usize = 2048;
/// The output channels of the convolutions.
const CHANNELS: [i64; 2] = [16, 32];
const NAMES: [&str; 6] =
    ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "out.weight", "out.bias"];

/// The parameters.
pub(crate) struct Network {
    pub(crate) parameters: Vec<Tensor>,
}

impl Network {
    /// A network with random initial weights.
    ///
    /// # Errors
    /// None of its own.
    pub(crate) fn new(generator: &Generator) -> Result<Network> {
        let ([first, second], classes) = (CHANNELS, i64::from(CLASSES));
        let pooled = (SIDE * SIDE / 4) as i64;
        let parameters = vec![
            init::kaiming_uniform(&[first, 1, 3, 3], generator)?,
            init::zeros(&[first])?,
            init::kaiming_uniform(&[second, first, 3, 3], generator)?,
            init::zeros(&[second])?,
            init::kaiming_uniform(&[classes, second * pooled], generator)?,
            init::zeros(&[classes])?,
        ];
        Ok(Network { parameters })
    }

    /// The network, moved to a device.
    ///
    /// # Errors
    /// Errors of operators.
    pub(crate) fn on(self, device: Device) -> Result<Network> {
        if device == Device::CPU {
            return Ok(self);
        }
        let moved = |parameter: &Tensor| {
            let leaf = no_grad(|| parameter.to(device))?;
            leaf.set_requires_grad(true)?;
            Ok(leaf)
        };
        Ok(Network { parameters: self.parameters.iter().map(moved).collect::<Result<_>>()? })
    }

    /// The parameters with their names.
    pub(crate) fn named(&self) -> impl Iterator<Item = (String, Tensor)> {
        NAMES.iter().zip(&self.parameters).map(|(name, parameter)| ((*name).to_owned(), parameter.clone()))
    }

    /// The most likely class of each image.
    ///
    /// # Errors
    /// Images of other sizes than `[N, 1, 8, 8]`.
    pub(crate) fn classify(&self, images: &Tensor) -> Result<Vec<i64>> {
        let mut classes = Vec::new();
        for batch in Batches::new([images], AT_ONCE)? {
            let [images] = batch?;
            let images = images.to(self.parameters[0].device())?;
            let found = no_grad(|| logits(&self.parameters, &images)?.argmax(1, false))?;
            classes.extend(found.to_vec::<i64>()?);
        }
        Ok(classes)
    }
}

/// The logits of each class for each image: sizes `[N, 10]`.
///
/// # Errors
/// Images of other sizes than `[N, 1, 8, 8]`, parameters that are not those of a [`Network`].
pub(crate) fn logits(parameters: &[Tensor], images: &Tensor) -> Result<Tensor> {
    let convolve = |images: &Tensor, layer: usize| {
        let [weight, bias] = [&parameters[2 * layer], &parameters[2 * layer + 1]];
        glyphs::biased_relu(&aten::conv2d::with(images, weight).padding(&[1, 1]).call()?, bias)
    };
    let seen = aten::max_pool2d(&convolve(&convolve(images, 0)?, 1)?, &[2, 2])?;
    let flat = aten::flatten_using_ints::with(&seen).start_dim(1).call()?;
    aten::linear::with(&flat, &parameters[4]).bias(&parameters[5]).call()
}

/// The mean cross-entropy of the logits, as one number.
///
/// # Errors
/// The errors of [`logits`]; labels that are not classes.
pub(crate) fn loss(parameters: &[Tensor], images: &Tensor, labels: &Tensor) -> Result<Tensor> {
    aten::cross_entropy_loss(&logits(parameters, images)?, labels)
}
