//! The negative logarithm of what was given to the true class, and its gradient.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::call::{
    Arguments, all_on_meta, compact, index_of, is_float, is_here, kernels, on_meta, unwritten,
};
use crate::copy::{contiguous, laid_out};
use crate::index::are_within;
use crate::shader::Shader;

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
            && i32::try_from(ignored).is_ok();
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

    fn shader(&self, label: &'static str) -> Shader {
        Shader::new(label)
            .number("classes", self.classes)
            .number("pixels", self.pixels)
            .number("elements", self.target.numel())
            .signed("ignored", self.ignored)
            .input("x", &self.x)
            .input("label", &self.target)
            .optional("class_weight", self.weight.as_ref(), "1.0")
            .with(
                "fn weight_of(t: i32) -> f32 {
    if (t == p.ignored) { return 0.0; }
    return class_weight(u32(t));
}
fn loss_of(i: u32) -> f32 {
    let t = label(i);
    if (t == p.ignored) { return 0.0; }
    return -class_weight(u32(t)) * x((i / p.pixels * p.classes + u32(t)) * p.pixels + i % p.pixels);
}",
            )
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
    of.shader("nll loss").result("loss", &loss).result("total", &total).rows(
        1,
        "    var sums = vec2(0.0, 0.0);
    for (var i = thread; i < p.elements; i += THREADS) { sums += vec2(loss_of(i), weight_of(label(i))); }
    let sum = over_sum(sums.x, thread);
    let total = over_sum(sums.y, thread);",
        &format!("if (thread == 0u) {{ set_loss(row, {value}); set_total(row, total); }}"),
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
        NONE => "grad(i)",
        MEAN => "grad(0u) / total(0u)",
        _ => "grad(0u)",
    };
    of.shader("nll loss backward")
        .input("grad", &contiguous(grad)?)
        .input("total", total)
        .result("y", &result)
        .threads(
            result.numel(),
            &format!(
                "    let i = n / p.pixels / p.classes * p.pixels + n % p.pixels;
    let t = label(i);
    var value = 0.0;
    if (t != p.ignored && u32(t) == n / p.pixels % p.classes) {{ value = -weight_of(t) * {value}; }}
    set_y(n, value);"
            ),
        )?;
    laid_out(result, &meta).map(Some)
}
