//! Steps of optimisers: one launch for each tensor, which reads its gradient and changes it with its averages.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{Arguments, Nothing, is_float, kernels};
use crate::copy::contiguous;
use crate::shader::Shader;

kernels! {
    super::sgd: _fused_sgd_;
    super::adam: _fused_adam_;
    super::adamw: _fused_adamw_;
}

/// Whether kernels take these: lists with one state for each tensor, all where they can be written at once, and nothing
/// but the gradient to be read.
fn are_ours(lists: &[&[Tensor]], grads: &[Tensor], extras: [Option<&Tensor>; 2]) -> bool {
    let count = grads.len();
    let can_be_written = |tensor: &Tensor| is_float(tensor) && tensor.is_contiguous(MemoryFormat::Contiguous);
    let is_one_step = |at: usize| {
        let states: Vec<&Tensor> = lists.iter().map(|list| &list[at]).collect();
        let is_apart = |i: usize| {
            let others = states[..i].iter().copied().chain([&grads[at]]);
            others.into_iter().all(|other| !states[i].shares_storage_with(other))
        };
        let fits = |state: &&Tensor| can_be_written(state) && state.sizes() == grads[at].sizes();
        is_float(&grads[at]) && states.iter().all(fits) && (0..states.len()).all(is_apart)
    };
    extras.iter().all(Option::is_none)
        && lists.iter().all(|list| list.len() == count)
        && (0..count).all(is_one_step)
}

fn sgd(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Nothing>> {
    let arguments = Arguments::new(operator, values);
    let [this, grads, momenta] = [0, 1, 2].map(|at| arguments.tensors(at));
    let [decay, momentum, rate, dampening] = [3, 4, 5, 6].map(|at| arguments.float(at));
    let (decay, momentum, rate, dampening) = (decay?, momentum?, rate?, dampening?);
    let [nesterov, maximize, is_first_step] = [7, 8, 9].map(|at| arguments.bool(at));
    let (nesterov, maximize, is_first_step) = (nesterov?, maximize?, is_first_step?);
    let lists = if momentum == 0.0 { &[this][..] } else { &[this, momenta] };
    if !are_ours(lists, grads, [arguments.optional(10), arguments.optional(11)]) {
        return Ok(None);
    }
    for (at, x) in this.iter().enumerate() {
        let shader = Shader::new("sgd")
            .float("decay", decay)
            .float("momentum", momentum)
            .float("take", 1.0 - dampening)
            .float("rate", rate)
            .float("sign", if maximize { -1.0 } else { 1.0 })
            .input("grad", &contiguous(&grads[at])?)
            .result("x", x);
        let slope = "    let slope = p.sign * grad(n) + p.decay * x(n);\n";
        if momentum == 0.0 {
            shader.threads(x.numel(), &format!("{slope}    set_x(n, x(n) - p.rate * slope);"))?;
            continue;
        }
        let kept = if is_first_step { "slope" } else { "p.momentum * buffer(n) + p.take * slope" };
        let step = if nesterov { "slope + p.momentum * kept" } else { "kept" };
        let body = format!(
            "{slope}    let kept = {kept};
    set_x(n, x(n) - p.rate * ({step}));
    set_buffer(n, kept);"
        );
        shader.result("buffer", &momenta[at]).threads(x.numel(), &body)?;
    }
    Ok(Some(Nothing))
}

fn adam(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Nothing>> {
    step(&Arguments::new(operator, values), false)
}

fn adamw(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Nothing>> {
    step(&Arguments::new(operator, values), true)
}

/// Weight decay is added to the gradient, or shrinks the tensors themselves.
fn step(arguments: &Arguments<'_, '_>, shrinks: bool) -> Result<Option<Nothing>> {
    let [this, grads, means, squares, most, steps] = [0, 1, 2, 3, 4, 5].map(|at| arguments.tensors(at));
    let [rate, beta1, beta2, decay, eps] = [6, 7, 8, 9, 10].map(|at| arguments.float(at));
    let (rate, beta1, beta2, decay, eps) = (rate?, beta1?, beta2?, decay?, eps?);
    let (amsgrad, maximize) = (arguments.bool(11)?, arguments.bool(12)?);
    let lists = if amsgrad { &[this, means, squares, most][..] } else { &[this, means, squares] };
    let extras = [arguments.optional(13), arguments.optional(14)];
    if !are_ours(lists, grads, extras) || steps.len() != this.len() {
        return Ok(None);
    }
    // All before anything is written.
    let steps = steps.iter().map(|step| step.item()?.to::<f64>()).collect::<Result<Vec<_>>>()?;
    for ((at, x), step) in this.iter().enumerate().zip(steps) {
        let shader = Shader::new("adam")
            .float("decay", if shrinks { 0.0 } else { decay })
            .float("shrink", if shrinks { 1.0 - rate * decay } else { 1.0 })
            .float("sign", if maximize { -1.0 } else { 1.0 })
            .float("keep1", beta1)
            .float("take1", 1.0 - beta1)
            .float("keep2", beta2)
            .float("take2", 1.0 - beta2)
            .float("rate", rate / (1.0 - beta1.powf(step)))
            .float("correction", (1.0 - beta2.powf(step)).sqrt())
            .float("eps", eps)
            .input("grad", &contiguous(&grads[at])?)
            .result("x", x)
            .result("mean", &means[at])
            .result("square", &squares[at]);
        let (shader, largest) = match amsgrad {
            true => (
                shader.result("most", &most[at]),
                "    let largest = max(most(n), v);\n    set_most(n, largest);\n",
            ),
            false => (shader, "    let largest = v;\n"),
        };
        let body = format!(
            "    let slope = p.sign * grad(n) + p.decay * x(n);
    let m = p.keep1 * mean(n) + p.take1 * slope;
    let v = p.keep2 * square(n) + p.take2 * slope * slope;
{largest}    set_mean(n, m);
    set_square(n, v);
    set_x(n, x(n) * p.shrink - p.rate * m / (sqrt(largest) / p.correction + p.eps));"
        );
        shader.threads(x.numel(), &body)?;
    }
    Ok(Some(Nothing))
}
