//! Reading elements by index: each element of the result finds its index, and the element that it leads to.

use torch_library::prelude::*;
use torch_library_kernels::aten;

use super::{are_within, is_index};
use crate::arguments::{Arguments, on_meta, row_major};
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::KernelBuilder;
use crate::layout::DIMS;

/// The kernel that reads elements by index.
#[derive(Clone, Copy, Debug)]
pub struct Take {
    /// One thread for each of the `width` pieces of each element: writes to `y`, in row-major order, the piece of `x` at
    /// `x_place + step * i`, where `i` is the index at `index_place`; a negative one counts from `size`.
    pub body: &'static str,
}

/// A look-up: the sizes of the result, and the strides of source and index along its dimensions.
struct Look {
    source: Vec<i64>,
    index: Vec<i64>,
    /// The stride of the indexed dimension in the source.
    step: i64,
    /// The size of the indexed dimension.
    size: i64,
    /// Whether negative indices count from the end.
    wraps: bool,
}

/// Whether kernels can move the elements of a tensor.
fn is_source<B: GpuBackend>(this: &Tensor) -> bool {
    B::is_here(this) && B::moves(this.dtype()) && this.numel() > 0
}

/// Looks elements up into a result like `meta`'s, if all indices, which are contiguous, are in range.
fn look_up<B: GpuBackend>(
    meta: &Tensor,
    this: &Tensor,
    index: &Tensor,
    look: &Look,
) -> Result<Option<Tensor>> {
    let is_ours = meta.is_contiguous(MemoryFormat::Contiguous) && meta.dim() <= DIMS && B::reaches(meta);
    let low = if look.wraps { -look.size } else { 0 };
    if !is_ours || index.numel() == 0 || !are_within::<B>(index, low, look.size, None)? {
        return Ok(None);
    }
    let (result, width) = (B::unwritten(meta, index_of(this))?, B::pieces(this.dtype()));
    B::Builder::new("look up")
        .number("width", width)
        .number("step", look.step)
        .number("size", look.size)
        .sizes(meta.sizes())
        .strides("x", &look.source)
        .strides("index", &look.index)
        .input_moved("x", this)
        .input("index", index)
        .result_moved("y", &result)
        .threads(meta.numel() * width, B::TAKE.body)?;
    Ok(Some(result))
}

pub fn gather<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (this, dim, index) = (arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?);
    if !is_source::<B>(this) || !is_index::<B>(index, this) || this.dim() == 0 || index.dim() != this.dim() {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let dim = dim.rem_euclid(this.dim() as i64) as usize;
    let index = B::contiguous(index)?;
    let mut source = this.strides().to_vec();
    source[dim] = 0;
    let (step, size) = (this.strides()[dim], this.sizes()[dim]);
    let look = Look { source, index: row_major(index.sizes()), step, size, wraps: false };
    look_up::<B>(&meta, this, &index, &look)
}

pub fn index_select<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (this, dim, index) = (arguments.tensor(0)?, arguments.int(1)?, arguments.tensor(2)?);
    if !is_source::<B>(this) || !is_index::<B>(index, this) || this.dim() == 0 || index.dim() != 1 {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let dim = dim.rem_euclid(this.dim() as i64) as usize;
    slices::<B>(&meta, this, dim, index, false)
}

pub fn embedding<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (weight, index) = (arguments.tensor(0)?, arguments.tensor(1)?);
    if !is_source::<B>(weight) || !is_index::<B>(index, weight) || weight.dim() != 2 {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    slices::<B>(&meta, weight, 0, index, false)
}

/// `index` with one tensor of indices, or with several for the first dimensions. For masks, sizes depend on their elements,
/// so `meta` is not asked.
pub fn index<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let this = Arguments::new(operator, values).tensor(0)?;
    // If kernels can only move words, bools become words on the way.
    let is_bool =
        !B::moves(DType::Bool) && B::is_here(this) && this.dtype() == DType::Bool && this.numel() > 0;
    let numbers = if is_bool { B::converted(this, DType::Int32)? } else { None };
    let this = numbers.as_ref().unwrap_or(this);
    if !is_source::<B>(this) {
        return Ok(None);
    }
    let found = match only_index(values.get(1)) {
        Some((dim, index)) if is_index::<B>(index, this) && dim < this.dim() => {
            let meta = as_words(on_meta(operator, values)?, this)?;
            slices::<B>(&meta, this, dim, index, true)?
        }
        Some(_) => None,
        None => several::<B>(operator, values, this)?,
    };
    match found {
        Some(found) if is_bool => B::converted(&found, DType::Bool),
        found => Ok(found),
    }
}

/// A result of `meta`, with the type of the elements that are looked up.
fn as_words(meta: Tensor, this: &Tensor) -> Result<Tensor> {
    if meta.dtype() == this.dtype() {
        Ok(meta)
    } else {
        Tensor::empty(meta.sizes(), this.dtype(), Device::META)
    }
}

/// Combines the indices of the first dimensions into indices of one dimension, which replaces these.
fn several<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
    this: &Tensor,
) -> Result<Option<Tensor>> {
    let Some(Value::OptionalTensors(list)) = values.get(1) else { return Ok(None) };
    let given: Vec<&Tensor> =
        list.iter().map_while(|index| index.as_ref()).filter(|index| index.is_defined()).collect();
    let rest_is_free = list[given.len()..].iter().flatten().all(|index| !index.is_defined());
    let are_ours = given.iter().all(|index| is_index::<B>(index, this) && index.dtype() == DType::Int64);
    if given.len() < 2 || given.len() > this.dim() || !rest_is_free || !are_ours {
        return Ok(None);
    }
    let meta = as_words(on_meta(operator, values)?, this)?;
    let mut place: Option<Tensor> = None;
    for (index, size) in given.iter().zip(this.sizes()) {
        if index.numel() == 0 || !are_within::<B>(&B::contiguous(index)?, -size, *size, None)? {
            return Ok(None);
        }
        let wrapped = aten::add_Scalar(index, (*size).into())?;
        let index = aten::where_self(&aten::lt_Scalar(index, 0.into())?, &wrapped, index)?;
        place = Some(match place {
            Some(place) => aten::add_Tensor(&aten::mul_Scalar(&place, (*size).into())?, &index)?,
            None => index,
        });
    }
    let Some(place) = place else { return Ok(None) };
    let (first, rest) = this.sizes().split_at(given.len());
    let sizes = [&[first.iter().product()], rest].concat();
    let rows = B::contiguous(this)?;
    let rows = rows.strided_view(&sizes, &row_major(&sizes), rows.storage_offset())?;
    slices::<B>(&meta, &rows, 0, &place, false)
}

/// The only tensor in a list of optional tensors, and its position.
pub(super) fn only_index<'a>(list: Option<&'a Value<'_>>) -> Option<(usize, &'a Tensor)> {
    let Some(Value::OptionalTensors(list)) = list else { return None };
    let there = |index: &'a Option<Tensor>| index.as_ref().filter(|index| index.is_defined());
    let mut given = list.iter().enumerate().filter_map(|(dim, index)| Some((dim, there(index)?)));
    let first = given.next()?;
    given.next().is_none().then_some(first)
}

/// Looks up slices of a dimension, which the dimensions of the index replace.
fn slices<B: GpuBackend>(
    meta: &Tensor,
    this: &Tensor,
    dim: usize,
    index: &Tensor,
    wraps: bool,
) -> Result<Option<Tensor>> {
    let index = B::contiguous(index)?;
    let (before, after) = (&this.strides()[..dim], &this.strides()[dim + 1..]);
    let around = |middle: Vec<i64>, before: &[i64], after: &[i64]| [before, &middle, after].concat();
    let source = around(vec![0; index.dim()], before, after);
    let indices = around(row_major(index.sizes()), &vec![0; before.len()], &vec![0; after.len()]);
    let look = Look { source, index: indices, step: this.strides()[dim], size: this.sizes()[dim], wraps };
    look_up::<B>(meta, this, &index, &look)
}
