//! Element-wise losses of predictions and targets, in one pass over both.
//!
//! Other backends, and `vmap`, compose them of other operators.

use num_traits::Float;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::loss::{huber, reduced, reduced_or_not};
use crate::loops::Pointwise;
use crate::loops::match_opmath;

/// Computes the loss of each element.
macro_rules! losses {
    ($operator:ident, $inputs:expr, |$x:ident, $y:ident, $T:ident| $loss:expr) => {{
        let call = Pointwise::promoting(aten::$operator::NAME, $inputs)?;
        match_opmath!(call.dtype, $T: Float => {
            call.compute(None, call.dtype, move |[$x, $y]: [$T; 2]| $loss)
        }, else => Err(call.unsupported()))?
    }};
}

#[torch_impl(aten, CPU)]
mod kernels {
    use super::*;

    fn mse_loss(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
        let losses = losses!(mse_loss, [this, target], |x, y, T| (x - y) * (x - y));
        reduced(aten::mse_loss::NAME, losses, reduction)
    }

    fn smooth_l1_loss(this: &Tensor, target: &Tensor, reduction: i64, beta: f64) -> Result<Tensor> {
        ensure!(
            beta >= 0.0,
            Argument,
            "{}: beta is {beta}, must not be negative",
            aten::smooth_l1_loss::NAME
        );
        if beta == 0.0 {
            return aten::l1_loss::call(this, target, reduction);
        }
        let losses = losses!(smooth_l1_loss, [this, target], |x, y, T| {
            parabola_and_line((x - y).abs(), beta as T) / beta as T
        });
        reduced(aten::smooth_l1_loss::NAME, losses, reduction)
    }

    fn huber_loss(this: &Tensor, target: &Tensor, reduction: i64, delta: f64) -> Result<Tensor> {
        let is_usual = delta > 0.0 && this.dtype() == target.dtype() && this.dtype().is_floating_point();
        if !is_usual {
            return huber(this, target, reduction, delta);
        }
        let losses =
            losses!(huber_loss, [this, target], |x, y, T| { parabola_and_line((x - y).abs(), delta as T) });
        reduced_or_not(losses, reduction)
    }
}

/// Half the square of a distance up to a bound, and the line that continues it beyond.
#[inline(always)]
fn parabola_and_line<T: Float>(distance: T, bound: T) -> T {
    let half = T::one() / (T::one() + T::one());
    if distance < bound { half * distance * distance } else { bound * (distance - half * bound) }
}
