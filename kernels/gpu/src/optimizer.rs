//! Steps of optimisers: one launch for each tensor, which reads the gradient and updates the tensor and its state.

use torch_library::prelude::*;

use crate::arguments::Arguments;
use crate::backend::{GpuBackend, Tensors};
use crate::kernel::KernelBuilder;
use crate::returns::Nothing;

/// The kernels of optimisers. A body has one thread for each element of `x` and of `grad`, and is a sequence of pieces.
#[derive(Clone, Copy, Debug)]
pub struct Optimizer {
    /// The pieces of SGD.
    pub sgd: Sgd,
    /// The pieces of Adam.
    pub adam: Adam,
}

/// The pieces of an SGD step.
#[derive(Clone, Copy, Debug)]
pub struct Sgd {
    /// The `slope`: `sign` times the gradient, plus `decay` times the element.
    pub slope: &'static str,
    /// Writes `x`, without momentum.
    pub plain: &'static str,
    /// The momentum buffer, `kept`, in the first step: the slope.
    pub first: &'static str,
    /// As `first`, in later steps: `momentum` times `buffer`, plus `take` times the slope.
    pub kept: &'static str,
    /// The `direction`: the momentum buffer.
    pub heavy: &'static str,
    /// As `heavy`, with Nesterov momentum: the slope, plus `momentum` times the buffer.
    pub nesterov: &'static str,
    /// Writes `x` and `buffer`.
    pub write: &'static str,
}

/// The pieces of an Adam step.
#[derive(Clone, Copy, Debug)]
pub struct Adam {
    /// The pieces for a step counter on the device; `None` if the host reads the counter, as it must for a language without
    /// float64, since in float32 `1 - 0.999` has few digits.
    pub counted: Option<Counted>,
    /// The averages `m` and `v` of this step, from `mean` and `square` with the factors `keep1`, `take1`, `keep2` and
    /// `take2`.
    pub averages: &'static str,
    /// The average of squares that is used, `largest`: that of this step.
    pub latest: &'static str,
    /// As `latest`: the largest of all steps, which is kept in `most` (AMSGrad).
    pub most: &'static str,
    /// Names for numbers from the host: `rate`, the learning rate with the bias correction of `mean`, and `correction`, the
    /// square root of the bias correction of `square`.
    pub numbers: &'static str,
    /// Writes `mean`, `square` and `x`.
    pub write: &'static str,
}

/// The bias corrections from a step counter on the device, `step[0]`.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Code that all threads of a workgroup run once.
    pub before: &'static str,
    /// As `numbers` of [`Adam`], where the parameter `rate` is the learning rate alone.
    pub numbers: &'static str,
}

/// Whether kernels support these arguments: lists with one state for each tensor, all of them contiguous and on the device,
/// in memory of their own, without `grad_scale` and `found_inf` (the extras).
fn are_ours<B: GpuBackend>(lists: &[&[Tensor]], grads: &[Tensor], extras: [Option<&Tensor>; 2]) -> bool {
    let count = grads.len();
    let can_be_written =
        |tensor: &Tensor| B::is_float(tensor) && tensor.is_contiguous(MemoryFormat::Contiguous);
    let is_one_step = |at: usize| {
        let states: Vec<&Tensor> = lists.iter().map(|list| &list[at]).collect();
        let is_apart = |i: usize| {
            let others = states[..i].iter().copied().chain([&grads[at]]);
            others.into_iter().all(|other| !states[i].shares_storage_with(other))
        };
        let fits = |state: &&Tensor| can_be_written(state) && state.sizes() == grads[at].sizes();
        let is_one_type = states.iter().all(|state| state.dtype() == grads[at].dtype());
        B::is_float(&grads[at]) && is_one_type && states.iter().all(fits) && (0..states.len()).all(is_apart)
    };
    extras.iter().all(Option::is_none)
        && lists.iter().all(|list| list.len() == count)
        && (0..count).all(is_one_step)
}

pub fn sgd<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Nothing>> {
    let arguments = Arguments::new(operator, values);
    let [this, grads, momenta] = [0, 1, 2].map(|at| arguments.tensors(at));
    let [decay, momentum, rate, dampening] = [3, 4, 5, 6].map(|at| arguments.float(at));
    let (decay, momentum, rate, dampening) = (decay?, momentum?, rate?, dampening?);
    let [nesterov, maximize, is_first_step] = [7, 8, 9].map(|at| arguments.bool(at));
    let (nesterov, maximize, is_first_step) = (nesterov?, maximize?, is_first_step?);
    let lists = if momentum == 0.0 { &[this][..] } else { &[this, momenta] };
    if !are_ours::<B>(lists, grads, [arguments.optional(10), arguments.optional(11)]) {
        return Ok(None);
    }
    let text = B::OPTIMIZER.sgd;
    for (at, x) in this.iter().enumerate() {
        let kernel = B::Builder::new("sgd")
            .of(x.dtype())
            .float("decay", decay)
            .float("momentum", momentum)
            .float("take", 1.0 - dampening)
            .float("rate", rate)
            .float("sign", if maximize { -1.0 } else { 1.0 })
            .input("grad", &B::contiguous(&grads[at])?)
            .result("x", x);
        if momentum == 0.0 {
            kernel.threads(x.numel(), &[text.slope, text.plain].concat())?;
            continue;
        }
        let kept = if is_first_step { text.first } else { text.kept };
        let direction = if nesterov { text.nesterov } else { text.heavy };
        let body = [text.slope, kept, direction, text.write].concat();
        kernel.result("buffer", &momenta[at]).threads(x.numel(), &body)?;
    }
    Ok(Some(Nothing))
}

pub fn adam<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Nothing>> {
    step::<B>(&Arguments::new(operator, values), false)
}

pub fn adamw<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Nothing>> {
    step::<B>(&Arguments::new(operator, values), true)
}

/// Runs an Adam step; weight decay is added to the gradient, or, if `shrinks`, shrinks the tensors themselves (AdamW).
fn step<B: GpuBackend>(arguments: &Arguments<'_, '_>, shrinks: bool) -> Result<Option<Nothing>> {
    let [this, grads, means, squares, most, steps] = [0, 1, 2, 3, 4, 5].map(|at| arguments.tensors(at));
    let [rate, beta1, beta2, decay, eps] = [6, 7, 8, 9, 10].map(|at| arguments.float(at));
    let (rate, beta1, beta2, decay, eps) = (rate?, beta1?, beta2?, decay?, eps?);
    let (amsgrad, maximize) = (arguments.bool(11)?, arguments.bool(12)?);
    let lists = if amsgrad { &[this, means, squares, most][..] } else { &[this, means, squares] };
    let extras = [arguments.optional(13), arguments.optional(14)];
    if !are_ours::<B>(lists, grads, extras)
        || steps.len() != this.len()
        || !steps.iter().all(|step| step.numel() == 1)
    {
        return Ok(None);
    }
    let text = B::OPTIMIZER.adam;
    // A step counter on the device stays there, so that the host does not wait. Others are read before anything is written.
    let counted = |step: &Tensor| text.counted.filter(|_| B::is_here(step));
    let numbers = steps.iter().map(|step| match counted(step) {
        Some(_) => Ok([rate, 1.0]),
        None => {
            let number = step.item()?.to::<f64>()?;
            Ok([rate / (1.0 - beta1.powf(number)), (1.0 - beta2.powf(number)).sqrt()])
        }
    });
    let numbers = numbers.collect::<Result<Vec<_>>>()?;
    for ((at, x), [rate_of_step, correction]) in this.iter().enumerate().zip(numbers) {
        let kernel = B::Builder::new("adam")
            .of(x.dtype())
            .float("decay", if shrinks { 0.0 } else { decay })
            .float("shrink", if shrinks { 1.0 - rate * decay } else { 1.0 })
            .float("sign", if maximize { -1.0 } else { 1.0 })
            .float("keep1", beta1)
            .float("take1", 1.0 - beta1)
            .float("keep2", beta2)
            .float("take2", 1.0 - beta2)
            .float("rate", rate_of_step)
            .float("correction", correction)
            .float("eps", eps)
            .input("grad", &B::contiguous(&grads[at])?)
            .result("x", x)
            .result("mean", &means[at])
            .result("square", &squares[at]);
        let (kernel, largest) = match amsgrad {
            true => (kernel.result("most", &most[at]), text.most),
            false => (kernel, text.latest),
        };
        let (kernel, before, numbers) = match counted(&steps[at]) {
            Some(counted) => (kernel.input("step", &steps[at]), counted.before, counted.numbers),
            None => (kernel, "", text.numbers),
        };
        let body = [text.averages, largest, numbers, text.write].concat();
        kernel.threads_after(before, x.numel(), &body)?;
    }
    Ok(Some(Nothing))
}
