//! Gradients that are not too long.

use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::prelude::*;

/// Shortens the gradients of parameters, all by one factor, if together they are longer than `max_norm`. Returns
/// how long they were.
///
/// Where the gradients are the same on all ranks, as behind
/// [`finish`](crate::DistributedDataParallel::finish), each rank does the same.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_distributed::clip_grad_norm_;
///
/// let x = Tensor::from([0.0, 0.0]);
/// x.set_requires_grad(true)?;
/// x.set_grad(Some(Tensor::from([3.0, 4.0])))?;
/// assert_eq!(clip_grad_norm_(&[x.clone()], 1.0)?, 5.0);
/// let shorter = x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?.unwrap_or_default();
/// assert!((shorter[0] - 0.6).abs() < 1e-6);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// None of its own.
///
/// PyTorch: `torch.nn.utils.clip_grad_norm_`.
pub fn clip_grad_norm_(parameters: &[Tensor], max_norm: f64) -> Result<f64> {
    let grads: Vec<Tensor> = parameters.iter().filter_map(Tensor::grad).collect();
    no_grad(|| {
        let squares = grads.iter().map(square).sum::<Result<f64>>()?;
        scale(&grads, squares.sqrt(), max_norm)
    })
}

/// The sum of the squares of a tensor's elements.
pub(crate) fn square(tensor: &Tensor) -> Result<f64> {
    tensor.mul(tensor)?.sum()?.item()?.to()
}

/// Multiplies gradients of this norm by what makes it `max_norm`, if that is less.
pub(crate) fn scale(grads: &[Tensor], norm: f64, max_norm: f64) -> Result<f64> {
    let factor = max_norm / (norm + 1e-6); // PyTorch's, which divides by no zero
    if factor < 1.0 {
        for grad in grads {
            grad.clone().mul_(factor)?;
        }
    }
    Ok(norm)
}
