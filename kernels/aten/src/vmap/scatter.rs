//! Batching rules for operators that write to, or read from, positions given by tensors.

use torch_library::geometry::{Geometry, wrap_dim};
use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{expanded, front};
use crate::aten;

/// Tensors with the batch in front, and the dimension that the operator works along. Where it takes vectors, a tensor
/// without dimensions becomes a vector of one element.
pub(super) fn lined(
    level: Level,
    operator: &str,
    dim: i64,
    tensors: &[&Tensor],
) -> Result<(Vec<Tensor>, i64)> {
    let dim = wrap_dim(dim, tensors[0].dim().max(1)).map_err(|error| error.context(operator))?;
    let line = |tensor: &&Tensor| {
        let value = expanded(level, tensor)?;
        if tensor.dim() == 0 { aten::unsqueeze(&value, 1) } else { Ok(value) }
    };
    Ok((tensors.iter().map(line).collect::<Result<_>>()?, dim as i64 + 1))
}

/// Wraps a result of [`lined`] tensors; if `like` has no dimensions, neither have the examples of the result.
pub(super) fn unlined(level: Level, like: &Tensor, result: Tensor) -> Result<Tensor> {
    level.wrap(if like.dim() == 0 { aten::squeeze_dim(&result, 1)? } else { result }, 0)
}

/// The indices of each example, `[batch, count]`, expanded to an index for each element of a tensor of these sizes.
pub(super) fn for_each_place(indices: &Tensor, dim: i64, sizes: &[i64]) -> Result<Tensor> {
    let mut shape = vec![1; sizes.len()];
    (shape[0], shape[dim as usize]) = (indices.sizes()[0], indices.sizes()[1]);
    aten::expand(&aten::reshape(indices, &shape)?, sizes)
}

/// Runs an operator on indexed slices: `shared` takes the same indices for all examples, `own` an index for each
/// element.
fn slices(
    operator: &str,
    (this, dim, index, source): (&Tensor, i64, &Tensor, &Tensor),
    shared: impl FnOnce(&Tensor, i64, &Tensor, &Tensor) -> Result<Tensor>,
    own: impl FnOnce(&Tensor, i64, &Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let level = Level::current()?;
    let (values, dim) = lined(level, operator, dim, &[this, source])?;
    let [value, slices] = &values[..] else { bail!(Internal, "{operator} has two tensors") };
    if !level.has(index) {
        return unlined(level, this, shared(value, dim, index, slices)?);
    }
    let mut fitting = value.sizes().to_vec();
    fitting[dim as usize] = index.numel();
    ensure!(
        index.dim() <= 1 && slices.sizes() == fitting,
        Shape,
        "{operator}: slices of sizes {:?} for {} indices into a tensor of sizes {:?}",
        source.sizes(),
        index.numel(),
        this.sizes()
    );
    let indices = aten::reshape(&front(level, index)?, &[level.batch_size(), index.numel()])?;
    let places = for_each_place(&indices, dim, slices.sizes())?;
    unlined(level, this, own(value, dim, &places, slices)?)
}

#[torch_impl(aten, FuncTorchBatched)]
mod along {
    use super::*;

    fn gather(this: &Tensor, dim: i64, index: &Tensor, sparse_grad: bool) -> Result<Tensor> {
        let level = Level::current()?;
        let (values, dim) = lined(level, aten::gather::NAME, dim, &[this, index])?;
        unlined(level, index, aten::gather::call(&values[0], dim, &values[1], sparse_grad)?)
    }

    fn scatter_value(this: &Tensor, dim: i64, index: &Tensor, value: Scalar) -> Result<Tensor> {
        let level = Level::current()?;
        let (values, dim) = lined(level, aten::scatter_value::NAME, dim, &[this, index])?;
        unlined(level, this, aten::scatter_value(&values[0], dim, &values[1], value)?)
    }

    fn scatter_src(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let (values, dim) = lined(level, aten::scatter_src::NAME, dim, &[this, index, src])?;
        unlined(level, this, aten::scatter_src(&values[0], dim, &values[1], &values[2])?)
    }

    fn scatter_add(this: &Tensor, dim: i64, index: &Tensor, src: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let (values, dim) = lined(level, aten::scatter_add::NAME, dim, &[this, index, src])?;
        unlined(level, this, aten::scatter_add(&values[0], dim, &values[1], &values[2])?)
    }

    fn index_add(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor, alpha: Scalar) -> Result<Tensor> {
        slices(
            aten::index_add::NAME,
            (this, dim, index, source),
            |this, dim, index, source| aten::index_add::call(this, dim, index, source, alpha),
            |this, dim, places, source| {
                aten::scatter_add(this, dim, places, &aten::mul_Scalar(source, alpha)?)
            },
        )
    }

    fn index_copy(this: &Tensor, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        slices(aten::index_copy::NAME, (this, dim, index, source), aten::index_copy, aten::scatter_src)
    }

    fn select_scatter(this: &Tensor, src: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        let level = Level::current()?;
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(aten::select_scatter::NAME))?;
        let (this, src) = (expanded(level, this)?, expanded(level, src)?);
        level.wrap(aten::select_scatter(&this, &src, dim as i64 + 1, index)?, 0)
    }

    fn slice_scatter(
        this: &Tensor,
        src: &Tensor,
        dim: i64,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<Tensor> {
        let level = Level::current()?;
        let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(aten::slice_scatter::NAME))?;
        let (this, src) = (expanded(level, this)?, expanded(level, src)?);
        level.wrap(aten::slice_scatter::call(&this, &src, dim as i64 + 1, start, end, step)?, 0)
    }

    fn diagonal_scatter(this: &Tensor, src: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        let level = Level::current()?;
        let dim = |dim| {
            let dim =
                wrap_dim(dim, this.dim()).map_err(|error| error.context(aten::diagonal_scatter::NAME))?;
            Ok::<_, Error>(dim as i64 + 1)
        };
        let (dim1, dim2) = (dim(dim1)?, dim(dim2)?);
        let (this, src) = (expanded(level, this)?, expanded(level, src)?);
        level.wrap(aten::diagonal_scatter::call(&this, &src, offset, dim1, dim2)?, 0)
    }

    /// An example starts at the offset of the tensor, as it does in the rule for `as_strided`.
    fn as_strided_scatter(
        this: &Tensor,
        src: &Tensor,
        size: &[i64],
        stride: &[i64],
        storage_offset: Option<i64>,
    ) -> Result<Tensor> {
        let (level, seen) = (Level::current()?, this.geometry());
        let extent = (seen.end()? - seen.offset()).max(0);
        let start = storage_offset.unwrap_or(seen.offset()) - seen.offset();
        ensure!(
            start >= 0 && Geometry::new(size, stride, start)?.end()? <= extent,
            NotSupported,
            "{}: sizes {size:?} and strides {stride:?} reach beyond an example of sizes {:?} and strides {:?}",
            aten::as_strided_scatter::NAME,
            seen.sizes(),
            seen.strides()
        );
        // The memory of all examples, one per row.
        let (batch, value) = (level.batch_size(), expanded(level, this)?);
        let between = value.strides()[0];
        let rows = aten::as_strided::call(&value, &[batch, extent], &[between, 1], None)?;
        let rows = aten::clone::with(&rows).memory_format(MemoryFormat::Contiguous).call()?;
        let behind = |first: i64, rest: &[i64]| [&[first], rest].concat();
        let (size, stride) = (behind(batch, size), behind(extent, stride));
        let rows =
            aten::as_strided_scatter::call(&rows, &expanded(level, src)?, &size, &stride, Some(start))?;
        let (sizes, strides) = (behind(batch, seen.sizes()), behind(extent, seen.strides()));
        level.wrap(aten::as_strided::call(&rows, &sizes, &strides, Some(0))?, 0)
    }
}
