//! Matrices in memory: an address, sizes and strides.
#![expect(unsafe_code, reason = "says that threads may share an address")]

#[cfg(target_arch = "x86_64")]
use num_complex::Complex;
use torch_library::Tensor;

use super::{GRAIN, GRAIN_OF_VECTORS};
use crate::number::Number;

/// Matrices of one shape, at equal distances in memory.
#[derive(Clone, Copy)]
pub struct Matrices<T> {
    pub(super) data: *mut T,
    pub(super) count: usize,
    pub(super) batch_stride: isize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_stride: isize,
    pub(super) column_stride: isize,
}

// SAFETY: this is an address and numbers, and no safe function accesses the address; the functions that do are
// `unsafe`, and their callers guarantee which thread writes where.
unsafe impl<T: Send + Sync> Sync for Matrices<T> {}

impl<T> Matrices<T> {
    /// The matrices of a tensor, at an address.
    #[inline]
    pub(super) fn over(tensor: &Tensor, data: *mut T) -> Self {
        let dim = tensor.dim();
        let (sizes, strides) = (tensor.sizes(), tensor.strides());
        Matrices {
            data,
            count: sizes[..dim - 2].first().map_or(1, |count| *count as usize),
            batch_stride: strides[..dim - 2].first().map_or(0, |stride| *stride as isize),
            rows: sizes[dim - 2] as usize,
            columns: sizes[dim - 1] as usize,
            row_stride: strides[dim - 2] as isize,
            column_stride: strides[dim - 1] as isize,
        }
    }

    /// A single matrix.
    pub fn one(data: *mut T, [rows, columns]: [usize; 2], [row_stride, column_stride]: [usize; 2]) -> Self {
        let (row_stride, column_stride) = (row_stride as isize, column_stride as isize);
        Matrices { data, count: 1, batch_stride: 0, rows, columns, row_stride, column_stride }
    }

    /// The part of the matrix from an element on, to the right and below.
    #[inline(always)]
    pub(super) fn from(self, row: usize, column: usize) -> Self {
        let offset = row as isize * self.row_stride + column as isize * self.column_stride;
        Matrices { data: self.data.wrapping_offset(offset), ..self }
    }

    /// The grain size, in multiplications, if these are the results.
    #[inline]
    pub(super) fn grain(&self) -> usize {
        if self.rows.min(self.columns) == 1 { GRAIN_OF_VECTORS } else { GRAIN }
    }

    /// The matrix at an index of the batch.
    #[inline]
    pub(super) fn at(self, batch: usize) -> Self {
        // Wrapping, as there may be no matrix at all.
        Matrices { data: self.data.wrapping_offset(batch as isize * self.batch_stride), ..self }
    }
}

#[cfg(target_arch = "x86_64")]
impl<T> Matrices<Complex<T>> {
    /// A matrix with contiguous rows as a real one, of twice as many columns.
    pub(super) fn real(self) -> Matrices<T> {
        let Matrices { columns, row_stride, batch_stride, .. } = self;
        let (row_stride, batch_stride) = (2 * row_stride, 2 * batch_stride);
        Matrices { columns: 2 * columns, row_stride, column_stride: 1, batch_stride, ..self.cast() }
    }
}

impl<T: Number> Matrices<T> {
    /// The transpose.
    pub(super) fn transposed(self) -> Self {
        let Matrices { rows, columns, row_stride, column_stride, .. } = self;
        Matrices {
            rows: columns,
            columns: rows,
            row_stride: column_stride,
            column_stride: row_stride,
            ..self
        }
    }

    /// A range of rows.
    pub(super) fn rows(self, range: std::ops::Range<usize>) -> Self {
        let data = self.data.wrapping_offset(range.start as isize * self.row_stride);
        Matrices { data, rows: range.len(), ..self }
    }

    /// A range of columns.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn columns(self, range: std::ops::Range<usize>) -> Self {
        self.transposed().rows(range).transposed()
    }
}

impl<T> Matrices<T> {
    #[inline]
    pub(super) fn cast<U>(self) -> Matrices<U> {
        let Matrices { data, count, batch_stride, rows, columns, row_stride, column_stride } = self;
        Matrices { data: data.cast(), count, batch_stride, rows, columns, row_stride, column_stride }
    }
}
