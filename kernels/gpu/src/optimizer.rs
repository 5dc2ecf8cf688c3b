//! Steps of optimisers: one launch for each tensor, which reads its gradient and changes it with its averages.

use torch_library::prelude::*;

use crate::arguments::Arguments;
use crate::backend::{GpuBackend, Tensors};
use crate::kernel::KernelBuilder;
use crate::returns::Nothing;

/// Steps of optimisers. A body has a thread for each element of `x` and of `grad`, and is of pieces one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct Optimizer {
    /// Those of SGD.
    pub sgd: Sgd,
    /// Those of Adam.
    pub adam: Adam,
}

/// Steps of SGD.
#[derive(Clone, Copy, Debug)]
pub struct Sgd {
    /// The `slope`: `sign` times the gradient, and `decay` times the element.
    pub slope: &'static str,
    /// Writes `x`, without momentum.
    pub plain: &'static str,
    /// What is `kept` for the next step, of the first one: the slope.
    pub first: &'static str,
    /// As `first`, of others: `momentum` times what `buffer` has, and `take` times the slope.
    pub kept: &'static str,
    /// The `direction`: what is kept.
    pub heavy: &'static str,
    /// As `heavy`, of Nesterov: the slope, and `momentum` times what is kept.
    pub nesterov: &'static str,
    /// Writes `x` and `buffer`.
    pub write: &'static str,
}

/// Steps of Adam.
#[derive(Clone, Copy, Debug)]
pub struct Adam {
    /// For a step that is counted on the device; nothing where the host reads its number, as it must for a language without
    /// float64: in float32 `1 - 0.999` has few digits.
    pub counted: Option<Counted>,
    /// The averages `m` and `v` of this step, from `mean` and `square` by `keep1`, `take1`, `keep2` and `take2`.
    pub averages: &'static str,
    /// The `largest` average of squares: that of this step.
    pub latest: &'static str,
    /// As `latest`: that of all steps, which `most` has and gets.
    pub most: &'static str,
    /// Names for the numbers of the host, `rate` and `correction`: the rate, with how far `mean` is from being full, and the
    /// square root of how far `square` is.
    pub numbers: &'static str,
    /// Writes `mean`, `square` and `x`.
    pub write: &'static str,
}

/// What comes of the number of a step, `step[0]`.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Run by all threads of a group, once.
    pub before: &'static str,
    /// As `numbers` of [`Adam`]; the parameter `rate` is the rate alone.
    pub numbers: &'static str,
}

/// Whether kernels take these: lists with one state for each tensor, all where they can be written at once, and nothing
/// but the gradient to be read.
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

/// Weight decay is added to the gradient, or shrinks the tensors themselves.
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
    // A step that is counted on the device stays there: nobody waits. Others are read before anything is written.
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
