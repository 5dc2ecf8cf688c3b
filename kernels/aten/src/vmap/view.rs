//! Batching rules for views.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{call, front, rules, wrapped};
use super::reduce::Along;
use crate::aten;

fn existing(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    Along::default().run(operator, stack)
}

fn existing_or_none(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    Along { scalars: true, ..Along::default() }.run(operator, stack)
}

fn inserted(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    Along { extra: 1, ..Along::default() }.run(operator, stack)
}

rules! {
    in_dims: existing =>
        select_int slice_Tensor split_Tensor split_with_sizes unsafe_split_Tensor unsafe_split_with_sizes
        unbind_int diagonal;
    in_dims_of_scalars: existing_or_none => transpose_int squeeze_dim squeeze_dims;
    new_dim: inserted => unsqueeze;
    back_to: whole_again => select_backward slice_backward;
}

#[torch_impl(aten, FuncTorchBatched)]
fn unfold(this: &Tensor, dimension: i64, size: i64, step: i64) -> Result<Tensor> {
    let level = Level::current()?;
    let value = front(level, this)?;
    if this.dim() == 0 {
        // A number has one window, as a vector of one element has.
        let dim = wrap_dim(dimension, 0).map_err(|error| error.context(aten::unfold::NAME))? as i64 + 1;
        let windows = aten::unfold(&aten::unsqueeze(&value, 1)?, dim, size, step)?;
        return level.wrap(aten::select_int(&windows, 1, 0)?, 0);
    }
    let dim = wrap_dim(dimension, this.dim()).map_err(|error| error.context(aten::unfold::NAME))? as i64 + 1;
    level.wrap(aten::unfold(&value, dim, size, step)?, 0)
}

/// The gradients of selections and slices: zeros, with `grad_output` at its position.
fn whole_again(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = operator.take_arguments(stack)?;
    let [grad, Value::Ints(sizes), Value::Int(dim), ..] = &mut arguments[..] else {
        bail!(Internal, "{operator} has other arguments than a gradient, sizes and a dimension")
    };
    let Some(tensor) = grad.as_tensor() else { bail!(Internal, "{operator} has no tensor in front") };
    *grad = front(level, tensor)?.into();
    *dim = wrap_dim(*dim, sizes.len())? as i64 + 1;
    *sizes = with_batch(level, sizes).into();
    let returns = call(operator, arguments)?.into_iter().map(Value::into_owned).collect();
    wrapped(level, stack, returns, 0)
}

/// The dimensions of an example, in a tensor with the batch in front.
///
/// # Errors
/// A dimension that the example does not have.
fn behind_batch(operator: &str, example: &Tensor, dims: &[i64]) -> Result<Vec<i64>> {
    let behind = dims.iter().map(|dim| Ok(wrap_dim(*dim, example.dim())? as i64 + 1));
    behind.collect::<Result<_>>().map_err(|error: Error| error.context(operator))
}

/// A list of sizes with the batch size in front.
fn with_batch(level: Level, sizes: &[i64]) -> Vec<i64> {
    [&[level.batch_size()], sizes].concat()
}

#[torch_impl(aten, FuncTorchBatched)]
mod whole {
    use super::*;

    fn permute(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
        let level = Level::current()?;
        let order = [vec![0], behind_batch(aten::permute::NAME, this, dims)?].concat();
        level.wrap(aten::permute(&front(level, this)?, &order)?, 0)
    }

    fn flip(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
        let level = Level::current()?;
        let dims = behind_batch(aten::flip::NAME, this, dims)?;
        level.wrap(aten::flip(&front(level, this)?, &dims)?, 0)
    }

    fn t(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let value = front(level, this)?;
        match this.dim() {
            0 | 1 => level.wrap(aten::alias(&value)?, 0),
            2 => level.wrap(aten::transpose_int(&value, 1, 2)?, 0),
            more => bail!(Shape, "{}: a tensor of {more} dimensions is not a matrix", aten::t::NAME),
        }
    }

    fn view(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        let level = Level::current()?;
        level.wrap(aten::view(&front(level, this)?, &with_batch(level, size))?, 0)
    }

    fn _unsafe_view(this: &Tensor, size: &[i64]) -> Result<Tensor> {
        let level = Level::current()?;
        level.wrap(aten::_unsafe_view(&front(level, this)?, &with_batch(level, size))?, 0)
    }

    fn view_dtype(this: &Tensor, dtype: DType) -> Result<Tensor> {
        let level = Level::current()?;
        level.wrap(aten::view_dtype(&front(level, this)?, dtype)?, 0)
    }

    fn view_as_complex(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        level.wrap(aten::view_as_complex(&front(level, this)?)?, 0)
    }

    fn expand(this: &Tensor, size: &[i64], implicit: bool) -> Result<Tensor> {
        let level = Level::current()?;
        ensure!(
            size.len() >= this.dim(),
            Shape,
            "{}: sizes {:?} have more dimensions than {size:?}, to which they should be expanded",
            aten::expand::NAME,
            this.sizes()
        );
        let mut value = front(level, this)?;
        for _ in this.dim()..size.len() {
            value = aten::unsqueeze(&value, 1)?;
        }
        level.wrap(aten::expand::call(&value, &with_batch(level, size), implicit)?, 0)
    }

    fn squeeze(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let ones: Vec<i64> =
            (1..).zip(this.sizes()).filter(|(_, size)| **size == 1).map(|(dim, _)| dim).collect();
        level.wrap(aten::squeeze_dims(&front(level, this)?, &ones)?, 0)
    }

    fn as_strided(
        this: &Tensor,
        size: &[i64],
        stride: &[i64],
        storage_offset: Option<i64>,
    ) -> Result<Tensor> {
        let level = Level::current()?;
        let value = front(level, this)?;
        // The memory of the first example starts at the offset; that of each further one at the stride of the batch.
        let stride = [&value.strides()[..1], stride].concat();
        level.wrap(aten::as_strided::call(&value, &with_batch(level, size), &stride, storage_offset)?, 0)
    }
}

/// Replaces the value of a batched tensor by that of another one.
fn replaced<'t>(this: &'t mut Tensor, by: &Tensor) -> Result<&'t mut Tensor> {
    let level = Level::current()?;
    let (value, dim) = level.unwrap(by);
    level.rewrap(this, value, dim.unwrap_or(0))?;
    Ok(this)
}

/// In-place views, which change the sizes of the tensor itself.
#[torch_impl(aten, FuncTorchBatched)]
mod in_place {
    use super::*;

    fn transpose_(this: &mut Tensor, dim0: i64, dim1: i64) -> Result<&mut Tensor> {
        let view = aten::transpose_int(this, dim0, dim1)?;
        replaced(this, &view)
    }

    fn unsqueeze_(this: &mut Tensor, dim: i64) -> Result<&mut Tensor> {
        let view = aten::unsqueeze(this, dim)?;
        replaced(this, &view)
    }

    fn as_strided_<'t>(
        this: &'t mut Tensor,
        size: &[i64],
        stride: &[i64],
        storage_offset: Option<i64>,
    ) -> Result<&'t mut Tensor> {
        let view = aten::as_strided::call(this, size, stride, storage_offset)?;
        replaced(this, &view)
    }

    /// The tensor that is detached is the example, whose value has no autograd history at this level.
    fn detach_(this: &mut Tensor) -> Result<&mut Tensor> {
        Ok(this)
    }

    fn squeeze_(this: &mut Tensor) -> Result<&mut Tensor> {
        let view = aten::squeeze(this)?;
        replaced(this, &view)
    }

    fn squeeze__dims<'t>(this: &'t mut Tensor, dim: &[i64]) -> Result<&'t mut Tensor> {
        let view = aten::squeeze_dims(this, dim)?;
        replaced(this, &view)
    }

    fn t_(this: &mut Tensor) -> Result<&mut Tensor> {
        let view = aten::t(this)?;
        replaced(this, &view)
    }

    fn squeeze__dim(this: &mut Tensor, dim: i64) -> Result<&mut Tensor> {
        let view = aten::squeeze_dim(this, dim)?;
        replaced(this, &view)
    }
}

/// Gradients of views, in the dimensions after the batch.
#[torch_impl(aten, FuncTorchBatched)]
mod gradients {
    use super::*;

    fn diagonal_backward(
        grad_output: &Tensor,
        input_sizes: &[i64],
        offset: i64,
        dim1: i64,
        dim2: i64,
    ) -> Result<Tensor> {
        let level = Level::current()?;
        let behind = |dim| wrap_dim(dim, input_sizes.len()).map(|dim| dim as i64 + 1);
        let sizes = [&[level.batch_size()], input_sizes].concat();
        let grad = front(level, grad_output)?;
        level.wrap(aten::diagonal_backward(&grad, &sizes, offset, behind(dim1)?, behind(dim2)?)?, 0)
    }

    fn unfold_backward(
        grad_in: &Tensor,
        input_sizes: &[i64],
        dim: i64,
        size: i64,
        step: i64,
    ) -> Result<Tensor> {
        let level = Level::current()?;
        let (mut sizes, mut grad) = (input_sizes.to_vec(), front(level, grad_in)?);
        if sizes.is_empty() {
            // A tensor without dimensions becomes a vector of one element.
            sizes.push(1);
            grad = aten::unsqueeze(&grad, 1)?;
        }
        let dim = wrap_dim(dim, sizes.len())? as i64 + 1;
        sizes.insert(0, level.batch_size());
        let out = aten::unfold_backward(&grad, &sizes, dim, size, step)?;
        level.wrap(if input_sizes.is_empty() { aten::squeeze_dim(&out, 1)? } else { out }, 0)
    }
}
