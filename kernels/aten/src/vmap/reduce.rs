//! Batching rules for operators along dimensions: a dimension of an example is one further in the batched value.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{call, expanded, front, rules, wrapped};
use crate::aten;

/// How a rule treats the arguments that name dimensions.
#[derive(Clone, Copy, Default)]
pub(super) struct Along {
    /// The number of additional dimensions that may be named: 1 for an operator that inserts one.
    pub(super) extra: usize,
    /// Whether no dimensions mean all of them.
    pub(super) none_is_all: bool,
    /// Whether an example without dimensions is treated as a vector of one element.
    pub(super) scalars: bool,
}

const NAMES: [&str; 5] = ["dim", "dim0", "dim1", "dim2", "dimension"];

impl Along {
    /// Runs an operator on the value of the first argument, with the dimensions in the other arguments shifted.
    pub(super) fn run(self, operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
        let level = Level::current()?;
        let mut arguments = operator.take_arguments(stack)?;
        let Some(tensor) = arguments[0].as_tensor() else {
            bail!(Internal, "{operator} has no tensor in front")
        };
        let rank = tensor.dim();
        let as_vector = rank == 0 && self.scalars;
        let mut value = front(level, tensor)?;
        if as_vector {
            value = aten::unsqueeze(&value, 1)?;
        }
        arguments[0] = value.into();
        let schema = operator.schema()?;
        for name in NAMES {
            if let Some(index) = schema.argument_index(name) {
                let shifted = self.shifted(&arguments[index], rank.max(usize::from(self.scalars)));
                arguments[index] = shifted.map_err(|error| error.context(operator))?;
            }
        }
        let mut returns: Vec<_> = call(operator, arguments)?.into_iter().map(Value::into_owned).collect();
        if as_vector {
            for value in &mut returns {
                if let Some(tensor) = value.as_tensor().filter(|tensor| tensor.dim() == 2) {
                    *value = aten::squeeze_dim(tensor, 1)?.into();
                }
            }
        }
        wrapped(level, stack, returns, 0)
    }

    fn shifted(self, dims: &Value<'_>, rank: usize) -> Result<Value<'static>> {
        let shift = |dim: i64| Ok(wrap_dim(dim, rank + self.extra)? as i64 + 1);
        let all = || (1..=rank as i64).collect::<Vec<_>>();
        Ok(match dims {
            Value::Int(dim) => shift(*dim)?.into(),
            Value::Ints(dims) if dims.is_empty() && self.none_is_all => all().into(),
            Value::None if self.none_is_all => all().into(),
            Value::Ints(dims) => dims.iter().map(|dim| shift(*dim)).collect::<Result<Vec<_>>>()?.into(),
            other => bail!(Type, "expected dimensions, got a {}", other.type_name()),
        })
    }
}

fn reducing(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    Along { none_is_all: true, scalars: true, ..Along::default() }.run(operator, stack)
}

fn transforming(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    Along::default().run(operator, stack)
}

fn keeping(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    Along { scalars: true, ..Along::default() }.run(operator, stack)
}

rules! {
    reductions: reducing =>
        sum_dim_IntList mean_dim amax amin any_dims all_dims var_correction std_correction var_mean_correction
        linalg_vector_norm norm_ScalarOpt_dim count_nonzero_dim_IntList;
    one_dim: keeping =>
        _softmax _log_softmax cumsum cumprod cummax cummin logcumsumexp any_dim all_dim max_dim min_dim prod_dim_int
        sort sort_stable topk kthvalue median_dim nanmedian_dim mode;
    transforms: transforming => _fft_c2c _fft_r2c _fft_c2r;
    slopes: two_alike => _softmax_backward_data _log_softmax_backward_data;
}

/// Like [`keeping`], for two tensors of the same sizes.
fn two_alike(operator: OperatorHandle, stack: &mut Stack<'_>) -> Result<()> {
    let level = Level::current()?;
    let mut arguments = operator.take_arguments(stack)?;
    let [first, second, dim, ..] = &mut arguments[..] else {
        bail!(Internal, "{operator} has no two tensors")
    };
    let (Some(a), Some(b)) = (first.as_tensor(), second.as_tensor()) else {
        bail!(Internal, "{operator} has no two tensors")
    };
    let is_number = a.dim() == 0;
    let shifted = Along::default().shifted(dim, a.dim().max(1))?;
    let as_vector = |tensor: Tensor| if is_number { aten::unsqueeze(&tensor, 1) } else { Ok(tensor) };
    let (a, b) = (as_vector(expanded(level, a)?)?, as_vector(expanded(level, b)?)?);
    (*first, *second, *dim) = (a.into(), b.into(), shifted);
    let mut returns: Vec<_> = call(operator, arguments)?.into_iter().map(Value::into_owned).collect();
    if is_number && let Some(tensor) = returns[0].as_tensor() {
        returns[0] = aten::squeeze_dim(tensor, 1)?.into();
    }
    wrapped(level, stack, returns, 0)
}

/// The value with the batch in front, with at least two dimensions, and the list of all dimensions of an example.
fn with_all_dims(level: Level, tensor: &Tensor) -> Result<(Tensor, Vec<i64>)> {
    let mut value = front(level, tensor)?;
    if tensor.dim() == 0 {
        value = aten::unsqueeze(&value, 1)?;
    }
    let dims = (1..value.dim() as i64).collect();
    Ok((value, dims))
}

/// Finds an index along one dimension, or in the flattened example.
fn place_of(
    this: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
    find: impl Fn(&Tensor, Option<i64>, bool) -> Result<Tensor>,
) -> Result<Tensor> {
    let level = Level::current()?;
    let (value, _) = with_all_dims(level, this)?;
    let found = match dim {
        Some(dim) => {
            let dim = wrap_dim(dim, this.dim().max(1))? as i64 + 1;
            find(&value, Some(dim), keepdim && this.dim() > 0)?
        }
        None => {
            let found = find(&aten::flatten_using_ints::call(&value, 1, -1)?, Some(1), false)?;
            let ones = if keepdim { this.dim() } else { 0 };
            (0..ones).try_fold(found, |found, _| aten::unsqueeze(&found, 1))?
        }
    };
    level.wrap(found, 0)
}

/// Each example searches its own rows; a sequence that all examples share is not expanded.
#[torch_impl(aten, FuncTorchBatched)]
fn searchsorted_Tensor(
    sorted_sequence: &Tensor,
    this: &Tensor,
    out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    let level = Level::current()?;
    let values = expanded(level, this)?;
    let find = |sequence: &Tensor, values: &Tensor, sorter: Option<&Tensor>| {
        aten::searchsorted_Tensor::call(sequence, values, out_int32, right, side, sorter)
    };
    let is_one = sorted_sequence.dim() == 1;
    if is_one && ![Some(sorted_sequence), sorter].into_iter().flatten().any(|tensor| level.has(tensor)) {
        return level.wrap(find(sorted_sequence, &values, sorter)?, 0);
    }
    let (sequences, sorters) =
        (expanded(level, sorted_sequence)?, sorter.map(|sorter| expanded(level, sorter)).transpose()?);
    let rows =
        if is_one { aten::reshape(&values, &[level.batch_size(), this.numel()])? } else { values.clone() };
    let found = find(&sequences, &rows, sorters.as_ref())?;
    level.wrap(aten::reshape(&found, values.sizes())?, 0)
}

#[torch_impl(aten, FuncTorchBatched)]
mod whole {
    use super::*;

    fn sum(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dims) = with_all_dims(level, this)?;
        level.wrap(aten::sum_dim_IntList::call(&value, Some(&dims), false, dtype)?, 0)
    }

    fn mean(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dims) = with_all_dims(level, this)?;
        level.wrap(aten::mean_dim::call(&value, Some(&dims), false, dtype)?, 0)
    }

    fn max(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dims) = with_all_dims(level, this)?;
        level.wrap(aten::amax::call(&value, &dims, false)?, 0)
    }

    fn min(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dims) = with_all_dims(level, this)?;
        level.wrap(aten::amin::call(&value, &dims, false)?, 0)
    }

    fn any(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dims) = with_all_dims(level, this)?;
        level.wrap(aten::any_dims::call(&value, Some(&dims), false)?, 0)
    }

    fn all(this: &Tensor) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dims) = with_all_dims(level, this)?;
        level.wrap(aten::all_dims::call(&value, Some(&dims), false)?, 0)
    }

    fn prod(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, _) = with_all_dims(level, this)?;
        let rows = aten::flatten_using_ints::call(&value, 1, -1)?;
        level.wrap(aten::prod_dim_int::call(&rows, 1, false, dtype)?, 0)
    }

    fn count_nonzero(this: &Tensor, dim: Option<i64>) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dims) = with_all_dims(level, this)?;
        let dims = match dim {
            Some(dim) => vec![wrap_dim(dim, this.dim().max(1))? as i64 + 1],
            None => dims,
        };
        level.wrap(aten::count_nonzero_dim_IntList(&value, &dims)?, 0)
    }

    fn norm_Scalar(this: &Tensor, p: Scalar) -> Result<Tensor> {
        let level = Level::current()?;
        let (value, dims) = with_all_dims(level, this)?;
        level.wrap(aten::linalg_vector_norm::call(&value, p, Some(&dims), false, None)?, 0)
    }

    fn argmax(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        place_of(this, dim, keepdim, aten::argmax::call)
    }

    fn argmin(this: &Tensor, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
        place_of(this, dim, keepdim, aten::argmin::call)
    }
}
