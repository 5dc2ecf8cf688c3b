//! The gradients of views, written into zeros with the sizes of the views' inputs.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;
use crate::composite::{collected, vector};

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd)]
mod derived {
    use super::*;

    fn diagonal_backward(
        grad_output: &Tensor,
        input_sizes: &[i64],
        offset: i64,
        dim1: i64,
        dim2: i64,
    ) -> Result<Tensor> {
        let out = aten::new_zeros(grad_output, input_sizes)?;
        below_autograd(|| {
            aten::copy_(&mut aten::diagonal::call(&out, offset, dim1, dim2)?, grad_output).map(drop)
        })
        .map_err(|error| error.context(aten::diagonal_backward::NAME))?;
        Ok(out)
    }

    fn unfold_backward(
        grad_in: &Tensor,
        input_sizes: &[i64],
        dim: i64,
        size: i64,
        step: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::unfold_backward::NAME;
        let out = aten::new_zeros(grad_in, input_sizes)?;
        let windows = aten::unfold(&out, dim, size, step).map_err(|error| error.context(OPERATOR))?;
        let grad_in = &aten::expand(grad_in, windows.sizes()).map_err(|error| error.context(OPERATOR))?;
        if input_sizes.is_empty() {
            return aten::reshape(&aten::clone(grad_in)?, &[]);
        }
        let dim = wrap_dim(dim, input_sizes.len())?;
        let count = windows.sizes()[dim];
        let places = collected(OPERATOR, count.saturating_mul(size), |at| at / size * step + at % size)?;
        let places = vector(places, grad_in.device())?;
        // The elements of each window, which are the last dimension, next to the dimension of windows.
        let beside = aten::movedim_int(grad_in, -1, dim as i64 + 1)?;
        let grads = aten::flatten_using_ints::call(&beside, dim as i64, dim as i64 + 1)?;
        aten::index_add(&out, dim as i64, &places, &grads)
    }
}
