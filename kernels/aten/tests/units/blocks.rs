//! Products of floats by blocks, and those with weights.
#![expect(unsafe_code, reason = "calls what reads and writes through pointers")]

use torch_library::Scalar;
use torch_library_aten::cpu::matmul::{Matrices, blocks, weights};
use torch_library_loops::loops::is_wide;
use torch_library_loops::number::Number;

/// A matrix of small integers, whose sums are exact, stored by rows or by columns, with gaps between them.
fn numbers<T: Number>([rows, columns]: [usize; 2], lies_by_rows: bool) -> (Vec<T>, [usize; 2]) {
    let strides = if lies_by_rows { [columns + 3, 1] } else { [1, rows + 3] };
    let count = (rows + 3) * (columns + 3);
    ((0..count).map(|i| Scalar::Int((i * i % 13) as i64 - 6).cast()).collect(), strides)
}

/// Multiplies matrices, and adds the product to the result if the first flag says so, on several threads if the second
/// does.
type Multiply<T> = unsafe fn(Matrices<T>, Matrices<T>, Matrices<T>, bool, bool);

fn check<T: Number>(
    multiply: Multiply<T>,
    [rows, depth, columns]: [usize; 3],
    lie_by_rows: [bool; 2],
    adds: bool,
    is_parallel: bool,
) {
    let (mut a, a_strides) = numbers::<T>([rows, depth], lie_by_rows[0]);
    let (mut b, b_strides) = numbers::<T>([depth, columns], lie_by_rows[1]);
    let (mut out, out_strides) = numbers::<T>([rows, columns], true);
    let before = out.clone();
    // SAFETY: all are in three vectors of our own, in which `numbers` leaves gaps, but has memory for every
    // element; the caller checked `is_wide`.
    unsafe {
        multiply(
            Matrices::one(out.as_mut_ptr(), [rows, columns], out_strides),
            Matrices::one(a.as_mut_ptr(), [rows, depth], a_strides),
            Matrices::one(b.as_mut_ptr(), [depth, columns], b_strides),
            adds,
            is_parallel,
        );
    }
    let mut want = before;
    for row in 0..rows {
        for column in 0..columns {
            let place = row * out_strides[0] + column;
            let first = if adds { want[place] } else { T::ZERO };
            let factor = |step| a[row * a_strides[0] + step * a_strides[1]];
            let number = |step| b[step * b_strides[0] + column * b_strides[1]];
            want[place] = (0..depth).fold(first, |sum, step| sum.plus(factor(step).times(number(step))));
        }
    }
    assert!(out == want, "{} {rows} {depth} {columns} {lie_by_rows:?} {adds} {is_parallel}", T::DTYPE);
}

#[test]
fn blocks_give_what_sums_give_and_write_nothing_else() {
    if !is_wide() {
        return;
    }
    for sizes in [[8, 1, 16], [131, 300, 70], [17, 513, 1100], [10, 1100, 1057], [1, 2, 1]] {
        for lie_by_rows in [[true, true], [true, false], [false, true], [false, false]] {
            for [adds, is_parallel] in [[false, false], [true, false], [false, true], [true, true]] {
                check::<f32>(blocks::multiply, sizes, lie_by_rows, adds, is_parallel);
                check::<f64>(blocks::multiply, sizes, lie_by_rows, adds, is_parallel);
            }
        }
    }
}

#[test]
fn products_with_weights_give_what_sums_give_and_write_nothing_else() {
    if !is_wide() {
        return;
    }
    // A weight lies by columns.
    let by_rows = [true, false];
    for sizes in [[1, 1, 1], [48, 20, 9], [33, 300, 170], [70, 520, 155], [197, 130, 40]] {
        for [adds, is_parallel] in [[false, false], [true, false], [false, true], [true, true]] {
            check::<f32>(weights::multiply, sizes, by_rows, adds, is_parallel);
            check::<f64>(weights::multiply, sizes, by_rows, adds, is_parallel);
        }
    }
    // More steps than are packed at once.
    check::<f32>(weights::multiply, [1000, 1030, 10], by_rows, false, true);
    check::<f64>(weights::multiply, [1000, 520, 10], by_rows, true, false);
}
