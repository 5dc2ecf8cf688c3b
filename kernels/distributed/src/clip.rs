//! Clipping gradients by their norm.

use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::prelude::*;

/// Scales the gradients of parameters, all by one factor, if their total norm is larger than `max_norm`. Returns the
/// norm before that.
///
/// If the gradients are the same on all ranks, as after [`finish`](crate::DistributedDataParallel::finish), each rank
/// computes the same.
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
/// Those of the operators that it calls.
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

/// Scales gradients with the norm `norm` so that it becomes `max_norm`, if that is less.
pub(crate) fn scale(grads: &[Tensor], norm: f64, max_norm: f64) -> Result<f64> {
    let factor = max_norm / (norm + 1e-6); // PyTorch's formula, which does not divide by zero
    if factor < 1.0 {
        for grad in grads {
            grad.clone().mul_(factor)?;
        }
    }
    Ok(norm)
}
