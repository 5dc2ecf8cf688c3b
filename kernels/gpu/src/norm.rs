//! Normalisation: the parts that all kinds of it share: statistics of rows, the element-wise normalisation, and the gradients.

pub mod batch;
pub mod group;
pub mod layer;

use torch_library::prelude::*;

use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::{KernelBuilder, computed};

/// The kernels of normalisation. The statistics of rows are `mean` and `rstd`, the reciprocal of the deviation; `x` is contiguous.
/// The parameters describe the rows that are gone through, of `elements` elements, whose element `i` is at `row * row_stride + i /
/// inner * outer_stride + i % inner`; and how a position in memory maps to its row of statistics (by `statistic_stride` and the
/// number of rows, `statistics`) and to its element of `weight` and `bias` (by `affine_stride` and `affines`).
#[derive(Clone, Copy, Debug)]
pub struct Norm {
    /// Functions for these positions.
    pub places: &'static str,
    /// For a row: `mean`, the sum of squares, and the reciprocal of the deviation, after adding `eps` to the variance.
    pub statistics: &'static str,
    /// A function for a reciprocal that is infinite: it stays so.
    pub infinity: &'static str,
    /// As `infinity`: it becomes zero.
    pub zero: &'static str,
    /// Writes the statistics of a row.
    pub write: &'static str,
    /// Updates `running_mean` and `running_var` with the statistics and `momentum`.
    pub running: &'static str,
    /// One thread for each element of `y`: normalises it.
    pub normalise: &'static str,
    /// For a row: the sums of the gradients, and of the gradients times the normalised elements.
    pub sums: &'static str,
    /// Writes both sums to `sums`.
    pub write_sums: &'static str,
    /// One thread for each element of `y`, the gradient of `x`, from `sums`.
    pub gradient: &'static str,
    /// As `gradient`, if the statistics are constants.
    pub gradient_of_kept: &'static str,
    /// One thread for each element of `y`: the reciprocal deviation of a variance `x`.
    pub deviation: &'static str,
}

/// The rows of a contiguous tensor whose elements are summed together. Element `i` of a row is at `row * row_stride + i / inner *
/// outer_stride + i % inner`.
#[derive(Clone, Copy)]
struct Rows {
    rows: i64,
    count: i64,
    row_stride: i64,
    inner: i64,
    outer_stride: i64,
}

impl Rows {
    /// Contiguous rows.
    fn lines(rows: i64, count: i64) -> Rows {
        Rows { rows, count, row_stride: count, inner: count.max(1), outer_stride: 0 }
    }

    /// The rows of a tensor `[outer, rows, inner]`.
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

/// A kind of normalisation: which row of statistics and which element of weight and bias belong to an element.
struct Way {
    statistics: Rows,
    affine: Rows,
    /// The reciprocal deviation of equal numbers if `eps` is 0: zero in batch norm, as in PyTorch, and infinity elsewhere.
    of_equal_numbers: OfEqualNumbers,
}

#[derive(Clone, Copy)]
enum OfEqualNumbers {
    Zero,
    Infinity,
}

impl Way {
    /// A kernel over rows of elements of a type.
    fn kernel<B: GpuBackend>(&self, label: &'static str, rows: Rows, dtype: DType) -> B::Builder {
        B::Builder::new(label)
            .type_named("T", computed(dtype))
            .number("row_stride", rows.row_stride)
            .number("inner", rows.inner)
            .number("outer_stride", rows.outer_stride)
            .number("elements", rows.count)
            .number("statistics", self.statistics.rows)
            .number("statistic_stride", self.statistics.row_stride)
            .number("affines", self.affine.rows)
            .number("affine_stride", self.affine.row_stride)
            .with(B::NORM.places)
    }

    /// Writes the mean and reciprocal deviation of each row, and updates running statistics.
    fn statistics<B: GpuBackend>(
        &self,
        x: &Tensor,
        [mean, rstd]: [&Tensor; 2],
        eps: f64,
        running: Option<(&Tensor, &Tensor, f64)>,
    ) -> Result<()> {
        let text = B::NORM;
        let mut kernel = self
            .kernel::<B>("statistics", self.statistics, x.dtype())
            .type_named("S", mean.dtype())
            .float("eps", eps)
            .input("x", x)
            .result("mean", mean)
            .result("rstd", rstd);
        let mut writes = text.write.to_owned();
        if let Some((running_mean, running_var, momentum)) = running {
            kernel = kernel
                .type_named("K", running_mean.dtype())
                .float("momentum", momentum)
                .result("running_mean", running_mean)
                .result("running_var", running_var);
            writes += text.running;
        }
        let body = match self.of_equal_numbers {
            OfEqualNumbers::Zero => [text.statistics, text.zero].concat(),
            OfEqualNumbers::Infinity => [text.statistics, text.infinity].concat(),
        };
        kernel.rows(self.statistics.rows, self.statistics.count, &body, &writes)
    }

    /// Writes the normalised elements.
    fn normalise<B: GpuBackend>(
        &self,
        x: &Tensor,
        [mean, rstd]: [&Tensor; 2],
        [weight, bias]: [Option<&Tensor>; 2],
        y: &Tensor,
    ) -> Result<()> {
        self.kernel::<B>("normalise", self.statistics, x.dtype())
            .type_named("R", y.dtype())
            .input("x", x)
            .input("mean", mean)
            .input("rstd", rstd)
            .optional("weight", weight, "1.0")
            .optional("bias", bias, "0.0")
            .result("y", y)
            .threads(x.numel(), B::NORM.normalise)
    }

    /// Normalises by the statistics of the elements themselves. Returns the result, the means and the reciprocal deviations.
    fn normalised<B: GpuBackend>(
        &self,
        x: &Tensor,
        [weight, bias]: [Option<&Tensor>; 2],
        eps: f64,
        metas: &[Tensor; 3],
    ) -> Result<[Tensor; 3]> {
        let index = index_of(x);
        let (x, weight, bias) =
            (B::contiguous(x)?, weight.map(B::contiguous).transpose()?, bias.map(B::contiguous).transpose()?);
        let (y, mean, rstd) = (
            B::compact(x.sizes(), metas[0].dtype(), index)?,
            B::compact(metas[1].sizes(), metas[1].dtype(), index)?,
            B::compact(metas[2].sizes(), metas[2].dtype(), index)?,
        );
        self.statistics::<B>(&x, [&mean, &rstd], eps, None)?;
        self.normalise::<B>(&x, [&mean, &rstd], [weight.as_ref(), bias.as_ref()], &y)?;
        Ok([B::laid_out(y, &metas[0])?, mean, rstd])
    }

    /// The gradients of [`normalised`](Self::normalised), those in the output mask.
    fn gradients<B: GpuBackend>(
        &self,
        [grad, x, mean, rstd]: [&Tensor; 4],
        weight: Option<&Tensor>,
        output_mask: [bool; 3],
        metas: &[Tensor; 3],
    ) -> Result<[Tensor; 3]> {
        let weight = weight.map(B::contiguous).transpose()?;
        let of = Backward {
            grad: &B::contiguous(grad)?,
            x: &B::contiguous(x)?,
            mean: &B::contiguous(mean)?,
            rstd: &B::contiguous(rstd)?,
            weight: weight.as_ref(),
            is_training: true,
        };
        shaped::<B>(self.backward::<B>(&of, output_mask)?, metas)
    }

    /// The gradients of input, weight and bias, those in the output mask.
    fn backward<B: GpuBackend>(&self, of: &Backward<'_>, output_mask: [bool; 3]) -> Result<[Tensor; 3]> {
        let index = index_of(of.grad);
        // Sums of 16-bit floats are kept as float32, and rounded at the end.
        let new = |sizes: &[i64]| B::compact(sizes, computed(of.x.dtype()), index);
        let mut results = [const { None }; 3];
        if output_mask[0] {
            let (result, sums) = (new(of.x.sizes())?, new(&[self.statistics.rows, 2])?);
            if of.is_training {
                self.gradient_sums::<B>(of, self.statistics, of.weight, &sums)?;
            }
            self.gradient::<B>(of, &sums, &result)?;
            results[0] = Some(result);
        }
        if output_mask[1] || output_mask[2] {
            let rows = self.affine.rows;
            let sums = new(&[rows, 2])?;
            self.gradient_sums::<B>(of, self.affine, None, &sums)?;
            for at in [1, 2].into_iter().filter(|at| output_mask[*at]) {
                // The first sum is the gradient of the bias.
                let column = sums.strided_view(&[rows], &[2], 2 - at as i64)?;
                let own = new(&[rows])?; // a copy: a column with one row would count as contiguous
                ensure!(B::copy(&own, &column)?, Internal, "a gradient was not copied");
                results[at] = Some(own);
            }
        }
        Ok(results.map(|result| result.unwrap_or_else(Tensor::undefined)))
    }

    /// For each row, the sum of the gradients and, next to it, the sum of the gradients times the normalised elements.
    fn gradient_sums<B: GpuBackend>(
        &self,
        of: &Backward<'_>,
        rows: Rows,
        weight: Option<&Tensor>,
        sums: &Tensor,
    ) -> Result<()> {
        let kernel = self.kernel::<B>("gradient sums", rows, of.x.dtype());
        of.inputs::<B>(kernel, weight).result("sums", sums).rows(
            rows.rows,
            rows.count,
            B::NORM.sums,
            B::NORM.write_sums,
        )
    }

    fn gradient<B: GpuBackend>(&self, of: &Backward<'_>, sums: &Tensor, y: &Tensor) -> Result<()> {
        let kernel = self.kernel::<B>("gradient of a norm", self.statistics, of.x.dtype());
        let kernel = of.inputs::<B>(kernel, of.weight).type_named("R", y.dtype()).result("y", y);
        match of.is_training {
            true => kernel.input("sums", sums).threads(of.x.numel(), B::NORM.gradient),
            false => kernel.threads(of.x.numel(), B::NORM.gradient_of_kept),
        }
    }
}

/// The operands of a backward pass, all contiguous.
struct Backward<'a> {
    grad: &'a Tensor,
    x: &'a Tensor,
    mean: &'a Tensor,
    rstd: &'a Tensor,
    weight: Option<&'a Tensor>,
    /// Whether the statistics are those of the input, and not constants.
    is_training: bool,
}

impl Backward<'_> {
    fn inputs<B: GpuBackend>(&self, kernel: B::Builder, weight: Option<&Tensor>) -> B::Builder {
        kernel
            .input("grad", self.grad)
            .input("x", self.x)
            .input("mean", self.mean)
            .input("rstd", self.rstd)
            .optional("weight", weight, "1.0")
    }
}

/// A result, converted to the type and the strides that the operator has on `meta`.
fn rounded<B: GpuBackend>(result: Tensor, meta: &Tensor) -> Result<Tensor> {
    if result.dtype() == meta.dtype() {
        return B::laid_out(result, meta);
    }
    let narrow = B::unwritten(meta, index_of(&result))?;
    ensure!(B::copy(&narrow, &result)?, Internal, "a gradient was not rounded");
    Ok(narrow)
}

/// Whether kernels support these tensors.
fn are_ours<B: GpuBackend>(x: &Tensor, others: &[Option<&Tensor>]) -> bool {
    B::is_float(x) && x.numel() > 0 && others.iter().flatten().all(|other| B::is_float(other))
}

/// Gradients with the sizes and strides that the operator has on `meta`; a weight may have several dimensions.
fn shaped<B: GpuBackend>(results: [Tensor; 3], metas: &[Tensor; 3]) -> Result<[Tensor; 3]> {
    let mut shaped = [const { None }; 3];
    for ((slot, result), meta) in shaped.iter_mut().zip(results).zip(metas) {
        *slot = Some(match meta.is_defined() && result.is_defined() {
            false => Tensor::undefined(),
            true => {
                let lines = Tensor::empty(meta.sizes(), meta.dtype(), Device::META)?;
                rounded::<B>(
                    result.strided_view(meta.sizes(), lines.strides(), result.storage_offset())?,
                    meta,
                )?
            }
        });
    }
    Ok(shaped.map(|result| result.unwrap_or_else(Tensor::undefined)))
}
