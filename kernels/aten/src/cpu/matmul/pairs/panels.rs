//! Packs the columns of a `bfloat16` matrix as panels, in which the elements of two rows are interleaved.
#![expect(unsafe_code, reason = "reads elements through pointers that its caller vouches for")]

use std::ops::Range;

use super::{Matrices, WIDTH};
use crate::inlined::from_fn;
use crate::loops::transpose::transpose;

/// Packs columns as panels of `lines` lines: [`WIDTH`] pairs of elements for each pair of rows, with zeros where there
/// are no elements, and in further lines.
///
/// # Safety
/// - The matrix has these columns, which can be read, and nothing writes them during the call.
/// - There are panels for all of them, and a line for each pair of rows.
/// - The processor has the instructions.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
pub(in crate::cpu) unsafe fn pack(
    b: Matrices<u16>,
    columns: Range<usize>,
    lines: usize,
    panels: &mut [[u32; WIDTH]],
) {
    let whole = if b.column_stride == 1 { columns.len() / WIDTH } else { 0 };
    // SAFETY: as many panels are left; the caller guarantees the matrix and the instructions.
    unsafe { pack_rows(b, columns.start, lines, &mut panels[..whole * lines]) };
    for (column, panel) in columns.clone().step_by(WIDTH).zip(panels.chunks_exact_mut(lines)).skip(whole) {
        // SAFETY: as many columns are left; the caller guarantees the matrix, the lines and the instructions.
        unsafe { pack_columns(b, column, WIDTH.min(columns.end - column), panel) };
    }
}

/// Packs whole panels of a matrix whose rows are contiguous: each is read from end to end.
///
/// # Safety
/// - The matrix has columns for all panels from `first` on, which can be read and are adjacent, and nothing writes them
///   during the call.
/// - The processor has the instructions.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn pack_rows(b: Matrices<u16>, first: usize, lines: usize, panels: &mut [[u32; WIDTH]]) {
    let rows = b.from(0, first);
    // SAFETY: the caller guarantees `WIDTH` columns of each row for each panel.
    let line = |row: usize, panel: usize| unsafe {
        rows.from(row, 0).data.add(panel * WIDTH).cast::<[u16; WIDTH]>().read()
    };
    for i in 0..lines {
        for (n, panel) in panels.chunks_exact_mut(lines).enumerate() {
            let of_row = |row: usize| if row < b.rows { line(row, n) } else { [0; WIDTH] };
            let (even, odd) = (of_row(2 * i), of_row(2 * i + 1));
            panel[i] = from_fn(|j| u32::from(even[j]) | u32::from(odd[j]) << 16);
        }
    }
}

/// Packs the columns of one panel.
///
/// # Safety
/// - The matrix has `width` columns from `first` on, which can be read, and nothing writes them during the call.
/// - `width` is at most [`WIDTH`], and `panel` has a line for each pair of rows.
/// - The processor has the instructions.
#[inline]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn pack_columns(b: Matrices<u16>, first: usize, width: usize, panel: &mut [[u32; WIDTH]]) {
    let (row, column) = (b.row_stride, b.column_stride);
    let data = b.data.wrapping_offset(first as isize * column);
    let at = |i: usize, j: usize| data.wrapping_offset(i as isize * row + j as isize * column);
    let pairs = b.rows / 2;
    // SAFETY: rows up to `2 * i + 1` exist, as `i` is less than `pairs`; column `j` is less than `width`, as callers
    // check first.
    let pair = |i: usize, j: usize| unsafe {
        u32::from(at(2 * i, j).read()) | u32::from(at(2 * i + 1, j).read()) << 16
    };
    if row == 1 && column % 2 == 0 {
        if width < WIDTH {
            panel[..pairs].fill([0; WIDTH]);
        }
        // The columns are contiguous, so the pairs exist already, and are only transposed. SAFETY: `width` columns of
        // `pairs` pairs, which are contiguous and need not be aligned; the caller guarantees room for them.
        unsafe {
            transpose::<u32>(data.cast(), column / 2, [width, pairs], panel.as_mut_ptr().cast(), WIDTH)
        };
    } else {
        for (i, line) in panel.iter_mut().take(pairs).enumerate() {
            line.iter_mut().enumerate().for_each(|(j, to)| *to = if j < width { pair(i, j) } else { 0 });
        }
    }
    if b.rows % 2 == 1 {
        for (j, to) in panel[pairs].iter_mut().enumerate() {
            // SAFETY: row `2 * pairs` is the last one, as their number is odd; `j` is less than `width`.
            *to = if j < width { u32::from(unsafe { at(2 * pairs, j).read() }) } else { 0 };
        }
    }
    panel[b.rows.div_ceil(2)..].fill([0; WIDTH]);
}
