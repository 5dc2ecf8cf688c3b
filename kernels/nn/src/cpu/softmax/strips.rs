//! Softmax and its gradient along other dimensions than the last: a strip of adjacent columns at a time, which stays in
//! the cache while it is read again. Short lines along the last dimension are transposed, and are columns then, too:
//! there is a vector of columns where a line has only a few elements.
#![expect(unsafe_code, reason = "reads and writes rows of strips that belong to one thread")]

use std::mem::MaybeUninit;

use num_traits::Float;
use torch_library::Element;
use torch_library::geometry::{contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use crate::cpu::folds::Largest;
use crate::cpu::norm::backward::lines::uninit;
use crate::functions::Functions;
use crate::inlined::{from_fn, zip};
use crate::loops::convert::{loader, storer};
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::reduce::Fold;
use crate::loops::transpose::transpose;
use crate::loops::{self, on_vectors, parallel};
use crate::number::{Number, Ordered};

/// The most columns of a strip, for which there are accumulators.
const WIDEST: usize = 512;

/// With fewer adjacent columns, a strip would be narrower than a vector.
const NARROWEST: i64 = 16;

/// About the number of elements of a strip: as many of each tensor fit the L2 cache. Rows may lie so far apart that
/// they share few sets of the caches, which hold more of them the longer they are.
const TOGETHER: usize = 32768;

/// The most elements of a line that is transposed, the fewest lines, and about the number of elements that are
/// transposed together: as many of each tensor fit the L1 cache.
const SHORT: usize = 48;
const FEWEST: usize = 16;
const TRANSPOSED: usize = 4096;

/// The number of rows that are summed before their sum is added to that of all, which bounds the rounding error.
const BLOCK: usize = 64;

/// A real type that softmax is computed in.
pub(super) trait Real: Float + Functions + Number + Ordered {}

impl<T: Float + Functions + Number + Ordered> Real for T {}

/// A function of strips.
type Compute<T> = fn(Strip<'_, T>);

/// The softmax of a tensor with elements along a dimension, or its logarithm, in the type that it is computed in.
/// `None` if too few columns are adjacent.
pub(super) fn forward<T: Real>(input: &Tensor, dim: usize, is_log: bool) -> Result<Option<Tensor>> {
    strips(&[input], dim, if is_log { log_softmax::<T> } else { softmax })
}

/// Likewise the gradient.
pub(super) fn backward<T: Real>(
    grad_output: &Tensor,
    output: &Tensor,
    dim: usize,
    is_log: bool,
) -> Result<Option<Tensor>> {
    strips(&[grad_output, output], dim, if is_log { log_softmax_backward::<T> } else { softmax_backward })
}

/// The softmax of lines of `len` elements of the type `H`, or its logarithm, computed as columns. `None` if the lines
/// are long or few.
pub(super) fn of_lines<T: Real, H: Element>(
    input: &Tensor,
    len: usize,
    is_log: bool,
) -> Result<Option<Tensor>> {
    transposed::<T, H, 1>([input], len, SHORT, if is_log { log_softmax } else { softmax })
}

/// Likewise the gradient, for logarithms: that of softmax takes less time line by line than to transpose.
pub(super) fn backward_of_lines<T: Real, H: Element>(
    grad_output: &Tensor,
    output: &Tensor,
    len: usize,
    is_log: bool,
) -> Result<Option<Tensor>> {
    match is_log {
        true => transposed::<T, H, 2>([grad_output, output], len, SHORT / 2, log_softmax_backward),
        false => Ok(None),
    }
}

/// Computes lines of `len` elements as columns, if they are many and not longer than `most`.
fn transposed<T: Real, H: Element, const N: usize>(
    inputs: [&Tensor; N],
    len: usize,
    most: usize,
    compute: Compute<T>,
) -> Result<Option<Tensor>> {
    if !(1..=most).contains(&len) || (inputs[0].numel() as usize) < FEWEST * len {
        return Ok(None);
    }
    let out = uninit::<H>(inputs[0], inputs[0].sizes())?;
    if !loops::has_elements(&out) {
        return Ok(Some(out));
    }
    let lines = inputs.iter().map(|input| Parts::<H>::row_major(input, len)).collect::<Result<Vec<_>>>()?;
    let parts = PartsMut::<H>::of(&out, len)?;
    ensure!(
        lines.iter().all(|lines| lines.count() == parts.count()),
        Busy,
        "a tensor was resized while it was read"
    );
    let together = (TRANSPOSED / len).next_multiple_of(FEWEST).min(WIDEST);
    parallel::shares(parts.count(), (parallel::GRAIN / len).max(1), |range| {
        let buffer = || vec![T::ZERO; together * len];
        let (mut converted, mut result) = (buffer(), buffer());
        let mut columns: [Vec<T>; N] = from_fn(|_| buffer());
        for start in range.clone().step_by(together) {
            let some = start..range.end.min(start + together);
            let (width, count) = (some.len(), some.len() * len);
            for (lines, columns) in lines.iter().zip(&mut columns) {
                to_columns(lines.range(some.clone()), len, &mut converted, columns);
            }
            let (inputs, result): ([&[T]; N], _) = (from_fn(|n| &columns[n][..count]), &mut result[..count]);
            let out = result.as_mut_ptr().cast();
            compute(Strip {
                table: &Table { inputs: &inputs, out, rows: len, columns: width },
                first: 0,
                width,
            });
            // SAFETY: these lines are only this thread's, which has one slice of them and writes initialised values.
            to_lines(result, len, &mut converted, unsafe { parts.uninit_range(some) });
        }
    });
    drop(parts); // ends its lease
    Ok(Some(out))
}

/// Writes lines of `len` elements as columns, converted by way of a buffer; both have room for as many elements.
fn to_columns<T: Real, H: Element>(lines: &[H], len: usize, buffer: &mut [T], columns: &mut [T]) {
    let (elements, count) = (lines.len(), lines.len() / len);
    assert!(elements == count * len && elements <= buffer.len() && elements <= columns.len());
    // SAFETY: `count` lines of `len` elements are in `lines`, and as many fit the buffer and the columns, as asserted.
    // `load` takes elements of `H` to elements of `T`, which is `H` where it is left out.
    unsafe {
        let mut from = lines.as_ptr().cast::<T>();
        if H::DTYPE != T::DTYPE {
            loader::<T>(H::DTYPE)(lines.as_ptr().cast(), 1, elements, buffer.as_mut_ptr().cast());
            from = buffer.as_ptr();
        }
        transpose(from, len as isize, [count, len], columns.as_mut_ptr(), count);
    }
}

/// Writes columns of `len` elements as lines, the reverse of [`to_columns`].
fn to_lines<T: Real, H: Element>(columns: &[T], len: usize, buffer: &mut [T], lines: &mut [MaybeUninit<H>]) {
    let (elements, count) = (lines.len(), lines.len() / len);
    assert!(elements == count * len && elements <= buffer.len() && elements == columns.len());
    // SAFETY: `count` columns of `len` elements are there, and as many fit the buffer and the lines, as asserted.
    // `store` takes elements of `T` to elements of `H`, which is `T` where it is left out.
    unsafe {
        let is_plain = H::DTYPE == T::DTYPE;
        let to = if is_plain { lines.as_mut_ptr().cast() } else { buffer.as_mut_ptr() };
        transpose(columns.as_ptr(), count as isize, [len, count], to, len);
        if !is_plain {
            storer::<T>(H::DTYPE)(buffer.as_ptr().cast(), elements, lines.as_mut_ptr().cast(), 1);
        }
    }
}

/// Computes a tensor like the inputs, which are of one size, strip by strip.
fn strips<T: Real>(inputs: &[&Tensor], dim: usize, compute: Compute<T>) -> Result<Option<Tensor>> {
    let sizes = inputs[0].sizes();
    let columns = saturating_numel(sizes.iter().skip(dim + 1));
    if columns < NARROWEST {
        return Ok(None);
    }
    let (rows, columns, strides) = (sizes[dim] as usize, columns as usize, contiguous_strides(sizes));
    // SAFETY: the strips cover the tensor, and every element of each is written; if they are not reached, it is
    // dropped.
    let out = unsafe { Tensor::uninit_strided(sizes, &strides, T::DTYPE, inputs[0].device())? };
    if !loops::has_elements(&out) {
        return Ok(Some(out));
    }
    let inputs = inputs.iter().map(|input| Parts::<T>::row_major(input, 1)).collect::<Result<Vec<_>>>()?;
    let parts = PartsMut::<T>::of(&out, 1)?;
    ensure!(
        inputs.iter().all(|input| input.count() == parts.count()),
        Busy,
        "a tensor was resized while it was read"
    );
    let elements: Vec<&[T]> = inputs.iter().map(|input| input.range(0..input.count())).collect();
    let table = Table { inputs: &elements, out: parts.at(0).cast(), rows, columns };
    let widest = (TOGETHER / rows).next_multiple_of(64).clamp(64, WIDEST);
    let in_a_row = columns.div_ceil(widest);
    let count = parts.count() / (rows * columns) * in_a_row;
    parallel::shares(count, (parallel::GRAIN / 4 / (rows * widest)).max(1), |range| {
        for n in range {
            let left = n % in_a_row * widest;
            let first = n / in_a_row * rows * columns + left;
            compute(Strip { table: &table, first, width: widest.min(columns - left) });
        }
    });
    drop(parts); // ends its lease
    Ok(Some(out))
}

/// Tables of rows and columns, one after the other. There are as many places at `out` as each input has elements.
struct Table<'a, T> {
    inputs: &'a [&'a [T]],
    out: *mut MaybeUninit<T>,
    rows: usize,
    columns: usize,
}

// SAFETY: the address is dereferenced only by strips, each of which belongs to one thread.
unsafe impl<T: Send + Sync> Sync for Table<'_, T> {}

/// Some adjacent columns of a table, which belong to one thread, and whose results nothing else uses.
struct Strip<'a, T> {
    table: &'a Table<'a, T>,
    /// The place of the first element.
    first: usize,
    width: usize,
}

impl<'a, T: Real> Strip<'a, T> {
    /// A row of an input.
    #[inline(always)]
    fn input(&self, n: usize, row: usize) -> &'a [T] {
        let start = self.first + row * self.table.columns;
        &self.table.inputs[n][start..start + self.width]
    }

    /// The same row of the result.
    #[inline(always)]
    fn out(&mut self, row: usize) -> &mut [MaybeUninit<T>] {
        let start = self.first + row * self.table.columns;
        assert!(start + self.width <= self.table.inputs[0].len());
        // SAFETY: in bounds as asserted. The strip belongs to one thread, which lends one of its rows at a time, and
        // writes only initialised values.
        unsafe { std::slice::from_raw_parts_mut(self.table.out.add(start), self.width) }
    }

    /// The largest element of each column.
    #[inline(always)]
    fn largest(&self) -> [T; WIDEST] {
        let mut largest = [T::ZERO; WIDEST];
        largest[..self.width].copy_from_slice(self.input(0, 0));
        for row in 1..self.table.rows {
            for (largest, x) in zip(&mut largest[..self.width], self.input(0, row)) {
                *largest = Largest.merge(*largest, *x);
            }
        }
        largest
    }

    /// The sums, over all rows, of what a function adds to the accumulators of the columns.
    #[inline(always)]
    fn sums(&mut self, mut add: impl FnMut(&mut Self, usize, &mut [T])) -> [T; WIDEST] {
        let mut sums = [T::ZERO; WIDEST];
        for start in (0..self.table.rows).step_by(BLOCK) {
            let mut part = [T::ZERO; WIDEST];
            for row in start..self.table.rows.min(start + BLOCK) {
                let width = self.width;
                add(self, row, &mut part[..width]);
            }
            for (sum, part) in zip(&mut sums, &part) {
                *sum = sum.plus(*part);
            }
        }
        sums
    }
}

on_vectors! {
    fn softmax<T: Real>(strip: Strip<'_, T>) {
        let mut strip = strip;
        let largest = strip.largest();
        let sums = strip.sums(|strip, row, sums| {
            let input = strip.input(0, row);
            for ((out, x), (largest, sum)) in zip(zip(strip.out(row), input), zip(&largest, sums)) {
                let power = (*x - *largest).exponential();
                out.write(power);
                *sum = sum.plus(power);
            }
        });
        let mut inverses = [T::ZERO; WIDEST];
        for (inverse, sum) in zip(&mut inverses, &sums) {
            *inverse = sum.recip();
        }
        for row in 0..strip.table.rows {
            for (power, (sum, inverse)) in zip(strip.out(row), zip(&sums, &inverses)) {
                // SAFETY: the loop above has written all rows.
                let power = unsafe { power.assume_init_mut() };
                // The product with the reciprocal, corrected by its error: vector division takes several times as long.
                let product = *power * *inverse;
                *power = product.mul_add(-*sum, *power).mul_add(*inverse, product);
            }
        }
    }
}

on_vectors! {
    fn log_softmax<T: Real>(strip: Strip<'_, T>) {
        let mut strip = strip;
        let largest = strip.largest();
        let mut logs = strip.sums(|strip, row, sums| {
            for ((x, largest), sum) in zip(zip(strip.input(0, row), &largest), sums) {
                *sum = sum.plus((*x - *largest).exponential());
            }
        });
        for log in &mut logs[..strip.width] {
            *log = log.ln();
        }
        for row in 0..strip.table.rows {
            let input = strip.input(0, row);
            for ((out, x), (largest, log)) in zip(zip(strip.out(row), input), zip(&largest, &logs)) {
                out.write(*x - *largest - *log);
            }
        }
    }
}

on_vectors! {
    fn softmax_backward<T: Real>(strip: Strip<'_, T>) {
        let mut strip = strip;
        let sums = strip.sums(|strip, row, sums| {
            for ((grad, y), sum) in zip(zip(strip.input(0, row), strip.input(1, row)), sums) {
                *sum = sum.plus(*grad * *y);
            }
        });
        for row in 0..strip.table.rows {
            let (grads, outputs) = (strip.input(0, row), strip.input(1, row));
            for ((out, sum), (grad, y)) in zip(zip(strip.out(row), &sums), zip(grads, outputs)) {
                out.write((*grad - *sum) * *y);
            }
        }
    }
}

on_vectors! {
    fn log_softmax_backward<T: Real>(strip: Strip<'_, T>) {
        let mut strip = strip;
        let sums = strip.sums(|strip, row, sums| {
            for (grad, sum) in zip(strip.input(0, row), sums) {
                *sum = sum.plus(*grad);
            }
        });
        for row in 0..strip.table.rows {
            let (grads, outputs) = (strip.input(0, row), strip.input(1, row));
            for ((out, sum), (grad, y)) in zip(zip(strip.out(row), &sums), zip(grads, outputs)) {
                out.write(*grad - y.exponential() * *sum);
            }
        }
    }
}
