//! Copies of matrices with contiguous rows, for products that need them.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use super::Matrices;
use super::target::Target;
use crate::loops::transpose::transpose;
use crate::number::Number;

/// A matrix of zeros of the same sizes, in other memory.
fn zeros<T: Number>(like: &Matrices<T>, memory: &mut Vec<T>) -> Matrices<T> {
    memory.resize(like.rows * like.columns, T::ZERO);
    Matrices::one(memory.as_mut_ptr(), [like.rows, like.columns], [like.columns, 1])
}

/// A copy with contiguous rows, in other memory.
///
/// # Safety
/// - The matrix can be read, and nothing writes it during the call.
pub(super) unsafe fn copied<T: Number>(from: Matrices<T>, memory: &mut Vec<T>) -> Matrices<T> {
    let (copy, Matrices { rows, columns, .. }) = (zeros(&from, memory), from);
    if from.row_stride == 1 {
        // SAFETY: the caller guarantees columns of contiguous elements; the copy has as many rows and columns.
        unsafe { transpose(from.data, from.column_stride, [columns, rows], copy.data, columns) };
        return copy;
    }
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |at| (row, at))) {
        // SAFETY: the caller guarantees every element; the copy has as many.
        unsafe { copy.from(row, column).data.write(from.from(row, column).data.read()) };
    }
    copy
}

/// Computes a product in memory with contiguous rows, and then copies it to the result.
///
/// # Safety
/// - The result can be written (and what the product is added to be read), and nothing else uses it during the call.
pub(super) unsafe fn by_copy<T: Number>(to: Target<T>, compute: impl FnOnce(Target<T>)) {
    let mut memory = Vec::new();
    // SAFETY: the caller guarantees all elements of the result, and what they are added to.
    unsafe {
        let to = to.begin();
        let own = match to.is_sum() {
            true => Target::add(copied(to.out, &mut memory)),
            false => Target::write(zeros(&to.out, &mut memory)),
        };
        compute(own);
        for (row, column) in (0..to.out.rows).flat_map(|row| (0..to.out.columns).map(move |at| (row, at))) {
            to.out.from(row, column).data.write(own.out.from(row, column).data.read());
        }
    }
}
