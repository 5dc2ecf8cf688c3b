//! Gates, and `rrelu`, the leaky ReLU with random slopes; a derivative of `gelu` that has all derivatives.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn prelu(this: &Tensor, weight: &Tensor) -> Result<Tensor> {
        ensure!(
            this.dtype() == weight.dtype(),
            DType,
            "{}: {} with a weight of {}, expected one type",
            aten::prelu::NAME,
            this.dtype(),
            weight.dtype()
        );
        let channels = this.sizes().get(1).copied().unwrap_or(1);
        ensure!(
            weight.numel() == 1 && weight.dim() <= 1 || weight.sizes() == [channels],
            Shape,
            "{}: a weight of sizes {:?}, expected one number or one for each of {channels} channels",
            aten::prelu::NAME,
            weight.sizes()
        );
        let mut sizes = vec![1; this.dim()];
        if let Some(size) = sizes.get_mut(1) {
            *size = weight.numel();
        }
        aten::_prelu_kernel(this, &aten::reshape(weight, &sizes)?)
    }

    fn selu(this: &Tensor) -> Result<Tensor> {
        const ALPHA: f64 = 1.673_263_242_354_377_2;
        const SCALE: f64 = 1.050_700_987_355_480_5;
        aten::elu::call(this, ALPHA.into(), SCALE.into(), 1.into())
    }

    fn relu6(this: &Tensor) -> Result<Tensor> {
        aten::hardtanh::call(this, 0.into(), 6.into())
    }

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

    fn glu_jvp(glu: &Tensor, x: &Tensor, dx: &Tensor, dim: i64) -> Result<Tensor> {
        let ([_, gate], [of_value, of_gate]) = (halves(x, dim)?, halves(dx, dim)?);
        let open = aten::sigmoid(&gate)?;
        let of_open = aten::mul_Tensor(&of_gate, &aten::rsub_Scalar(&open, 1.into())?)?;
        aten::add_Tensor(&aten::mul_Tensor(&of_value, &open)?, &aten::mul_Tensor(&of_open, glu)?)
    }

    fn glu_backward_jvp(
        grad_x: &Tensor,
        grad_glu: &Tensor,
        x: &Tensor,
        dgrad_glu: &Tensor,
        dx: &Tensor,
        dim: i64,
    ) -> Result<Tensor> {
        let ([value, gate], [of_value, of_gate]) = (halves(x, dim)?, halves(dx, dim)?);
        let [of_grad, _] = halves(grad_x, dim)?;
        let open = aten::sigmoid(&gate)?;
        let shut = aten::rsub_Scalar(&open, 1.into())?;
        let of_open = aten::mul_Tensor(&aten::mul_Tensor(&open, &shut)?, &of_gate)?;
        let first =
            aten::add_Tensor(&aten::mul_Tensor(dgrad_glu, &open)?, &aten::mul_Tensor(grad_glu, &of_open)?)?;
        // The second half of the gradient is its first half times `value * shut`.
        let value_shut = aten::mul_Tensor(&value, &shut)?;
        let of_value_shut =
            aten::sub_Tensor(&aten::mul_Tensor(&of_value, &shut)?, &aten::mul_Tensor(&value, &of_open)?)?;
        let second = aten::add_Tensor(
            &aten::mul_Tensor(&first, &value_shut)?,
            &aten::mul_Tensor(&of_grad, &of_value_shut)?,
        )?;
        aten::cat::call(&[first, second], dim)
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

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn _prelu_kernel(this: &Tensor, weight: &Tensor) -> Result<Tensor> {
        let is_positive = aten::gt_Scalar(this, 0.into())?;
        aten::where_self(&is_positive, this, &aten::mul_Tensor(this, weight)?)
    }

    fn _prelu_kernel_backward(
        grad_output: &Tensor,
        this: &Tensor,
        weight: &Tensor,
    ) -> Result<(Tensor, Tensor)> {
        let is_positive = aten::gt_Scalar(this, 0.into())?;
        let of_this = aten::where_self(&is_positive, grad_output, &aten::mul_Tensor(weight, grad_output)?)?;
        let of_weight =
            aten::where_ScalarSelf(&is_positive, 0.into(), &aten::mul_Tensor(this, grad_output)?)?;
        Ok((of_this, of_weight))
    }

    fn glu(this: &Tensor, dim: i64) -> Result<Tensor> {
        let [value, gate] = halves(this, dim)?;
        ensure!(
            this.dtype().is_floating_point(),
            DType,
            "{}: {} is not supported, expected a floating-point type",
            aten::glu::NAME,
            this.dtype()
        );
        aten::mul_Tensor(&value, &aten::sigmoid(&gate)?)
    }

    fn celu(this: &Tensor, alpha: Scalar) -> Result<Tensor> {
        let number: f64 = alpha.to()?;
        ensure!(
            number != 0.0,
            Argument,
            "{}: alpha is 0, expected another number: elements are divided by it",
            aten::celu::NAME
        );
        aten::elu::call(this, alpha, 1.into(), number.recip().into())
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
    let [low, high] = [lower.to::<f64>()?, upper.to::<f64>()?];
    ensure!(
        low <= high && low.is_finite() && high.is_finite(),
        Argument,
        "{operator}: the lower bound is {lower}, the upper {upper}, expected finite numbers in order"
    );
    Ok(())
}

/// The two halves of `glu`'s input: the values, and what their gates are computed from.
pub(crate) fn halves(this: &Tensor, dim: i64) -> Result<[Tensor; 2]> {
    const OPERATOR: &str = aten::glu::NAME;
    ensure!(this.dim() > 0, Shape, "{OPERATOR}: a tensor without dimensions has no halves");
    let size = this.size(dim).map_err(|error| error.context(OPERATOR))?;
    ensure!(
        size % 2 == 0,
        Shape,
        "{OPERATOR}: dimension {dim} of sizes {:?} is not even, so it has no two halves",
        this.sizes()
    );
    let half = size / 2;
    Ok([aten::narrow(this, dim, 0, half)?, aten::narrow(this, dim, half, half)?])
}
