//! Products of `bfloat16` in AMX tiles and in registers.
#![expect(unsafe_code, reason = "says that instructions may be executed")]

use torch_library::prelude::*;
use torch_library_aten::cpu::matmul::pairs::multiply_in;
use torch_library_loops::loops;

use crate::emulator;

/// A matrix of small whole numbers, whose sums are exact; its columns are contiguous if `is_transposed`.
fn numbers(rows: i64, columns: i64, is_transposed: bool) -> Tensor {
    let sizes = if is_transposed { [columns, rows] } else { [rows, columns] };
    let values = (0..rows * columns).map(|i| half::bf16::from_f64((i * i % 13 - 6) as f64)).collect();
    let matrix = Tensor::from_vec::<half::bf16>(values, &sizes).unwrap();
    if is_transposed { matrix.strided_view(&[rows, columns], &[1, rows], 0).unwrap() } else { matrix }
}

#[test]
fn tiles_give_what_registers_give() {
    if !(loops::is_widest() && is_x86_feature_detected!("avx512bf16")) {
        return;
    }
    emulator::install();
    for [rows, depth, columns] in
        [[1, 1, 1], [33, 70, 40], [20, 64, 100], [65, 31, 32], [3, 200, 300], [34, 1100, 70]]
    {
        for [a_is_transposed, b_is_transposed] in [[false, false], [false, true], [true, false]] {
            let (a, b) = (numbers(rows, depth, a_is_transposed), numbers(depth, columns, b_is_transposed));
            for dtype in [DType::BFloat16, DType::Float32] {
                let [by_tiles, by_registers] = [true, false].map(|has_tiles| {
                    let out = Tensor::full(&[rows, columns], Scalar::Float(f64::NAN), dtype, Device::CPU);
                    let out = out.unwrap();
                    // SAFETY: both factors are `bfloat16`, and the instructions are there, or emulated.
                    unsafe { multiply_in(&out, &a, &b, has_tiles) }.unwrap();
                    loops::copy(&out, DType::Float32).unwrap().to_vec::<f32>().unwrap()
                });
                let case = (rows, depth, columns, a_is_transposed, b_is_transposed, dtype);
                assert_eq!(by_tiles, by_registers, "{case:?}");
            }
        }
    }
}
