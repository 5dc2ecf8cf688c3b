//! The gradients of element-wise losses of predictions and targets, from the gradient of the loss.

use torch_library::Element;
use torch_library::can_cast;
use torch_library::geometry::infer_size;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::loss::MEAN;
use crate::functions::Functions;
use crate::loops::Pointwise;
use crate::loops::match_opmath;

/// The gradient, by a formula for each distance and gradient: in the type of floats, or in `f64`.
macro_rules! gradient {
    ($distance:expr, |$x:ident, $grad:ident, $T:ident| $value:expr) => {{
        let Distance { call, this } = &$distance;
        match_opmath!(call.dtype, $T: Float => {
            call.compute(None, this.dtype(), move |[x, target, $grad]: [$T; 3]| {
                let $x = x - target;
                $value
            })
        }, else => {
            type $T = f64;
            call.compute(None, this.dtype(), move |[x, target, $grad]: [$T; 3]| {
                let $x = x - target;
                $value
            })
        })
    }};
}

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn mse_loss_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        reduction: i64,
    ) -> Result<Tensor> {
        let distance = Distance::new(aten::mse_loss_backward::NAME, this, target, grad_output)?;
        let factor = distance.factor(reduction, 2.0);
        distance.check(true)?;
        gradient!(distance, |x, grad, T| factor as T * x * grad)
    }

    fn smooth_l1_loss_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        reduction: i64,
        beta: f64,
    ) -> Result<Tensor> {
        let distance = Distance::new(aten::smooth_l1_loss_backward::NAME, this, target, grad_output)?;
        let factor = distance.factor(reduction, 1.0);
        let beta = if distance.is_whole() { beta.trunc() } else { beta };
        distance.check(true)?;
        gradient!(distance, |x, grad, T| {
            let (factor, beta) = (factor as T, beta as T);
            match x {
                x if x <= -beta => -factor * grad,
                x if x >= beta => factor * grad,
                x => factor * x * grad / beta,
            }
        })
    }

    fn huber_loss_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        reduction: i64,
        delta: f64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::huber_loss_backward::NAME;
        let other = [target, grad_output].into_iter().find(|tensor| tensor.dtype() != this.dtype());
        if let Some(other) = other {
            bail!(
                DType,
                "{OPERATOR}: an input of {} and a tensor of {}, expected one type",
                this.dtype(),
                other.dtype()
            );
        }
        let distance = Distance::new(OPERATOR, this, target, grad_output)?;
        let factor = distance.factor(reduction, 1.0);
        distance.check(false)?;
        gradient!(distance, |x, grad, T| {
            let (factor, delta) = (factor as T, delta as T);
            match x {
                x if x <= -delta => -factor * grad * delta,
                x if x >= delta => factor * grad * delta,
                x => factor * x * grad,
            }
        })
    }

    fn soft_margin_loss_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        reduction: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::soft_margin_loss_backward::NAME;
        let call = Pointwise::promoting(OPERATOR, [target, this, grad_output])?;
        let sizes = infer_size(this.sizes(), target.sizes()).map_err(|error| error.context(OPERATOR))?;
        ensure!(
            call.sizes() == &*sizes,
            Shape,
            "{OPERATOR}: a gradient of sizes {:?} does not broadcast to those of input and target, {sizes:?}",
            grad_output.sizes()
        );
        check_type(OPERATOR, this, call.dtype)?;
        let share = if reduction == MEAN { 1.0 / this.numel() as f64 } else { 1.0 };
        match_opmath!(call.dtype, T: Float => {
            let share: T = share.cast();
            call.compute(None, this.dtype(), move |[target, x, grad]: [T; 3]| {
                -(target * (-(target * x)).logistic()) * share * grad
            })
        }, else => Err(call.unsupported()))
    }
}

/// An input, its target, and the gradient of their loss.
struct Distance<'a> {
    call: Pointwise<'a, 3>,
    this: &'a Tensor,
}

impl<'a> Distance<'a> {
    fn new(operator: &'static str, this: &'a Tensor, target: &'a Tensor, grad: &'a Tensor) -> Result<Self> {
        let call = Pointwise::promoting(operator, [this, target, grad])?.strided_like_first();
        check_type(operator, this, call.dtype)?;
        Ok(Distance { call, this })
    }

    fn is_whole(&self) -> bool {
        !self.call.dtype.is_floating_point()
    }

    /// The factor of each element's derivative, truncated to an integer for integer types.
    fn factor(&self, reduction: i64, factor: f64) -> f64 {
        let factor = if reduction == MEAN { factor / self.this.numel() as f64 } else { factor };
        if self.is_whole() { factor.trunc() } else { factor }
    }

    /// Checks that there is a gradient for the type of the operands.
    fn check(&self, of_integers: bool) -> Result<()> {
        let dtype = self.call.dtype;
        let is_fit = dtype.is_floating_point() || of_integers && !dtype.is_complex() && dtype != DType::Bool;
        if is_fit { Ok(()) } else { Err(self.call.unsupported()) }
    }
}

/// Checks that the gradient can be converted to the type of the input.
fn check_type(operator: &str, this: &Tensor, dtype: DType) -> Result<()> {
    ensure!(
        can_cast(dtype, this.dtype()),
        DType,
        "{operator}: a gradient of {dtype} for an input of {}, whose type the result has",
        this.dtype()
    );
    Ok(())
}
