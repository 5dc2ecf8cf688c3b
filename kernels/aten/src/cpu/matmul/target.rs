//! The memory that a product is written to, and what it is added to.
#![expect(unsafe_code, reason = "reads and writes memory that the caller vouches for")]

use std::ops::Range;
use std::ptr;

#[cfg(target_arch = "x86_64")]
use num_complex::Complex;

use super::Matrices;
use crate::number::Number;
#[cfg(target_arch = "x86_64")]
use crate::vector::Vector;

/// The memory of a result, and what the product is added to.
#[derive(Clone, Copy)]
pub struct Target<T> {
    pub(super) out: Matrices<T>,
    addend: Addend<T>,
}

/// A matrix with an element for each of the result's: what the memory of the result holds, or a bias, some of whose
/// strides are usually 0; without an address it is nothing.
#[derive(Clone, Copy)]
pub(super) struct Addend<T> {
    data: *const T,
    batch_stride: isize,
    row_stride: isize,
    column_stride: isize,
}

// SAFETY: this is an address and numbers, and no safe function reads from the address; the functions that do are
// `unsafe`, and their callers guarantee that nothing writes there meanwhile but the thread that reads.
unsafe impl<T: Send + Sync> Sync for Addend<T> {}

impl<T> Addend<T> {
    #[inline]
    fn of(matrices: &Matrices<T>) -> Self {
        let &Matrices { data, batch_stride, row_stride, column_stride, .. } = matrices;
        Addend { data, batch_stride, row_stride, column_stride }
    }

    #[inline(always)]
    pub(super) fn is_nothing(&self) -> bool {
        self.data.is_null()
    }

    /// The address of an element.
    #[inline(always)]
    pub(super) fn at(&self, row: usize, column: usize) -> *const T {
        self.data.wrapping_offset(row as isize * self.row_stride + column as isize * self.column_stride)
    }
}

impl<T> Target<T> {
    /// Writes a product.
    #[inline]
    pub fn write(out: Matrices<T>) -> Self {
        let nothing = Addend { data: ptr::null(), batch_stride: 0, row_stride: 0, column_stride: 0 };
        Target { out, addend: nothing }
    }

    /// Adds a product to what the memory holds.
    #[inline]
    pub fn add(out: Matrices<T>) -> Self {
        Target { addend: Addend::of(&out), out }
    }

    /// Writes the sum of a product and a bias, which has an element for each of the result's.
    #[inline]
    pub fn add_to(out: Matrices<T>, bias: Matrices<T>) -> Self {
        Target { out, addend: Addend::of(&bias) }
    }

    /// This, for the first steps of a sum; for later ones the memory holds the sum of those before.
    #[inline(always)]
    pub(super) fn after(self, steps: usize) -> Self {
        if steps > 0 { Target::add(self.out) } else { self }
    }

    /// Whether the product is added to what the memory holds.
    #[inline]
    pub(super) fn is_sum(&self) -> bool {
        self.addend.data == self.out.data
    }

    /// The part from an element on, to the right and below.
    #[inline(always)]
    pub(super) fn from(self, row: usize, column: usize) -> Self {
        Target {
            out: self.out.from(row, column),
            addend: Addend { data: self.addend.at(row, column), ..self.addend },
        }
    }

    /// The first rows.
    #[inline(always)]
    pub(super) fn height(self, rows: usize) -> Self {
        Target { out: Matrices { rows, ..self.out }, ..self }
    }

    /// The first columns.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn width(self, columns: usize) -> Self {
        Target { out: Matrices { columns, ..self.out }, ..self }
    }

    /// A range of rows.
    #[inline]
    pub(super) fn rows(self, range: Range<usize>) -> Self {
        self.from(range.start, 0).height(range.len())
    }

    /// A range of columns.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn columns(self, range: Range<usize>) -> Self {
        self.from(0, range.start).width(range.len())
    }

    /// The matrix at an index of the batch.
    #[inline]
    pub(super) fn at(self, batch: usize) -> Self {
        let data = self.addend.data.wrapping_offset(batch as isize * self.addend.batch_stride);
        Target { out: self.out.at(batch), addend: Addend { data, ..self.addend } }
    }

    #[inline]
    pub(super) fn cast<U>(self) -> Target<U> {
        let Addend { data, batch_stride, row_stride, column_stride } = self.addend;
        let addend = Addend { data: data.cast(), batch_stride, row_stride, column_stride };
        Target { out: self.out.cast(), addend }
    }
}

impl<T: Number> Target<T> {
    /// The transpose.
    #[inline]
    pub(super) fn transposed(self) -> Self {
        let Addend { row_stride, column_stride, .. } = self.addend;
        let addend = Addend { row_stride: column_stride, column_stride: row_stride, ..self.addend };
        Target { out: self.out.transposed(), addend }
    }

    /// A part of a product, plus what it is added to.
    ///
    /// # Safety
    /// - The result has this row and column; if the product is added to something, that can be read there.
    #[inline(always)]
    pub(super) unsafe fn sum(&self, row: usize, column: usize, product: T) -> T {
        match self.addend.is_nothing() {
            true => product,
            // SAFETY: the caller guarantees the element.
            false => unsafe { self.addend.at(row, column).read().plus(product) },
        }
    }

    /// Writes a bias to the memory, which the product is then added to.
    ///
    /// # Safety
    /// - The memory can be written, and what the product is added to can be read, for every element.
    pub(super) unsafe fn begin(self) -> Self {
        if self.addend.is_nothing() || self.is_sum() {
            return self;
        }
        for (row, column) in (0..self.out.rows).flat_map(|row| (0..self.out.columns).map(move |at| (row, at)))
        {
            // SAFETY: the caller guarantees these elements.
            unsafe { self.out.from(row, column).data.write(self.addend.at(row, column).read()) };
        }
        Target::add(self.out)
    }
}

#[cfg(target_arch = "x86_64")]
impl<T> Target<Complex<T>>
where
    Complex<T>: Number,
{
    /// A result with contiguous rows as a real one, of twice as many columns. A bias without contiguous rows is written
    /// to the memory first.
    ///
    /// # Safety
    /// - The memory can be written, and what the product is added to can be read, for every element.
    pub(super) unsafe fn real(self) -> Target<T> {
        if self.addend.is_nothing() {
            return Target::write(self.out.real());
        }
        let to = match self.addend.column_stride == 1 {
            true => self,
            // SAFETY: the caller guarantees this.
            false => unsafe { self.begin() },
        };
        let Addend { data, batch_stride, row_stride, .. } = to.addend;
        let (batch_stride, row_stride) = (2 * batch_stride, 2 * row_stride);
        let addend = Addend { data: data.cast(), batch_stride, row_stride, column_stride: 1 };
        Target { out: to.out.real(), addend }
    }
}

#[cfg(target_arch = "x86_64")]
impl<T: Number> Target<T> {
    /// The transpose, in other memory, which holds the transpose of what this memory holds if a product is added to it.
    #[inline]
    pub(super) fn transposed_to(self, out: Matrices<T>) -> Self {
        if self.is_sum() { Target::add(out) } else { Target { out, ..self.transposed() } }
    }

    /// The same, where rows of a bias are contiguous or of one number each: any other is written to the memory first.
    ///
    /// # Safety
    /// - The memory can be written, and what the product is added to can be read, for every element.
    #[inline]
    pub(super) unsafe fn for_vectors(self) -> Self {
        match self.addend.column_stride {
            0 | 1 => self,
            // SAFETY: the caller guarantees this.
            _ => unsafe { self.begin() },
        }
    }

    /// What some rows of a product, of `columns` columns, are added to, vector by vector. One number for each row is
    /// first written to the result.
    ///
    /// # Safety
    /// - The result has these rows and columns, and its rows are contiguous; they can be written, and nothing else uses
    ///   them. What the product is added to can be read.
    /// - The processor has the vectors.
    #[inline(always)]
    pub(super) unsafe fn addend_of_rows<V: Vector<Element = T>>(
        &self,
        rows: Range<usize>,
        columns: usize,
    ) -> Addend<T> {
        let addend = self.addend;
        if addend.column_stride != 0 || addend.is_nothing() || self.is_sum() {
            return addend;
        }
        for row in rows {
            // SAFETY: the caller guarantees the rows, and `column` is less than the number of columns.
            unsafe {
                let number = V::splat(addend.at(row, 0));
                for column in (0..columns).step_by(V::LANES) {
                    number.store(self.out.from(row, 0).data.add(column), V::LANES.min(columns - column));
                }
            }
        }
        Addend::of(&self.out)
    }
}
