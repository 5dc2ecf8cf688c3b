//! Column-major matrices, in which factorisations are computed.
#![expect(unsafe_code, reason = "lends matrices as slices")]

use std::sync::atomic::{AtomicUsize, Ordering};

use faer::MatMut;
use torch_library::Element;
use torch_library::geometry::{Dims, contiguous_strides, saturating_numel};
use torch_library::prelude::*;

use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::broadcast_strides;
use crate::loops::{self, parallel};
use crate::number::Number;

/// The matrices of a batch in memory of their own, one after the other, each column-major.
pub(super) struct Matrices<T> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The transposed matrices in row-major order. No other code has this tensor or its memory.
    turned: Tensor,
    parts: PartsMut<T>,
}

impl<T: Element> Matrices<T> {
    /// A copy of the matrices in the last two dimensions.
    pub(super) fn of(tensor: &Tensor) -> Result<Self> {
        ensure!(tensor.dim() >= 2, Shape, "sizes {:?} are not those of matrices", tensor.sizes());
        let turned = loops::copy(&transposed(tensor)?, T::DTYPE)?;
        let [.., columns, rows] = *turned.sizes() else {
            bail!(Shape, "sizes {:?} are not those of matrices", turned.sizes())
        };
        let parts = PartsMut::of(&turned, (rows * columns) as usize)?;
        Ok(Matrices { rows: rows as usize, columns: columns as usize, turned, parts })
    }

    /// Zeros: matrices of these sizes for each of a batch.
    pub(super) fn zeros(batch: &[i64], [rows, columns]: [usize; 2], device: Device) -> Result<Self> {
        let sizes = [batch, &[columns as i64, rows as i64]].concat();
        let turned = Tensor::zeros(&sizes, T::DTYPE, device)?;
        let parts = PartsMut::of(&turned, rows * columns)?;
        Ok(Matrices { rows, columns, turned, parts })
    }

    /// All elements, matrix by matrix.
    pub(super) fn elements(&self) -> &[T] {
        // SAFETY: `turned` is a row-major copy of that length that was written in full; the exclusive lease of `parts`
        // excludes all other access, and writing through `self` takes an exclusive borrow.
        unsafe { std::slice::from_raw_parts(self.parts.at(0), self.turned.numel() as usize) }
    }

    /// Like [`elements`](Self::elements), for writing.
    pub(super) fn elements_mut(&mut self) -> &mut [T] {
        // SAFETY: `turned` is a row-major copy of that length that was written in full; the exclusive lease of `parts`
        // excludes all other access, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.parts.at(0), self.turned.numel() as usize) }
    }

    /// The matrices, for writing; none if they are empty.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        let len = (self.rows * self.columns).max(1);
        self.elements_mut().chunks_exact_mut(len)
    }

    /// Calls a closure with each matrix, its part of `notes`, which are as many for each, and its element of `found`.
    /// Threads share the matrices if `work`, the number of multiplications for one, makes that worthwhile.
    pub(super) fn each<N: Send, F: Send>(
        &mut self,
        work: usize,
        notes: &mut [N],
        found: &mut [F],
        f: impl Fn(&mut [T], &mut [N], &mut F) + Sync,
    ) {
        let (count, len) = (found.len(), (self.rows * self.columns).max(1));
        let noted = notes.len().checked_div(count).unwrap_or(0);
        let parts = (self.elements_mut(), notes, found);
        parallel::batch(count, grain(work), parts, |_, (matrices, notes, found)| {
            for (at, (matrix, found)) in matrices.chunks_exact_mut(len).zip(found).enumerate() {
                f(matrix, &mut notes[at * noted..][..noted], found);
            }
        });
    }

    /// The matrices as a tensor, without a copy.
    pub(super) fn into_tensor(self) -> Result<Tensor> {
        transposed(&self.turned) // the lease ends here
    }
}

/// The number of multiplications for the factors of a matrix.
pub(super) fn work_of_factors(rows: usize, columns: usize) -> usize {
    rows.saturating_mul(columns).saturating_mul(rows.min(columns))
}

/// The number of matrices for which it pays to wake another thread, given the number of multiplications for one.
pub(super) fn grain(work: usize) -> usize {
    const START: usize = 16; // as many take as long as it takes to begin with a matrix
    (parallel::GRAIN / work.saturating_add(START)).max(1)
}

/// Like [`grain`], for the eigenvalues or singular values of a matrix. Matrices that are not small are not shared: the
/// algorithms for them share the work on one matrix.
pub(super) fn grain_of_spectra(is_small: bool, rows: usize, columns: usize) -> usize {
    const ITERATIONS: usize = 8; // as many factorisations take as long
    if is_small { grain(work_of_factors(rows, columns).saturating_mul(ITERATIONS)) } else { usize::MAX / 2 }
}

/// The first matrix of a batch, if any, for which an algorithm did not converge.
pub(super) struct Failed(AtomicUsize);

impl Failed {
    pub(super) fn none() -> Self {
        Failed(AtomicUsize::new(usize::MAX))
    }

    /// Records whether the algorithm converged for a matrix.
    pub(super) fn record(&self, at: usize, is_found: bool) {
        if !is_found {
            self.0.fetch_min(at, Ordering::Relaxed);
        }
    }

    /// # Errors
    /// The algorithm, which finds `what`, did not converge for one of the matrices.
    pub(super) fn check(self, operator: &str, what: &str) -> Result<()> {
        let at = self.0.into_inner();
        ensure!(at == usize::MAX, Argument, "{operator}: {what} of matrix {at} of the batch were not found");
        Ok(())
    }
}

/// Column-major matrices for reading: without a copy if they already are.
pub(super) struct Given<T>(Parts<T>);

impl<T: Element> Given<T> {
    /// The matrices in the last two dimensions of a tensor.
    pub(super) fn of(tensor: &Tensor) -> Result<Self> {
        let turned = transposed(tensor)?;
        let len = saturating_numel(&turned.sizes()[turned.dim() - 2..]);
        Ok(Given(Parts::row_major(&turned, len as usize)?))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.0.count()).map(|at| self.get(at))
    }

    pub(super) fn get(&self, at: usize) -> &[T] {
        self.0.get(at)
    }
}

/// For each place of a batch, in row-major order, the place of its matrix among those of a batch that broadcasts to it.
pub(super) fn broadcast_places(own: &[i64], batch: &[i64]) -> impl Iterator<Item = usize> {
    let (strides, batch) = (broadcast_strides(own, &contiguous_strides(own), batch), Dims::from(batch));
    let (mut index, mut place) = (Dims::from_elem(0, batch.len()), 0);
    (0..saturating_numel(&batch)).map(move |_| {
        let current = place;
        for dim in (0..batch.len()).rev() {
            (index[dim], place) = (index[dim] + 1, place + strides[dim]);
            if index[dim] < batch[dim] {
                break;
            }
            (index[dim], place) = (0, place - batch[dim] * strides[dim]);
        }
        current as usize
    })
}

/// Writes elements in row-major order to a tensor, which may have another precision.
pub(super) fn write<T: Element>(out: &Tensor, elements: Vec<T>, sizes: &[i64]) -> Result<()> {
    loops::assign(out, &Tensor::from_vec(elements, sizes)?)
}

/// Like [`write`], for column-major matrices.
pub(super) fn write_columns<T: Element>(
    out: &Tensor,
    elements: Vec<T>,
    [rows, columns]: [usize; 2],
) -> Result<()> {
    let sizes = [&out.sizes()[..out.dim() - 2], &[columns as i64, rows as i64]].concat();
    write(&transposed(out)?, elements, &sizes)
}

/// A column of a column-major matrix.
pub(super) fn slice<T>(a: MatMut<'_, T>, column: usize) -> &mut [T] {
    let column = a.col_mut(column).try_as_col_major_mut();
    column.expect("columns are dense").as_slice_mut()
}

/// A view with the last two dimensions swapped.
pub(super) fn transposed(tensor: &Tensor) -> Result<Tensor> {
    let (mut sizes, mut strides) = (tensor.sizes().to_vec(), tensor.strides().to_vec());
    let last = tensor.dim() - 1;
    sizes.swap(last - 1, last);
    strides.swap(last - 1, last);
    tensor.strided_view(&sizes, &strides, tensor.storage_offset())
}

/// Zeros whose last two dimensions are column-major; a vector is contiguous.
pub(super) fn column_major(sizes: &[i64], dtype: DType, device: Device) -> Result<Tensor> {
    let mut sizes = sizes.to_vec();
    let [.., rows, columns] = sizes.as_mut_slice() else { return Tensor::zeros(&sizes, dtype, device) };
    std::mem::swap(rows, columns);
    transposed(&Tensor::zeros(&sizes, dtype, device)?)
}

/// `to -= factor * from`
#[inline(always)]
pub(super) fn subtract<T: Number>(to: &mut [T], from: &[T], factor: T) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = to.minus(factor.times(*from));
    }
}

/// Whether products with the reciprocal of a number take the place of quotients: not if one of them is so large or
/// small that it would be rounded more than others.
pub(super) fn has_reciprocal<T: Element>(x: T) -> bool {
    let size = wide(x).l1_norm();
    size == 0.0 || (1e-30..1e30).contains(&size)
}

/// The conjugate; a real number is its own.
#[inline(always)]
pub(super) fn conjugate<T: Element>(x: T) -> T {
    if T::DTYPE.is_complex() { wide(x).conj().cast() } else { x }
}

/// A number as a complex number.
#[inline(always)]
pub(super) fn wide<T: Element>(x: T) -> Complex64 {
    x.cast()
}
