//! Clipping of gradients, between `backward` and a step.

use torch_library::guard::no_grad;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

/// Scales all gradients together, so that their norm, as that of one long vector, is at most `max_norm`. Returns the
/// norm that they had, a tensor without dimensions.
///
/// `norm_type` is the order of the norm, usually 2; infinity is for the greatest magnitude. Parameters without a
/// gradient are passed over. A norm that is infinite or NaN makes the gradients zeros or NaN, as in PyTorch: check the
/// result of [`get_total_norm`] first where that may happen, as with a loss in lower precision.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::optim::{Optimizer, Sgd, clip_grad_norm_};
/// use torch_library_kernels::prelude::*;
///
/// let x = Tensor::from([3.0, 4.0]);
/// x.set_requires_grad(true)?;
/// let mut optimizer = Sgd::new([x.clone()], 0.1)?;
/// x.mul(&x)?.sum()?.backward()?; // the gradient is [6, 8]
/// let norm = clip_grad_norm_(optimizer.parameters(), 1.0, 2.0)?;
/// assert!((norm.item()?.to::<f64>()? - 10.0).abs() < 1e-9);
/// let grad = x.grad().expect("a gradient").to_vec::<f64>()?;
/// assert!((grad[0] - 0.6).abs() < 1e-6 && (grad[1] - 0.8).abs() < 1e-6);
/// optimizer.step()?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// A norm that is negative or NaN, gradients of types that have no norm.
///
/// PyTorch: `torch.nn.utils.clip_grad_norm_`.
pub fn clip_grad_norm_(parameters: &[Tensor], max_norm: f64, norm_type: f64) -> Result<Tensor> {
    let total_norm = get_total_norm(&gradients(parameters), norm_type)?;
    clip_grads_with_norm_(parameters, max_norm, &total_norm)?;
    Ok(total_norm)
}

/// Scales all gradients by the same number, so that a norm that is already known becomes at most `max_norm`.
///
/// # Errors
/// A `max_norm` that is negative or NaN, a norm that is not one number.
///
/// PyTorch: `torch.nn.utils.clip_grads_with_norm_`.
pub fn clip_grads_with_norm_(parameters: &[Tensor], max_norm: f64, total_norm: &Tensor) -> Result<()> {
    ensure!(max_norm >= 0.0, Argument, "clip_grad_norm_: max_norm is {max_norm}, must not be negative");
    ensure!(total_norm.numel() == 1, Shape, "clip_grad_norm_: a norm of sizes {:?}", total_norm.sizes());
    no_grad(|| {
        // A reciprocal and a product, rounded twice as in PyTorch.
        let factor = total_norm.add(1e-6)?.reciprocal()?.mul(max_norm)?.clamp_max(1.0.into())?;
        gradients(parameters).iter_mut().try_for_each(|grad| {
            let factor = factor.to(grad.device())?;
            grad.mul_(&factor).map(drop)
        })
    })
}

/// The norm of some tensors, as if they were one long vector: a tensor without dimensions, zero for no tensors.
///
/// # Errors
/// Tensors of types that have no norm.
///
/// PyTorch: `torch.nn.utils.get_total_norm`.
pub fn get_total_norm(tensors: &[Tensor], norm_type: f64) -> Result<Tensor> {
    let norm = |tensor: &Tensor| aten::linalg_vector_norm::with(tensor).ord(norm_type).call();
    let Some(first) = tensors.first() else { return Ok(0f32.into()) };
    no_grad(|| {
        let norms =
            tensors.iter().map(|tensor| norm(tensor)?.to(first.device())).collect::<Result<Vec<_>>>()?;
        norm(&aten::stack::call(&norms, 0)?)
    })
}

/// Limits each element of all gradients to the range from `-clip_value` to `clip_value`.
///
/// # Errors
/// A value that is negative or NaN, gradients of types that have no order.
///
/// PyTorch: `torch.nn.utils.clip_grad_value_`.
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library_kernels::optim::clip_grad_value_;
/// use torch_library_kernels::prelude::*;
///
/// let x = Tensor::from([3.0, -0.125]);
/// x.set_requires_grad(true)?;
/// x.mul(&x)?.sum()?.backward()?; // the gradient is [6, -0.25]
/// clip_grad_value_(&[x.clone()], 0.5)?;
/// assert_eq!(x.grad().map(|grad| grad.to_vec::<f64>()).transpose()?, Some(vec![0.5, -0.25]));
/// # Ok::<(), Error>(())
/// ```
pub fn clip_grad_value_(parameters: &[Tensor], clip_value: f64) -> Result<()> {
    ensure!(
        clip_value >= 0.0,
        Argument,
        "clip_grad_value_: clip_value is {clip_value}, must not be negative"
    );
    no_grad(|| {
        gradients(parameters)
            .iter_mut()
            .try_for_each(|grad| aten::clamp_::with(grad).min(-clip_value).max(clip_value).call().map(drop))
    })
}

/// The gradients of the parameters that have one. These are handles: writing to them changes the gradients.
fn gradients(parameters: &[Tensor]) -> Vec<Tensor> {
    parameters.iter().filter_map(Tensor::grad).collect()
}
