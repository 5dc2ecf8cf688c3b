//! The negative log likelihood.

use num_traits::Float;
use torch_library::Element;
use torch_library::prelude::*;

use super::loops::{self, match_computing};
use super::number::Number;
use crate::aten;
use crate::pointwise::{common_device, unsupported};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn nll_loss_forward(
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
        ignore_index: i64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = "aten::nll_loss_forward";
        let fits = match (this.sizes(), target.sizes()) {
            ([_], []) => true,
            ([classes], [targets]) => classes == targets, // PyTorch's check; the first of them counts
            ([n, _], [targets]) => n == targets,
            _ => false,
        };
        ensure!(
            fits,
            Shape,
            "{OPERATOR}: targets of sizes {:?} for sizes {:?}, expected one for each row of classes",
            target.sizes(),
            this.sizes()
        );
        let likelihoods = Likelihoods { operator: OPERATOR, this, target, weight, ignore_index };
        likelihoods.loss(reduction, if this.dim() == 1 { &[] } else { target.sizes() })
    }

    fn nll_loss2d_forward(
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
        ignore_index: i64,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = "aten::nll_loss2d_forward";
        let fits = match (this.sizes(), target.sizes()) {
            ([n, _, h, w], [n2, h2, w2]) => [n, h, w] == [n2, h2, w2],
            _ => false,
        };
        ensure!(
            fits,
            Shape,
            "{OPERATOR}: targets of sizes {:?} for sizes {:?}, expected one for each pixel",
            target.sizes(),
            this.sizes()
        );
        Likelihoods { operator: OPERATOR, this, target, weight, ignore_index }.loss(reduction, target.sizes())
    }
}

/// Log-probabilities of classes, in dimension 1 (0 without a batch), and the classes that are right.
struct Likelihoods<'a> {
    operator: &'static str,
    this: &'a Tensor,
    target: &'a Tensor,
    weight: Option<&'a Tensor>,
    ignore_index: i64,
}

impl Likelihoods<'_> {
    /// The loss, of these sizes if it is not reduced, and the sum of the weights.
    fn loss(&self, reduction: i64, sizes: &[i64]) -> Result<(Tensor, Tensor)> {
        let Likelihoods { operator, this, target, weight, .. } = *self;
        let classes = self.classes();
        ensure!(
            matches!(target.dtype(), DType::Int64 | DType::UInt8),
            DType,
            "{operator}: targets of {}, expected classes as int64 or uint8",
            target.dtype()
        );
        ensure!(
            weight.is_none_or(|weight| weight.sizes() == [classes] && weight.dtype() == this.dtype()),
            Shape,
            "{operator}: the weight must be a vector of {classes} classes, of {}",
            this.dtype()
        );
        ensure!(
            (0..=2).contains(&reduction),
            Argument,
            "{operator}: unknown reduction {reduction}, expected 0 to 2"
        );
        let device = common_device(operator, &[this, target])?;
        let empty = |sizes: &[i64]| Tensor::empty(sizes, this.dtype(), device);
        let (out, total) = (empty(if reduction == 0 { sizes } else { &[] })?, empty(&[])?);
        if this.storage().data_ptr().is_none() {
            return Ok((out, total));
        }
        match_computing!(this.dtype(), T: Float => {
            let (losses, weights) = self.losses::<T>()?;
            let sum: T = losses.iter().copied().fold(T::ZERO, T::plus);
            let weights = weights.into_iter().fold(T::ZERO, T::plus);
            match reduction {
                0 => write(&out, losses)?,
                1 => write(&out, vec![sum / weights])?,
                _ => write(&out, vec![sum])?,
            }
            write(&total, vec![if reduction == 0 { T::ZERO } else { weights }])?;
            Ok((out, total))
        }, else => Err(unsupported(operator, this.dtype())))
    }

    fn classes(&self) -> i64 {
        self.this.sizes()[if self.this.dim() == 1 { 0 } else { 1 }]
    }

    /// The loss of every target and its weight; both 0 where it is ignored.
    fn losses<T: Float + Number>(&self) -> Result<(Vec<T>, Vec<T>)> {
        let (likelihoods, targets) = (loops::elements::<T>(self.this)?, loops::elements::<i64>(self.target)?);
        let weights = self.weight.map(loops::elements::<T>).transpose()?;
        let classes = self.classes();
        let pixels: usize = self.this.sizes().iter().skip(2).product::<i64>() as usize;
        let loss = |(place, &target): (usize, &i64)| {
            if target == self.ignore_index {
                return Ok((T::ZERO, T::ZERO));
            }
            ensure!(
                (0..classes).contains(&target),
                Argument,
                "{}: target {target} is none of {classes} classes",
                self.operator
            );
            let class = target as usize;
            let weight = weights.as_ref().map_or(T::ONE, |weights| weights[class]);
            let (row, pixel) = (place / pixels, place % pixels);
            let likelihood = likelihoods[(row * classes as usize + class) * pixels + pixel];
            Ok((-weight * likelihood, weight))
        };
        let count = if self.this.dim() == 1 { 1 } else { targets.len() };
        targets.iter().take(count).enumerate().map(loss).collect()
    }
}

/// Writes elements in row-major order, whatever the tensor's type.
fn write<T: Element>(out: &Tensor, elements: Vec<T>) -> Result<()> {
    let elements = Tensor::from_vec(elements, out.sizes())?;
    torch_library::match_dtype!(out.dtype(), O => loops::map(out, [&elements], |[x]: [O; 1]| x))
}
