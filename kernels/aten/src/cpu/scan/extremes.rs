//! Cumulative extremes: the last of the best elements so far, and its index. NaN is better than all numbers.

use std::hint::select_unpredictable;
use std::mem::MaybeUninit;

use torch_library::Element;
use torch_library::geometry::{saturating_numel, wrap_dim};
use torch_library::prelude::*;

use crate::aten;
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::unsupported;
use crate::loops::{self, match_opmath, on_vectors, parallel};
use crate::number::Ordered;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn cummax(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        extremes(aten::cummax::NAME, this, dim, true)
    }

    fn cummin(this: &Tensor, dim: i64) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        extremes(aten::cummin::NAME, this, dim, false)
    }
}

/// The number of columns that are processed together: the state of each stays in the cache.
const WIDTH: usize = 512;

/// The number of elements of a line that are examined together, before each is compared with the best one.
const BLOCK: usize = 32;

/// The number of floats of a block that are examined together, if one of the block is better.
const PART: usize = 8;

fn extremes(operator: &str, this: &Tensor, dim: i64, is_largest: bool) -> Result<(Tensor, Tensor)> {
    let dim = wrap_dim(dim, this.dim()).map_err(|error| error.context(operator))?;
    match_opmath!(this.dtype(), T: Bool | Integer | Float => {
        if !loops::has_elements(this) {
            let empty = |dtype| Tensor::empty(this.sizes(), dtype, this.device());
            return Ok((empty(this.dtype())?, empty(DType::Int64)?));
        }
        // SAFETY: `compute` writes every element of both before any is read: its strips cover the table. If it is not
        // reached, the tensors are dropped.
        let uninit = |dtype| unsafe { Tensor::uninit(this.sizes(), dtype, this.device()) };
        let (values, places) = (uninit(T::DTYPE)?, uninit(DType::Int64)?);
        let columns = saturating_numel(this.sizes().iter().skip(dim + 1));
        let rows = this.sizes().get(dim).copied().unwrap_or(1);
        let table = Table {
            source: Parts::<T>::row_major(this, 1)?,
            values: PartsMut::of(&values, 1)?,
            places: PartsMut::of(&places, 1)?,
            rows: rows as usize,
            columns: columns as usize,
            is_largest,
        };
        ensure!(
            table.source.count() == table.values.count(),
            Busy,
            "{operator}: a tensor was resized to {:?} while it was read",
            this.sizes()
        );
        table.compute();
        drop(table);
        let values = if this.dtype() == T::DTYPE { values } else { loops::copy(&values, this.dtype())? };
        Ok((values, places))
    }, else => match this.dtype().is_float8() && (this.dim() == 0 || this.numel() == 0) {
        // As in PyTorch: there is nothing to compare.
        true => Ok((loops::copy(this, this.dtype())?, Tensor::zeros(this.sizes(), DType::Int64, this.device())?)),
        false => Err(unsupported(operator, this.dtype())),
    })
}

/// Tables of `rows` rows and `columns` columns, one after the other, which are processed row by row.
struct Table<T> {
    source: Parts<T>,
    values: PartsMut<T>,
    places: PartsMut<i64>,
    rows: usize,
    columns: usize,
    is_largest: bool,
}

impl<T: Ordered> Table<T> {
    fn compute(&self) {
        let strips = self.columns.div_ceil(WIDTH);
        let count = self.source.count() / (self.rows * self.columns) * strips;
        let grain = parallel::GRAIN / 4 / (self.rows * self.columns.min(WIDTH));
        parallel::shares(count, grain.max(1), |range| {
            for n in range {
                let (table, first) = (n / strips, n % strips * WIDTH);
                let len = (self.columns - first).min(WIDTH);
                strip(Strip { table: self, first: table * self.rows * self.columns + first, len });
            }
        });
    }
}

/// Some adjacent columns of a table, which belong to one thread.
struct Strip<'a, T> {
    table: &'a Table<T>,
    first: usize,
    len: usize,
}

on_vectors! {
    fn strip<T: Ordered>(strip: Strip<'_, T>) {
        match strip.table.is_largest {
            true => strip.compute(|x, best| x >= best),
            false => strip.compute(|x, best| x <= best),
        }
    }
}

impl<T: Ordered> Strip<'_, T> {
    #[inline(always)]
    fn compute(&self, is_better: impl Fn(T, T) -> bool + Copy) {
        if self.table.columns == 1 {
            // SAFETY: the strip belongs to this thread, and this run is all of it: a column whose elements are
            // adjacent.
            let (source, values, places) = unsafe { self.run(self.first, self.table.rows) };
            return line(source, values, places, is_better);
        }
        let (mut best, mut at) = ([T::ZERO; WIDTH], [0; WIDTH]);
        for row in 0..self.table.rows {
            // SAFETY: the strip belongs to this thread, and this run is one of its rows; the slices of the previous row
            // are not used any more.
            let (source, values, places) =
                unsafe { self.run(self.first + row * self.table.columns, self.len) };
            if row == 0 {
                best[..self.len].copy_from_slice(source);
            }
            next(
                row as i64,
                source,
                (&mut best[..self.len], &mut at[..self.len]),
                (values, places),
                is_better,
            );
        }
    }

    /// The elements of a run, and the memory for its results.
    ///
    /// # Safety
    /// - All `len` elements from `start` on belong to this strip.
    /// - The slices that this function returned before are not used any more.
    /// - Only one thread uses this strip.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "strips share the table; who may write is the caller's promise")]
    unsafe fn run(&self, start: usize, len: usize) -> (&[T], &mut [MaybeUninit<T>], &mut [MaybeUninit<i64>]) {
        let Table { source, values, places, .. } = self.table;
        // SAFETY: the caller guarantees as many elements of the strip from there on, that it has no other slice of
        // them, and that it alone has the strip; the three tensors are of one size, aligned, the source is initialised,
        // and its booleans are only our own. The leases prevent other accesses.
        unsafe {
            (
                std::slice::from_raw_parts(source.at(start), len),
                std::slice::from_raw_parts_mut(values.at(start).cast(), len),
                std::slice::from_raw_parts_mut(places.at(start).cast(), len),
            )
        }
    }
}

/// One row, in which the columns are independent.
#[inline(always)]
fn next<T: Ordered>(
    row: i64,
    source: &[T],
    (best, at): (&mut [T], &mut [i64]),
    (values, places): (&mut [MaybeUninit<T>], &mut [MaybeUninit<i64>]),
    is_better: impl Fn(T, T) -> bool,
) {
    for ((x, (best, at)), (value, place)) in zip(zip(source, zip(best, at)), zip(values, places)) {
        let is_found = x.is_unordered() | is_better(*x, *best); // nothing is better than NaN
        *best = if is_found { *x } else { *best };
        *at = if is_found { row } else { *at };
        value.write(*best);
        place.write(*at);
    }
}

/// One line. In most blocks nothing is better than the best element before, and in the others in most parts.
#[inline(always)]
fn line<T: Ordered>(
    source: &[T],
    values: &mut [MaybeUninit<T>],
    places: &mut [MaybeUninit<i64>],
    is_better: impl Fn(T, T) -> bool,
) {
    let is_found = |x: T, best: T| x.is_unordered() | is_better(x, best); // nothing is better than NaN
    let (mut best, mut at) = (source[0], 0);
    // Compares each element. Not with branches: where equal elements are common, nobody can predict them.
    let each =
        |first: usize, source: &[T], values: &mut [_], places: &mut [_], (mut best, mut at): (T, i64)| {
            for (n, (x, (value, place))) in zip(source, zip(values, places)).enumerate() {
                let is_found = is_found(*x, best);
                best = select_unpredictable(is_found, *x, best);
                at = select_unpredictable(is_found, (first + n) as i64, at);
                MaybeUninit::write(value, best);
                MaybeUninit::write(place, at);
            }
            (best, at)
        };
    let (blocks, last) = source.as_chunks::<BLOCK>();
    let (blocks_of_values, last_values) = values.as_chunks_mut::<BLOCK>();
    let (blocks_of_places, last_places) = places.as_chunks_mut::<BLOCK>();
    for (n, (block, (values, places))) in zip(blocks, zip(blocks_of_values, blocks_of_places)).enumerate() {
        if !is_any(block, |x| is_found(x, best)) {
            values.fill(MaybeUninit::new(best));
            places.fill(MaybeUninit::new(at));
            continue;
        }
        let parts = zip(values.as_chunks_mut::<PART>().0, places.as_chunks_mut::<PART>().0);
        for (part, (source, (values, places))) in zip(block.as_chunks::<PART>().0, parts).enumerate() {
            // Integers are often equal: most parts would have a better one, but not all, as nobody can predict.
            if const { !T::DTYPE.is_floating_point() } || is_any(source, |x| is_found(x, best)) {
                (best, at) = each(n * BLOCK + part * PART, source, values, places, (best, at));
            } else {
                values.fill(MaybeUninit::new(best));
                places.fill(MaybeUninit::new(at));
            }
        }
    }
    each(blocks.len() * BLOCK, last, last_values, last_places, (best, at));
}

/// Whether a condition holds for any element, without a branch for each.
#[inline(always)]
fn is_any<T: Copy, const N: usize>(source: &[T; N], condition: impl Fn(T) -> bool) -> bool {
    source.iter().fold(false, |is_any, x| is_any | condition(*x))
}
