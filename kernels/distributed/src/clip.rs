//! Clipping gradients by their norm.

use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library_kernels::aten;
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

/// The sum of the squares of the absolute values of all elements, in `float64`: those of 16-bit floats overflow.
pub(crate) fn square(tensor: &Tensor) -> Result<f64> {
    let dtype = if tensor.dtype().is_complex() { DType::Complex128 } else { DType::Float64 };
    let norm: f64 = aten::linalg_vector_norm::with(tensor).dtype(dtype).call()?.item()?.to()?;
    Ok(norm * norm)
}

/// Scales gradients with the norm `norm` so that it becomes `max_norm`, if that is less.
pub(crate) fn scale(grads: &[Tensor], norm: f64, max_norm: f64) -> Result<f64> {
    let factor = max_norm / (norm + 1e-6); // PyTorch's formula, which does not divide by zero
    // A norm that is NaN makes all gradients NaN, so that it is noticed.
    if factor < 1.0 || factor.is_nan() {
        for grad in grads {
            grad.clone().mul_(factor)?;
        }
    }
    Ok(norm)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_gradient(gradient: Tensor) -> Result<Tensor> {
        let x = gradient.mul(0)?;
        x.set_requires_grad(true)?;
        x.set_grad(Some(gradient))?;
        Ok(x)
    }

    #[test]
    fn norms_are_computed_in_double_precision_and_of_complex_numbers() -> Result<()> {
        let halves = with_gradient(Tensor::from([300.0, 0.0]).to_dtype(DType::Float16)?)?;
        assert_eq!(clip_grad_norm_(std::slice::from_ref(&halves), 1.0)?, 300.0, "300² is no float16");
        let clipped = halves.grad().expect("it was set").to_dtype(DType::Float64)?.to_vec::<f64>()?;
        assert!((clipped[0] - 1.0).abs() < 1e-3 && clipped[1] == 0.0, "{clipped:?}");
        let complex = with_gradient(Tensor::from([Complex64::new(0.0, 3.0), Complex64::new(4.0, 0.0)]))?;
        assert_eq!(clip_grad_norm_(&[complex], 10.0)?, 5.0);
        let unknown = with_gradient(Tensor::from([f64::NAN, 1.0]))?;
        assert!(clip_grad_norm_(std::slice::from_ref(&unknown), 1.0)?.is_nan());
        assert!(unknown.grad().expect("it was set").to_vec::<f64>()?[1].is_nan());
        Ok(())
    }
}
