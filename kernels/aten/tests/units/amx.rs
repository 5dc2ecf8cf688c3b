//! Sums of products in AMX tiles.
#![expect(unsafe_code, reason = "calls what reads and writes through pointers")]

use torch_library_aten::cpu::matmul::amx::{DEPTH, ROWS, Sums, WIDTH};
use torch_library_aten::cpu::matmul::pairs::{Rows, Unit};

use crate::emulator;

/// A small whole number, whose products and sums are exact.
fn number(i: usize) -> f32 {
    (i * i % 13) as f32 - 6.0
}

fn bits(x: f32) -> u16 {
    (x.to_bits() >> 16) as u16
}

/// Multiplies rows with three panels, in two parts if there are two tiles of columns or more.
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
    let pitch = Rows::lines(columns);
    let line = |panel: usize, line: usize| std::array::from_fn(|column| pair(line, panel * WIDTH + column));
    let panels: Vec<[u32; WIDTH]> = (0..3 * pitch).map(|i| line(i / pitch, i % pitch)).collect();
    let mut sums = vec![Sums([[f32::NAN; WIDTH]; ROWS]); 3];
    let first = columns / 2 / DEPTH * DEPTH;
    for part in [0..first, first..columns] {
        if part.is_empty() {
            continue;
        }
        let (from, mut buffer) = (left[part.start..].as_ptr(), Vec::new());
        // SAFETY: `left` has `count` rows of `columns` elements, of which these are some; the panels have the lines for
        // these, and the instructions are there or emulated.
        unsafe {
            let rows = Rows::new(Unit::Tiles, from, stride as isize, count, part.len(), &mut buffer);
            rows.multiply(&panels[part.start / 2..], pitch, &mut sums, part.start > 0);
        }
    }
    for (row, column) in (0..count).flat_map(|row| (0..3 * WIDTH).map(move |column| (row, column))) {
        let want: f32 = (0..columns).map(|step| a[row * stride + step] * b(step, column)).sum();
        let sum = sums[column / WIDTH].0[row][column % WIDTH];
        assert_eq!(sum, want, "{count}×{columns}, row {row}, column {column}");
    }
}

#[test]
fn tiles_give_what_sums_give() {
    emulator::install();
    for count in [1, 7, 16, 17, 31, 32] {
        for columns in [1, 2, 31, 32, 33, 63, 64, 100, 160] {
            check(count, columns);
        }
    }
}
