//! Sums of products in AMX tiles.
#![expect(unsafe_code, reason = "calls what reads and writes through pointers")]

use torch_library_aten::cpu::matmul::amx::{ROWS, Rows, WIDTH};

use crate::emulator;

/// A small whole number, whose products and sums are exact.
fn number(i: usize) -> f32 {
    (i * i % 13) as f32 - 6.0
}

fn bits(x: f32) -> u16 {
    (x.to_bits() >> 16) as u16
}

fn check(count: usize, columns: usize) {
    let stride = columns + 5;
    let a: Vec<f32> = (0..count * stride).map(number).collect();
    let b = |step: usize, column: usize| match step < columns {
        true => number(7 * step + 3 * column + 1),
        false => 0.0,
    };
    let left: Vec<u16> = a.iter().map(|x| bits(*x)).collect();
    let pair = |line: usize, column: usize| {
        u32::from(bits(b(2 * line, column))) | u32::from(bits(b(2 * line + 1, column))) << 16
    };
    let lines = 0..Rows::lines(columns);
    let panel: Vec<[u32; WIDTH]> =
        lines.map(|line| std::array::from_fn(|column| pair(line, column))).collect();
    let mut sums = [[f32::NAN; WIDTH]; ROWS];
    // SAFETY: `left` has `count` rows of `columns` elements, the panel has the lines for these, and the
    // instructions are there or emulated.
    unsafe { Rows::new(left.as_ptr(), stride as isize, count, columns).multiply(&panel, &mut sums) };
    for (row, sums) in sums.iter().take(count).enumerate() {
        for (column, sum) in sums.iter().enumerate() {
            let want: f32 = (0..columns).map(|step| a[row * stride + step] * b(step, column)).sum();
            assert_eq!(*sum, want, "{count}×{columns}, row {row}, column {column}");
        }
    }
}

#[test]
fn tiles_give_what_sums_give() {
    emulator::install();
    for count in [1, 7, 16, 17, 31, 32] {
        for columns in [1, 2, 31, 32, 33, 63, 64, 100] {
            check(count, columns);
        }
    }
}
