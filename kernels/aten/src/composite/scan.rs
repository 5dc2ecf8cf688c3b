//! Cumulative extremes, written to tensors that the caller gives.

use torch_library::prelude::*;

use crate::aten;
use crate::below_autograd::below_autograd;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn _cummax_helper(this: &Tensor, values: &mut Tensor, indices: &mut Tensor, dim: i64) -> Result<()> {
        write_both(aten::_cummax_helper::NAME, this, [values, indices], aten::cummax(this, dim)?)
    }

    fn _cummin_helper(this: &Tensor, values: &mut Tensor, indices: &mut Tensor, dim: i64) -> Result<()> {
        write_both(aten::_cummin_helper::NAME, this, [values, indices], aten::cummin(this, dim)?)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
fn _logcumsumexp(this: &Tensor, dim: i64) -> Result<Tensor> {
    aten::logcumsumexp(this, dim)
}

/// Writes results to tensors of the same sizes and dtypes.
fn write_both(
    operator: &str,
    this: &Tensor,
    targets: [&mut Tensor; 2],
    results: (Tensor, Tensor),
) -> Result<()> {
    for (target, result) in targets.into_iter().zip([results.0, results.1]) {
        ensure!(
            target.sizes() == this.sizes() && target.dtype() == result.dtype(),
            Argument,
            "{operator}: a result of {} and sizes {:?} cannot be written to a tensor of {} and sizes {:?}",
            result.dtype(),
            this.sizes(),
            target.dtype(),
            target.sizes()
        );
        target.check_no_internal_overlap()?;
        below_autograd(|| aten::copy_(target, &result).map(drop))?;
    }
    Ok(())
}
