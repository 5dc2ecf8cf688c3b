//! The multi-label margin loss (`multilabel_margin_loss`), between the scores of target classes and those of all
//! others.

use torch_library::prelude::*;

use crate::aten;
use crate::composite::collected;
use crate::composite::loss::{MEAN, NONE};
use crate::loops;
use crate::loops::pointwise::{common_device, unsupported};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn multilabel_margin_loss_forward(
        this: &Tensor,
        target: &Tensor,
        reduction: i64,
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::all_frozen([this, target])?;
        let labels = Labels::new(aten::multilabel_margin_loss_forward::NAME, this, target)?;
        let sizes = if reduction == NONE && this.dim() == 2 { &this.sizes()[..1] } else { &[][..] };
        let out = Tensor::empty(sizes, this.dtype(), this.device())?;
        let is_target = Tensor::empty(target.sizes(), this.dtype(), this.device())?;
        if this.device() == Device::META {
            return Ok((out, is_target));
        }
        let (rows, targets) = (labels.rows as i64, target.numel());
        let mut losses = collected(labels.operator, rows, |_| 0.0)?;
        let mut marks = collected(labels.operator, targets, |_| 0.0)?;
        labels.each_right(|place| marks[place] = 1.0);
        let share = 1.0 / labels.classes as f64;
        labels.each_short(&marks, |short| losses[short.row] += share * short.by)?;
        let sum = || losses.iter().sum::<f64>();
        let reduced = match reduction {
            NONE => losses,
            MEAN => vec![sum() / rows as f64],
            _ => vec![sum()],
        };
        loops::assign(&out, &Tensor::from_vec(reduced, sizes)?)?;
        loops::assign(&is_target, &Tensor::from_vec(marks, target.sizes())?)?;
        Ok((out, is_target))
    }

    fn multilabel_margin_loss_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        reduction: i64,
        is_target: &Tensor,
    ) -> Result<Tensor> {
        let _lease = loops::all_frozen([grad_output, this, target, is_target])?;
        let labels = Labels::new(aten::multilabel_margin_loss_backward::NAME, this, target)?;
        labels.check_back(grad_output, is_target, reduction)?;
        let out = this.empty_like(this.dtype(), MemoryFormat::Contiguous)?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let (grad, marks) = (loops::elements::<f64>(grad_output)?, loops::elements::<f64>(is_target)?);
        let share = 1.0 / labels.classes as f64;
        let of_row = |row: usize| match reduction {
            NONE => grad[row] * share,
            MEAN => grad[0] * share / labels.rows as f64,
            _ => grad[0] * share,
        };
        let mut grads = collected(labels.operator, out.numel(), |_| 0.0)?;
        labels.each_short(&marks, |short| {
            let slope = of_row(short.row);
            let row = &mut grads[short.row * labels.classes..][..labels.classes];
            row[short.class] += slope;
            row[short.right] -= slope;
        })?;
        loops::assign(&out, &Tensor::from_vec(grads, this.sizes())?)?;
        Ok(out)
    }
}

/// Scores of classes in rows, and for each row its target classes, up to the first -1.
struct Labels<'a> {
    operator: &'static str,
    this: &'a Tensor,
    targets: Vec<i64>,
    rows: usize,
    classes: usize,
}

/// A class whose score is not below a target's by at least 1.
struct Short {
    row: usize,
    class: usize,
    right: usize,
    /// The amount by which it falls short of 1.
    by: f64,
}

impl<'a> Labels<'a> {
    fn new(operator: &'static str, this: &'a Tensor, target: &Tensor) -> Result<Self> {
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
        let is_fit = match this.dim() {
            2 => target.sizes() == this.sizes(),
            _ => target.dim() <= 1 && target.numel() == classes,
        };
        ensure!(
            is_fit,
            Shape,
            "{operator}: targets of sizes {:?} for scores of sizes {:?}, expected a place for each class",
            target.sizes(),
            this.sizes()
        );
        common_device(operator, &[this, target])?;
        if !matches!(this.dtype(), DType::Float32 | DType::Float64) {
            return Err(unsupported(operator, this.dtype()));
        }
        ensure!(
            target.dtype() == DType::Int64,
            DType,
            "{operator}: targets of {}, expected classes as int64\n  \
             help: `aten::to_dtype(&target, DType::Int64)` makes them so",
            target.dtype()
        );
        let targets = if loops::has_elements(target) { loops::elements::<i64>(target)? } else { Vec::new() };
        let stranger = targets.iter().find(|target| !(-1..classes).contains(*target));
        if let Some(stranger) = stranger {
            bail!(
                Argument,
                "{operator}: target {stranger} is out of range for {classes} classes, and not -1"
            );
        }
        Ok(Labels { operator, this, targets, rows: rows as usize, classes: classes as usize })
    }

    /// Checks that a gradient has the sizes of the loss, and that `is_target` has those of the targets.
    fn check_back(&self, grad: &Tensor, is_target: &Tensor, reduction: i64) -> Result<()> {
        let Labels { operator, this, rows, .. } = *self;
        let expected = if reduction == NONE { rows as i64 } else { 1 };
        ensure!(
            grad.dim() <= 1 && grad.numel() == expected,
            Shape,
            "{operator}: a gradient of sizes {:?} is not that of the loss, of {expected} elements",
            grad.sizes()
        );
        ensure!(
            is_target.numel() == this.numel() && is_target.dim() <= 2,
            Shape,
            "{operator}: is_target has sizes {:?}, expected those of the targets",
            is_target.sizes()
        );
        match [grad, is_target].into_iter().find(|tensor| tensor.dtype() != this.dtype()) {
            None => Ok(()),
            Some(other) => bail!(
                DType,
                "{operator}: scores of {} and a gradient or marks of {}, expected one type",
                this.dtype(),
                other.dtype()
            ),
        }
    }

    /// The target classes of a row.
    fn right(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let targets = self.targets.chunks(self.classes).nth(row).unwrap_or_default();
        targets.iter().map_while(|target| usize::try_from(*target).ok())
    }

    /// Calls a function with the place of every target class among all scores.
    fn each_right(&self, mut f: impl FnMut(usize)) {
        for row in 0..self.rows {
            self.right(row).for_each(|class| f(row * self.classes + class));
        }
    }

    /// Calls a function for every pair of a target class and a class that is not marked as a target, whose score is too
    /// close to the target's, or above it.
    fn each_short(&self, marks: &[f64], mut f: impl FnMut(Short)) -> Result<()> {
        let scores = loops::elements::<f64>(self.this)?;
        for (row, (scores, marks)) in scores.chunks(self.classes).zip(marks.chunks(self.classes)).enumerate()
        {
            for right in self.right(row) {
                for (class, score) in scores.iter().enumerate() {
                    let by = 1.0 - scores[right] + score;
                    if marks[class] == 0.0 && by > 0.0 {
                        f(Short { row, class, right, by });
                    }
                }
            }
        }
        Ok(())
    }
}
