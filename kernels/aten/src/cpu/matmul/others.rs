//! Products of floats and complex numbers on processors that no loop of our own is written for, by the `gemm` crate.
#![expect(unsafe_code, reason = "hands matrices that the caller vouches for to a library")]

use super::Matrices;
use super::target::Target;
use crate::cpu::kept::with_workspace;
use crate::number::Number;

/// The matrices of a product, sent to another thread while this one waits.
struct Together<T>([Matrices<T>; 3]);

// SAFETY: these are addresses; they are only accessed while the call that made this value lasts, by one thread at a
// time.
unsafe impl<T: Send> Send for Together<T> {}

/// Computes a product.
///
/// # Safety
/// - The requirements of [`multiply_one`](super::multiply_one): matrices in bounds and of matching sizes, `out`
///   disjoint from the others, and no other access.
pub(super) unsafe fn multiply<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>, is_parallel: bool) {
    let parallelism = if is_parallel { gemm::Parallelism::Rayon(0) } else { gemm::Parallelism::None };
    // SAFETY: the caller guarantees the result, and what is added to it.
    let to = unsafe { to.begin() };
    let (matrices, adds) = (Together([to.out, a, b]), to.is_sum());
    with_workspace(move || {
        let Together([out, a, b]) = { matrices };
        // SAFETY: pointers, sizes and strides are those of the matrices; the caller guarantees that they are in bounds,
        // that `out` is disjoint from the others, and that there is no other access.
        unsafe {
            gemm::gemm(
                out.rows,
                out.columns,
                a.columns,
                out.data,
                out.column_stride,
                out.row_stride,
                adds,
                a.data.cast_const(),
                a.column_stride,
                a.row_stride,
                b.data.cast_const(),
                b.column_stride,
                b.row_stride,
                if adds { T::ONE } else { T::ZERO },
                T::ONE,
                false,
                false,
                false,
                parallelism,
            );
        }
    });
}
