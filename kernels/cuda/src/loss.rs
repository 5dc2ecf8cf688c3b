//! The negative logarithm of what was given to the true class, and its gradient.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{
    Arguments, all_on_meta, compact, index_of, is_float, is_here, kernels, on_meta, unwritten,
};
use crate::copy::{contiguous, laid_out};
use crate::index::are_within;
use crate::kernel::{Kernel, computed};

kernels! {
    super::forward: nll_loss_forward nll_loss2d_forward;
    super::backward: nll_loss_backward nll_loss2d_backward;
}

/// What the loss of each element is, for those that count.
struct Likelihoods {
    x: Tensor,
    target: Tensor,
    weight: Option<Tensor>,
    classes: i64,
    /// How many elements have a class each, for each example.
    pixels: i64,
    ignored: i64,
}

/// The numbers that PyTorch has for reductions.
const NONE: i64 = 0;
const MEAN: i64 = 1;

impl Likelihoods {
    /// Nothing where kernels cannot, or where a target is no class.
    fn of(x: &Tensor, target: &Tensor, weight: Option<&Tensor>, ignored: i64) -> Result<Option<Likelihoods>> {
        let is_ours = is_float(x)
            && (x.dim() == 2 || x.dim() == 4)
            && is_here(target)
            && target.device() == x.device()
            && target.dtype() == DType::Int64
            && target.numel() > 0
            && weight.is_none_or(is_float)
            && weight.is_none_or(|weight| weight.dtype() == x.dtype());
        if !is_ours {
            return Ok(None);
        }
        let (classes, target) = (x.sizes()[1], contiguous(target)?);
        if x.numel() != classes * target.numel() || !are_within(&target, 0, classes, Some(ignored))? {
            return Ok(None);
        }
        let pixels = x.sizes()[2..].iter().product();
        let (x, weight) = (contiguous(x)?, weight.map(contiguous).transpose()?);
        Ok(Some(Likelihoods { x, target, weight, classes, pixels, ignored }))
    }

    fn kernel(&self, label: &'static str) -> Result<Kernel> {
        let dtype = self.x.dtype();
        let kernel = Kernel::new(label)
            .type_named("T", computed(dtype))
            .type_named("R", dtype)
            .number("classes", self.classes)
            .number("pixels", self.pixels)
            .number("elements", self.target.numel())
            .number("ignored", self.ignored)
            .input("x", &self.x)?
            .input("label", &self.target)?
            .optional("weight", self.weight.as_ref(), dtype)?;
        Ok(kernel.with(
            "__device__ inline T weight_of(const Params &p, i64 t) {
    if (t == p.ignored) return T(0);
    return p.weight ? as<T>(p.weight[t]) : T(1);
}
__device__ inline T loss_of(const Params &p, i64 i) {
    i64 t = p.label[i];
    if (t == p.ignored) return T(0);
    return -weight_of(p, t) * as<T>(p.x[(i / p.pixels * p.classes + t) * p.pixels + i % p.pixels]);
}",
        ))
    }
}

fn forward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    let arguments = Arguments::new(operator, values);
    let (x, target, weight) = (arguments.tensor(0)?, arguments.tensor(1)?, arguments.optional(2));
    let metas: [Tensor; 2] = all_on_meta(operator, values)?;
    let (reduction, ignored) = (arguments.int(3)?, arguments.int(4)?);
    let Some(of) = Likelihoods::of(x, target, weight, ignored)? else { return Ok(None) };
    let index = index_of(x);
    let (loss, total) = (unwritten(&metas[0], index)?, unwritten(&metas[1], index)?);
    if reduction == NONE || loss.numel() != 1 || total.numel() != 1 {
        return Ok(None);
    }
    let value = if reduction == MEAN { "sum / total" } else { "sum" };
    of.kernel("nll loss")?.result("loss", &loss)?.result("total", &total)?.rows(
        1,
        of.target.numel(),
        &format!(
            "    T sum = T(0), total = T(0);
    for (i64 i = thread; i < p.elements; i += threads) {{
        sum += loss_of(p, i);
        total += weight_of(p, p.label[i]);
    }}
    sum = over_sum(sum);
    total = over_sum(total);
    if (thread == 0) {{ p.loss[0] = as<R>(T({value})); p.total[0] = as<R>(total); }}"
        ),
    )?;
    Ok(Some([loss, total]))
}

fn backward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let [grad, x, target, total] = [0, 1, 2, 6].map(|at| arguments.tensor(at));
    let (grad, x, target, total) = (grad?, x?, target?, total?);
    let meta = on_meta(operator, values)?;
    let (reduction, ignored) = (arguments.int(4)?, arguments.int(5)?);
    if !is_float(grad) || !is_float(total) || total.numel() != 1 {
        return Ok(None);
    }
    let Some(of) = Likelihoods::of(x, target, arguments.optional(3), ignored)? else { return Ok(None) };
    let result = compact(meta.sizes(), meta.dtype(), index_of(x))?;
    let value = match reduction {
        NONE => "as<T>(p.grad[i])",
        MEAN => "as<T>(p.grad[0]) / as<T>(p.total[0])",
        _ => "as<T>(p.grad[0])",
    };
    of.kernel("nll loss backward")?
        .input("grad", &contiguous(grad)?)?
        .input("total", total)?
        .result("y", &result)?
        .threads(
            result.numel(),
            &format!(
                "    i64 i = n / p.pixels / p.classes * p.pixels + n % p.pixels, t = p.label[i];
    bool is_true = t != p.ignored && t == n / p.pixels % p.classes;
    p.y[n] = as<R>(is_true ? T(-weight_of(p, t) * {value}) : T(0));"
            ),
        )?;
    laid_out(result, &meta).map(Some)
}
