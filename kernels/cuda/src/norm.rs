//! Normalisation: elements less a mean, by a deviation, scaled. What is one for all kinds of it: statistics of rows, what
//! comes of them element by element, and their gradients.

mod batch;
mod group;
mod layer;

use torch_library::prelude::*;
use torch_library_gpu::{KernelBuilder, Tensors, computed, index_of};

use crate::call::Cuda;
use crate::copy::copy;
use crate::kernel::Kernel;

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
const LOOKUP: &str = "__device__ inline i64 statistic_of(const Params &p, i64 i) { return i / p.statistic_stride % p.statistics; }
__device__ inline i64 affine_of(const Params &p, i64 i) { return i / p.affine_stride % p.affines; }
__device__ inline i64 place(const Params &p, i64 row, i64 i) {
    return row * p.row_stride + i / p.inner * p.outer_stride + i % p.inner;
}";

/// A weight that may be missing.
const WEIGHT: &str = "__device__ inline T weight_of(const Params &p, i64 i) {
    return weight(p, affine_of(p, i));
}";

impl Norm {
    /// A kernel that goes through rows of elements of a type.
    fn kernel(&self, label: &'static str, rows: Rows, dtype: DType) -> Kernel {
        Kernel::new(label)
            .type_named("T", computed(dtype))
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
        let mut kernel = self
            .kernel("statistics", self.statistics, x.dtype())
            .type_named("S", mean.dtype())
            .float("eps", eps)
            .input("x", x)
            .result("mean", mean)
            .result("rstd", rstd);
        let mut writes = "p.mean[row] = as<S>(mean); p.rstd[row] = as<S>(rstd);".to_owned();
        if let Some((running_mean, running_var, momentum)) = running {
            kernel = kernel
                .type_named("K", running_mean.dtype())
                .float("momentum", momentum)
                .result("running_mean", running_mean)
                .result("running_var", running_var);
            writes += "
        T unbiased = square / T(p.elements - 1), take = T(p.momentum), keep = T(1.0 - p.momentum);
        p.running_mean[row] = as<K>(T(take * mean + keep * as<T>(p.running_mean[row])));
        p.running_var[row] = as<K>(T(take * unbiased + keep * as<T>(p.running_var[row])));";
        }
        let rstd = match self.of_equal_numbers {
            OfEqualNumbers::Zero => "is_finite((double)reciprocal) || is_nan(reciprocal) ? reciprocal : T(0)",
            OfEqualNumbers::Infinity => "reciprocal",
        };
        let body = format!(
            "    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) sum += as<T>(p.x[place(p, row, i)]);
    T mean = over_sum(sum) / T(p.elements);
    sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) {{
        T deviation = as<T>(p.x[place(p, row, i)]) - mean;
        sum += deviation * deviation;
    }}
    T square = over_sum(sum);
    T reciprocal = T(1) / sqrt(square / T(p.elements) + T(p.eps));
    T rstd = {rstd};
    if (thread == 0) {{
        {writes}
    }}"
        );
        kernel.rows(self.statistics.rows, self.statistics.count, &body, "")
    }

    /// Writes what is normalised.
    fn normalise(
        &self,
        x: &Tensor,
        [mean, rstd]: [&Tensor; 2],
        [weight, bias]: [Option<&Tensor>; 2],
        y: &Tensor,
    ) -> Result<()> {
        self.kernel("normalise", self.statistics, x.dtype())
            .type_named("R", y.dtype())
            .input("x", x)
            .input("mean", mean)
            .input("rstd", rstd)
            .optional("weight", weight, "1")
            .optional("bias", bias, "0")
            .result("y", y)
            .with(WEIGHT)
            .threads(
                x.numel(),
                "    i64 s = statistic_of(p, n);
    T added = bias(p, affine_of(p, n));
    p.y[n] = as<R>(T((as<T>(p.x[n]) - as<T>(p.mean[s])) * as<T>(p.rstd[s]) * weight_of(p, n) + added));",
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
            Cuda::contiguous(x)?,
            weight.map(Cuda::contiguous).transpose()?,
            bias.map(Cuda::contiguous).transpose()?,
        );
        let (y, mean, rstd) = (
            Cuda::compact(x.sizes(), metas[0].dtype(), index)?,
            Cuda::compact(metas[1].sizes(), metas[1].dtype(), index)?,
            Cuda::compact(metas[2].sizes(), metas[2].dtype(), index)?,
        );
        self.statistics(&x, [&mean, &rstd], eps, None)?;
        self.normalise(&x, [&mean, &rstd], [weight.as_ref(), bias.as_ref()], &y)?;
        Ok([Cuda::laid_out(y, &metas[0])?, mean, rstd])
    }

    /// The gradients of what [`normalised`](Self::normalised) gives, those of the mask.
    fn gradients(
        &self,
        [grad, x, mean, rstd]: [&Tensor; 4],
        weight: Option<&Tensor>,
        output_mask: [bool; 3],
        metas: &[Tensor; 3],
    ) -> Result<[Tensor; 3]> {
        let weight = weight.map(Cuda::contiguous).transpose()?;
        let of = Backward {
            grad: &Cuda::contiguous(grad)?,
            x: &Cuda::contiguous(x)?,
            mean: &Cuda::contiguous(mean)?,
            rstd: &Cuda::contiguous(rstd)?,
            weight: weight.as_ref(),
            is_training: true,
        };
        shaped(self.backward(&of, output_mask)?, metas)
    }

    /// The gradients of input, weight and bias, those of the mask.
    fn backward(&self, of: &Backward<'_>, output_mask: [bool; 3]) -> Result<[Tensor; 3]> {
        let index = index_of(of.grad);
        // Sums of halves are kept as float, and rounded at the end.
        let new = |sizes: &[i64]| Cuda::compact(sizes, computed(of.x.dtype()), index);
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
                let own = new(&[rows])?; // a column of one row would be contiguous where it is
                ensure!(copy(&own, &column)?, Internal, "a gradient was not copied");
                results[at] = Some(own);
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
        let kernel = self.kernel("gradient sums", rows, of.x.dtype());
        of.inputs(kernel, weight)?.result("sums", sums).rows(
            rows.rows,
            rows.count,
            "    T plain = T(0), scaled = T(0);
    for (i64 i = thread; i < p.elements; i += threads) {
        i64 at = place(p, row, i), s = statistic_of(p, at);
        T back = as<T>(p.grad[at]) * weight_of(p, at);
        plain += back;
        scaled += back * (as<T>(p.x[at]) - as<T>(p.mean[s])) * as<T>(p.rstd[s]);
    }
    plain = over_sum(plain);
    scaled = over_sum(scaled);
    if (thread == 0) { p.sums[2 * row] = plain; p.sums[2 * row + 1] = scaled; }",
            "",
        )
    }

    fn gradient(&self, of: &Backward<'_>, sums: &Tensor, y: &Tensor) -> Result<()> {
        let kernel = self.kernel("gradient of a norm", self.statistics, of.x.dtype());
        let kernel = of.inputs(kernel, of.weight)?.type_named("R", y.dtype()).result("y", y);
        if !of.is_training {
            let body = "    p.y[n] = as<R>(T(as<T>(p.grad[n]) * weight_of(p, n) * as<T>(p.rstd[statistic_of(p, n)])));";
            return kernel.threads(of.x.numel(), body);
        }
        kernel.input("sums", sums).threads(
            of.x.numel(),
            "    i64 s = statistic_of(p, n);
    T deviation = (as<T>(p.x[n]) - as<T>(p.mean[s])) * as<T>(p.rstd[s]);
    T part = (p.sums[2 * s] + deviation * p.sums[2 * s + 1]) / T(p.elements);
    p.y[n] = as<R>(T((as<T>(p.grad[n]) * weight_of(p, n) - part) * as<T>(p.rstd[s])));",
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
    fn inputs(&self, kernel: Kernel, weight: Option<&Tensor>) -> Result<Kernel> {
        let kernel = kernel
            .input("grad", self.grad)
            .input("x", self.x)
            .input("mean", self.mean)
            .input("rstd", self.rstd)
            .optional("weight", weight, "1");
        Ok(kernel.with(WEIGHT))
    }
}

/// A result with the type and the strides that the operator gives on `meta`.
fn rounded(result: Tensor, meta: &Tensor) -> Result<Tensor> {
    if result.dtype() == meta.dtype() {
        return Cuda::laid_out(result, meta);
    }
    let narrow = Cuda::unwritten(meta, index_of(&result))?;
    ensure!(copy(&narrow, &result)?, Internal, "a gradient was not rounded");
    Ok(narrow)
}

/// Whether kernels take these.
fn are_ours(x: &Tensor, others: &[Option<&Tensor>]) -> bool {
    Cuda::is_float(x) && x.numel() > 0 && others.iter().flatten().all(|other| Cuda::is_float(other))
}

/// Gradients with the sizes and strides that the operator gives on `meta`; those of a weight may have several dimensions.
fn shaped(results: [Tensor; 3], metas: &[Tensor; 3]) -> Result<[Tensor; 3]> {
    let mut shaped = [const { None }; 3];
    for ((slot, result), meta) in shaped.iter_mut().zip(results).zip(metas) {
        *slot = Some(match meta.is_defined() && result.is_defined() {
            false => Tensor::undefined(),
            true => {
                let lines = Tensor::empty(meta.sizes(), meta.dtype(), Device::META)?;
                rounded(result.strided_view(meta.sizes(), lines.strides(), result.storage_offset())?, meta)?
            }
        });
    }
    Ok(shaped.map(|result| result.unwrap_or_else(Tensor::undefined)))
}
