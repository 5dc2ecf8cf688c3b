//! Per-example gradients: a gradient inside of vmap.

use torch_library::{Result, Tensor};
use torch_library_aten::prelude::*;
use torch_library_aten::vmap::{grads, vmap};

use crate::network;

/// The norm of the gradient of all parameters for each image: sizes `[N]`.
///
/// # Errors
/// Errors of operators.
pub(crate) fn gradient_norms(parameters: &[Tensor], images: &Tensor, labels: &Tensor) -> Result<Tensor> {
    let parameters = parameters.iter().map(|parameter| parameter.detach()).collect::<Result<Vec<_>>>()?;
    vmap([images, labels], |[image, label]| {
        let (images, labels) = (image.unsqueeze(0)?, label.unsqueeze(0)?);
        let gradients = grads(&parameters, |parameters| network::loss(parameters, &images, &labels))?;
        let squares = gradients.iter().map(|gradient| gradient.mul(gradient)?.sum());
        squares.reduce(|sum, square| sum?.add(&square?)).expect("a network has parameters")?.sqrt()
    })
}
