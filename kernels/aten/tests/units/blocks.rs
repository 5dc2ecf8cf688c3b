//! Products of floats by blocks, and those with weights.
#![expect(unsafe_code, reason = "calls what reads and writes through pointers")]

use torch_library::Scalar;
use torch_library_aten::cpu::matmul::target::Target;
use torch_library_aten::cpu::matmul::{Matrices, blocks, weights};
use torch_library_loops::loops::has_avx2;
use torch_library_loops::number::Number;

/// A matrix of small integers, whose sums are exact, stored by rows or by columns, with gaps between them.
fn numbers<T: Number>([rows, columns]: [usize; 2], lies_by_rows: bool) -> (Vec<T>, [usize; 2]) {
    let strides = if lies_by_rows { [columns + 3, 1] } else { [1, rows + 3] };
    let count = (rows + 3) * (columns + 3);
    ((0..count).map(|i| Scalar::Int((i * i % 13) as i64 - 6).cast()).collect(), strides)
}

/// Multiplies matrices, on several threads if the flag says so.
type Multiply<T> = unsafe fn(Target<T>, Matrices<T>, Matrices<T>, bool);

/// What a product is added to: nothing, what the result holds, one row or one column for all, a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Onto {
    Nothing,
    Result,
    Row,
    Column,
    Matrix,
}

const ONTO: [Onto; 5] = [Onto::Nothing, Onto::Result, Onto::Row, Onto::Column, Onto::Matrix];

/// Checks products of one size, added to everything, on one thread and on several.
fn check<T: Number>(
    multiply: Multiply<T>,
    [rows, depth, columns]: [usize; 3],
    lie_by_rows: [bool; 2],
    cases: impl IntoIterator<Item = (Onto, bool)>,
) {
    let (mut a, a_strides) = numbers::<T>([rows, depth], lie_by_rows[0]);
    let (mut b, b_strides) = numbers::<T>([depth, columns], lie_by_rows[1]);
    let product = |row: usize, column: usize| {
        let factors = (0..depth).map(|step| {
            (a[row * a_strides[0] + step * a_strides[1]], b[step * b_strides[0] + column * b_strides[1]])
        });
        factors.fold(T::ZERO, |sum, (x, y)| sum.plus(x.times(y)))
    };
    let products: Vec<T> = (0..rows * columns).map(|i| product(i / columns, i % columns)).collect();
    for (onto, is_parallel) in cases {
        let (mut out, out_strides) = numbers::<T>([rows, columns], true);
        let (mut bias, bias_strides) = numbers::<T>([rows, columns], true);
        let bias_strides = match onto {
            Onto::Column => [bias_strides[0], 0],
            Onto::Row => [0, 1],
            _ => bias_strides,
        };
        let mut want = out.clone();
        for (i, product) in products.iter().enumerate() {
            let (row, column) = (i / columns, i % columns);
            let place = row * out_strides[0] + column;
            let first = match onto {
                Onto::Nothing => T::ZERO,
                Onto::Result => want[place],
                _ => bias[row * bias_strides[0] + column * bias_strides[1]],
            };
            want[place] = first.plus(*product);
        }
        // SAFETY: all are in vectors of our own, in which `numbers` leaves gaps, but has memory for every element; the
        // caller checked `has_avx2`.
        unsafe {
            let out = Matrices::one(out.as_mut_ptr(), [rows, columns], out_strides);
            let bias = Matrices::one(bias.as_mut_ptr(), [rows, columns], bias_strides);
            let to = match onto {
                Onto::Nothing => Target::write(out),
                Onto::Result => Target::add(out),
                _ => Target::add_to(out, bias),
            };
            let a = Matrices::one(a.as_mut_ptr(), [rows, depth], a_strides);
            let b = Matrices::one(b.as_mut_ptr(), [depth, columns], b_strides);
            multiply(to, a, b, is_parallel);
        }
        assert!(out == want, "{} {rows} {depth} {columns} {lie_by_rows:?} {onto:?} {is_parallel}", T::DTYPE);
    }
}

/// Everything that products are added to, on one thread and on several.
fn all_cases() -> impl Iterator<Item = (Onto, bool)> {
    ONTO.into_iter().flat_map(|onto| [(onto, false), (onto, true)])
}

#[test]
fn blocks_give_what_sums_give_and_write_nothing_else() {
    if !has_avx2() {
        return;
    }
    for sizes in [[8, 1, 16], [131, 300, 70], [17, 513, 1100], [10, 1100, 1057], [1, 2, 1]] {
        for lie_by_rows in [[true, true], [true, false], [false, true], [false, false]] {
            check::<f32>(blocks::multiply, sizes, lie_by_rows, all_cases());
            check::<f64>(blocks::multiply, sizes, lie_by_rows, all_cases());
        }
    }
}

#[test]
fn products_with_weights_give_what_sums_give_and_write_nothing_else() {
    if !has_avx2() {
        return;
    }
    // A weight lies by columns.
    let by_rows = [true, false];
    for sizes in [[1, 1, 1], [48, 20, 9], [33, 300, 170], [70, 520, 155], [197, 130, 40]] {
        check::<f32>(weights::multiply, sizes, by_rows, all_cases());
        check::<f64>(weights::multiply, sizes, by_rows, all_cases());
    }
    // More steps than are packed at once, and a weight that no cache holds.
    check::<f32>(weights::multiply, [1000, 1030, 10], by_rows, [(Onto::Nothing, true)]);
    check::<f64>(weights::multiply, [1000, 520, 10], by_rows, [(Onto::Row, false)]);
    check::<f32>(weights::multiply, [40, 300, 1800], by_rows, [(Onto::Row, false), (Onto::Result, true)]);
}
