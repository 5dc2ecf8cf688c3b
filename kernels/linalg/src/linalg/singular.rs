//! Singular values and vectors of real matrices of medium size, by reduction to bidiagonal form and implicit QR
//! iterations.
//!
//! # How it works
//!
//! 1. A matrix with more columns than rows is transposed.
//! 2. Reflections from the left and from the right, in turn, reduce it to bidiagonal form. One pass over the columns
//!    applies a reflection, and computes what the next one needs.
//! 3. For values in single precision, the eigenvalues of `BᵀB` are found in double precision, which has enough digits
//!    for the squares. Otherwise, rotations make the bidiagonal matrix diagonal, and turn the vectors with it.
#![expect(unsafe_code, reason = "asks for registers")]

use torch_library::Element;

use super::reflections::{Product, Real};
use super::registers::{add, add_and_dot, add_and_sum, dot, has_widest_registers, turn};
use super::small::columns::Columns;
use super::small::implicit_qr::Iteration;
use super::small::rotation::Rotation;
use super::small::{root_free, svd};
use crate::loops::{Work, work};
use crate::vector::Vector;

/// Up to so many bytes in a column, successive rotations take less time than divide and conquer.
const LARGEST_IN_BYTES: usize = 1024;

/// A matrix has at most so many times more rows than columns: otherwise it is better made triangular first.
const LONGEST: usize = 2;

/// Whether this takes less time than divide and conquer for matrices of some sizes, with as many vectors as values, if
/// there are any: without them, only single precision has another one with enough digits.
pub(super) fn is_for<T: Real>([rows, columns]: [usize; 2], counts: Option<[usize; 2]>) -> bool {
    let (long, short) = (rows.max(columns), rows.min(columns));
    let is_meant = match counts {
        Some(counts) => counts == [short; 2],
        None => T::DTYPE == f32::DTYPE,
    };
    let is_short = short <= LARGEST_IN_BYTES / size_of::<T>();
    is_meant && is_short && long <= LONGEST * short && has_widest_registers()
}

/// Finds the singular values, in descending order, and as many vectors as there are values. Returns whether all were
/// found. The elements are finite, and there are some.
pub(super) fn svd<T: Real>(
    matrix: &[T],
    [rows, columns]: [usize; 2],
    values: &mut [T],
    vectors: Option<svd::Vectors<'_, T>>,
) -> bool {
    // Scaled by a power of two, so that squares neither overflow nor underflow.
    let largest = matrix.iter().fold(T::zero(), |a, b| a.max(b.abs()));
    let scale = if largest == T::zero() { T::one() } else { largest.log2().floor().exp2() };
    let is_found = if rows < columns {
        let mut turned = vec![T::zero(); rows * columns];
        for (j, column) in matrix.chunks_exact(rows).enumerate() {
            column.iter().enumerate().for_each(|(i, x)| turned[i * columns + j] = *x / scale);
        }
        let vectors = vectors.map(|svd::Vectors { u, v }| svd::Vectors { u: v, v: u });
        tall(turned, columns, values, vectors)
    } else {
        tall(matrix.iter().map(|x| *x / scale).collect(), rows, values, vectors)
    };
    values.iter_mut().for_each(|x| *x *= scale);
    is_found && values.iter().all(|x| x.is_finite())
}

/// The same for a matrix with no more columns than rows.
fn tall<T: Real>(
    mut matrix: Vec<T>,
    rows: usize,
    values: &mut [T],
    vectors: Option<svd::Vectors<'_, T>>,
) -> bool {
    let n = values.len();
    let mut beside = vec![T::zero(); n];
    let (mut left, mut right) = (vec![T::zero(); n], vec![T::zero(); n]);
    let mut across = vec![T::zero(); n * n];
    work(Reduction {
        a: &mut matrix,
        rows,
        diagonal: values,
        beside: &mut beside,
        factors: [&mut left, &mut right],
        across: &mut across,
    });
    let Some(svd::Vectors { u, v }) = vectors else { return squared(values, &beside) };
    work(Product { vectors: &matrix, rows, shift: 0, product: u, factors: &left });
    work(Product { vectors: &across, rows: n, shift: 1, product: v, factors: &right });
    let (left, right) = (Columns { rows, elements: u }, Columns { rows: n, elements: v });
    let turn = |rotation: Rotation<T>, x: &mut [T], y: &mut [T]| work(Turn { rotation, x, y });
    Iteration { diagonal: values, off_diagonal: &mut beside[..n - 1], left, right, turn }.run()
}

/// Replaces the diagonal of a bidiagonal matrix by its singular values, by way of the eigenvalues of the tridiagonal
/// matrix that is its square. The elements have at most half of the digits of `f64`.
fn squared<T: Real>(diagonal: &mut [T], beside: &[T]) -> bool {
    let wide = |x: &T| -> f64 { x.cast() };
    let largest = diagonal.iter().chain(beside).map(wide).fold(0.0, |a, b| b.abs().max(a));
    let scale = if largest == 0.0 { 1.0 } else { largest.log2().floor().exp2() };
    let [d, e] = [&*diagonal, beside].map(|x| x.iter().map(|x| wide(x) / scale).collect::<Vec<f64>>());
    let before = |k: usize| if k == 0 { 0.0 } else { e[k - 1] };
    let mut squares: Vec<f64> = d.iter().enumerate().map(|(k, d)| d * d + before(k) * before(k)).collect();
    let mut between: Vec<f64> = d.iter().zip(&e).map(|(d, e)| d * e).collect();
    let is_found = root_free::eigenvalues(&mut squares, &mut between);
    squares.sort_by(|a, b| root_free::in_order(b, a));
    for (value, square) in diagonal.iter_mut().zip(&squares) {
        *value = (square.max(0.0).sqrt() * scale).cast();
    }
    is_found && squares.iter().all(|x| x.is_finite())
}

/// The reduction to bidiagonal form: computes the diagonal, the elements `beside` it and, below the diagonal, the
/// vectors of the reflections from the left. Those of the reflections from the right are the columns of `across`, from
/// two places below its diagonal on.
struct Reduction<'a, T> {
    a: &'a mut [T],
    rows: usize,
    diagonal: &'a mut [T],
    beside: &'a mut [T],
    factors: [&'a mut [T]; 2],
    across: &'a mut [T],
}

impl<T: Real> Work<T> for Reduction<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) {
        let (rows, n, [left_factors, right_factors]) = (self.rows, self.diagonal.len(), self.factors);
        // What the last reflection from the right subtracts is the product of `image` and its vector.
        let (mut image, mut products) = (vec![T::zero(); rows], vec![T::zero(); n]);
        for k in 0..n {
            let (before, rest) = self.a.split_at_mut((k + 1) * rows);
            let column = &mut before[k * rows + k..];
            let (above, row) = self.across.split_at_mut(k * n);
            let last = above.get(above.len().saturating_sub(n)..).filter(|last| !last.is_empty());
            // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that these require.
            unsafe {
                if let Some(last) = last {
                    add::<V>(column, &image[k..], T::zero() - last[k]);
                }
                (self.diagonal[k], left_factors[k]) = reflection::<T, V>(column);
            }
            let (column, factor) = (&*column, left_factors[k]);
            for (j, other) in (k + 1..n).zip(rest.chunks_exact_mut(rows)) {
                let other = &mut other[k..];
                // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that these require.
                let along = unsafe {
                    match last {
                        Some(last) => add_and_dot::<V>(other, (&image[k..], T::zero() - last[j]), column),
                        None => dot::<V>(other, column),
                    }
                };
                products[j] = factor * along;
                row[j] = other[0] - products[j];
            }
            if k + 1 == n {
                break;
            }
            let row = &mut row[k + 1..n];
            // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that this requires.
            (self.beside[k], right_factors[k]) = unsafe { reflection::<T, V>(row) };
            let image = &mut image[k + 1..];
            image.fill(T::zero());
            for ((other, x), product) in rest.chunks_exact_mut(rows).zip(&*row).zip(&products[k + 1..]) {
                let step = (&column[1..], T::zero() - *product);
                let factor = *x * right_factors[k];
                // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that this requires.
                unsafe { add_and_sum::<V>(&mut other[k + 1..], step, (image, factor)) };
            }
        }
    }
}

/// Replaces a vector by that of the reflection that maps it to a multiple of the first unit vector. Returns that
/// multiple, and the factor of the reflection.
///
/// # Safety
/// - The processor has the registers of `V`.
#[inline(always)]
unsafe fn reflection<T: Real, V: Vector<Element = T>>(x: &mut [T]) -> (T, T) {
    let (zero, one) = (T::zero(), T::one());
    let Some((first, rest)) = x.split_first_mut() else { return (zero, zero) };
    let height = std::mem::replace(first, one);
    // SAFETY: the caller vouches for the registers, which is all that `dot` requires.
    let square = unsafe { dot::<V>(rest, rest) };
    if square <= T::epsilon().powi(4) {
        rest.fill(zero); // the part that is dropped is no larger than rounding errors
        return (height, zero);
    }
    let beta = -(height * height + square).sqrt().copysign(height);
    let scale = one / (height - beta);
    rest.iter_mut().for_each(|x| *x *= scale);
    (beta, (beta - height) / beta)
}

/// Rotates two columns.
struct Turn<'a, T> {
    rotation: Rotation<T>,
    x: &'a mut [T],
    y: &'a mut [T],
}

impl<T: Real> Work<T> for Turn<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) {
        let Rotation { c, s } = self.rotation;
        // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that `turn` requires.
        unsafe { turn::<V>(self.x, self.y, c, T::zero() - s) };
    }
}
