//! The batching rules of the negative log likelihood loss.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::expanded;
use super::folding::folded;
use crate::aten;

mod backward;
mod probability;

const NONE: i64 = 0;
const MEAN: i64 = 1;

#[torch_impl(aten, FuncTorchBatched)]
fn nll_loss_forward(
    this: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
) -> Result<(Tensor, Tensor)> {
    let level = Level::current()?;
    ensure!(
        (this.dim(), target.dim()) == (2, 1) || (this.dim(), target.dim()) == (1, 0),
        Shape,
        "{}: likelihoods of sizes {:?} for targets of sizes {:?}",
        aten::nll_loss_forward::NAME,
        this.sizes(),
        target.sizes()
    );
    let (mut rows, mut targets) = (expanded(level, this)?, expanded(level, target)?);
    let is_single = this.dim() == 1;
    if is_single {
        (rows, targets) = (aten::unsqueeze(&rows, 1)?, aten::unsqueeze(&targets, 1)?);
    }
    ensure!(
        rows.sizes()[1] == targets.sizes()[1],
        Shape,
        "{}: likelihoods of sizes {:?} for targets of sizes {:?}",
        aten::nll_loss_forward::NAME,
        this.sizes(),
        target.sizes()
    );
    let classes = this.sizes()[this.dim() - 1];
    ensure!(
        weight.is_none_or(|weight| weight.sizes() == [classes]),
        Shape,
        "{}: a weight of sizes {:?} for {classes} classes",
        aten::nll_loss_forward::NAME,
        weight.map_or(&[][..], Tensor::sizes)
    );
    let own_weight = weight.filter(|weight| level.has(weight));
    let shared_weight = weight.filter(|weight| !level.has(weight));
    let (losses, _) =
        aten::nll_loss_forward(&folded(&rows)?, &folded(&targets)?, shared_weight, NONE, ignore_index)?;
    let mut losses = aten::reshape(&losses, targets.sizes())?;
    let weights = weights(level, weight, &targets, ignore_index, this.dtype())?;
    if own_weight.is_some() {
        losses = aten::mul_Tensor(&losses, &weights)?;
    }
    let over_rows = |tensor: &Tensor| aten::sum_dim_IntList(tensor, Some(&[1]));
    let total = over_rows(&weights)?;
    let output = match reduction {
        NONE if is_single => aten::squeeze_dim(&losses, 1)?,
        NONE => losses,
        MEAN => aten::div_Tensor(&over_rows(&losses)?, &total)?,
        _ => over_rows(&losses)?,
    };
    let total = if reduction == NONE { aten::zeros_like(&total)? } else { total };
    Ok((level.wrap(output, 0)?, level.wrap(total, 0)?))
}

/// The weight of each row: that of its class, or zero where the row is ignored.
fn weights(
    level: Level,
    weight: Option<&Tensor>,
    targets: &Tensor,
    ignore_index: i64,
    dtype: DType,
) -> Result<Tensor> {
    let counts = aten::ne_Scalar(targets, ignore_index.into())?;
    let Some(weight) = weight else { return aten::to_dtype(&counts, dtype) };
    let classes = aten::mul_Tensor(targets, &counts)?; // the target of an ignored row need not be a class
    let of_class = aten::gather(&expanded(level, weight)?, 1, &classes)?;
    aten::mul_Tensor(&of_class, &aten::to_dtype(&counts, dtype)?)
}

#[torch_impl(aten, FuncTorchBatched)]
fn nll_loss_backward(
    grad_output: &Tensor,
    this: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
    total_weight: &Tensor,
) -> Result<Tensor> {
    let level = Level::current()?;
    let (mut rows, mut targets) = (expanded(level, this)?, expanded(level, target)?);
    let mut grad = expanded(level, grad_output)?;
    if this.dim() == 1 {
        (rows, targets) = (aten::unsqueeze(&rows, 1)?, aten::unsqueeze(&targets, 1)?);
    }
    // The gradient with respect to each row's loss.
    if reduction == MEAN {
        grad = aten::div_Tensor(&grad, &expanded(level, total_weight)?)?;
    }
    if grad.dim() == 1 {
        grad = aten::expand(&aten::unsqueeze(&grad, 1)?, targets.sizes())?;
    }
    let shared_weight = weight.filter(|weight| !level.has(weight));
    if let Some(own) = weight.filter(|weight| level.has(weight)) {
        grad = aten::mul_Tensor(&grad, &weights(level, Some(own), &targets, ignore_index, this.dtype())?)?;
    }
    let sizes = rows.sizes().to_vec();
    let (rows, targets) = (folded(&rows)?, folded(&targets)?);
    let total = aten::zeros::with(&[]).dtype(this.dtype()).call()?;
    let grad =
        aten::nll_loss_backward(&folded(&grad)?, &rows, &targets, shared_weight, NONE, ignore_index, &total)?;
    let grad = aten::reshape(&grad, &sizes)?;
    level.wrap(if this.dim() == 1 { aten::squeeze_dim(&grad, 1)? } else { grad }, 0)
}

/// The rules for images, as lists of pixels with the classes last.
mod images {
    use super::*;

    fn places(images: &Tensor) -> Result<Tensor> {
        ensure!(
            images.dim() == 4,
            Shape,
            "{}: likelihoods of sizes {:?}, expected `[images, classes, height, width]`",
            aten::nll_loss2d::NAME,
            images.sizes()
        );
        let last = aten::permute(images, &[0, 2, 3, 1])?;
        aten::reshape(&last, &[-1, images.sizes()[1]])
    }

    fn flat(targets: &Tensor) -> Result<Tensor> {
        aten::reshape(targets, &[-1])
    }

    #[torch_impl(aten, FuncTorchBatched)]
    fn nll_loss2d_forward(
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
        ignore_index: i64,
    ) -> Result<(Tensor, Tensor)> {
        let (output, total) =
            aten::nll_loss_forward(&places(this)?, &flat(target)?, weight, reduction, ignore_index)?;
        let output = if reduction == NONE { aten::reshape(&output, target.sizes())? } else { output };
        Ok((output, total))
    }

    #[torch_impl(aten, FuncTorchBatched)]
    fn nll_loss2d_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
        ignore_index: i64,
        total_weight: &Tensor,
    ) -> Result<Tensor> {
        let grad = if reduction == NONE { flat(grad_output)? } else { grad_output.clone() };
        let (rows, targets) = (places(this)?, flat(target)?);
        let grad =
            aten::nll_loss_backward(&grad, &rows, &targets, weight, reduction, ignore_index, total_weight)?;
        let [images, classes, height, width] = this.sizes() else {
            bail!(Internal, "images have four dimensions")
        };
        aten::permute(&aten::reshape(&grad, &[*images, *height, *width, *classes])?, &[0, 3, 1, 2])
    }
}
