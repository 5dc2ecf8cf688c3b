//! Lanes of tensors along a dimension, and their cumulative sums and products.
#![expect(unsafe_code, reason = "shares lanes among threads, and promises to write every element of a line")]

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use torch_library::Element;
use torch_library::geometry::{Dims, contiguous_strides, saturating_numel, wrap_dim};
use torch_library::prelude::*;

use crate::aten;
use crate::inlined::zip;
use crate::loops::lines::{Line, lines};
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::unsupported;
use crate::loops::reduction::type_of_sum;
use crate::loops::{self, match_opmath, on_vectors, parallel};
use crate::number::Number;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn cumsum(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::cumsum::NAME;
        let dtype = type_of_sum(this, dtype);
        let lanes = Lanes::new(OPERATOR, this, dim)?;
        match dtype {
            DType::Float32 => lanes.running::<f32, _>(dtype, &SumsOfSingles),
            _ => {
                match_opmath!(dtype, T: Integer | Float | Complex => {
                    lanes.running::<T, _>(dtype, &Sums::<T>(PhantomData))
                }, else => unchanged(OPERATOR, this, dtype))
            }
        }
    }

    fn cumprod(this: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::cumprod::NAME;
        let dtype = type_of_sum(this, dtype);
        let lanes = Lanes::new(OPERATOR, this, dim)?;
        match dtype {
            DType::Float32 => lanes.running::<f32, _>(dtype, &Products::<f64>(PhantomData)),
            _ => {
                match_opmath!(dtype, T: Integer | Float | Complex => {
                    lanes.running::<T, _>(dtype, &Products::<T>(PhantomData))
                }, else => unchanged(OPERATOR, this, dtype))
            }
        }
    }
}

/// The result in a type without arithmetic: there is one, as in PyTorch, if no two elements are combined.
fn unchanged(operator: &str, this: &Tensor, dtype: DType) -> Result<Tensor> {
    if dtype.is_float8() && (this.dim() == 0 || this.numel() == 0) {
        return loops::copy(this, dtype);
    }
    Err(unsupported(operator, dtype))
}

/// A cumulative operator, step by step.
trait Running<T>: Line<T, 0> {
    /// The type in which it is computed.
    type Sum: Number;

    /// The value before the first element.
    const START: Self::Sum;

    fn step(sum: Self::Sum, element: T) -> Self::Sum;
}

impl<T: Number, W: Number> Running<T> for Sums<W> {
    type Sum = W;
    const START: W = W::ZERO;

    #[inline(always)]
    fn step(sum: W, element: T) -> W {
        sum.plus(element.cast())
    }
}

impl Running<f32> for SumsOfSingles {
    type Sum = f64;
    const START: f64 = 0.0;

    #[inline(always)]
    fn step(sum: f64, element: f32) -> f64 {
        sum + f64::from(element)
    }
}

impl<T: Number, W: Number> Running<T> for Products<W> {
    type Sum = W;
    const START: W = W::ONE;

    #[inline(always)]
    fn step(product: W, element: T) -> W {
        product.times(element.cast())
    }
}

/// From this many lanes on whose elements are adjacent, lanes are computed side by side.
const FEWEST: i64 = 8;

/// The number of lanes whose running values stay in the L1 cache.
const STRIP: usize = 512;

/// The cumulative sums of a line, computed in the type `W`.
struct Sums<W>(PhantomData<fn() -> W>);

impl<T: Number, W: Number> Line<T, 0> for Sums<W> {
    /// Blocks are summed separately, since an addition that depends on the previous one takes several cycles. This is
    /// not done if elements are summed in their own floating-point dtype, which another order of additions could
    /// overflow.
    #[inline(always)]
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; 0] {
        const BLOCK: usize = 16;
        let is_any_order = T::DTYPE != W::DTYPE || !T::DTYPE.is_floating_point();
        let whole = if is_any_order { input.len() - input.len() % BLOCK } else { 0 };
        let ((blocks, input), (outs, out)) = (input.split_at(whole), out.split_at_mut(whole));
        let mut before = W::ZERO;
        for (out, block) in zip(outs.as_chunks_mut::<BLOCK>().0, blocks.as_chunks::<BLOCK>().0) {
            let (mut sum, mut sums) = (W::ZERO, [W::ZERO; BLOCK]);
            for (to, x) in zip(&mut sums, block) {
                sum = sum.plus(x.cast());
                *to = sum;
            }
            for (out, sum) in zip(out, &sums) {
                out.write(before.plus(*sum).cast());
            }
            before = before.plus(sum);
        }
        for (out, x) in zip(out, input) {
            before = before.plus(x.cast());
            out.write(before.cast());
        }
        []
    }
}

/// The cumulative sums of a line of `f32`, computed in `f64`.
struct SumsOfSingles;

impl Line<f32, 0> for SumsOfSingles {
    #[inline(always)]
    fn line(&self, input: &[f32], out: &mut [MaybeUninit<f32>]) -> [f32; 0] {
        if input.len() < 8 {
            // Nothing else, so that the loop over short lines stays small.
            let mut before = 0.0;
            for (out, x) in zip(out, input) {
                before += f64::from(*x);
                out.write(before as f32);
            }
            return [];
        }
        #[cfg(target_arch = "x86_64")]
        if loops::has_avx2() {
            // SAFETY: `has_avx2` found the features that it is compiled for.
            unsafe { sums_in_registers(input, out) };
            return [];
        }
        Sums::<f64>(PhantomData).line(input, out)
    }
}

/// Like [`SumsOfSingles`], four elements at a time: the sums of pairs, then those of all four, then those from the
/// start of the line.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn sums_in_registers(input: &[f32], out: &mut [MaybeUninit<f32>]) {
    use std::arch::x86_64::*;
    let ((blocks, input), (outs, out)) = (input.as_chunks::<4>(), out.as_chunks_mut::<4>());
    let (zeros, mut before) = (_mm256_setzero_pd(), _mm256_setzero_pd());
    for (out, block) in zip(outs, blocks) {
        // SAFETY: four elements, which need not be aligned.
        let elements = _mm256_cvtps_pd(unsafe { _mm_loadu_ps(block.as_ptr()) });
        let pairs = _mm256_add_pd(elements, _mm256_unpacklo_pd(zeros, elements));
        let first_pair = _mm256_blend_pd::<0b1100>(zeros, _mm256_permute4x64_pd::<0b01_01_00_00>(pairs));
        let sums = _mm256_add_pd(pairs, first_pair);
        let all = _mm256_cvtpd_ps(_mm256_add_pd(before, sums));
        // SAFETY: room for four elements, which need not be aligned.
        unsafe { _mm_storeu_ps(out.as_mut_ptr().cast(), all) };
        before = _mm256_add_pd(before, _mm256_permute4x64_pd::<0b11_11_11_11>(sums));
    }
    let mut before = _mm256_cvtsd_f64(before);
    for (out, x) in zip(out, input) {
        before += f64::from(*x);
        out.write(before as f32);
    }
}

/// The cumulative products of a line, computed in the type `W`.
struct Products<W>(PhantomData<fn() -> W>);

impl<T: Number, W: Number> Line<T, 0> for Products<W> {
    #[inline(always)]
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; 0] {
        let mut product = W::ONE;
        for (out, x) in zip(out, input) {
            product = product.times(x.cast());
            out.write(product.cast());
        }
        []
    }
}

/// A tensor as lanes along one of its dimensions.
pub(crate) struct Lanes<'a> {
    tensor: &'a Tensor,
    pub(crate) dim: usize,
}

impl<'a> Lanes<'a> {
    pub(crate) fn new(operator: &str, tensor: &'a Tensor, dim: i64) -> Result<Self> {
        let dim = wrap_dim(dim, tensor.dim()).map_err(|error| error.context(operator))?;
        Ok(Lanes { tensor, dim })
    }

    /// A tensor of `dtype`, each lane of which is computed from the corresponding one of this tensor.
    fn running<T: Element, R: Running<T>>(&self, dtype: DType, line: &R) -> Result<Tensor> {
        let inner = saturating_numel(self.tensor.sizes().iter().skip(self.dim + 1));
        if inner >= FEWEST && loops::has_elements(self.tensor) {
            return self.side_by_side::<T, R>(dtype, inner as usize);
        }
        let source = self.last(self.tensor)?;
        let source =
            if source.dtype() == dtype { loops::contiguous(&source)? } else { loops::copy(&source, dtype)? };
        let len = source.sizes().last().map_or(1, |len| *len as usize);
        // SAFETY: `Sums` and `Products` go through the whole line, and write only initialised values.
        let lines = unsafe { lines(&source, len, [], line)? };
        if self.dim + 1 >= self.tensor.dim() {
            return Ok(lines);
        }
        let strides = contiguous_strides(self.tensor.sizes());
        // SAFETY: `assign` writes every element before any is read; if it fails, the tensor is dropped.
        let out =
            unsafe { Tensor::uninit_strided(self.tensor.sizes(), &strides, dtype, self.tensor.device())? };
        loops::assign(&self.last(&out)?, &lines)?;
        Ok(out)
    }

    /// Like [`running`](Self::running), for lanes whose elements are `inner` apart: many of them at once, one element
    /// of each at a time.
    fn side_by_side<T: Element, R: Running<T>>(&self, dtype: DType, inner: usize) -> Result<Tensor> {
        let (sizes, len) = (self.tensor.sizes(), self.len(self.tensor));
        let source = match self.tensor.dtype() == dtype {
            true => Parts::<T>::row_major(self.tensor, len * inner)?,
            false => Parts::<T>::row_major(&loops::copy(self.tensor, dtype)?, len * inner)?,
        };
        let strides = contiguous_strides(sizes);
        // SAFETY: each strip of each part is written below; after an error the tensor is dropped.
        let out = unsafe { Tensor::uninit_strided(sizes, &strides, T::DTYPE, self.tensor.device())? };
        let parts = PartsMut::<T>::of(&out, len * inner)?;
        let strips = inner.div_ceil(STRIP);
        parallel::shares(
            source.count() * strips,
            (parallel::GRAIN / (len * inner.min(STRIP))).max(1),
            |range| {
                for unit in range {
                    let (part, first) = (unit / strips, unit % strips * STRIP);
                    let width = STRIP.min(inner - first);
                    let mut sums = [R::START; STRIP];
                    for (n, row) in source.get(part).chunks_exact(inner).enumerate() {
                        let to = parts.at(part).wrapping_add(n * inner + first).cast::<MaybeUninit<T>>();
                        // SAFETY: `width` elements of row `n` of this part, which no other thread has; as
                        // `MaybeUninit`, they need not be initialised.
                        let to = unsafe { std::slice::from_raw_parts_mut(to, width) };
                        steps(R::step, &mut sums[..width], &row[first..][..width], to);
                    }
                }
            },
        );
        drop(parts); // ends its lease
        if T::DTYPE == dtype { Ok(out) } else { loops::copy(&out, dtype) }
    }

    /// Computes each lane of `out`, which differs only in the size of the dimension, from that of the tensor.
    pub(crate) fn compute<T: Element, R: Element>(
        &self,
        out: &Tensor,
        f: impl Fn(&[T], &mut [R]) + Sync,
    ) -> Result<()> {
        if !loops::has_elements(out) {
            return Ok(());
        }
        let (source, out) = (self.parts::<T>()?, Out::<R>::of(self, out)?);
        let count = source.count().min(out.parts.count());
        parallel::shares(count, grain(source.len()), |range| {
            for lane in range {
                // SAFETY: the result was initialised when it was created; each lane belongs to one thread, which has
                // this one slice of it.
                f(source.get(lane), unsafe { out.parts.get_mut(lane) });
            }
        });
        out.finish()
    }

    /// Selects elements of each lane by their indices, for values and indices that differ only in the size of the
    /// dimension. A closure creates the state that a thread keeps from lane to lane.
    pub(crate) fn choose<T: Element, S>(
        &self,
        values: &Tensor,
        indices: &Tensor,
        state: impl Fn() -> S + Sync,
        choose: impl Fn(&mut S, &[T], &mut [i64]) + Sync,
    ) -> Result<()> {
        if !loops::has_elements(indices) {
            return Ok(());
        }
        let (source, values, indices) =
            (self.parts::<T>()?, Out::<T>::of(self, values)?, Out::<i64>::of(self, indices)?);
        let count = source.count().min(values.parts.count()).min(indices.parts.count());
        parallel::shares(count, grain(source.len()), |range| {
            let mut state = state();
            for lane in range {
                // SAFETY: the results were initialised when they were created; each lane belongs to one thread, which
                // has one slice of it in each.
                let (values, indices) = unsafe { (values.parts.get_mut(lane), indices.parts.get_mut(lane)) };
                let lane = source.get(lane);
                choose(&mut state, lane, indices);
                for (value, index) in zip(values, &*indices) {
                    *value = lane[*index as usize];
                }
            }
        });
        values.finish()?;
        indices.finish()
    }

    /// The lanes, one after the other.
    fn parts<T: Element>(&self) -> Result<Parts<T>> {
        Parts::row_major(&self.last(self.tensor)?, self.len(self.tensor))
    }

    /// The length of the lanes of a tensor.
    pub(crate) fn len(&self, tensor: &Tensor) -> usize {
        tensor.sizes().get(self.dim).copied().unwrap_or(1) as usize
    }

    /// A view with the dimension moved to the end.
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

on_vectors! {
    /// Adds an element to each of many running values, and writes these.
    fn steps<T: Element, W: Number, F: Fn(W, T) -> W>(
        step: F, sums: &mut [W], row: &[T], out: &mut [MaybeUninit<T>],
    ) {
        for (out, (sum, x)) in zip(out, zip(sums, row)) {
            *sum = step(*sum, *x);
            out.write(sum.cast());
        }
    }
}

/// The grain size: the number of lanes of this length for which it pays to wake another thread.
fn grain(len: usize) -> usize {
    (parallel::GRAIN / 4 / len.max(1)).max(1)
}

/// The lanes of a result: in place if they are contiguous there, else in separate memory until all are computed.
struct Out<T> {
    parts: PartsMut<T>,
    place: Tensor,
    elsewhere: Option<Tensor>,
}

impl<T: Element> Out<T> {
    fn of(lanes: &Lanes<'_>, out: &Tensor) -> Result<Self> {
        let (place, len) = (lanes.last(out)?, lanes.len(out));
        let is_there = place.dtype() == T::DTYPE && place.is_contiguous(MemoryFormat::Contiguous);
        let elsewhere =
            if is_there { None } else { Some(Tensor::empty(place.sizes(), T::DTYPE, place.device())?) };
        Ok(Out { parts: PartsMut::of(elsewhere.as_ref().unwrap_or(&place), len)?, place, elsewhere })
    }

    fn finish(self) -> Result<()> {
        drop(self.parts); // together with its lease
        self.elsewhere.map_or(Ok(()), |lanes| loops::assign(&self.place, &lanes))
    }
}
