//! `rrelu`, the leaky ReLU with random slopes, and its derivative; a derivative of `gelu` that has all derivatives.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn rrelu(
        this: &Tensor,
        lower: Scalar,
        upper: Scalar,
        training: bool,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        check(aten::rrelu::NAME, lower, upper)?;
        let mut noise = noise_for(this, training)?;
        aten::rrelu_with_noise::call(this, &mut noise, lower, upper, training, generator)
    }

    fn rrelu_<'a>(
        this: &'a mut Tensor,
        lower: Scalar,
        upper: Scalar,
        training: bool,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        check(aten::rrelu_::NAME, lower, upper)?;
        let mut noise = noise_for(this, training)?;
        aten::rrelu_with_noise_::call(this, &mut noise, lower, upper, training, generator)
    }

    fn infinitely_differentiable_gelu_backward(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
        let below = aten::add_Scalar(&aten::erf(&this.mul(FRAC_1_SQRT_2)?)?, 1.into())?.mul(0.5)?;
        let density = aten::exp(&this.mul(this)?.mul(-0.5)?)?.mul(0.5 * FRAC_1_SQRT_2 * FRAC_2_SQRT_PI)?;
        grad.mul(&below.add(&this.mul(&density)?)?)
    }
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod explicit {
    use super::*;

    fn rrelu_with_noise_functional(
        this: &Tensor,
        noise: &Tensor,
        lower: Scalar,
        upper: Scalar,
        training: bool,
        generator: Option<&Generator>,
    ) -> Result<(Tensor, Tensor)> {
        let mut noise = aten::clone(noise)?;
        let out = aten::rrelu_with_noise::call(this, &mut noise, lower, upper, training, generator)?;
        Ok((out, noise))
    }
}

#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
fn rrelu_with_noise_backward(
    grad_output: &Tensor,
    this: &Tensor,
    noise: &Tensor,
    lower: Scalar,
    upper: Scalar,
    training: bool,
    self_is_result: bool,
) -> Result<Tensor> {
    let number = |bound: Scalar| {
        bound.to::<f64>().map_err(|error| error.context(aten::rrelu_with_noise_backward::NAME))
    };
    let (lower, upper) = (number(lower)?, number(upper)?);
    match training && upper - lower > 1e-6 {
        true => aten::mul_Tensor(noise, grad_output),
        false => aten::leaky_relu_backward(grad_output, this, ((lower + upper) / 2.0).into(), self_is_result),
    }
}

/// A tensor for the slopes; outside of training it is zero, so that results are reproducible.
fn noise_for(this: &Tensor, training: bool) -> Result<Tensor> {
    if training { aten::empty_like(this) } else { aten::zeros_like(this) }
}

fn check(operator: &str, lower: Scalar, upper: Scalar) -> Result<()> {
    ensure!(
        lower.to::<f64>()? <= upper.to::<f64>()?,
        Argument,
        "{operator}: the lower bound is {lower}, the upper {upper}, expected them in order"
    );
    Ok(())
}
