//! The multi-class margin loss (`multi_margin_loss`).

use torch_library::prelude::*;

use crate::aten;
use crate::composite::collected;
use crate::composite::loss::{MEAN, NONE};
use crate::loops;
use crate::loops::pointwise::{common_device, unsupported};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn multi_margin_loss(
        this: &Tensor,
        target: &Tensor,
        p: Scalar,
        margin: Scalar,
        weight: Option<&Tensor>,
        reduction: i64,
    ) -> Result<Tensor> {
        let _lease = loops::all_frozen([this, target].into_iter().chain(weight))?;
        let scores = Scores::new(aten::multi_margin_loss::NAME, this, target, weight, p, margin)?;
        let sizes = if reduction == NONE { target.sizes() } else { &[] };
        let out = Tensor::empty(sizes, this.dtype(), this.device())?;
        if this.device() == Device::META {
            return Ok(out);
        }
        let mut losses = collected(scores.operator, scores.rows as i64, |_| 0.0)?;
        scores.each_row(|row| {
            // A row without loss has none whatever its weight, even if that is infinite.
            let loss = scores.loss(&row);
            losses[row.index] = if loss == 0.0 { 0.0 } else { row.factor * loss };
        })?;
        let sum = || losses.iter().sum::<f64>();
        let reduced = match reduction {
            NONE => losses,
            MEAN => vec![sum() / scores.rows as f64],
            _ => vec![sum()],
        };
        loops::assign(&out, &Tensor::from_vec(reduced, sizes)?)?;
        Ok(out)
    }

    fn multi_margin_loss_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        p: Scalar,
        margin: Scalar,
        weight: Option<&Tensor>,
        reduction: i64,
    ) -> Result<Tensor> {
        let _lease = loops::all_frozen([grad_output, this, target].into_iter().chain(weight))?;
        let scores = Scores::new(aten::multi_margin_loss_backward::NAME, this, target, weight, p, margin)?;
        scores.check_gradient(grad_output, reduction)?;
        let out = this.empty_like(this.dtype(), MemoryFormat::Contiguous)?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let grad = loops::elements::<f64>(grad_output)?;
        let of_row = |row: usize| match reduction {
            NONE => grad[row],
            MEAN => grad[0] / scores.rows as f64,
            _ => grad[0],
        };
        let mut grads = collected(scores.operator, out.numel(), |_| 0.0)?;
        scores.each_row(|row| {
            let (factor, right) = (of_row(row.index) * row.factor, row.right);
            let grads = &mut grads[row.index * scores.classes..][..scores.classes];
            for (class, score) in row.scores.iter().enumerate() {
                let short = row.least + score;
                if class != right && short > 0.0 {
                    let slope = factor * scores.slope(short);
                    grads[class] += slope;
                    grads[right] -= slope;
                }
            }
        })?;
        loops::assign(&out, &Tensor::from_vec(grads, this.sizes())?)?;
        Ok(out)
    }
}

/// Scores of classes in rows, and the target class of each row.
struct Scores<'a> {
    operator: &'static str,
    this: &'a Tensor,
    target: &'a Tensor,
    weight: Option<&'a Tensor>,
    rows: usize,
    classes: usize,
    is_squared: bool,
    margin: f64,
}

/// The scores of one row. A class falls short of the margin by the sum of `least` and its score, if that is positive.
struct Row<'a> {
    index: usize,
    scores: &'a [f64],
    /// The target class.
    right: usize,
    /// The margin minus the target's score.
    least: f64,
    /// The weight of the row, divided by the number of classes.
    factor: f64,
}

impl<'a> Scores<'a> {
    fn new(
        operator: &'static str,
        this: &'a Tensor,
        target: &'a Tensor,
        weight: Option<&'a Tensor>,
        p: Scalar,
        margin: Scalar,
    ) -> Result<Self> {
        let (rows, classes) = match *this.sizes() {
            [] => (1, 1),
            [classes] => (1, classes),
            [rows, classes] => (rows, classes),
            _ => (0, 0),
        };
        ensure!(
            classes > 0,
            Shape,
            "{operator}: scores of sizes {:?}, expected `[rows, classes]` or `[classes]`, with at least one class",
            this.sizes()
        );
        let order = p.to::<f64>().map_err(|error| error.context(operator))?;
        ensure!(order == 1.0 || order == 2.0, Argument, "{operator}: p is {order}, expected 1 or 2");
        let margin = margin.to::<f64>().map_err(|error| error.context(operator))?;
        let tensors: Vec<&Tensor> = [this, target].into_iter().chain(weight).collect();
        common_device(operator, &tensors)?;
        let (rows, classes) = (rows as usize, classes as usize);
        let scores =
            Scores { operator, this, target, weight, rows, classes, is_squared: order == 2.0, margin };
        scores.check()?;
        Ok(scores)
    }

    fn check(&self) -> Result<()> {
        let Scores { operator, this, target, weight, rows, classes, .. } = *self;
        if !matches!(this.dtype(), DType::Float32 | DType::Float64) {
            return Err(unsupported(operator, this.dtype()));
        }
        ensure!(
            target.dim() <= 1 && target.numel() == rows as i64,
            Shape,
            "{operator}: targets of sizes {:?} for scores of sizes {:?}, expected one for each row",
            target.sizes(),
            this.sizes()
        );
        ensure!(
            target.dtype() == DType::Int64,
            DType,
            "{operator}: targets of {}, expected classes as int64\n  \
             help: `aten::to_dtype(&target, DType::Int64)` makes them so",
            target.dtype()
        );
        let Some(weight) = weight else { return Ok(()) };
        ensure!(
            weight.sizes() == [classes as i64] && weight.dtype() == this.dtype(),
            Shape,
            "{operator}: a weight of sizes {:?} and {}, expected a number for each of {classes} classes, of {}",
            weight.sizes(),
            weight.dtype(),
            this.dtype()
        );
        Ok(())
    }

    /// Checks that a gradient has the sizes of the loss.
    fn check_gradient(&self, grad: &Tensor, reduction: i64) -> Result<()> {
        let Scores { operator, this, target, .. } = *self;
        let expected = if reduction == NONE { target.numel() } else { 1 };
        ensure!(
            grad.dim() <= 1 && grad.numel() == expected,
            Shape,
            "{operator}: a gradient of sizes {:?} is not that of the loss, of sizes {:?}",
            grad.sizes(),
            if reduction == NONE { target.sizes() } else { &[] }
        );
        ensure!(
            grad.dtype() == this.dtype(),
            DType,
            "{operator}: a gradient of {} for scores of {}, expected one type",
            grad.dtype(),
            this.dtype()
        );
        Ok(())
    }

    /// Calls a function for every row.
    fn each_row(&self, mut f: impl FnMut(Row<'_>)) -> Result<()> {
        let (scores, targets) = (loops::elements::<f64>(self.this)?, loops::elements::<i64>(self.target)?);
        let weights = self.weight.map(loops::elements::<f64>).transpose()?;
        for (index, (scores, target)) in scores.chunks(self.classes).zip(targets).enumerate() {
            let right = usize::try_from(target).ok().filter(|right| *right < self.classes);
            let Some(right) = right else {
                bail!(
                    Argument,
                    "{}: target {target} is out of range for {} classes",
                    self.operator,
                    self.classes
                )
            };
            let factor = weights.as_ref().map_or(1.0, |weights| weights[right]) / self.classes as f64;
            f(Row { index, scores, right, least: self.margin - scores[right], factor });
        }
        Ok(())
    }

    /// The sum over all classes but the target.
    fn loss(&self, row: &Row<'_>) -> f64 {
        let (before, after) = (&row.scores[..row.right], &row.scores[row.right + 1..]);
        let sum = |scores| match self.is_squared {
            true => sum(scores, |score| (row.least + score).max(0.0).powi(2)),
            false => sum(scores, |score| (row.least + score).max(0.0)),
        };
        sum(before) + sum(after)
    }

    fn slope(&self, short: f64) -> f64 {
        if self.is_squared { 2.0 * short } else { 1.0 }
    }
}

/// The sum of what a function gives for each score, in several lanes, so that no addition waits for the one before.
fn sum(scores: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let (chunks, rest) = scores.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for chunk in chunks {
        for (lane, score) in lanes.iter_mut().zip(chunk) {
            *lane += f(*score);
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|score| f(*score)).sum::<f64>()
}
