//! Element-wise losses of predictions and targets.

use torch_library::geometry::infer_size;
use torch_library::prelude::*;
use torch_library::{can_cast, result_type};

use super::{MEAN, NONE, SUM};
use crate::aten;

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn mse_loss(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
        let distance = distance(aten::mse_loss::NAME, this, target)?;
        reduced(aten::mse_loss::NAME, aten::mul_Tensor(&distance, &distance)?, reduction)
    }

    fn smooth_l1_loss(this: &Tensor, target: &Tensor, reduction: i64, beta: f64) -> Result<Tensor> {
        const OPERATOR: &str = aten::smooth_l1_loss::NAME;
        ensure!(beta >= 0.0, Argument, "{OPERATOR}: beta is {beta}, must not be negative");
        if beta == 0.0 {
            return aten::l1_loss::call(this, target, reduction);
        }
        let loss = parabola_and_line(&distance(OPERATOR, this, target)?, beta)?;
        reduced(OPERATOR, aten::div_Scalar(&loss, beta.into())?, reduction)
    }

    fn huber_loss(this: &Tensor, target: &Tensor, reduction: i64, delta: f64) -> Result<Tensor> {
        huber(this, target, reduction, delta)
    }

    fn binary_cross_entropy_with_logits(
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        pos_weight: Option<&Tensor>,
        reduction: i64,
    ) -> Result<Tensor> {
        check_logits(this, target)?;
        let likelihood = aten::log_sigmoid(this)?;
        let likelihood = match pos_weight {
            None => likelihood,
            Some(weight) => {
                let more = aten::mul_Tensor(&aten::sub_Scalar(weight, 1.into())?, target)?;
                aten::mul_Tensor(&aten::add_Scalar(&more, 1.into())?, &likelihood)?
            }
        };
        // The loss has the type of the targets, not of the logits.
        let rest = aten::rsub_Scalar(target, 1.into())?;
        let of_target = |loss: Tensor| aten::to_dtype(&loss, rest.dtype());
        let loss = of_target(aten::mul_Tensor(&rest, this)?)?;
        let loss = of_target(aten::sub_Tensor(&loss, &likelihood)?)?;
        reduced_or_not(of_target(weighted(loss, weight)?)?, reduction)
    }

    fn soft_margin_loss(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
        ensure!(
            this.dtype().is_differentiable(),
            DType,
            "{} is not implemented for {}, expected a floating-point type",
            aten::soft_margin_loss::NAME,
            this.dtype()
        );
        let sizes = infer_size(this.sizes(), target.sizes())
            .map_err(|error| error.context(aten::soft_margin_loss::NAME))?;
        ensure!(
            &*sizes == this.sizes(),
            Shape,
            "{}: targets of sizes {:?} do not broadcast to those of the input, {:?}",
            aten::soft_margin_loss::NAME,
            target.sizes(),
            this.sizes()
        );
        // Converted before the sign changes, since integer types may be unsigned.
        let lead = aten::mul_Tensor(&aten::neg(&aten::to_dtype(target, this.dtype())?)?, this)?;
        let reduction = if matches!(reduction, NONE | MEAN) { reduction } else { SUM };
        reduced_or_not(aten::log1p(&aten::exp(&lead)?)?, reduction)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod distances {
    use super::*;

    fn l1_loss(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
        reduced_or_not(aten::abs(&aten::sub_Tensor(this, target)?)?, reduction)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod probabilities {
    use super::*;

    fn kl_div(this: &Tensor, target: &Tensor, reduction: i64, log_target: bool) -> Result<Tensor> {
        ensure!(
            this.dtype().is_floating_point() && target.dtype().is_floating_point(),
            DType,
            "{}: {} and targets of {}, expected floating-point types",
            aten::kl_div::NAME,
            this.dtype(),
            target.dtype()
        );
        let loss = match log_target {
            true => aten::mul_Tensor(&aten::exp(target)?, &aten::sub_Tensor(target, this)?)?,
            false => {
                let own = aten::mul_Tensor(target, &aten::log(target)?)?;
                // A target probability of zero has no loss.
                let own = aten::where_ScalarSelf(&aten::eq_Scalar(target, 0.into())?, 0.into(), &own)?;
                aten::sub_Tensor(&own, &aten::mul_Tensor(target, this)?)?
            }
        };
        reduced_or_not(loss, reduction)
    }

    fn poisson_nll_loss(
        input: &Tensor,
        target: &Tensor,
        log_input: bool,
        full: bool,
        eps: f64,
        reduction: i64,
    ) -> Result<Tensor> {
        let mut loss = match log_input {
            true => aten::sub_Tensor(&aten::exp(input)?, &aten::mul_Tensor(target, input)?)?,
            false => {
                let log = aten::log(&aten::add_Scalar(input, eps.into())?)?;
                aten::sub_Tensor(input, &aten::mul_Tensor(target, &log)?)?
            }
        };
        if full {
            // Stirling's formula for the logarithm of the factorial.
            let scaled = aten::mul_Scalar(target, (2.0 * std::f64::consts::PI).into())?;
            let factorial = aten::sub_Tensor(&aten::mul_Tensor(target, &aten::log(target)?)?, target)?;
            let factorial =
                aten::add_Tensor(&factorial, &aten::mul_Scalar(&aten::log(&scaled)?, 0.5.into())?)?;
            let is_small = aten::le_Scalar(target, 1.into())?;
            let sum = aten::add_Tensor(&loss, &aten::masked_fill_Scalar(&factorial, &is_small, 0.into())?)?;
            loss = aten::to_dtype(&sum, loss.dtype())?; // whatever type the targets have
        }
        reduced_or_not(loss, reduction)
    }
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod margins {
    use super::*;

    fn hinge_embedding_loss(this: &Tensor, target: &Tensor, margin: f64, reduction: i64) -> Result<Tensor> {
        let zero = aten::zeros_like(this)?;
        // The margin has the type of the distances, also if they are integers.
        let margin = aten::full_like(this, margin.into())?;
        let hinge = aten::clamp_min(&aten::sub_Tensor(&margin, this)?, 0.into())?;
        let apart = aten::where_self(&aten::ne_Scalar(target, 1.into())?, &hinge, &zero)?;
        let near = aten::where_self(&aten::ne_Scalar(target, (-1).into())?, this, &zero)?;
        reduced_or_not(aten::add_Tensor(&apart, &near)?, reduction)
    }

    fn margin_ranking_loss(
        input1: &Tensor,
        input2: &Tensor,
        target: &Tensor,
        margin: f64,
        reduction: i64,
    ) -> Result<Tensor> {
        let lead = aten::mul_Tensor(&aten::neg(target)?, &aten::sub_Tensor(input1, input2)?)?;
        let loss = aten::clamp_min(&aten::add_Scalar(&lead, margin.into())?, 0.into())?;
        reduced_or_not(loss, reduction)
    }

    fn cosine_embedding_loss(
        input1: &Tensor,
        input2: &Tensor,
        target: &Tensor,
        margin: f64,
        reduction: i64,
    ) -> Result<Tensor> {
        const EPSILON: f64 = 1e-12;
        ensure!(
            target.dim() <= 1 && [input1, input2].iter().all(|input| input.dim() == target.dim() + 1),
            Shape,
            "{}: targets of sizes {:?} for inputs of sizes {:?} and {:?}, which have one dimension more",
            aten::cosine_embedding_loss::NAME,
            target.sizes(),
            input1.sizes(),
            input2.sizes()
        );
        let dim = if target.dim() == 1 { 1 } else { 0 };
        let product = |a: &Tensor, b: &Tensor| aten::sum_dim_IntList(&aten::mul_Tensor(a, b)?, Some(&[dim]));
        let square = |x: &Tensor| aten::add_Scalar(&product(x, x)?, EPSILON.into());
        let lengths = aten::sqrt(&aten::mul_Tensor(&square(input1)?, &square(input2)?)?)?;
        let cosine = aten::div_Tensor(&product(input1, input2)?, &lengths)?;
        let zero = aten::zeros_like(&cosine)?;
        let apart = aten::clamp_min(&aten::sub_Scalar(&cosine, margin.into())?, 0.into())?;
        let near = aten::rsub_Scalar(&cosine, 1.into())?;
        let loss = aten::add_Tensor(
            &aten::where_self(&aten::eq_Scalar(target, 1.into())?, &near, &zero)?,
            &aten::where_self(&aten::eq_Scalar(target, (-1).into())?, &apart, &zero)?,
        )?;
        reduced_or_not(loss, reduction)
    }

    fn triplet_margin_loss(
        anchor: &Tensor,
        positive: &Tensor,
        negative: &Tensor,
        margin: f64,
        p: f64,
        eps: f64,
        swap: bool,
        reduction: i64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::triplet_margin_loss::NAME;
        ensure!(
            anchor.dim() == positive.dim() && positive.dim() == negative.dim(),
            Shape,
            "{OPERATOR}: sizes {:?}, {:?} and {:?} have different numbers of dimensions",
            anchor.sizes(),
            positive.sizes(),
            negative.sizes()
        );
        let distance = |a, b| aten::pairwise_distance::call(a, b, p, eps, false);
        let near = distance(anchor, positive)?;
        let mut far = distance(anchor, negative)?;
        if swap {
            far = aten::minimum(&far, &distance(positive, negative)?)?;
        }
        let loss =
            aten::clamp_min(&aten::sub_Tensor(&aten::add_Scalar(&near, margin.into())?, &far)?, 0.into())?;
        match reduction {
            1 => aten::mean(&loss),
            2 => aten::sum(&loss),
            _ => Ok(loss), // for any other number, as in PyTorch
        }
    }
}

/// The Huber loss of tensors of any types.
///
/// # Errors
/// Types that have no loss, sizes that do not broadcast, a bound that is not above zero.
pub(crate) fn huber(this: &Tensor, target: &Tensor, reduction: i64, delta: f64) -> Result<Tensor> {
    const OPERATOR: &str = aten::huber_loss::NAME;
    ensure!(delta > 0.0, Argument, "{OPERATOR}: delta is {delta}, must be positive");
    let loss = parabola_and_line(&distance(OPERATOR, this, target)?, delta)?;
    ensure!(
        can_cast(loss.dtype(), this.dtype()),
        DType,
        "{OPERATOR}: targets of {} for {}, whose type the result has",
        target.dtype(),
        this.dtype()
    );
    reduced_or_not(aten::to_dtype(&loss, this.dtype())?, reduction)
}

/// For devices without a kernel of their own. The gradient is the last factor, so that what is finite in the end does
/// not overflow on the way.
#[torch_impl(aten, CompositeExplicitAutograd)]
fn mse_loss_backward(grad_output: &Tensor, this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
    let factor = if reduction == MEAN { 2.0 / this.numel() as f64 } else { 2.0 };
    let slope = aten::mul_Scalar(&distance(aten::mse_loss_backward::NAME, this, target)?, factor.into())?;
    aten::to_dtype(&aten::mul_Tensor(&slope, grad_output)?, this.dtype())
}

/// Checks that logits broadcast to the sizes of the targets, and that the loss can be cast to their type, since PyTorch
/// computes a part of the loss in place of the targets.
fn check_logits(this: &Tensor, target: &Tensor) -> Result<()> {
    const OPERATOR: &str = aten::binary_cross_entropy_with_logits::NAME;
    let dtype = result_type([this.promotion_operand(), target.promotion_operand()])?;
    ensure!(
        can_cast(dtype, target.dtype()),
        DType,
        "{OPERATOR}: a result of {dtype} for targets of {}, convert these by `aten::to_dtype`",
        target.dtype()
    );
    let mut ends = this.sizes().iter().rev().zip(target.sizes().iter().rev());
    ensure!(
        this.dim() <= target.dim() && ends.all(|(size, wanted)| size == wanted || *size == 1),
        Shape,
        "{OPERATOR}: logits of sizes {:?} do not broadcast to the targets' sizes {:?}",
        this.sizes(),
        target.sizes()
    );
    Ok(())
}

/// The difference of real numbers; one of the two may be booleans.
///
/// # Errors
/// Numbers without an order (complex numbers).
fn distance(operator: &str, this: &Tensor, target: &Tensor) -> Result<Tensor> {
    let dtype = result_type([this.promotion_operand(), target.promotion_operand()])?;
    ensure!(
        dtype.is_floating_point(),
        DType,
        "{operator} is not implemented for {} and targets of {}, expected floating-point types",
        this.dtype(),
        target.dtype()
    );
    let number = |tensor: &Tensor| match tensor.dtype() {
        DType::Bool => aten::to_dtype(tensor, dtype),
        _ => Ok(tensor.clone()),
    };
    aten::sub_Tensor(&number(this)?, &number(target)?)
}

/// Half the square of a difference up to a bound, and the line that continues it beyond.
fn parabola_and_line(distance: &Tensor, bound: f64) -> Result<Tensor> {
    let distance = aten::abs(distance)?;
    let parabola = aten::mul_Scalar(&aten::mul_Tensor(&distance, &distance)?, 0.5.into())?;
    let line = aten::mul_Scalar(&aten::sub_Scalar(&distance, (0.5 * bound).into())?, bound.into())?;
    aten::where_self(&aten::lt_Scalar(&distance, bound.into())?, &parabola, &line)
}

fn weighted(loss: Tensor, weight: Option<&Tensor>) -> Result<Tensor> {
    match weight {
        Some(weight) => aten::mul_Tensor(&loss, weight),
        None => Ok(loss),
    }
}

/// The losses themselves, their mean, or their sum, as `reduction` says.
///
/// # Errors
/// Another reduction.
pub(crate) fn reduced(operator: &str, loss: Tensor, reduction: i64) -> Result<Tensor> {
    ensure!(
        (NONE..=SUM).contains(&reduction),
        Argument,
        "{operator}: unknown reduction {reduction}, expected 0 (none), 1 (mean) or 2 (sum)"
    );
    reduced_or_not(loss, reduction)
}

/// Like [`reduced`], except that an unknown reduction means none, as in PyTorch's losses that are made of other
/// operators.
pub(crate) fn reduced_or_not(loss: Tensor, reduction: i64) -> Result<Tensor> {
    match reduction {
        MEAN => aten::mean(&loss),
        SUM => aten::sum(&loss),
        _ => Ok(loss),
    }
}
