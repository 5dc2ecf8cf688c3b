//! LU factorisation and linear systems of two to four rows, of which there are often many (rotations, poses, boxes):
//! the loops have constant bounds, so that a matrix stays in registers.

use crate::number::Divided;

use super::matrices::wide;

/// [`lu::factor`](super::lu::factor) of a small square matrix, with the same pivots; `None` for other matrices.
pub(super) fn factor<T: Divided>(a: &mut [T], rows: usize, pivots: &mut [i32]) -> Option<i32> {
    match rows {
        _ if pivots.len() != rows || a.len() != rows * rows => None,
        2 => Some(eliminate::<T, 2>(a.as_chunks_mut().0, pivots)),
        3 => Some(eliminate::<T, 3>(a.as_chunks_mut().0, pivots)),
        4 => Some(eliminate::<T, 4>(a.as_chunks_mut().0, pivots)),
        _ => None,
    }
}

/// Solves systems with the right-hand sides in `x` by the factors and row swaps of [`factor`]. Returns whether the
/// matrix is small enough.
pub(super) fn solve<T: Divided>(factors: &[T], pivots: &[i32], x: &mut [T]) -> bool {
    match pivots.len() {
        2 => substitute::<T, 2>(factors.as_chunks().0, pivots, x.as_chunks_mut().0),
        3 => substitute::<T, 3>(factors.as_chunks().0, pivots, x.as_chunks_mut().0),
        4 => substitute::<T, 4>(factors.as_chunks().0, pivots, x.as_chunks_mut().0),
        _ => return false,
    }
    true
}

#[expect(clippy::needless_range_loop, reason = "ranges show the compiler the constant bounds")]
fn eliminate<T: Divided, const N: usize>(matrix: &mut [[T; N]], pivots: &mut [i32]) -> i32 {
    let mut columns = [[T::ZERO; N]; N];
    columns.copy_from_slice(matrix);
    let mut info = 0;
    for k in 0..N {
        let (mut best, mut size) = (k, wide(columns[k][k]).l1_norm());
        for row in k + 1..N {
            let other = wide(columns[k][row]).l1_norm();
            // A NaN is not larger than anything, nor is anything larger than a NaN.
            if other > size {
                (best, size) = (row, other);
            }
        }
        pivots[k] = best as i32 + 1;
        if size == 0.0 {
            info = if info == 0 { k as i32 + 1 } else { info };
            continue;
        }
        swap(&mut columns, k, best);
        for row in k + 1..N {
            columns[k][row] = columns[k][row].over(columns[k][k]);
        }
        for column in k + 1..N {
            let factor = columns[column][k].negated();
            for row in k + 1..N {
                columns[column][row] = columns[column][row].plus(columns[k][row].times(factor));
            }
        }
    }
    matrix.copy_from_slice(&columns);
    info
}

/// Swaps row `k` and a row below it in all columns. An index that is not constant would move them to memory.
#[inline(always)]
fn swap<T: Copy, const N: usize>(columns: &mut [[T; N]], k: usize, other: usize) {
    for row in k + 1..N {
        if row == other {
            columns.iter_mut().for_each(|column| column.swap(k, row));
        }
    }
}

fn substitute<T: Divided, const N: usize>(factors: &[[T; N]], pivots: &[i32], x: &mut [[T; N]]) {
    let mut columns = [[T::ZERO; N]; N];
    columns.copy_from_slice(factors);
    for x in x {
        for (k, pivot) in pivots.iter().enumerate() {
            x.swap(k, *pivot as usize - 1); // any row, if a program gives the pivots
        }
        for k in 0..N {
            let factor = x[k].negated();
            for row in k + 1..N {
                x[row] = x[row].plus(columns[k][row].times(factor));
            }
        }
        for k in (0..N).rev() {
            x[k] = x[k].over(columns[k][k]);
            let factor = x[k].negated();
            for row in 0..k {
                x[row] = x[row].plus(columns[k][row].times(factor));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;

    use super::*;
    use crate::linalg::lu;

    /// The product of the factors, with the rows swapped back.
    fn product(factors: &[Complex64], pivots: &[i32]) -> Vec<Complex64> {
        let n = pivots.len();
        let at = |row: usize, column: usize| factors[column * n + row];
        let mut product = vec![Complex64::ZERO; n * n];
        for (column, row, k) in (0..n * n * n).map(|i| (i / n / n, i / n % n, i % n)) {
            let lower = if row == k { Complex64::ONE } else { at(row, k) };
            if k <= row && k <= column {
                product[column * n + row] += lower * at(k, column);
            }
        }
        for (step, pivot) in pivots.iter().enumerate().rev() {
            product.chunks_exact_mut(n).for_each(|column| column.swap(step, *pivot as usize - 1));
        }
        product
    }

    fn numbers(count: usize, seed: usize) -> Vec<Complex64> {
        let number = |i: usize| ((i * 37 + seed * 101) % 23) as f64 - 11.0;
        (0..count).map(|i| Complex64::new(number(i), number(i + 7))).collect()
    }

    fn are_near(a: &[Complex64], b: &[Complex64]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-9)
    }

    #[test]
    fn small_matrices_are_factored_and_systems_solved() {
        for (n, seed) in (2..=4).flat_map(|n| (0..50).map(move |seed| (n, seed))) {
            let (a, mut pivots) = (numbers(n * n, seed), vec![0; n]);
            let mut factors = a.clone();
            assert_eq!(factor(&mut factors, n, &mut pivots), Some(0), "{n}, {seed}");
            assert!(are_near(&product(&factors, &pivots), &a), "{n}, {seed}");
            let want = numbers(2 * n, seed + 1);
            let row = |side: usize, row: usize| (0..n).map(|k| a[k * n + row] * want[side * n + k]).sum();
            let mut x: Vec<Complex64> = (0..2 * n).map(|i| row(i / n, i % n)).collect();
            assert!(solve(&factors, &pivots, &mut x));
            assert!(are_near(&x, &want), "{n}, {seed}: {x:?}");
        }
    }

    /// Zeros and NaN, in all places of a matrix of zeros and ones: with the pivots of the general factorisation, which
    /// is given two columns more.
    #[test]
    fn pivots_are_those_of_larger_matrices() {
        for (code, n) in (0..4096usize).flat_map(|code| (2..=3).map(move |n| (code, n))) {
            let element = |i: usize| match code >> (2 * i) & 3 {
                3 => f64::NAN,
                number => number as f64,
            };
            let mut small: Vec<f64> = (0..n * n).map(|i| if i < 6 { element(i) } else { 1.0 }).collect();
            let mut large = [&small[..], &vec![1.0; 2 * n]].concat();
            let (mut pivots, mut others) = (vec![0; n], vec![0; n]);
            let info = factor(&mut small, n, &mut pivots);
            assert_eq!(info, Some(lu::factor(&mut large, n, &mut others)), "{code:o}, {n}");
            assert_eq!(pivots, others, "{code:o}, {n}");
        }
    }

    #[test]
    fn pivots_that_a_program_gives_may_swap_with_rows_above() {
        let solved = |pivots: &[i32]| {
            let mut x = [3.0, 5.0];
            assert!(solve(&[1.0, 0.5, 2.0, 4.0], pivots, &mut x));
            x
        };
        assert_eq!(solved(&[2, 1]), solved(&[1, 2]));
        assert_ne!(solved(&[2, 2]), solved(&[1, 2]));
    }

    #[test]
    fn other_matrices_are_left_to_others() {
        assert_eq!(factor(&mut [1.0; 25], 5, &mut [0; 5]), None);
        assert_eq!(factor(&mut [1.0; 8], 4, &mut [0; 2]), None);
        assert!(!solve(&[1.0; 25], &[1; 5], &mut [1.0; 5]));
    }
}
