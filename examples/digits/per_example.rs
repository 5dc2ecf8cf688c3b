//! The gradient of each example by itself: a gradient inside of vmap.

use torch_library::{Result, Tensor};
use torch_library_aten::prelude::*;
use torch_library_aten::vmap::{grads, vmap};

use crate::network;

/// How long the gradient of all parameters is for each image: sizes `[N]`.
///
/// # Errors
/// What operators return.
pub(crate) fn gradient_norms(parameters: &[Tensor], images: &Tensor, labels: &Tensor) -> Result<Tensor> {
    let parameters = parameters.iter().map(|parameter| parameter.detach()).collect::<Result<Vec<_>>>()?;
    vmap([images, labels], |[image, label]| {
        let (images, labels) = (image.unsqueeze(0)?, label.unsqueeze(0)?);
        let gradients = grads(&parameters, |parameters| network::loss(parameters, &images, &labels))?;
        let squares = gradients.iter().map(|gradient| gradient.mul(gradient)?.sum());
        squares.reduce(|sum, square| sum?.add(&square?)).expect("a network has parameters")?.sqrt()
    })
}
