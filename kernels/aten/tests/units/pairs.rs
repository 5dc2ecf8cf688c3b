//! Products of `bfloat16` in AMX tiles and in registers.
#![expect(unsafe_code, reason = "says that instructions may be executed")]

use torch_library::prelude::*;
use torch_library_aten::cpu::matmul::pairs::{Unit, multiply_by};
use torch_library_loops::loops;

use crate::emulator;

/// A matrix of small whole numbers, whose sums are exact; its columns are contiguous if `is_transposed`.
fn numbers(rows: i64, columns: i64, is_transposed: bool) -> Tensor {
    let sizes = if is_transposed { [columns, rows] } else { [rows, columns] };
    let values = (0..rows * columns).map(|i| half::bf16::from_f64((i * i % 13 - 6) as f64)).collect();
    let matrix = Tensor::from_vec::<half::bf16>(values, &sizes).unwrap();
    if is_transposed { matrix.strided_view(&[rows, columns], &[1, rows], 0).unwrap() } else { matrix }
}

/// A result that no sum has been written to; its columns are contiguous if `is_transposed`.
fn unknown(rows: i64, columns: i64, dtype: DType, is_transposed: bool) -> Tensor {
    let nan = Tensor::full(&[rows * columns], Scalar::Float(f64::NAN), dtype, Device::CPU).unwrap();
    let strides = if is_transposed { [1, rows] } else { [columns, 1] };
    nan.strided_view(&[rows, columns], &strides, 0).unwrap()
}

#[test]
fn tiles_give_what_registers_give() {
    if !(loops::has_avx512() && is_x86_feature_detected!("avx512bf16")) {
        return;
    }
    emulator::install();
    for [rows, depth, columns] in
        [[1, 1, 1], [33, 70, 40], [20, 64, 100], [65, 31, 32], [3, 200, 300], [34, 1100, 70], [1, 33, 90]]
    {
        for [a_is_transposed, b_is_transposed] in [[false, false], [false, true], [true, false], [true, true]]
        {
            let (a, b) = (numbers(rows, depth, a_is_transposed), numbers(depth, columns, b_is_transposed));
            let dtypes = [DType::BFloat16, DType::Float32];
            for (dtype, out_is_transposed) in
                dtypes.into_iter().flat_map(|dtype| [(dtype, false), (dtype, true)])
            {
                let [by_tiles, by_registers] = [Unit::Tiles, Unit::Registers].map(|unit| {
                    let out = unknown(rows, columns, dtype, out_is_transposed);
                    // SAFETY: both factors are `bfloat16`, and the instructions are there, or emulated.
                    unsafe { multiply_by(unit, &out, &a, &b) }.unwrap();
                    loops::copy(&out, DType::Float32).unwrap().to_vec::<f32>().unwrap()
                });
                let case = (rows, depth, columns, a_is_transposed, b_is_transposed, dtype, out_is_transposed);
                assert_eq!(by_tiles, by_registers, "{case:?}");
            }
        }
    }
}

/// A caller asks before it multiplies, but another thread may resize the factors in between.
#[test]
fn products_without_rows_or_without_matrices_are_empty() {
    if !(loops::has_avx512() && is_x86_feature_detected!("avx512bf16")) {
        return;
    }
    emulator::install();
    for [count, rows] in [[0, 4], [2, 0]] {
        let a = Tensor::zeros(&[count, rows, 8], DType::BFloat16, Device::CPU).unwrap();
        let b = Tensor::zeros(&[count, 40, 8], DType::BFloat16, Device::CPU).unwrap();
        let b = b.strided_view(&[count, 8, 40], &[320, 1, 8], 0).unwrap();
        let out = Tensor::zeros(&[count, rows, 40], DType::Float32, Device::CPU).unwrap();
        // SAFETY: both factors are `bfloat16`, and the instructions are there, or emulated.
        unsafe { multiply_by(Unit::Tiles, &out, &a, &b) }.unwrap();
    }
}

/// The threads share the rows of a weight if there is only one product, and products if there are several.
#[test]
fn few_rows_times_weights_are_what_single_products_are() {
    if !(loops::has_avx512() && is_x86_feature_detected!("avx512bf16")) {
        return;
    }
    emulator::install();
    let (count, rows, depth, columns) = (3, 5, 40, 200);
    let (a, b) = (numbers(count * rows, depth, false), numbers(depth, count * columns, true));
    let a = a.strided_view(&[count, rows, depth], &[rows * depth, depth, 1], 0).unwrap();
    let b = b.strided_view(&[count, depth, columns], &[depth * columns, 1, depth], 0).unwrap();
    let out = Tensor::zeros(&[count, rows, columns], DType::Float32, Device::CPU).unwrap();
    // SAFETY: both factors are `bfloat16`, and the instructions are there, or emulated.
    unsafe { multiply_by(Unit::Tiles, &out, &a, &b) }.unwrap();
    for i in 0..count {
        let [out, a, b] = [&out, &a, &b].map(|all| {
            all.strided_view(&all.sizes()[1..], &all.strides()[1..], i * all.strides()[0]).unwrap()
        });
        let one = unknown(rows, columns, DType::Float32, false);
        // SAFETY: both factors are `bfloat16`, and the instructions are there.
        unsafe { multiply_by(Unit::Registers, &one, &a, &b) }.unwrap();
        let out = loops::copy(&out, DType::Float32).unwrap();
        assert_eq!(out.to_vec::<f32>().unwrap(), one.to_vec::<f32>().unwrap(), "product {i}");
    }
}
