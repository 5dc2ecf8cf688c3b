//! Kernels that write or accumulate elements at positions given by an index or a mask.

use torch_library::geometry::{Dims, infer_size, wrap_dim};
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::index::advanced::selected;
use super::index::{along, at_least_1d, check_index, check_range};
use crate::aten;
use crate::composite::collected;
use crate::loops::gather::{Lanes, put, scatter};
use crate::loops::overlap::without_repetitions;
use crate::loops::pointwise::{Pointwise, common_device, unsupported};
use crate::loops::{self, match_opmath};
use crate::number::Number;

mod reduce;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn masked_fill__Scalar<'a>(this: &'a mut Tensor, mask: &Tensor, value: Scalar) -> Result<&'a mut Tensor> {
        masked_fill(aten::masked_fill__Scalar::NAME, this, mask, value)?;
        Ok(this)
    }

    fn scatter_src(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        let out = super::copied(this)?;
        Scattering::new(aten::scatter_src::NAME, &out, dim, index, Some(src))?.write(src)?;
        Ok(out)
    }

    fn scatter__src<'a>(
        this: &'a mut Tensor,
        dim: i64,
        index: &Tensor,
        src: &Tensor,
    ) -> Result<&'a mut Tensor> {
        Scattering::new(aten::scatter__src::NAME, this, dim, index, Some(src))?.write(src)?;
        Ok(this)
    }

    fn scatter_value(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
        let out = super::copied(this)?;
        Scattering::new(aten::scatter_value::NAME, &out, dim, index, None)?.write_value(value)?;
        Ok(out)
    }

    fn scatter__value<'a>(
        this: &'a mut Tensor,
        dim: i64,
        index: &Tensor,
        value: Scalar,
    ) -> Result<&'a mut Tensor> {
        Scattering::new(aten::scatter__value::NAME, this, dim, index, None)?.write_value(value)?;
        Ok(this)
    }

    fn scatter_add(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        let out = super::copied(this)?;
        Scattering::new(aten::scatter_add::NAME, &out, dim, index, Some(src))?.add(src, Scalar::Int(1))?;
        Ok(out)
    }

    fn scatter_add_<'a>(
        this: &'a mut Tensor,
        dim: i64,
        index: &Tensor,
        src: &Tensor,
    ) -> Result<&'a mut Tensor> {
        Scattering::new(aten::scatter_add_::NAME, this, dim, index, Some(src))?.add(src, Scalar::Int(1))?;
        Ok(this)
    }

    fn index_add(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor> {
        let out = super::copied(this)?;
        super::index_add(aten::index_add::NAME, &out, dim, index, source, alpha)?;
        Ok(out)
    }

    fn index_add_<'a>(
        this: &'a mut Tensor,
        dim: i64,
        index: &Tensor,
        source: &Tensor,
        alpha: Scalar,
    ) -> Result<&'a mut Tensor> {
        super::index_add(aten::index_add_::NAME, this, dim, index, source, alpha)?;
        Ok(this)
    }

    fn embedding_dense_backward(
        grad_output: &Tensor,
        indices: &Tensor,
        num_weights: i64,
        padding_idx: i64,
        scale_grad_by_freq: bool,
    ) -> Result<Tensor> {
        const OPERATOR: &str = aten::embedding_dense_backward::NAME;
        check_index(OPERATOR, indices)?;
        let width = grad_output.sizes().last().copied().unwrap_or(1);
        let sizes = [num_weights, width];
        let out =
            Tensor::empty(&sizes, grad_output.dtype(), common_device(OPERATOR, &[grad_output, indices])?)?;
        let (index, rows) = (loops::contiguous(indices)?, loops::contiguous(grad_output)?);
        ensure!(
            Some(rows.numel()) == index.numel().checked_mul(width),
            Shape,
            "{OPERATOR}: a gradient of sizes {:?} has no row for each index of sizes {:?}",
            grad_output.sizes(),
            indices.sizes()
        );
        let index = index.strided_view(&[index.numel()], &[1], index.storage_offset())?;
        let rows = rows.strided_view(&[index.numel(), width], &[width, 1], rows.storage_offset())?;
        super::index_add(OPERATOR, &out, 0, &index, &rows, Scalar::Int(1))?;
        if scale_grad_by_freq {
            divide_by_frequency(&out, &index)?;
        }
        if (0..num_weights).contains(&padding_idx) {
            let row = out.strided_view(&[width], &[1], padding_idx * width)?;
            match_dtype!(row.dtype(), T: NotFloat8 => {
                loops::map(&row, [], |[]: [T; 0]| T::default())?;
            }, else => return Err(unsupported(OPERATOR, row.dtype())));
        }
        Ok(out)
    }
}

/// A contiguous copy to write to.
fn copied(this: &Tensor) -> Result<Tensor> {
    aten::clone::with(this).memory_format(MemoryFormat::Contiguous).call()
}

fn masked_fill(operator: &'static str, this: &Tensor, mask: &Tensor, value: Scalar) -> Result<()> {
    ensure!(mask.dtype() == DType::Bool, DType, "{operator}: the mask is of {}, expected bool", mask.dtype());
    let fits = infer_size(this.sizes(), mask.sizes()).is_ok_and(|sizes| sizes.as_slice() == this.sizes());
    ensure!(
        fits,
        Shape,
        "{operator}: a mask of sizes {:?} does not broadcast to {:?}",
        mask.sizes(),
        this.sizes()
    );
    if this.has_internal_overlap() {
        return masked_fill(operator, &without_repetitions(this)?, &selected(this, mask)?, value);
    }
    let call = Pointwise::with_dtype(operator, [mask, this], this.dtype())?;
    let out = call.output(Some(this), this.dtype())?;
    match_dtype!(this.dtype(), T: NotFloat8 => {
        let value: T = value.to::<T>().map_err(|error| error.context(operator))?;
        loops::map(&out, call.inputs, |[mask, x]: [T; 2]| if mask == T::default() { x } else { value })
    }, else => Err(call.unsupported()))
}

/// A tensor that is written at the positions of an index.
struct Scattering<'a> {
    operator: &'static str,
    this: &'a Tensor,
    dim: usize,
    index: Tensor,
}

impl<'a> Scattering<'a> {
    fn new(
        operator: &'static str,
        this: &'a Tensor,
        dim: i64,
        index: &Tensor,
        src: Option<&Tensor>,
    ) -> Result<Self> {
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
        check_index(operator, index)?;
        common_device(operator, &[this, index, src.unwrap_or(index)])?;
        check_apart(operator, this, [index, src.unwrap_or(index)])?;
        let index = at_least_1d(index)?;
        let is_within = |sizes: &[i64], is_free: &dyn Fn(usize) -> bool| {
            let mut pairs = index.sizes().iter().zip(sizes).enumerate();
            sizes.len() == index.dim() && pairs.all(|(dim, (index, size))| is_free(dim) || index <= size)
        };
        let fits = index.numel() == 0
            || (is_within(at_least_1d(this)?.sizes(), &|other| other == dim)
                && match src {
                    Some(src) => is_within(at_least_1d(src)?.sizes(), &|_| false),
                    None => true,
                });
        ensure!(
            fits,
            Shape,
            "{operator}: an index of sizes {:?} does not fit sizes {:?} apart from dimension {dim}, or those of the source, {:?}",
            index.sizes(),
            this.sizes(),
            src.map(Tensor::sizes)
        );
        if let Some(src) = src {
            ensure!(
                src.dtype() == this.dtype(),
                DType,
                "{operator}: the source is of {}, the tensor of {}, convert one to the other by `aten::to_dtype`",
                src.dtype(),
                this.dtype()
            );
        }
        Ok(Scattering { operator, this, dim, index })
    }

    fn write(&self, src: &Tensor) -> Result<()> {
        self.visit(self.this, src, put)
    }

    fn write_value(&self, value: Scalar) -> Result<()> {
        self.write(&self.repeated(value)?)
    }

    /// One value, expanded to the sizes of the index.
    fn repeated(&self, value: Scalar) -> Result<Tensor> {
        let src = Tensor::full(&[], value, self.this.dtype(), self.this.device())?;
        let strides = Dims::from_elem(0, self.index.dim());
        src.strided_view(self.index.sizes(), &strides, 0)
    }

    /// Adds in the opmath type, and rounds once.
    fn add(&self, src: &Tensor, alpha: Scalar) -> Result<()> {
        let dtype = self.this.dtype();
        match_opmath!(dtype, T: Bool | Integer | Unsigned | Float | Complex => {
            let alpha: T = alpha.cast();
            // One times a real number is that number; of a complex one with an infinite part, it has NaN.
            let is_plain = T::DTYPE.is_complex() && alpha == T::ONE;
            let add = move |old: T, new: T| old.plus(if is_plain { new } else { alpha.times(new) });
            if dtype == T::DTYPE || !loops::has_elements(self.this) {
                return self.join(self.this, src, add);
            }
            let wide = loops::copy(self.this, T::DTYPE)?;
            self.join(&wide, &loops::copy(src, T::DTYPE)?, add)?;
            loops::map(self.this, [&wide], |[x]: [T; 1]| x)
        }, else => Err(unsupported(self.operator, dtype)))
    }

    fn join<T: Element>(
        &self,
        this: &Tensor,
        src: &Tensor,
        f: impl Fn(T, T) -> T + Copy + Sync,
    ) -> Result<()> {
        self.visit(this, src, |lanes, index, src| scatter(lanes, index, src, f))
    }

    /// Runs a loop over all positions, unless there are none, and checks the indices.
    fn visit(
        &self,
        this: &Tensor,
        src: &Tensor,
        each: impl FnOnce(&Lanes<'_>, &Tensor, &Tensor) -> Result<Option<i64>>,
    ) -> Result<()> {
        if !loops::has_elements(this) {
            return self.check_empty();
        }
        let (this, src) = (at_least_1d(this)?, at_least_1d(src)?);
        let bad = each(&Lanes::along(&this, self.dim), &self.index, &src)?;
        check_range(self.operator, bad, self.dim, this.sizes()[self.dim])
    }

    /// # Errors
    /// Indices into a tensor without elements.
    fn check_empty(&self) -> Result<()> {
        let is_bad = self.this.numel() == 0 && loops::has_elements(&self.index);
        let first = self.index.strided_view(&[1], &[1], self.index.storage_offset());
        let bad = if is_bad { loops::elements::<i64>(&first?)?.first().copied() } else { None };
        check_range(self.operator, bad, self.dim, 0)
    }
}

/// # Errors
/// Internal overlap, or overlap with an input.
fn check_apart(operator: &str, this: &Tensor, inputs: [&Tensor; 2]) -> Result<()> {
    let checked = this.check_no_internal_overlap();
    let checked = checked.and_then(|()| inputs.iter().try_for_each(|input| this.check_no_overlap(input)));
    checked.map_err(|error| error.context(operator))
}

fn index_add(
    operator: &'static str,
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
    alpha: Scalar,
) -> Result<()> {
    let (whole, slices, index) = slices(operator, this, dim, index, source)?;
    let places = Scattering::new(operator, &whole, dim, &index, Some(&slices))?;
    if whole.dim() > 1 && whole.numel() == 0 {
        return Ok(()); // whatever the indices are, as in PyTorch
    }
    places.add(&slices, alpha)
}

/// A tensor and slices to write to it, both with at least one dimension, and the position of each element of the
/// slices.
fn slices(
    operator: &str,
    this: &Tensor,
    dim: i64,
    index: &Tensor,
    source: &Tensor,
) -> Result<(Tensor, Tensor, Tensor)> {
    let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
    check_index(operator, index)?;
    check_apart(operator, this, [index, source])?;
    let (whole, slices) = (at_least_1d(this)?, at_least_1d(source)?);
    let is_alike = |other: usize| other == dim || whole.sizes()[other] == slices.sizes()[other];
    ensure!(
        index.dim() <= 1
            && this.dim() == source.dim()
            && (0..whole.dim()).all(is_alike)
            && slices.sizes()[dim] == index.numel(),
        Shape,
        "{operator}: a source of sizes {:?} does not have a slice of {:?} for each index of a vector of {:?}",
        source.sizes(),
        this.sizes(),
        index.sizes()
    );
    let index = along(index, slices.sizes(), dim)?;
    Ok((whole, slices, index))
}

/// Divides each row by the number of its occurrences in the index.
fn divide_by_frequency(rows: &Tensor, index: &Tensor) -> Result<()> {
    if !loops::has_elements(rows) {
        return Ok(());
    }
    let mut counts = collected(aten::embedding_dense_backward::NAME, rows.sizes()[0], |_| 0i64)?;
    for index in loops::elements::<i64>(index)? {
        counts[index as usize] += 1;
    }
    let counts = Tensor::from_vec(counts, &[rows.sizes()[0], 1])?;
    match_opmath!(rows.dtype(), T: Float | Complex => {
        loops::map(rows, [rows, &counts], |[x, count]: [T; 2]| if count == T::ZERO { x } else { x / count })
    }, else => Ok(()))
}
