//! Softmax and its gradient along other dimensions than the last: a strip of adjacent columns at a time, which stays in
//! the cache while it is read again.
#![expect(unsafe_code, reason = "reads and writes rows of strips that belong to one thread")]

use std::mem::MaybeUninit;

use num_traits::Float;
use torch_library::geometry::{contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use crate::cpu::folds::Largest;
use crate::functions::Functions;
use crate::inlined::zip;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::reduce::Fold;
use crate::loops::{self, on_vectors, parallel};
use crate::number::{Number, Ordered};

/// The most columns of a strip, for which there are accumulators.
const WIDEST: usize = 512;

/// With fewer adjacent columns, a strip would be narrower than a vector.
const NARROWEST: i64 = 16;

/// About the number of elements of a strip: as many of each tensor fit the L2 cache. Rows may lie so far apart that
/// they share few sets of the caches, which hold more of them the longer they are.
const TOGETHER: usize = 32768;

/// The number of rows that are summed before their sum is added to that of all, which bounds the rounding error.
const BLOCK: usize = 64;

/// A real type that softmax is computed in.
pub(super) trait Real: Float + Functions + Number + Ordered {}

impl<T: Float + Functions + Number + Ordered> Real for T {}

/// The softmax of a tensor with elements along a dimension, or its logarithm, in the type that it is computed in.
/// `None` if too few columns are adjacent.
pub(super) fn forward<T: Real>(input: &Tensor, dim: usize, is_log: bool) -> Result<Option<Tensor>> {
    strips(&[input], dim, |strip: Strip<'_, T>| match is_log {
        true => log_softmax(strip),
        false => softmax(strip),
    })
}

/// Likewise the gradient.
pub(super) fn backward<T: Real>(
    grad_output: &Tensor,
    output: &Tensor,
    dim: usize,
    is_log: bool,
) -> Result<Option<Tensor>> {
    strips(&[grad_output, output], dim, |strip: Strip<'_, T>| match is_log {
        true => log_softmax_backward(strip),
        false => softmax_backward(strip),
    })
}

/// Computes a tensor like the inputs, which are of one size, strip by strip.
fn strips<T: Real>(
    inputs: &[&Tensor],
    dim: usize,
    compute: impl Fn(Strip<'_, T>) + Sync,
) -> Result<Option<Tensor>> {
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
    let table = Table { inputs, out: PartsMut::of(&out, 1)?, rows, columns };
    ensure!(
        table.inputs.iter().all(|input| input.count() == table.out.count()),
        Busy,
        "a tensor was resized while it was read"
    );
    let widest = (TOGETHER / rows).next_multiple_of(64).clamp(64, WIDEST);
    let in_a_row = columns.div_ceil(widest);
    let count = table.out.count() / (rows * columns) * in_a_row;
    parallel::shares(count, (parallel::GRAIN / 4 / (rows * widest)).max(1), |range| {
        for n in range {
            let left = n % in_a_row * widest;
            let first = n / in_a_row * rows * columns + left;
            compute(Strip { table: &table, first, width: widest.min(columns - left) });
        }
    });
    drop(table); // ends its leases
    Ok(Some(out))
}

/// Tables of rows and columns, one after the other.
struct Table<T> {
    inputs: Vec<Parts<T>>,
    out: PartsMut<T>,
    rows: usize,
    columns: usize,
}

/// Some adjacent columns of a table, which belong to one thread.
struct Strip<'a, T> {
    table: &'a Table<T>,
    /// The place of the first element.
    first: usize,
    width: usize,
}

impl<'a, T: Real> Strip<'a, T> {
    /// A row of an input.
    #[inline(always)]
    fn input(&self, n: usize, row: usize) -> &'a [T] {
        let (table, start) = (self.table, self.first + row * self.table.columns);
        table.inputs[n].range(start..start + self.width)
    }

    /// The same row of the result.
    #[inline(always)]
    fn out(&mut self, row: usize) -> &mut [MaybeUninit<T>] {
        let start = self.first + row * self.table.columns;
        // SAFETY: the strip belongs to one thread, which lends one of its rows at a time, and writes only initialised
        // values.
        unsafe { self.table.out.uninit_range(start..start + self.width) }
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
