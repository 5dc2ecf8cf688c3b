//! The negative log likelihood loss and its gradient.

use torch_library::prelude::*;

use crate::arguments::{Arguments, all_on_meta, on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::index::are_within;
use crate::kernel::KernelBuilder;

/// The kernels of the loss: `x` is `[examples, classes, pixels]`, and `label` has the class of each of the `elements`, of
/// which those with the class `ignored` do not count.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Functions for the weight of a class and the loss of an element.
    pub functions: &'static str,
    /// A single row: the sums of the losses and of their weights.
    pub sums: &'static str,
    /// Writes the loss from these sums, with the sum of weights, as the mean.
    pub mean: &'static str,
    /// As `mean`, as the sum.
    pub sum: &'static str,
    /// A function for the gradient of an element, for unreduced losses.
    pub back_from_each: &'static str,
    /// As `back_from_each`, for the mean, whose weights have the sum `total`.
    pub back_from_mean: &'static str,
    /// As `back_from_each`, for the sum.
    pub back_from_sum: &'static str,
    /// One thread for each element of `y`, the gradient of `x`.
    pub gradient: &'static str,
}

/// The arguments of the loss.
struct Likelihoods {
    x: Tensor,
    target: Tensor,
    weight: Option<Tensor>,
    classes: i64,
    /// The number of elements of each example, each with a class.
    pixels: i64,
    ignored: i64,
}

/// PyTorch's numbers for reductions.
const NONE: i64 = 0;
const MEAN: i64 = 1;

impl Likelihoods {
    /// `None` if kernels do not support the arguments, or a target is not a class.
    fn of<B: GpuBackend>(
        x: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
        ignored: i64,
    ) -> Result<Option<Likelihoods>> {
        let is_ours = B::is_float(x)
            && (x.dim() == 2 || x.dim() == 4)
            && B::is_here(target)
            && target.device() == x.device()
            && target.dtype() == DType::Int64
            && target.numel() > 0
            && weight.is_none_or(B::is_float)
            && weight.is_none_or(|weight| weight.dtype() == x.dtype())
            && ignored.checked_abs().is_some_and(|number| number <= B::LARGEST);
        if !is_ours {
            return Ok(None);
        }
        let (classes, target) = (x.sizes()[1], B::contiguous(target)?);
        if x.numel() != classes * target.numel() || !are_within::<B>(&target, 0, classes, Some(ignored))? {
            return Ok(None);
        }
        let pixels = x.sizes()[2..].iter().product();
        let (x, weight) = (B::contiguous(x)?, weight.map(B::contiguous).transpose()?);
        Ok(Some(Likelihoods { x, target, weight, classes, pixels, ignored }))
    }

    fn kernel<B: GpuBackend>(&self, label: &'static str) -> B::Builder {
        B::Builder::new(label)
            .of(self.x.dtype())
            .number("classes", self.classes)
            .number("pixels", self.pixels)
            .number("elements", self.target.numel())
            .signed("ignored", self.ignored)
            .input("x", &self.x)
            .input("label", &self.target)
            .optional("weight", self.weight.as_ref(), "1.0")
            .with(B::LOSS.functions)
    }
}

pub fn forward<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    let arguments = Arguments::new(operator, values);
    let (x, target, weight) = (arguments.tensor(0)?, arguments.tensor(1)?, arguments.optional(2));
    let metas: [Tensor; 2] = all_on_meta(operator, values)?;
    let (reduction, ignored) = (arguments.int(3)?, arguments.int(4)?);
    let Some(of) = Likelihoods::of::<B>(x, target, weight, ignored)? else { return Ok(None) };
    let index = index_of(x);
    let (loss, total) = (B::unwritten(&metas[0], index)?, B::unwritten(&metas[1], index)?);
    if reduction == NONE || loss.numel() != 1 || total.numel() != 1 {
        return Ok(None);
    }
    let write = if reduction == MEAN { B::LOSS.mean } else { B::LOSS.sum };
    let kernel = of.kernel::<B>("nll loss").result("loss", &loss).result("total", &total);
    kernel.rows(1, of.target.numel(), B::LOSS.sums, write)?;
    Ok(Some([loss, total]))
}

pub fn backward<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let [grad, x, target, total] = [0, 1, 2, 6].map(|at| arguments.tensor(at));
    let (grad, x, target, total) = (grad?, x?, target?, total?);
    let meta = on_meta(operator, values)?;
    let (reduction, ignored) = (arguments.int(4)?, arguments.int(5)?);
    if !B::is_float(grad) || !B::is_float(total) || total.numel() != 1 {
        return Ok(None);
    }
    let Some(of) = Likelihoods::of::<B>(x, target, arguments.optional(3), ignored)? else { return Ok(None) };
    let result = B::compact(meta.sizes(), meta.dtype(), index_of(x))?;
    let back = match reduction {
        NONE => B::LOSS.back_from_each,
        MEAN => B::LOSS.back_from_mean,
        _ => B::LOSS.back_from_sum,
    };
    of.kernel::<B>("nll loss backward")
        .input("grad", &B::contiguous(grad)?)
        .input("total", total)
        .result("y", &result)
        .with(back)
        .threads(result.numel(), B::LOSS.gradient)?;
    B::laid_out(result, &meta).map(Some)
}
