//! Normalisation: elements less a mean, by a deviation, scaled. What is one for all kinds of it: statistics of rows, what
//! comes of them element by element, and their gradients.

mod batch;
mod group;
mod layer;

use torch_library::prelude::*;
use torch_library_gpu::{KernelBuilder, Tensors, index_of};

use crate::call::Wgpu;
use crate::shader::Shader;

/// Elements that are summed together, of a tensor in contiguous memory. The element `i` of a row is at
/// `row * row_stride + i / inner * outer_stride + i % inner`.
#[derive(Clone, Copy)]
struct Rows {
    rows: i64,
    count: i64,
    row_stride: i64,
    inner: i64,
    outer_stride: i64,
}

impl Rows {
    /// One behind the other.
    fn lines(rows: i64, count: i64) -> Rows {
        Rows { rows, count, row_stride: count, inner: count.max(1), outer_stride: 0 }
    }

    /// Of a tensor `[outer, rows, inner]`.
    fn across(outer: i64, rows: i64, inner: i64) -> Rows {
        Rows {
            rows,
            count: outer * inner,
            row_stride: inner,
            inner: inner.max(1),
            outer_stride: rows * inner,
        }
    }
}

/// Which numbers an element is normalised by: those of a row of statistics, and those of a weight and a bias.
struct Norm {
    statistics: Rows,
    affine: Rows,
    /// What equal numbers have for the reciprocal of their deviation where `eps` is 0: zero in batches, as in PyTorch,
    /// and infinity elsewhere.
    of_equal_numbers: OfEqualNumbers,
}

#[derive(Clone, Copy)]
enum OfEqualNumbers {
    Zero,
    Infinity,
}

/// The element at a place in memory has the statistics `statistic_of(i)` and the weight `affine_of(i)`.
const LOOKUP: &str = "fn statistic_of(i: u32) -> u32 { return i / p.statistic_stride % p.statistics; }
fn affine_of(i: u32) -> u32 { return i / p.affine_stride % p.affines; }
fn place(row: u32, i: u32) -> u32 {
    return row * p.row_stride + i / p.inner * p.outer_stride + i % p.inner;
}";

impl Norm {
    /// A shader that goes through rows.
    fn shader(&self, label: &'static str, rows: Rows) -> Shader {
        Shader::new(label)
            .number("row_stride", rows.row_stride)
            .number("inner", rows.inner)
            .number("outer_stride", rows.outer_stride)
            .number("elements", rows.count)
            .number("statistics", self.statistics.rows)
            .number("statistic_stride", self.statistics.row_stride)
            .number("affines", self.affine.rows)
            .number("affine_stride", self.affine.row_stride)
            .with(LOOKUP)
    }

    /// Writes mean and reciprocal deviation of each row; of running ones, what becomes of them.
    fn statistics(
        &self,
        x: &Tensor,
        [mean, rstd]: [&Tensor; 2],
        eps: f64,
        running: Option<(&Tensor, &Tensor, f64)>,
    ) -> Result<()> {
        let mut shader = self
            .shader("statistics", self.statistics)
            .float("eps", eps)
            .input("x", x)
            .result("mean", mean)
            .result("rstd", rstd);
        let mut writes = "if (thread == 0u) { set_mean(row, mean); set_rstd(row, rstd); }".to_owned();
        if let Some((running_mean, running_var, momentum)) = running {
            shader = shader
                .float("momentum", momentum)
                .result("running_mean", running_mean)
                .result("running_var", running_var);
            writes += "
    if (thread == 0u) {
        let unbiased = square / (f32(p.elements) - 1.0);
        set_running_mean(row, p.momentum * mean + (1.0 - p.momentum) * running_mean(row));
        set_running_var(row, p.momentum * unbiased + (1.0 - p.momentum) * running_var(row));
    }";
        }
        let rstd = match self.of_equal_numbers {
            OfEqualNumbers::Zero => "select(0.0, reciprocal, is_finite(reciprocal) || is_nan(reciprocal))",
            OfEqualNumbers::Infinity => "reciprocal",
        };
        let body = format!(
            "    var sum = 0.0;
    for (var i = thread; i < p.elements; i += THREADS) {{ sum += x(place(row, i)); }}
    let mean = over_sum(sum, thread) / f32(p.elements);
    sum = 0.0;
    for (var i = thread; i < p.elements; i += THREADS) {{
        let deviation = x(place(row, i)) - mean;
        sum += deviation * deviation;
    }}
    let square = over_sum(sum, thread);
    let reciprocal = divided(1.0, sqrt(square / f32(p.elements) + p.eps));
    let rstd = {rstd};"
        );
        shader.rows(self.statistics.rows, self.statistics.count, &body, &writes)
    }

    /// Writes what is normalised.
    fn normalise(
        &self,
        x: &Tensor,
        [mean, rstd]: [&Tensor; 2],
        [weight, bias]: [Option<&Tensor>; 2],
        y: &Tensor,
    ) -> Result<()> {
        self.shader("normalise", self.statistics)
            .input("x", x)
            .input("mean", mean)
            .input("rstd", rstd)
            .optional("weight", weight, "1.0")
            .optional("bias", bias, "0.0")
            .result("y", y)
            .threads(
                x.numel(),
                "    let s = statistic_of(n);
    let a = affine_of(n);
    set_y(n, (x(n) - mean(s)) * rstd(s) * weight(a) + bias(a));",
            )
    }

    /// Normalises by the statistics of the elements themselves: the result, the means and the reciprocal deviations.
    fn normalised(
        &self,
        x: &Tensor,
        [weight, bias]: [Option<&Tensor>; 2],
        eps: f64,
        metas: &[Tensor; 3],
    ) -> Result<[Tensor; 3]> {
        let index = index_of(x);
        let (x, weight, bias) = (
            Wgpu::contiguous(x)?,
            weight.map(Wgpu::contiguous).transpose()?,
            bias.map(Wgpu::contiguous).transpose()?,
        );
        let (y, mean, rstd) = (
            Wgpu::compact(x.sizes(), DType::Float32, index)?,
            Wgpu::compact(metas[1].sizes(), DType::Float32, index)?,
            Wgpu::compact(metas[2].sizes(), DType::Float32, index)?,
        );
        self.statistics(&x, [&mean, &rstd], eps, None)?;
        self.normalise(&x, [&mean, &rstd], [weight.as_ref(), bias.as_ref()], &y)?;
        Ok([Wgpu::laid_out(y, &metas[0])?, mean, rstd])
    }

    /// The gradients of what [`normalised`](Self::normalised) gives, those of the mask.
    fn gradients(
        &self,
        [grad, x, mean, rstd]: [&Tensor; 4],
        weight: Option<&Tensor>,
        output_mask: [bool; 3],
        metas: &[Tensor; 3],
    ) -> Result<[Tensor; 3]> {
        let weight = weight.map(Wgpu::contiguous).transpose()?;
        let of = Backward {
            grad: &Wgpu::contiguous(grad)?,
            x: &Wgpu::contiguous(x)?,
            mean: &Wgpu::contiguous(mean)?,
            rstd: &Wgpu::contiguous(rstd)?,
            weight: weight.as_ref(),
            is_training: true,
        };
        shaped(self.backward(&of, output_mask)?, metas)
    }

    /// The gradients of input, weight and bias, those of the mask.
    fn backward(&self, of: &Backward<'_>, output_mask: [bool; 3]) -> Result<[Tensor; 3]> {
        let index = index_of(of.grad);
        let new = |sizes: &[i64]| Wgpu::compact(sizes, DType::Float32, index);
        let mut results = [const { None }; 3];
        if output_mask[0] {
            let (result, sums) = (new(of.x.sizes())?, new(&[self.statistics.rows, 2])?);
            if of.is_training {
                self.gradient_sums(of, self.statistics, of.weight, &sums)?;
            }
            self.gradient(of, &sums, &result)?;
            results[0] = Some(result);
        }
        if output_mask[1] || output_mask[2] {
            let rows = self.affine.rows;
            let sums = new(&[rows, 2])?;
            self.gradient_sums(of, self.affine, None, &sums)?;
            for at in [1, 2].into_iter().filter(|at| output_mask[*at]) {
                // First the sum that is the gradient of the bias.
                let column = sums.strided_view(&[rows], &[2], 2 - at as i64)?;
                results[at] =
                    Some(Wgpu::laid_out(column, &Tensor::empty(&[rows], DType::Float32, Device::META)?)?);
            }
        }
        Ok(results.map(|result| result.unwrap_or_else(Tensor::undefined)))
    }

    /// Of each row the sum of what comes back, and beside it of that times what was normalised.
    fn gradient_sums(
        &self,
        of: &Backward<'_>,
        rows: Rows,
        weight: Option<&Tensor>,
        sums: &Tensor,
    ) -> Result<()> {
        of.inputs(self.shader("gradient sums", rows), weight).result("sums", sums).rows(
            rows.rows,
            rows.count,
            "    var mine = vec2(0.0, 0.0);
    for (var i = thread; i < p.elements; i += THREADS) {
        let at = place(row, i);
        let back = grad(at) * weight(affine_of(at));
        let s = statistic_of(at);
        mine += vec2(back, back * (x(at) - mean(s)) * rstd(s));
    }
    let plain = over_sum(mine.x, thread);
    let scaled = over_sum(mine.y, thread);",
            "if (thread == 0u) { set_sums(2u * row, plain); set_sums(2u * row + 1u, scaled); }",
        )
    }

    fn gradient(&self, of: &Backward<'_>, sums: &Tensor, y: &Tensor) -> Result<()> {
        let shader = of.inputs(self.shader("gradient of a norm", self.statistics), of.weight).result("y", y);
        if !of.is_training {
            let body = "    set_y(n, grad(n) * weight(affine_of(n)) * rstd(statistic_of(n)));";
            return shader.threads(of.x.numel(), body);
        }
        shader.input("sums", sums).threads(
            of.x.numel(),
            "    let s = statistic_of(n);
    let deviation = (x(n) - mean(s)) * rstd(s);
    let part = (sums(2u * s) + deviation * sums(2u * s + 1u)) / f32(p.elements);
    set_y(n, (grad(n) * weight(affine_of(n)) - part) * rstd(s));",
        )
    }
}

/// What gradients are made from, all in contiguous memory.
struct Backward<'a> {
    grad: &'a Tensor,
    x: &'a Tensor,
    mean: &'a Tensor,
    rstd: &'a Tensor,
    weight: Option<&'a Tensor>,
    /// Whether the statistics are those of the input.
    is_training: bool,
}

impl Backward<'_> {
    fn inputs(&self, shader: Shader, weight: Option<&Tensor>) -> Shader {
        shader
            .input("grad", self.grad)
            .input("x", self.x)
            .input("mean", self.mean)
            .input("rstd", self.rstd)
            .optional("weight", weight, "1.0")
    }
}

/// Whether kernels take these.
fn are_ours(x: &Tensor, others: &[Option<&Tensor>]) -> bool {
    Wgpu::is_float(x) && x.numel() > 0 && others.iter().flatten().all(|other| Wgpu::is_float(other))
}

/// Gradients with the sizes and strides that the operator gives on `meta`; those of a weight may have several dimensions.
fn shaped(results: [Tensor; 3], metas: &[Tensor; 3]) -> Result<[Tensor; 3]> {
    let mut shaped = [const { None }; 3];
    for ((slot, result), meta) in shaped.iter_mut().zip(results).zip(metas) {
        *slot = Some(match meta.is_defined() && result.is_defined() {
            false => Tensor::undefined(),
            true => {
                let lines = Tensor::empty(meta.sizes(), meta.dtype(), Device::META)?;
                Wgpu::laid_out(result.strided_view(meta.sizes(), lines.strides(), 0)?, meta)?
            }
        });
    }
    Ok(shaped.map(|result| result.unwrap_or_else(Tensor::undefined)))
}
