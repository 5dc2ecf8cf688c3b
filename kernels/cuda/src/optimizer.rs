//! Steps of optimisers: one launch for each tensor, which reads its gradient and changes it with its averages.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{Arguments, Nothing, is_float, is_here, kernels};
use crate::copy::contiguous;
use crate::kernel::{Kernel, THREADS, computed};

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
        let is_one_type = states.iter().all(|state| state.dtype() == grads[at].dtype());
        is_float(&grads[at]) && is_one_type && states.iter().all(fits) && (0..states.len()).all(is_apart)
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
        let kernel = Kernel::new("sgd")
            .type_named("R", x.dtype())
            .type_named("T", computed(x.dtype()))
            .float("decay", decay)
            .float("momentum", momentum)
            .float("take", 1.0 - dampening)
            .float("rate", rate)
            .float("sign", if maximize { -1.0 } else { 1.0 })
            .input("grad", &contiguous(&grads[at])?)?
            .result("x", x)?;
        let slope = "    T x = as<T>(p.x[n]), slope = T(p.sign) * as<T>(p.grad[n]) + T(p.decay) * x;\n";
        if momentum == 0.0 {
            let write = "    p.x[n] = as<R>(T(x - T(p.rate) * slope));";
            kernel.threads(x.numel(), &format!("{slope}{write}"))?;
            continue;
        }
        let kept = match is_first_step {
            true => "slope",
            false => "T(p.momentum) * as<T>(p.buffer[n]) + T(p.take) * slope",
        };
        let step = if nesterov { "slope + T(p.momentum) * kept" } else { "kept" };
        let body = format!(
            "{slope}    T kept = {kept};
    p.x[n] = as<R>(T(x - T(p.rate) * ({step})));
    p.buffer[n] = as<R>(kept);"
        );
        kernel.result("buffer", &momenta[at])?.threads(x.numel(), &body)?;
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
    if !are_ours(lists, grads, extras)
        || steps.len() != this.len()
        || !steps.iter().all(|step| step.numel() == 1)
    {
        return Ok(None);
    }
    for (at, x) in this.iter().enumerate() {
        let kernel = Kernel::new("adam")
            .type_named("R", x.dtype())
            .type_named("T", computed(x.dtype()))
            .float("decay", if shrinks { 0.0 } else { decay })
            .float("shrink", if shrinks { 1.0 - rate * decay } else { 1.0 })
            .float("sign", if maximize { -1.0 } else { 1.0 })
            .float("beta1", beta1)
            .float("beta2", beta2)
            .float("rate", rate)
            .float("eps", eps)
            .input("grad", &contiguous(&grads[at])?)?
            .result("x", x)?
            .result("mean", &means[at])?
            .result("square", &squares[at])?;
        let (kernel, largest) = match amsgrad {
            true => (
                kernel.result("most", &most[at])?,
                "    T largest = larger(as<T>(p.most[n]), v);\n    p.most[n] = as<R>(largest);\n",
            ),
            false => (kernel, "    T largest = v;\n"),
        };
        // A step that is counted on the device stays there: nobody waits.
        let (kernel, number) = match is_here(&steps[at]) {
            true => (kernel.input("step", &steps[at])?, "as<double>(p.step[0])"),
            false => (kernel.float("step", steps[at].item()?.to::<f64>()?), "p.step"),
        };
        let begin = BEGIN.replace("STEP", number);
        let count = x.numel();
        let groups = count.cast_unsigned().div_ceil(u64::from(THREADS));
        kernel.run(count, groups, [THREADS, 1], &format!("{begin}{largest}{END}"))?;
    }
    Ok(Some(Nothing))
}

/// How far averages are from being full is computed once for a block, in double: `1 - 0.999` has few digits in float.
const BEGIN: &str = "    __shared__ double full[2];
    if (threadIdx.x == 0) {
        double step = STEP;
        full[0] = 1.0 - pow(p.beta1, step);
        full[1] = sqrt(1.0 - pow(p.beta2, step));
    }
    __syncthreads();
    i64 n = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= p.count) return;
    T x = as<T>(p.x[n]), slope = T(p.sign) * as<T>(p.grad[n]) + T(p.decay) * x;
    T m = T(p.beta1) * as<T>(p.mean[n]) + T(1.0 - p.beta1) * slope;
    T v = T(p.beta2) * as<T>(p.square[n]) + T(1.0 - p.beta2) * slope * slope;
";

const END: &str = "    p.mean[n] = as<R>(m);
    p.square[n] = as<R>(v);
    p.x[n] = as<R>(T(x * T(p.shrink) - T(p.rate / full[0]) * m / (sqrt(largest) / T(full[1]) + T(p.eps))));";
