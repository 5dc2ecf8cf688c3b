//! Writing or adding elements at the positions that indices give, without atomics: of the elements for one position, one thread adds
//! up all in order, or writes the last one. So the sums have the same bits as the CPU's, and the same in each run.
//!
//! If all slices share one row of indices, it is sorted on the host, and a thread goes through the indices of one position. If each
//! element has an index of its own and rows are short, each thread searches its row instead, and the indices stay on the device.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use super::order::Order;
use super::take::only_index;
use super::{are_within, is_index};
use crate::arguments::Arguments;
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::KernelBuilder;
use crate::layout::DIMS;
use crate::returns::First;

/// The kernels that put or add elements at indices. A body has one thread for each element, whose position along the indexed dimension
/// is one of `dim_size`, with `below` elements within each.
#[derive(Clone, Copy, Debug)]
pub struct Put {
    /// A function `source` of a position, if the source is a tensor.
    pub tensor: &'static str,
    /// As `tensor`, with `source_place`, if the source is one `number` for all.
    pub number: &'static str,
    /// The position of this thread in the target and in the row of its index, which leads to one of `places`.
    pub place: &'static str,
    /// Adds up all elements of the row for this position, times `alpha`, if this thread's element is the first of them.
    pub add: &'static str,
    /// Writes this thread's element, if it is the last one for this position.
    pub write: &'static str,
    /// For sorted indices, with one thread for each place and each element `beside` it: the place, and the range of source positions
    /// that lead there. These are in `order`; the end of each place's range is from `ends` on, and the number of the place from
    /// `slots` on, which counts the `lines` of indices within each place.
    pub ordered: &'static str,
    /// Adds up the elements at these positions, after `ordered`.
    pub add_ordered: &'static str,
    /// Writes the last element at these positions, after `ordered`.
    pub write_ordered: &'static str,
}

/// The longest row of indices that each thread searches by itself, which takes quadratic time.
const LONGEST: i64 = 256;

/// A call: for each position of an index one element of a source, or one number for all.
struct Call<'a> {
    target: &'a Tensor,
    /// The indexed dimension, of the target and of the index.
    dim: usize,
    index: Tensor,
    /// The strides of the index along the dimensions of the elements that are put.
    index_strides: Vec<i64>,
    source: Source<'a>,
    /// The sizes of the elements that are put.
    sizes: Vec<i64>,
    adds: bool,
    alpha: f64,
    /// Whether negative indices count from the end; only with a single row of indices.
    wraps: bool,
    /// An index that is skipped (`padding_idx`); only with a single row of indices.
    without: Option<i64>,
}

enum Source<'a> {
    Tensor(&'a Tensor),
    Number(f64),
}

impl Call<'_> {
    /// Runs the call; returns false if there is no kernel for it or an index is out of range.
    fn run<B: GpuBackend>(&self) -> Result<bool> {
        let (target, size) = (self.target, self.target.sizes()[self.dim]);
        let longest = self.sizes[self.dim];
        if self.sizes.iter().product::<i64>() == 0 {
            return Ok(true);
        }
        let is_apart = match self.source {
            Source::Tensor(source) => {
                source.dtype() == target.dtype() && B::is_float(source) && !source.shares_storage_with(target)
            }
            Source::Number(_) => true,
        };
        let has_place = B::is_float(target) && target.numel() > 0;
        let is_ours = has_place && !target.has_internal_overlap() && self.sizes.len() <= DIMS;
        if !is_ours || !is_apart || self.index.shares_storage_with(target) {
            return Ok(false);
        }
        let lines = self.index.numel() / longest;
        if lines == 1 || longest > LONGEST {
            let low = if self.wraps { -size } else { 0 };
            // Either all slices share one row of indices, or each element has its own.
            let below = if lines == 1 { 1 } else { self.below() };
            let order = Order::of(&self.index, longest, below, low..size, self.without)?;
            return order.map_or(Ok(false), |order| self.in_order::<B>(&order).map(|()| true));
        }
        if !are_within::<B>(&self.index, 0, size, None)? {
            return Ok(false);
        }
        self.by_looking::<B>()?;
        Ok(true)
    }

    /// A kernel with the parameters that both algorithms share.
    fn kernel<B: GpuBackend>(&self) -> B::Builder {
        let mut target_strides = self.target.strides().to_vec();
        let step = std::mem::take(&mut target_strides[self.dim]);
        let kernel = B::Builder::new("put")
            .of(self.target.dtype())
            .sizes(&self.sizes)
            .number("dim_size", self.sizes[self.dim])
            .number("below", self.below())
            .number("step", step)
            .float("alpha", self.alpha)
            .strides("y", &target_strides)
            .result("y", self.target);
        match self.source {
            Source::Tensor(source) => kernel
                .number("source_step", source.strides()[self.dim])
                .strides("source", source.strides())
                .input("source", source)
                .with(B::PUT.tensor),
            Source::Number(number) => {
                kernel.number("source_step", 0).float("number", number).with(B::PUT.number)
            }
        }
    }

    /// The number of elements within each position along the dimension.
    fn below(&self) -> i64 {
        self.sizes[self.dim + 1..].iter().product()
    }

    fn by_looking<B: GpuBackend>(&self) -> Result<()> {
        let text = B::PUT;
        let kernel = self
            .kernel::<B>()
            .number("places", self.target.sizes()[self.dim])
            .number("index_step", self.index_strides[self.dim])
            .strides("index", &self.index_strides)
            .input("index", &self.index);
        let body = if self.adds { text.add } else { text.write };
        kernel.threads(self.sizes.iter().product(), &[text.place, body].concat())
    }

    fn in_order<B: GpuBackend>(&self, order: &Order) -> Result<()> {
        let beside = self.sizes.iter().product::<i64>() / self.sizes[self.dim] / order.lines;
        let numbers = order.numbers.to(self.target.device())?;
        let kernel = self
            .kernel::<B>()
            .number("lines", order.lines)
            .number("beside", beside)
            .number("ends", order.ends)
            .number("slots", order.ends + order.places)
            .input("order", &numbers);
        let body = if self.adds { B::PUT.add_ordered } else { B::PUT.write_ordered };
        kernel.threads(order.places * beside, &[B::PUT.ordered, body].concat())
    }
}

/// A copy of a tensor, for writing.
fn copied<B: GpuBackend>(this: &Tensor) -> Result<Tensor> {
    let result = B::compact(this.sizes(), this.dtype(), index_of(this))?;
    aten::copy_(&mut result.clone(), this)?;
    Ok(result)
}

/// Turns a kernel that writes to a tensor into one that writes to a copy of the first argument.
fn to_copy<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
    write: impl Fn(&Arguments<'_, '_>, &Tensor) -> Result<bool>,
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    // The result has the strides of a contiguous copy, like the CPU's.
    if !B::is_float(this) || !this.is_contiguous(MemoryFormat::Contiguous) {
        return Ok(None);
    }
    let result = copied::<B>(this)?;
    Ok(write(&arguments, &result)?.then_some(result))
}

/// As [`to_copy`], for a kernel that writes to the first argument itself.
fn in_place(
    operator: OperatorHandle,
    values: &[Value<'_>],
    write: impl Fn(&Arguments<'_, '_>, &Tensor) -> Result<bool>,
) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    Ok(write(&arguments, arguments.tensor(0)?)?.then_some(First))
}

pub fn scatter<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    to_copy::<B>(operator, values, |arguments, target| scatter_to::<B>(arguments, target, is_sum(operator)))
}

pub fn scatter_in_place<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<First>> {
    in_place(operator, values, |arguments, target| scatter_to::<B>(arguments, target, is_sum(operator)))
}

fn is_sum(operator: OperatorHandle) -> bool {
    operator.name().starts_with("scatter_add")
}

/// Whether a tensor of indices has as many dimensions as the target and the source, and is not larger than them.
fn fits(index: &Tensor, target: &Tensor, source: Option<&Tensor>, dim: usize) -> bool {
    let is_smaller = |of: &Tensor, but: Option<usize>| {
        of.dim() == index.dim()
            && index.sizes().iter().zip(of.sizes()).enumerate().all(|(at, (a, b))| Some(at) == but || a <= b)
    };
    is_smaller(target, Some(dim)) && source.is_none_or(|source| is_smaller(source, None))
}

fn scatter_to<B: GpuBackend>(arguments: &Arguments<'_, '_>, target: &Tensor, adds: bool) -> Result<bool> {
    let (dim, index) = (arguments.int(1)?, arguments.tensor(2)?);
    let source = match (arguments.optional(3), arguments.float(3)) {
        (Some(source), _) => Source::Tensor(source),
        (None, Ok(number)) => Source::Number(number),
        _ => return Ok(false),
    };
    if !is_index::<B>(index, target) || index.dtype() != DType::Int64 || target.dim() == 0 {
        return Ok(false);
    }
    let Ok(dim) = usize::try_from(if dim < 0 { dim + target.dim() as i64 } else { dim }) else {
        return Ok(false);
    };
    let source_tensor = if let Source::Tensor(source) = source { Some(source) } else { None };
    if dim >= target.dim() || !fits(index, target, source_tensor, dim) || index.numel() == 0 {
        return Ok(false);
    }
    let index = B::contiguous(index)?;
    let (sizes, index_strides) = (index.sizes().to_vec(), index.strides().to_vec());
    let (alpha, wraps, without) = (1.0, false, None);
    Call { target, dim, index, index_strides, source, sizes, adds, alpha, wraps, without }.run::<B>()
}

/// Puts slices of a source at the positions of a vector of indices.
fn put_slices<B: GpuBackend>(
    target: &Tensor,
    dim: usize,
    index: &Tensor,
    source: &Tensor,
    [adds, wraps]: [bool; 2],
    alpha: f64,
    without: Option<i64>,
) -> Result<bool> {
    let mut index_strides = vec![0; source.dim()];
    index_strides[dim] = 1;
    let (index, sizes, source) = (B::contiguous(index)?, source.sizes().to_vec(), Source::Tensor(source));
    Call { target, dim, index, index_strides, source, sizes, adds, alpha, wraps, without }.run::<B>()
}

pub fn index_add<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    to_copy::<B>(operator, values, index_add_to::<B>)
}

pub fn index_add_in_place<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<First>> {
    in_place(operator, values, index_add_to::<B>)
}

fn index_add_to<B: GpuBackend>(arguments: &Arguments<'_, '_>, target: &Tensor) -> Result<bool> {
    let (dim, index, source) = (arguments.int(1)?, arguments.tensor(2)?, arguments.tensor(3)?);
    let Ok(alpha) = arguments.float(4) else { return Ok(false) };
    let dim = if dim < 0 { dim + target.dim() as i64 } else { dim };
    let Some(dim) = usize::try_from(dim).ok().filter(|dim| *dim < target.dim()) else { return Ok(false) };
    let mut sizes = target.sizes().to_vec();
    sizes[dim] = index.numel();
    if !is_index::<B>(index, target) || index.dim() != 1 || source.sizes() != sizes || index.numel() == 0 {
        return Ok(false);
    }
    put_slices::<B>(target, dim, index, source, [true, false], alpha, None)
}

pub fn index_put<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let only = only_index(values.get(1));
    to_copy::<B>(operator, values, |arguments, target| index_put_to::<B>(arguments, target, only))
}

pub fn index_put_in_place<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<First>> {
    let only = only_index(values.get(1));
    in_place(operator, values, |arguments, target| index_put_to::<B>(arguments, target, only))
}

/// `index_put` with one tensor of indices.
fn index_put_to<B: GpuBackend>(
    arguments: &Arguments<'_, '_>,
    target: &Tensor,
    only: Option<(usize, &Tensor)>,
) -> Result<bool> {
    let (Some((dim, index)), source) = (only, arguments.tensor(2)?) else { return Ok(false) };
    if !is_index::<B>(index, target)
        || dim >= target.dim()
        || !B::is_float(source)
        || source.dtype() != target.dtype()
        || index.numel() == 0
    {
        return Ok(false);
    }
    let (before, after) = (&target.sizes()[..dim], &target.sizes()[dim + 1..]);
    let wanted = [before, index.sizes(), after].concat();
    let Ok(source) = aten::expand(source, &wanted) else { return Ok(false) };
    let source = aten::reshape(&source, &[before, &[index.numel()], after].concat())?;
    let index = aten::reshape(&B::contiguous(index)?, &[index.numel()])?;
    put_slices::<B>(target, dim, &index, &source, [arguments.bool(3)?, true], 1.0, None)
}

pub fn embedding_dense_backward<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (grad, index) = (arguments.tensor(0)?, arguments.tensor(1)?);
    let (count, padding, is_scaled) = (arguments.int(2)?, arguments.int(3)?, arguments.bool(4)?);
    if is_scaled
        || !B::is_float(grad)
        || !is_index::<B>(index, grad)
        || grad.dim() != index.dim() + 1
        || count <= 0
    {
        return Ok(None);
    }
    let wide = grad.sizes()[index.dim()];
    if &grad.sizes()[..index.dim()] != index.sizes() || grad.numel() == 0 {
        return Ok(None);
    }
    let like = Tensor::empty(&[count, wide], grad.dtype(), Device::META)?;
    let result = Tensor::zeros(&[count, wide], grad.dtype(), grad.device())?;
    let (grad, index) = (B::contiguous(grad)?, B::contiguous(index)?);
    let rows = grad.strided_view(&[index.numel(), wide], &[wide, 1], grad.storage_offset())?;
    let index = index.strided_view(&[index.numel()], &[1], index.storage_offset())?;
    let without = (padding >= 0).then_some(padding);
    match put_slices::<B>(&result, 0, &index, &rows, [true, false], 1.0, without)? {
        true => B::laid_out(result, &like).map(Some),
        false => Ok(None),
    }
}
