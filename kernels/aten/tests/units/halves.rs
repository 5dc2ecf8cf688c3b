//! Products of 16-bit floats with a few rows or columns.

use torch_library::prelude::*;
use torch_library_aten::cpu::matmul::halves::{are_for, multiply};
use torch_library_loops::loops;

/// Matrices of small whole numbers, whose sums are exact; their columns are contiguous if `is_transposed`.
fn numbers(count: i64, [rows, columns]: [i64; 2], dtype: DType, is_transposed: bool) -> Tensor {
    let values = (0..count * rows * columns).map(|i| (i * i % 13 - 6) as f32).collect();
    let sizes = if is_transposed { [count, columns, rows] } else { [count, rows, columns] };
    let matrices = loops::copy(&Tensor::from_vec::<f32>(values, &sizes).unwrap(), dtype).unwrap();
    let strides = if is_transposed { [rows * columns, 1, rows] } else { [rows * columns, columns, 1] };
    matrices.strided_view(&[count, rows, columns], &strides, 0).unwrap()
}

fn elements(tensor: &Tensor) -> Vec<f32> {
    loops::elements(tensor).unwrap()
}

/// The products of these sizes, of all kinds of factors and results, with single sums.
fn check(count: i64, [rows, depth, columns]: [i64; 3]) {
    let flags = (0..16).map(|bits: i32| [1, 2, 4, 8].map(|bit| bits & bit != 0));
    for [is_bf16, a_is_turned, b_is_turned, out_is_turned] in flags {
        let dtype = if is_bf16 { DType::BFloat16 } else { DType::Float16 };
        let a = numbers(count, [rows, depth], dtype, a_is_turned);
        let b = numbers(count, [depth, columns], dtype, b_is_turned);
        let [x, y] = [&a, &b].map(elements);
        let sum = |batch: i64, row: i64, column: i64| -> f32 {
            let a = |k| x[((batch * rows + row) * depth + k) as usize];
            (0..depth).map(|k| a(k) * y[((batch * depth + k) * columns + column) as usize]).sum()
        };
        for dtype in [DType::Float32, dtype] {
            let out = numbers(count, [rows, columns], dtype, out_is_turned);
            assert!(are_for(&a, &b));
            multiply(&out, &a, &b).unwrap();
            let case =
                (count, rows, depth, columns, a_is_turned, b_is_turned, out_is_turned, a.dtype(), dtype);
            for (i, got) in (0..).zip(elements(&out)) {
                let want = sum(i / columns / rows, i / columns % rows, i % columns);
                let want = Tensor::from_slice(&[want], &[1]).unwrap();
                assert_eq!([got], *elements(&loops::copy(&want, dtype).unwrap()), "{case:?}, {i}");
            }
        }
    }
}

#[test]
fn products_are_those_of_single_elements() {
    if !(loops::has_avx2() && is_x86_feature_detected!("f16c")) {
        return;
    }
    for sizes in [[1, 1, 2], [1, 7, 65], [2, 8, 64], [3, 9, 63], [8, 17, 130], [5, 300, 3], [200, 33, 1]] {
        check(1, sizes);
    }
    check(3, [2, 20, 70]);
    check(2, [70, 20, 3]);
}

/// A decoding step: the same keys for several rows of a batch.
#[test]
fn a_factor_may_be_expanded() {
    if !(loops::has_avx2() && is_x86_feature_detected!("f16c")) {
        return;
    }
    let a = numbers(4, [1, 24], DType::Float16, false);
    let b = numbers(1, [24, 70], DType::Float16, true);
    let expanded = b.strided_view(&[4, 24, 70], &[0, 1, 24], 0).unwrap();
    let out = numbers(4, [1, 70], DType::Float32, false);
    multiply(&out, &a, &expanded).unwrap();
    for i in 0..4 {
        let [out, a] = [&out, &a]
            .map(|all| all.strided_view(&[1, 1, all.sizes()[2]], &[1, 1, 1], i * all.strides()[0]).unwrap());
        let one = numbers(1, [1, 70], DType::Float32, false);
        multiply(&one, &a, &b).unwrap();
        assert_eq!(elements(&out), elements(&one), "{i}");
    }
}

#[test]
fn products_without_rows_are_empty() {
    if !(loops::has_avx2() && is_x86_feature_detected!("f16c")) {
        return;
    }
    for [count, rows] in [[0, 4], [2, 0]] {
        let zeros = |sizes: &[i64]| Tensor::zeros(sizes, DType::Float16, Device::CPU).unwrap();
        multiply(&zeros(&[count, rows, 40]), &zeros(&[count, rows, 8]), &zeros(&[count, 8, 40])).unwrap();
    }
}

#[test]
fn larger_products_and_other_elements_are_for_others() {
    let f16 = |sizes| numbers(1, sizes, DType::Float16, false);
    assert!(!are_for(&f16([9, 20]), &f16([20, 9])));
    assert!(!are_for(&f16([1, 20]), &numbers(1, [20, 9], DType::BFloat16, false)));
    let [a, b] = [[1, 20], [20, 9]].map(|sizes| numbers(1, sizes, DType::Float32, false));
    assert!(!are_for(&a, &b));
    assert!(!are_for(&f16([1, 20]), &f16([20, 1])));
    let apart = f16([20, 18]).strided_view(&[1, 20, 9], &[1, 18, 2], 0).unwrap();
    assert!(!are_for(&f16([1, 20]), &apart));
}
