//! What goes along a dimension: running sums and sorting.
#![expect(unsafe_code, reason = "promises to write every element of a line")]

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use rayon::prelude::*;
use torch_library::geometry::{Dims, contiguous_strides, preserved_strides, wrap_dim};
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::aten;
use crate::cpu::loops::lines::{Line, lines};
use crate::cpu::loops::{self, match_computing};
use crate::cpu::number::{Number, Ordered};
use crate::pointwise::unsupported;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn cumsum(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        const OPERATOR: &str = "aten::cumsum";
        let is_whole = this.dtype().is_integer() || this.dtype() == DType::Bool;
        let dtype = dtype.unwrap_or(if is_whole { DType::Int64 } else { this.dtype() });
        let lanes = Lanes::new(OPERATOR, this, dim)?;
        if lanes.are_lines() && !dtype.is_complex() {
            let input =
                if this.dtype() == dtype { loops::contiguous(this)? } else { loops::copy(this, dtype)? };
            return match dtype {
                DType::Float32 => running_sums::<f32, f64>(&input),
                _ => match_computing!(dtype, T: Integer | Float => running_sums::<T, T>(&input),
                    else => Err(unsupported(OPERATOR, dtype))),
            };
        }
        let out = Tensor::empty(this.sizes(), dtype, this.device())?;
        match_computing!(dtype, T: Integer | Float | Complex => {
            lanes.compute::<T, T>(&out, |lane, sums| {
                let mut sum = T::ZERO;
                for (out, x) in sums.iter_mut().zip(lane) {
                    sum = sum.plus(*x);
                    *out = sum;
                }
            })?;
        }, else => return Err(unsupported(OPERATOR, dtype)));
        Ok(out)
    }

    fn sort_stable(
        this: &Tensor,
        _stable: Option<bool>,
        dim: i64,
        descending: bool,
    ) -> Result<(Tensor, Tensor)> {
        let size = this.sizes().get(wrap_dim(dim, this.dim())?).copied().unwrap_or(1);
        ordered("aten::sort.stable", this, dim, size, descending)
    }

    fn topk(this: &Tensor, k: i64, dim: i64, largest: bool, _sorted: bool) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = "aten::topk";
        let wrapped = wrap_dim(dim, this.dim()).map_err(|error| error.context(OPERATOR))?;
        let size = this.sizes().get(wrapped).copied().unwrap_or(1);
        ensure!(
            (0..=size).contains(&k),
            Argument,
            "{OPERATOR}: k is {k}, dimension {dim} of sizes {:?} has {size} elements",
            this.sizes()
        );
        ordered(OPERATOR, this, dim, k, largest)
    }
}

/// The sums of each line up to each of its elements, added up in a type of their own.
fn running_sums<T: Number, W: Number>(input: &Tensor) -> Result<Tensor> {
    let len = input.sizes().last().map_or(1, |len| *len as usize);
    // SAFETY: every element is written.
    unsafe { lines::<T, 0>(input, len, [], &RunningSums::<W>(PhantomData)) }
}

struct RunningSums<W>(PhantomData<fn() -> W>);

impl<T: Number, W: Number> Line<T, 0> for RunningSums<W> {
    /// Blocks are added up each for itself, since an addition that waits for the one before takes several cycles. Not so in a
    /// type that another order of additions could overflow.
    #[inline(always)]
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; 0] {
        const MOST: usize = 16;
        let block = if T::DTYPE == W::DTYPE && T::DTYPE.is_floating_point() { 1 } else { MOST };
        let (mut before, mut sums) = (W::ZERO, [W::ZERO; MOST]);
        for (out, input) in out.chunks_mut(block).zip(input.chunks(block)) {
            let mut sum = W::ZERO;
            for (to, x) in sums.iter_mut().zip(input) {
                sum = sum.plus(x.cast());
                *to = sum;
            }
            for (out, sum) in out.iter_mut().zip(&sums) {
                out.write(before.plus(*sum).cast());
            }
            before = before.plus(sum);
        }
        []
    }
}

/// The first `count` elements along a dimension in order, and their indices.
fn ordered(
    operator: &'static str,
    this: &Tensor,
    dim: i64,
    count: i64,
    descending: bool,
) -> Result<(Tensor, Tensor)> {
    let lanes = Lanes::new(operator, this, dim)?;
    let mut sizes = Dims::from_slice(this.sizes());
    if let Some(size) = sizes.get_mut(lanes.dim) {
        *size = count;
    }
    let strides = match sizes.as_slice() == this.sizes() {
        true => preserved_strides(&sizes, this.strides()),
        false => contiguous_strides(&sizes),
    };
    let empty = |dtype| Tensor::empty_strided(&sizes, &strides, dtype, this.device());
    let (values, indices) = (empty(this.dtype())?, empty(DType::Int64)?);
    match_computing!(this.dtype(), T: Bool | Integer | Float => {
        lanes.compute::<T, i64>(&indices, |lane, places| {
            let mut order: Vec<i64> = (0..lane.len() as i64).collect();
            let compare = |a: &i64, b: &i64| {
                let (a, b) = (lane[*a as usize], lane[*b as usize]);
                if descending { by_size(b, a) } else { by_size(a, b) }
            };
            if places.len() < order.len() && !places.is_empty() {
                // Equals in the order of their indices, so that the result does not depend on the method.
                order.select_nth_unstable_by(places.len() - 1, |a, b| compare(a, b).then(a.cmp(b)));
                order.truncate(places.len());
                order.sort_unstable_by(|a, b| compare(a, b).then(a.cmp(b)));
            } else {
                order.sort_by(compare);
            }
            places.copy_from_slice(&order[..places.len()]);
        })?;
    }, else => return Err(unsupported(operator, this.dtype())));
    let picked = aten::gather(this, dim, &indices)?;
    match_dtype!(this.dtype(), T => loops::map(&values, [&picked], |[x]: [T; 1]| x)?);
    Ok((values, indices))
}

/// NaN counts as larger than all numbers.
pub(in crate::cpu) fn by_size<T: Ordered>(a: T, b: T) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_unordered().cmp(&b.is_unordered()))
}

/// A tensor as lanes along one of its dimensions.
pub(in crate::cpu) struct Lanes<'a> {
    tensor: &'a Tensor,
    dim: usize,
}

impl<'a> Lanes<'a> {
    pub(in crate::cpu) fn new(operator: &str, tensor: &'a Tensor, dim: i64) -> Result<Self> {
        let dim = wrap_dim(dim, tensor.dim()).map_err(|error| error.context(operator))?;
        Ok(Lanes { tensor, dim })
    }

    /// Whether the lanes are those of the last dimension.
    fn are_lines(&self) -> bool {
        self.dim + 1 == self.tensor.dim()
    }

    /// Computes each lane of `out`, which differs in the size of the dimension only, from that of the tensor.
    pub(in crate::cpu) fn compute<T: Element, R: Element>(
        &self,
        out: &Tensor,
        f: impl Fn(&[T], &mut [R]) + Sync,
    ) -> Result<()> {
        if !loops::has_elements(out) {
            return Ok(());
        }
        let along = |tensor: &Tensor| tensor.sizes().get(self.dim).copied().unwrap_or(1) as usize;
        let source = loops::elements::<T>(&self.last(self.tensor)?)?;
        let place = self.last(out)?;
        let mut result = vec![R::default(); out.numel() as usize];
        result
            .par_chunks_mut(along(out))
            .zip(source.par_chunks(along(self.tensor)))
            .for_each(|(to, from)| f(from, to));
        let result = Tensor::from_vec(result, place.sizes())?;
        match_dtype!(place.dtype(), O => loops::map(&place, [&result], |[x]: [O; 1]| x))
    }

    /// A view with the dimension last.
    fn last(&self, tensor: &Tensor) -> Result<Tensor> {
        let moved = |values: &[i64]| -> Dims {
            let mut values = Dims::from_slice(values);
            if self.dim < values.len() {
                let value = values.remove(self.dim);
                values.push(value);
            }
            values
        };
        tensor.strided_view(&moved(tensor.sizes()), &moved(tensor.strides()), tensor.storage_offset())
    }
}
