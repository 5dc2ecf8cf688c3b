//! Losses under the names that users call.

use torch_library::geometry::numel;
use torch_library::prelude::*;

use crate::aten;

mod ctc;
mod distance;

pub(crate) use distance::{huber, reduced, reduced_or_not};

/// PyTorch: `at::Reduction`.
pub(crate) const NONE: i64 = 0;
pub(crate) const MEAN: i64 = 1;
pub(crate) const SUM: i64 = 2;

/// The target classes, and their weights.
#[derive(Clone, Copy)]
struct Targets<'a> {
    classes: &'a Tensor,
    weight: Option<&'a Tensor>,
    reduction: i64,
    ignore_index: i64,
}

/// Writes kernels that take likelihoods and [`Targets`].
macro_rules! of_targets {
    ($($name:ident($this:ident, $targets:ident) => $body:expr;)+) => {
        #[torch_impl(aten, CompositeImplicitAutograd)]
        mod likelihoods {
            use super::*;

            $(
                fn $name(
                    $this: &Tensor,
                    classes: &Tensor,
                    weight: Option<&Tensor>,
                    reduction: i64,
                    ignore_index: i64,
                ) -> Result<Tensor> {
                    let $targets = Targets { classes, weight, reduction, ignore_index };
                    $body
                }
            )+
        }
    };
}

of_targets! {
    nll_loss(this, t) =>
        Ok(aten::nll_loss_forward(this, t.classes, t.weight, t.reduction, t.ignore_index)?.0);
    nll_loss2d(this, t) =>
        Ok(aten::nll_loss2d_forward(this, t.classes, t.weight, t.reduction, t.ignore_index)?.0);
    nll_loss_nd(this, t) => match this.dim() {
        1 | 2 => aten::nll_loss::call(this, t.classes, t.weight, t.reduction, t.ignore_index),
        4 => aten::nll_loss2d::call(this, t.classes, t.weight, t.reduction, t.ignore_index),
        _ => flattened(this, t),
    };
}

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn multilabel_margin_loss(this: &Tensor, target: &Tensor, reduction: i64) -> Result<Tensor> {
        Ok(aten::multilabel_margin_loss_forward(this, target, reduction)?.0)
    }

    fn cross_entropy_loss(
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
        ignore_index: i64,
        label_smoothing: f64,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::cross_entropy_loss::NAME;
        ensure!(
            label_smoothing.is_nan() || label_smoothing <= 1.0,
            Argument,
            "{OPERATOR}: label_smoothing is {label_smoothing}, must be between 0 and 1"
        );
        let label_smoothing = label_smoothing.max(0.0); // any other number that is not positive means no smoothing
        ensure!(this.dim() > 0, Shape, "{OPERATOR}: a tensor without dimensions has no classes");
        let classes = this.sizes()[class_dim(this) as usize];
        ensure!(
            weight.is_none_or(|weight| weight.sizes() == [classes]),
            Shape,
            "{OPERATOR}: the weight has sizes {:?}, expected one for each of {classes} classes",
            weight.map(Tensor::sizes)
        );
        let targets = Targets { classes: target, weight, reduction, ignore_index };
        let likelihoods = aten::log_softmax_int::call(this, class_dim(this), Some(this.dtype()))?;
        ensure!(
            (0..=2).contains(&reduction) || (this.sizes() != target.sizes() && label_smoothing == 0.0),
            Argument,
            "{OPERATOR}: unknown reduction {reduction}, expected 0 (none), 1 (mean) or 2 (sum)"
        );
        if this.sizes() == target.sizes() {
            ensure!(
                target.dtype().is_floating_point() && ignore_index < 0,
                Argument,
                "{OPERATOR}: targets of the same sizes as the logits are probabilities, expected a floating-point \
                 type and no ignore_index; these are of {}, and ignore_index is {ignore_index}",
                target.dtype()
            );
            return with_probabilities(&likelihoods, targets, label_smoothing);
        }
        let loss = aten::nll_loss_nd::call(&likelihoods, target, weight, reduction, ignore_index)?;
        if label_smoothing == 0.0 {
            return Ok(loss);
        }
        let smooth = smooth_loss(&likelihoods, targets)?;
        let loss = aten::mul_Scalar(&loss, (1.0 - label_smoothing).into())?;
        aten::add_Tensor(&loss, &aten::mul_Scalar(&smooth, (label_smoothing / classes as f64).into())?)
    }
}

fn class_dim(logits: &Tensor) -> i64 {
    if logits.dim() == 1 { 0 } else { 1 }
}

/// The loss with any number of dimensions after the classes, computed as images of one row.
fn flattened(this: &Tensor, targets: Targets<'_>) -> Result<Tensor> {
    let Targets { classes: target, weight, reduction, ignore_index } = targets;
    const OPERATOR: &str = aten::nll_loss_nd::NAME;
    let [n, classes, pixels @ ..] = this.sizes() else {
        bail!(Shape, "{OPERATOR}: a tensor without dimensions has no classes")
    };
    let sizes = [&[*n], pixels].concat();
    ensure!(
        target.sizes() == sizes,
        Shape,
        "{OPERATOR}: targets of sizes {:?} for sizes {:?}, expected {sizes:?}",
        target.sizes(),
        this.sizes()
    );
    let count = numel(pixels).map_err(|error| error.context(OPERATOR))?;
    let images = aten::view(&aten::contiguous(this)?, &[*n, *classes, 1, count])?;
    let targets = aten::view(&aten::contiguous(target)?, &[*n, 1, count])?;
    let loss = aten::nll_loss2d::call(&images, &targets, weight, reduction, ignore_index)?;
    if reduction == NONE { aten::view(&loss, &sizes) } else { Ok(loss) }
}

/// A vector of weights, ready to broadcast over the classes.
fn per_class(weight: &Tensor, likelihoods: &Tensor) -> Result<Tensor> {
    let mut sizes = vec![1; likelihoods.dim()];
    sizes[class_dim(likelihoods) as usize] = weight.numel();
    aten::view(weight, &sizes)
}

/// The cross entropy with a probability distribution over the classes as target.
fn with_probabilities(likelihoods: &Tensor, targets: Targets<'_>, label_smoothing: f64) -> Result<Tensor> {
    let Targets { classes: target, weight, reduction, .. } = targets;
    let dim = class_dim(likelihoods);
    let classes = likelihoods.sizes()[dim as usize];
    let mut loss = match label_smoothing {
        0.0 => aten::mul_Tensor(likelihoods, target)?,
        smoothing => {
            let target = aten::mul_Scalar(target, (1.0 - smoothing).into())?;
            let target = aten::add_Scalar(&target, (smoothing / classes as f64).into())?;
            aten::mul_Tensor(likelihoods, &target)?
        }
    };
    if let Some(weight) = weight {
        loss = aten::mul_Tensor(&loss, &per_class(weight, likelihoods)?)?;
    }
    match reduction {
        NONE => aten::neg(&aten::sum_dim_IntList(&loss, Some(&[dim]))?),
        MEAN if likelihoods.numel() == 0 => {
            let mut sum = aten::sum(&loss)?;
            aten::neg(aten::fill__Scalar(&mut sum, f64::NAN.into())?)
        }
        MEAN => {
            let count = likelihoods.numel() as f64 / classes as f64;
            aten::div_Scalar(&aten::neg(&aten::sum(&loss)?)?, count.into())
        }
        _ => aten::neg(&aten::sum(&loss)?),
    }
}

/// The cross entropy with a uniform distribution over the classes, for the targets that are not ignored.
fn smooth_loss(likelihoods: &Tensor, targets: Targets<'_>) -> Result<Tensor> {
    let Targets { classes: target, weight, reduction, ignore_index } = targets;
    let dim = class_dim(likelihoods);
    let weighted = match weight {
        Some(weight) => aten::mul_Tensor(likelihoods, &per_class(weight, likelihoods)?)?,
        None => likelihoods.clone(),
    };
    let mut loss = aten::neg(&aten::sum_dim_IntList(&weighted, Some(&[dim]))?)?;
    let is_ignored = aten::eq_Scalar(target, ignore_index.into())?;
    // In place, as in PyTorch, so that under `vmap` a loss that all examples share cannot be ignored for one of them.
    let kept = aten::where_ScalarSelf(&is_ignored, 0.0.into(), &loss)?;
    aten::copy_(&mut loss, &kept)?;
    if reduction == NONE {
        return Ok(loss);
    }
    let sum = aten::sum(&loss)?;
    if reduction != MEAN {
        return Ok(sum);
    }
    let total = match weight {
        Some(weight) => {
            let classes = aten::where_ScalarSelf(&is_ignored, 0.into(), target)?;
            let weights = aten::index_select(weight, 0, &aten::reshape(&classes, &[-1])?)?;
            aten::sum(&aten::where_ScalarSelf(&aten::reshape(&is_ignored, &[-1])?, 0.0.into(), &weights)?)?
        }
        None => aten::sum(&aten::ne_Scalar(target, ignore_index.into())?)?,
    };
    aten::div_Tensor(&sum, &total)
}
