//! Products of complex matrices, as products of real ones.
//!
//! # How it works
//!
//! A row of complex numbers is in memory a row of twice as many real ones: `re, im, re, im, …`.
//!
//! - Usually the left factor and the result are taken as real matrices, and each number of the right factor is replaced
//!   by the real matrix that multiplies by it:
//!
//!   ```text
//!   (a.re, a.im) * |  b.re  b.im | = (a.re * b.re - a.im * b.im,  a.re * b.im + a.im * b.re)
//!                  | -b.im  b.re |
//!   ```
//!
//! - With few rows, that would take longer than to multiply. Then the right factor is taken as a real matrix, which the
//!   real and the imaginary parts of the left one are multiplied by; these products are added in the end.
//!
//! Matrices without contiguous rows are copied where a real matrix needs them.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use std::cell::Cell;

use num_complex::Complex;

use super::contiguous::{by_copy, copied};
use super::implicit_gemm::{Aligned, lend};
use super::target::Target;
use super::{Matrices, multiply_one};
use crate::loops::on_vectors;
use crate::number::Number;

/// The size in bytes of the real form of the columns that are multiplied at a time, which is written to memory.
const AT_A_TIME: usize = 32 << 20;

/// The most bytes of memory that each thread keeps for its next product.
const MOST_KEPT: usize = 1 << 20;

thread_local! {
    static KEPT: Cell<Option<Aligned>> = const { Cell::new(None) };
}

/// Computes a product.
///
/// # Safety
/// - The requirements of [`multiply_one`]: matrices in bounds and of matching sizes, `out` disjoint from the others,
///   and no other access.
pub(super) unsafe fn multiply<T: Number>(
    to: Target<Complex<T>>,
    a: Matrices<Complex<T>>,
    b: Matrices<Complex<T>>,
    is_parallel: bool,
) where
    Complex<T>: Number,
{
    let is_by_columns = to.out.row_stride == 1 && to.out.column_stride != 1;
    let (to, [a, b]) = match is_by_columns {
        true => (to.transposed(), [b.transposed(), a.transposed()]),
        false => (to, [a, b]),
    };
    let [rows, steps, columns] = [a.rows, a.columns, b.columns];
    // The numbers that either way writes to memory, and reads again.
    let (of_right, of_left) = (4 * steps * columns, 2 * rows * steps + 6 * rows * columns);
    // SAFETY: the caller guarantees all matrices.
    lend(
        &KEPT,
        |memory| memory.size() <= MOST_KEPT,
        |memory| unsafe {
            match of_left < of_right {
                true => by_parts(to, a, b, memory, is_parallel),
                false if to.out.column_stride == 1 || columns == 1 => {
                    by_real_form(to, a, b, memory, is_parallel)
                }
                false => by_copy(to, |to| by_real_form(to, a, b, memory, is_parallel)),
            }
        },
    );
}

/// Computes a product with the real form of the right factor.
///
/// # Safety
/// - The requirements of [`multiply`].
/// - The columns of the result are next to each other.
unsafe fn by_real_form<T: Number>(
    to: Target<Complex<T>>,
    a: Matrices<Complex<T>>,
    b: Matrices<Complex<T>>,
    memory: &mut Aligned,
    is_parallel: bool,
) where
    Complex<T>: Number,
{
    let (mut rows_of_a, mut rows_of_b) = (Vec::new(), Vec::new());
    // SAFETY: the caller guarantees both factors.
    let (a, b) = unsafe { (with_rows(a, &mut rows_of_a), with_rows(b, &mut rows_of_b)) };
    let most = (AT_A_TIME / (4 * size_of::<T>() * b.rows.max(1))).max(1);
    for first in (0..to.out.columns).step_by(most) {
        let columns = most.min(to.out.columns - first);
        let numbers = memory.numbers::<T>(4 * b.rows * columns);
        // SAFETY: rows of `b` from column `first` on have `columns` numbers that are next to each other, and so has the
        // whole matrix if nothing is between them; the caller guarantees it. Real matrices have the memory of complex
        // ones whose rows are contiguous; the real form is this function's own.
        unsafe {
            let rows = |first_row, rows| {
                std::slice::from_raw_parts(b.from(first_row, first).data.cast_const(), rows * columns)
            };
            match b.row_stride == columns as isize {
                true => write_real_form(rows(0, b.rows), columns, numbers),
                false => {
                    for (row, to) in numbers.chunks_exact_mut(4 * columns).enumerate() {
                        write_real_form(rows(row, 1), columns, to);
                    }
                }
            }
            let right = Matrices::one(numbers.as_mut_ptr(), [2 * b.rows, 2 * columns], [2 * columns, 1]);
            multiply_one::<T>(to.from(0, first).width(columns).real(), a.real(), right, is_parallel);
        }
    }
}

/// Computes a product with the parts of the left factor.
///
/// # Safety
/// - The requirements of [`multiply`].
unsafe fn by_parts<T: Number>(
    to: Target<Complex<T>>,
    a: Matrices<Complex<T>>,
    b: Matrices<Complex<T>>,
    memory: &mut Aligned,
    is_parallel: bool,
) where
    Complex<T>: Number,
{
    let [rows, steps, columns] = [a.rows, a.columns, 2 * b.columns];
    let mut rows_of_b = Vec::new();
    // SAFETY: the caller guarantees the right factor.
    let b = unsafe { with_rows(b, &mut rows_of_b) };
    let (parts, products) = memory.numbers::<T>(2 * rows * (steps + columns)).split_at_mut(2 * rows * steps);
    let (re, im) = parts.split_at_mut(rows * steps);
    for (row, (re, im)) in re.chunks_exact_mut(steps).zip(im.chunks_exact_mut(steps)).enumerate() {
        for (step, (re, im)) in re.iter_mut().zip(im).enumerate() {
            // SAFETY: an element of the left factor, which the caller guarantees.
            Complex { re: *re, im: *im } = unsafe { a.from(row, step).data.read() };
        }
    }
    let left = Matrices::one(parts.as_mut_ptr(), [2 * rows, steps], [steps, 1]);
    let both = Matrices::one(products.as_mut_ptr(), [2 * rows, columns], [columns, 1]);
    // SAFETY: parts and products are this function's own; the caller guarantees the right factor, whose rows are
    // contiguous.
    unsafe { multiply_one::<T>(Target::write(both), left, b.real(), is_parallel) };
    let (by_re, by_im) = products.split_at(rows * columns);
    for (row, (by_re, by_im)) in by_re.chunks_exact(columns).zip(by_im.chunks_exact(columns)).enumerate() {
        let products = by_re.as_chunks::<2>().0.iter().zip(by_im.as_chunks::<2>().0);
        for (column, (by_re, by_im)) in products.enumerate() {
            let product = Complex { re: by_re[0].minus(by_im[1]), im: by_re[1].plus(by_im[0]) };
            // SAFETY: an element of the result, which the caller guarantees.
            unsafe { to.out.from(row, column).data.write(to.sum(row, column, product)) };
        }
    }
}

/// The matrix, or a copy in other memory whose rows are contiguous.
///
/// # Safety
/// - The matrix can be read, and nothing writes it during the call.
unsafe fn with_rows<T: Number>(from: Matrices<T>, memory: &mut Vec<T>) -> Matrices<T> {
    match from.column_stride == 1 || from.columns == 1 {
        true => from,
        // SAFETY: the caller guarantees the matrix.
        false => unsafe { copied(from, memory) },
    }
}

on_vectors! {
    /// Writes the two rows that each row of complex numbers has in the real form of its matrix.
    fn write_real_form<T: Number>(numbers: &[Complex<T>], columns: usize, to: &mut [T]) {
        for (numbers, to) in numbers.chunks_exact(columns).zip(to.chunks_exact_mut(4 * columns)) {
            let (as_is, turned) = to.split_at_mut(2 * columns);
            let (as_is, turned) = (as_is.as_chunks_mut::<2>().0, turned.as_chunks_mut::<2>().0);
            for ((as_is, turned), Complex { re, im }) in as_is.iter_mut().zip(turned).zip(numbers) {
                (*as_is, *turned) = ([*re, *im], [im.negated(), *re]);
            }
        }
    }
}
