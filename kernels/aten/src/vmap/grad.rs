//! Gradients of functions, which vmap turns into the gradients of each example.

use torch_library::autograd::{self, GradOptions};
use torch_library::guard::enable_grad;
use torch_library::prelude::*;
use torch_library::vmap::Level;

use crate::aten;

/// The gradients of the scalar result of a function with respect to its inputs.
///
/// Inside of [`vmap`](super::vmap()) they are the gradients of each example, also with respect to inputs that all
/// examples share:
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::{aten, vmap::{grad, vmap}};
///
/// let (rows, weight) = (Tensor::from([[1.0, 2.0], [3.0, 4.0]]), Tensor::from([10.0, 20.0]));
/// let per_example = vmap([&rows], |[row]| {
///     let [gradient] = grad([&weight], |[weight]| {
///         let product = aten::dot(&row, &weight)?;
///         aten::mul_Tensor(&product, &product)
///     })?;
///     Ok(gradient)
/// })?;
/// assert_eq!(per_example.to_vec::<f64>()?, [100.0, 200.0, 660.0, 880.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// A result that is not a single number or does not depend on the inputs; errors of the function and of the derivative
/// formulas.
///
/// PyTorch: `torch.func.grad`.
pub fn grad<const N: usize>(
    inputs: [&Tensor; N],
    f: impl FnOnce([Tensor; N]) -> Result<Tensor>,
) -> Result<[Tensor; N]> {
    let same_number = || unreachable!("as many as there are inputs");
    let one_result = |inputs: &[Tensor]| f(inputs.to_vec().try_into().unwrap_or_else(|_| same_number()));
    let gradients = grads(&inputs.map(Clone::clone), one_result)?;
    Ok(gradients.try_into().unwrap_or_else(|_| same_number()))
}

/// Like [`grad`], for any number of inputs. The gradient is zero for an input that the result does not depend on.
///
/// # Errors
/// The errors of [`grad`].
pub fn grads(inputs: &[Tensor], f: impl FnOnce(&[Tensor]) -> Result<Tensor>) -> Result<Vec<Tensor>> {
    let guard = Level::enter_grad()?;
    let level = guard.level();
    // Leaves of a new graph; their values keep the history that they have outside.
    let leaves = inputs.iter().map(|input| level.wrap_shared(input.clone())).collect::<Result<Vec<_>>>()?;
    leaves.iter().try_for_each(|leaf| leaf.set_requires_grad(true))?;
    let result = enable_grad(|| f(&leaves))?;
    ensure!(
        result.numel() == 1,
        Shape,
        "the result has sizes {:?}, a gradient needs a single number",
        result.sizes()
    );
    // A result that does not depend on the leaves may still require a gradient outside.
    if !(level.wraps(&result) && result.requires_grad()) {
        return inputs.iter().map(aten::zeros_like).collect();
    }
    let options = GradOptions::new().allow_unused(true);
    let gradients = autograd::grad(&[&result], &leaves.iter().collect::<Vec<_>>(), &[], options)?;
    let gradients = gradients.into_iter().zip(inputs);
    gradients
        .map(|(gradient, input)| match gradient {
            Some(gradient) => Ok(level.unwrap(&gradient).0),
            None => aten::zeros_like(input),
        })
        .collect()
}
