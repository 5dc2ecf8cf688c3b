//! The negative log likelihood loss.
#![expect(unsafe_code, reason = "looks at a tensor as a slice")]

use num_traits::Float;
use torch_library::Element;
use torch_library::geometry::saturating_numel;
use torch_library::match_dtype;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::collected;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::{self, match_opmath};
use crate::number::Number;

mod backward;
pub(crate) mod ctc;
mod distance;
mod margin;
mod multilabel;
mod probability;

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
        let _lease = loops::all_frozen([this, target].into_iter().chain(weight))?;
        let likelihoods =
            Likelihoods { operator: aten::nll_loss_forward::NAME, this, target, weight, ignore_index }
                .of_rows()?;
        likelihoods.loss(reduction, if this.dim() == 1 { &[] } else { target.sizes() })
    }

    fn nll_loss2d_forward(
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
        ignore_index: i64,
    ) -> Result<(Tensor, Tensor)> {
        let _lease = loops::all_frozen([this, target].into_iter().chain(weight))?;
        Likelihoods { operator: aten::nll_loss2d_forward::NAME, this, target, weight, ignore_index }
            .of_pixels()?
            .loss(reduction, target.sizes())
    }

    fn nll_loss_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
        ignore_index: i64,
        total_weight: &Tensor,
    ) -> Result<Tensor> {
        let _lease = loops::all_frozen([grad_output, this, target, total_weight].into_iter().chain(weight))?;
        const OPERATOR: &str = aten::nll_loss_backward::NAME;
        let is_fit = this.dim() != 1 || target.dim() == 0 || this.numel() == 1;
        ensure!(
            is_fit,
            Shape,
            "{OPERATOR}: a vector of targets for classes without a batch, expected one target without dimensions"
        );
        let out = this.empty_like(this.dtype(), MemoryFormat::Contiguous)?;
        Likelihoods { operator: OPERATOR, this, target, weight, ignore_index }.of_rows()?.gradient(
            out,
            grad_output,
            reduction,
            total_weight,
        )
    }

    fn nll_loss2d_backward(
        grad_output: &Tensor,
        this: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        reduction: i64,
        ignore_index: i64,
        total_weight: &Tensor,
    ) -> Result<Tensor> {
        let _lease = loops::all_frozen([grad_output, this, target, total_weight].into_iter().chain(weight))?;
        const OPERATOR: &str = aten::nll_loss2d_backward::NAME;
        let out = this.empty_like(this.dtype(), MemoryFormat::Preserve)?;
        ensure!(
            out.is_contiguous(MemoryFormat::Contiguous), // PyTorch requires this for images
            Shape,
            "{OPERATOR}: log-probabilities of strides {:?}, make them contiguous",
            this.strides()
        );
        Likelihoods { operator: OPERATOR, this, target, weight, ignore_index }.of_pixels()?.gradient(
            out,
            grad_output,
            reduction,
            total_weight,
        )
    }
}

/// Log-probabilities of classes, in dimension 1 (0 without a batch), and the target classes.
struct Likelihoods<'a> {
    operator: &'static str,
    this: &'a Tensor,
    target: &'a Tensor,
    weight: Option<&'a Tensor>,
    ignore_index: i64,
}

impl Likelihoods<'_> {
    /// Checks that there is a target for each row, or one without a batch.
    fn of_rows(self) -> Result<Self> {
        let fits = match (self.this.sizes(), self.target.sizes()) {
            ([_], []) => true,
            ([_], [targets]) => *targets == 1,
            ([n, _], [targets]) => n == targets,
            _ => false,
        };
        ensure!(
            fits,
            Shape,
            "{}: targets of sizes {:?} for sizes {:?}, expected one for each row of classes",
            self.operator,
            self.target.sizes(),
            self.this.sizes()
        );
        ensure!(
            self.weight.is_none_or(|weight| weight.dim() == 1),
            Shape,
            "{}: the weight has sizes {:?}, expected a number for each class",
            self.operator,
            self.weight.map_or(&[][..], Tensor::sizes)
        );
        Ok(self)
    }

    /// Checks that there is a target for each pixel.
    fn of_pixels(self) -> Result<Self> {
        let fits = match (self.this.sizes(), self.target.sizes()) {
            ([n, _, h, w], [n2, h2, w2]) => [n, h, w] == [n2, h2, w2],
            _ => false,
        };
        ensure!(
            fits,
            Shape,
            "{}: targets of sizes {:?} for sizes {:?}, expected one for each pixel",
            self.operator,
            self.target.sizes(),
            self.this.sizes()
        );
        ensure!(
            self.target.dtype() == DType::Int64,
            DType,
            "{}: targets of {}, expected classes as int64\n  \
             help: `aten::to_dtype(&target, DType::Int64)` makes them so",
            self.operator,
            self.target.dtype()
        );
        Ok(self)
    }

    /// The loss, of sizes `sizes` if it is not reduced, and the sum of the weights.
    fn loss(&self, reduction: i64, sizes: &[i64]) -> Result<(Tensor, Tensor)> {
        let Likelihoods { operator, this, target, .. } = *self;
        self.check()?;
        let device = common_device(operator, &[this, target])?;
        let empty = |sizes: &[i64]| Tensor::empty(sizes, this.dtype(), device);
        let (out, total) = (empty(if reduction == 0 { sizes } else { &[] })?, empty(&[])?);
        if this.storage().data_ptr().is_none() {
            return Ok((out, total));
        }
        // Of the likelihoods few are picked, so they are not converted to the opmath type.
        match_dtype!(this.dtype(), E: Half => self.write_loss::<E, f32>(&out, &total, reduction)?,
            else => match_opmath!(this.dtype(), T: Float => self.write_loss::<T, T>(&out, &total, reduction)?,
                else => return Err(unsupported(operator, this.dtype()))));
        Ok((out, total))
    }

    /// Computes the loss of likelihoods of one type in another.
    fn write_loss<E: Element, T: Float + Number>(
        &self,
        out: &Tensor,
        total: &Tensor,
        reduction: i64,
    ) -> Result<()> {
        let likelihoods = Parts::<E>::row_major(self.this, self.this.numel() as usize)?;
        let likelihoods = if likelihoods.count() == 0 { &[][..] } else { likelihoods.get(0) };
        let mut weights = 0.0; // in `f64`, as there may be many
        let weighted = |picked: Option<Picked<T>>| {
            picked.map_or((T::ZERO, T::ZERO), |(i, weight)| (-weight * likelihoods[i].cast::<T>(), weight))
        };
        if reduction == 0 {
            let mut losses = Vec::new();
            self.each_picked::<T>(|_, picked| {
                let (loss, weight) = weighted(picked);
                losses.push(loss);
                weights += weight.cast::<f64>();
            })?;
            write(out, losses)?;
        } else {
            let mut sum = 0.0;
            self.each_picked::<T>(|_, picked| {
                let (loss, weight) = weighted(picked);
                (sum, weights) = (sum + loss.cast::<f64>(), weights + weight.cast::<f64>());
            })?;
            let divisor = if reduction == 1 { weights.cast::<T>() } else { T::ONE };
            write(out, vec![sum.cast::<T>() / divisor])?;
        }
        let weights: T = weights.cast();
        let is_listed = reduction == 0 && self.this.dim() > 1;
        write(total, vec![if is_listed { T::ZERO } else { weights }])
    }

    fn check(&self) -> Result<()> {
        let Likelihoods { operator, this, target, weight, .. } = *self;
        let classes = self.classes();
        ensure!(
            matches!(target.dtype(), DType::Int64 | DType::UInt8),
            DType,
            "{operator}: targets of {}, expected classes as int64 or uint8\n  \
             help: `aten::to_dtype(&target, DType::Int64)` makes them so",
            target.dtype()
        );
        ensure!(
            weight.is_none_or(|weight| weight.numel() == classes && weight.dtype() == this.dtype()),
            Shape,
            "{operator}: the weight must have a number for each of {classes} classes, of {}",
            this.dtype()
        );
        Ok(())
    }

    fn classes(&self) -> i64 {
        self.this.sizes()[if self.this.dim() == 1 { 0 } else { 1 }]
    }

    /// Calls a function for every target, with its place and, unless it is ignored, with the place of its likelihood
    /// and its weight. Inlined, so that sums which the function captures stay in registers.
    #[inline(always)]
    fn each_picked<T: Float + Number>(&self, mut f: impl FnMut(usize, Option<Picked<T>>)) -> Result<()> {
        let targets = Parts::<i64>::row_major(self.target, self.target.numel() as usize)?;
        let targets = if targets.count() == 0 { &[][..] } else { targets.get(0) };
        let weights = self.weight.map(loops::elements::<T>).transpose()?;
        let classes = self.classes();
        let pixels: usize = saturating_numel(self.this.sizes().iter().skip(2)) as usize;
        let count = if self.this.dim() == 1 { 1 } else { targets.len() };
        let (mut row, mut pixel) = (0, 0);
        for (place, &target) in targets.iter().take(count).enumerate() {
            if target == self.ignore_index {
                f(place, None);
            } else {
                ensure!(
                    (0..classes).contains(&target),
                    Argument,
                    "{}: target {target} is out of range for {classes} classes",
                    self.operator
                );
                let class = target as usize;
                let weight = weights.as_ref().map_or(T::ONE, |weights| weights[class]);
                f(place, Some(((row * classes as usize + class) * pixels + pixel, weight)));
            }
            pixel += 1;
            if pixel == pixels {
                (row, pixel) = (row + 1, 0);
            }
        }
        Ok(())
    }

    /// The gradient of the log-probabilities, from that of the loss.
    fn gradient(&self, out: Tensor, grad: &Tensor, reduction: i64, total: &Tensor) -> Result<Tensor> {
        let Likelihoods { operator, this, .. } = *self;
        self.check()?;
        self.check_gradient(grad, reduction, total)?;
        let given = (grad, reduction, total);
        match_dtype!(this.dtype(), E: Half => self.write_gradient::<E, f32>(&out, given)?,
            else => match_opmath!(this.dtype(), T: Float => self.write_gradient::<T, T>(&out, given)?,
                else => return Err(unsupported(operator, this.dtype()))));
        Ok(out)
    }

    /// Computes the gradient of likelihoods of one type in another; `out` is new, and zero.
    fn write_gradient<E: Element, T: Float + Number>(
        &self,
        out: &Tensor,
        (grad, reduction, total): (&Tensor, i64, &Tensor),
    ) -> Result<()> {
        if !loops::has_elements(out) {
            return Ok(());
        }
        let grads = loops::elements::<T>(grad)?;
        let total = loops::elements::<T>(total)?[0];
        let put = |elements: &mut [E]| {
            self.each_picked::<T>(|place, picked| {
                let Some((i, weight)) = picked else { return };
                let gradient = match reduction {
                    0 => -weight * grads[place],
                    1 => -weight * grads[0] / total,
                    _ => -weight * grads[0],
                };
                elements[i] = gradient.cast();
            })
        };
        if out.is_contiguous(MemoryFormat::Contiguous) {
            let elements = PartsMut::<E>::of(out, out.numel() as usize)?;
            // SAFETY: new memory, initialised with zeros, of which this is the only slice.
            return put(unsafe { elements.get_mut(0) });
        }
        let mut elements = collected(self.operator, out.numel(), |_| E::default())?;
        put(&mut elements)?;
        write(out, elements)
    }

    /// Checks that a gradient has the sizes of the loss, and that `total_weight` is a single number.
    fn check_gradient(&self, grad: &Tensor, reduction: i64, total_weight: &Tensor) -> Result<()> {
        let Likelihoods { operator, this, target, .. } = *self;
        let is_listed = reduction == 0 && this.dim() > 1;
        ensure!(
            if is_listed { grad.sizes() == target.sizes() } else { grad.dim() <= 1 && grad.numel() == 1 },
            Shape,
            "{operator}: a gradient of sizes {:?} is not that of the loss, of sizes {:?}",
            grad.sizes(),
            if is_listed { target.sizes() } else { &[] }
        );
        ensure!(
            total_weight.numel() == 1,
            Shape,
            "{operator}: a total weight of sizes {:?}, expected one number",
            total_weight.sizes()
        );
        match [grad, total_weight].into_iter().find(|tensor| tensor.dtype() != this.dtype()) {
            None => Ok(()),
            Some(other) => bail!(
                DType,
                "{operator}: log-probabilities of {} and a gradient or total weight of {}, convert one to the other's type",
                this.dtype(),
                other.dtype()
            ),
        }
    }
}

/// A place among the likelihoods, and the weight of its class.
type Picked<T> = (usize, T);

/// Writes elements in row-major order, converted to the tensor's type.
fn write<T: Element>(out: &Tensor, elements: Vec<T>) -> Result<()> {
    let elements = Tensor::from_vec(elements, out.sizes())?;
    loops::assign(out, &elements)
}
