//! Large products of floats, by blocks of packed factors.
//!
//! # How it works
//!
//! 1. The right factor is gone through block by block: so many steps of the sum, and so many columns, as stay in
//!    the second-level cache. All threads together pack a block as panels, which are as wide as a tile.
//! 2. Rows of the left factor, those of a tile at a time, are turned into memory that stays in the first-level
//!    cache, and multiplied with all panels of the block.
//!
//! Where lines of a matrix are a power of two apart, they compete for a few places of the caches; their copies do not.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
use std::ops::Range;

use torch_library::DType;

use super::implicit_gemm::Aligned;
use super::tiles::{DEPTH, PanelBuffer, Strip, pack};
use super::{GRAIN, Matrices};
use crate::loops::{is_widest, parallel};
use crate::number::Number;
use crate::vector::Vector;

/// How many vectors wide a block is: with [`DEPTH`] steps 1 MiB of the widest vectors, and half of that of others.
const VECTORS: usize = 64;

/// From so many multiplications on copies of both factors pay.
const WORTH_PACKING: usize = 1 << 25;

/// From so many rows on a copy of the right factor pays.
const ROWS_WORTH_PACKING: usize = 128;

/// From so many columns on a copy of the left factor does.
const COLUMNS_WORTH_PACKING: usize = 32;

/// Whether a product of factors as [`turned`](super::tiles::turned) gave them is better computed by blocks than as
/// they are.
#[inline]
pub(super) fn are_for<T>(a: &Matrices<T>, b: &Matrices<T>) -> bool {
    let is_large = a.rows.saturating_mul(a.columns).saturating_mul(b.columns) >= WORTH_PACKING;
    is_large && a.rows >= ROWS_WORTH_PACKING && b.columns >= COLUMNS_WORTH_PACKING
}

/// Writes a product, or adds it to what is there.
///
/// # Safety
/// - What [`tiles::multiply`](super::tiles::multiply) asks for: matrices in bounds and of fitting sizes, `out`
///   apart from the others, nobody else there, and all as [`turned`](super::tiles::turned) gave it.
pub(super) unsafe fn multiply<T: Number>(
    out: Matrices<T>,
    a: Matrices<T>,
    b: Matrices<T>,
    adds: bool,
    is_parallel: bool,
) {
    // SAFETY: `T` is the type that is named, so the casts change none; `is_widest` found the instructions of
    // `widest`, `turned` those of `wide`; the caller vouches for the matrices.
    unsafe {
        match T::DTYPE {
            DType::Float32 if is_widest() => {
                blocks::<__m512>(out.cast(), a.cast(), b.cast(), adds, is_parallel, widest::<__m512>);
            }
            DType::Float64 if is_widest() => {
                blocks::<__m512d>(out.cast(), a.cast(), b.cast(), adds, is_parallel, widest::<__m512d>);
            }
            DType::Float32 => {
                blocks::<__m256>(out.cast(), a.cast(), b.cast(), adds, is_parallel, wide::<__m256>);
            }
            _ => blocks::<__m256d>(out.cast(), a.cast(), b.cast(), adds, is_parallel, wide::<__m256d>),
        }
    }
}

/// Multiplies rows with some panels of a block: [`Block::multiply`] for some processor.
type Rows<T> = unsafe fn(&Block<T>, Range<usize>, [Matrices<T>; 2]);

/// # Safety
/// - What [`multiply`] asks for, of the matrices.
/// - `rows` is one of the below, for vectors `V`, and the processor has its instructions.
unsafe fn blocks<V: Vector>(
    out: Matrices<V::Element>,
    a: Matrices<V::Element>,
    b: Matrices<V::Element>,
    adds: bool,
    is_parallel: bool,
    rows: Rows<V::Element>,
) {
    let share = |count: usize, grain: usize, f: &(dyn Fn(Range<usize>) + Sync)| match is_parallel {
        true => parallel::shares(count, grain.max(1), f),
        false => f(0..count),
    };
    let (width, groups) = (2 * V::LANES, out.rows.div_ceil(V::ROWS));
    let mut memory = Aligned::default();
    for left in (0..out.columns).step_by(VECTORS * V::LANES) {
        let columns = (out.columns - left).min(VECTORS * V::LANES);
        let out = Matrices { columns, ..out.from(0, left) };
        for step in (0..a.columns).step_by(DEPTH) {
            let depth = (a.columns - step).min(DEPTH);
            let (a, b) = (Matrices { columns: depth, ..a.from(0, step) }, b.from(step, left));
            let panels = memory.numbers::<V::Element>(columns * depth).as_mut_ptr();
            let block = Block { panels, width, depth, columns, adds: adds || step > 0 };
            share(block.count(), parallel::GRAIN / (width * depth), &|range| {
                // SAFETY: the block is `depth` rows and `columns` columns of `b`, which the caller vouches for;
                // each panel is one thread's.
                range.for_each(|panel| unsafe { block.fill(panel, b) });
            });
            // Several threads share the columns of a few rows.
            let parts = match is_parallel {
                true => (4 * rayon::current_num_threads()).div_ceil(groups).min(block.count()),
                false => 1,
            };
            let grain = GRAIN / (V::ROWS * depth * columns / parts);
            share(groups * parts, grain, &|range| {
                let mut buffer = PanelBuffer::EMPTY;
                for (group, part) in range.map(|item| (item / parts, item % parts)) {
                    let row = group * V::ROWS;
                    let height = (out.rows - row).min(V::ROWS);
                    let to = Matrices { rows: height, ..out.from(row, 0) };
                    let panels = part * block.count() / parts..(part + 1) * block.count() / parts;
                    // SAFETY: `data` has room for a tile's rows of `depth` numbers, fewer than a panel's; the rows
                    // lie in `a` and `out`, which the caller vouches for. The panels were filled by `share` before;
                    // each group and part is one thread's alone.
                    unsafe {
                        let data = buffer.start();
                        pack(a.from(row, 0).transposed(), depth, height, data);
                        let lines = Matrices {
                            data,
                            rows: height,
                            row_stride: 1,
                            column_stride: height as isize,
                            ..a
                        };
                        rows(&block, panels, [to, lines]);
                    }
                }
            });
        }
    }
}

/// # Safety
/// - What [`Block::multiply`] asks for: filled panels, rows in bounds, and the result this thread's alone.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn widest<V: Vector>(
    block: &Block<V::Element>,
    panels: Range<usize>,
    [out, a]: [Matrices<V::Element>; 2],
) {
    // SAFETY: the caller vouches for panels and rows; whoever has these features has the vectors.
    unsafe { block.multiply::<V>(panels, out, a) }
}

/// # Safety
/// - What [`Block::multiply`] asks for: filled panels, rows in bounds, and the result this thread's alone.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma")]
unsafe fn wide<V: Vector>(
    block: &Block<V::Element>,
    panels: Range<usize>,
    [out, a]: [Matrices<V::Element>; 2],
) {
    // SAFETY: the caller vouches for panels and rows; whoever has these features has the vectors.
    unsafe { block.multiply::<V>(panels, out, a) }
}

/// Some steps of the right factor, and some of its columns, in memory of their own.
struct Block<T> {
    /// One after the other, each as long as its columns and steps.
    panels: *mut T,
    /// How many columns a panel has, but for the last.
    width: usize,
    depth: usize,
    columns: usize,
    /// Whether products are added to what is there.
    adds: bool,
}

// SAFETY: an address and numbers; the functions that follow it are `unsafe`, and `blocks` gives each panel to one
// thread to fill.
unsafe impl<T: Send + Sync> Sync for Block<T> {}

impl<T: Number> Block<T> {
    /// How many panels there are.
    fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// A panel's first column, how many it has, and where it lies.
    fn panel(&self, panel: usize) -> (usize, usize, *mut T) {
        let column = panel * self.width;
        (column, (self.columns - column).min(self.width), self.panels.wrapping_add(column * self.depth))
    }

    /// Packs a panel of a matrix that starts where the block does.
    ///
    /// # Safety
    /// - `panel` is less than [`count`](Self::count), and there is memory for all panels at `panels`.
    /// - `depth` rows of `columns` columns from the start of `from` can be read, and nobody writes them meanwhile.
    /// - Nobody else has to do with the panel meanwhile.
    unsafe fn fill(&self, panel: usize, from: Matrices<T>) {
        let (column, width, to) = self.panel(panel);
        // SAFETY: a panel is `depth` rows of `width` of the columns that the caller vouches for, and it vouches for
        // as much memory there.
        unsafe { pack(from.from(0, column), self.depth, width, to) };
    }

    /// Multiplies some rows with some panels.
    ///
    /// # Safety
    /// - The panels are filled, and nobody writes them meanwhile.
    /// - `a` can be read, and has `depth` columns, and as many rows as `out`.
    /// - The rows of `out` are contiguous and can be written (and read if `adds`); in the panels' columns nobody
    ///   else uses them.
    /// - The processor has the vectors.
    #[inline(always)]
    unsafe fn multiply<V: Vector<Element = T>>(
        &self,
        panels: Range<usize>,
        out: Matrices<T>,
        a: Matrices<T>,
    ) {
        for panel in panels {
            let (column, width, data) = self.panel(panel);
            let strip = Strip {
                out: out.from(0, column),
                a,
                panel: data.cast_const(),
                pitch: width as isize,
                adds: self.adds,
            };
            // SAFETY: a filled panel, and the `width` columns of the result from its own first on: both the caller
            // vouches for.
            unsafe { strip.compute::<V>(width) };
        }
    }
}

#[cfg(test)]
mod tests {
    use torch_library::Scalar;

    use super::*;
    use crate::loops::is_wide;

    /// A matrix of small whole numbers, of which sums are exact, that lies by rows or by columns, with gaps between
    /// them.
    fn numbers<T: Number>([rows, columns]: [usize; 2], lies_by_rows: bool) -> (Vec<T>, [usize; 2]) {
        let strides = if lies_by_rows { [columns + 3, 1] } else { [1, rows + 3] };
        let count = (rows + 3) * (columns + 3);
        ((0..count).map(|i| Scalar::Int((i * i % 13) as i64 - 6).cast()).collect(), strides)
    }

    fn check<T: Number>(
        [rows, depth, columns]: [usize; 3],
        lie_by_rows: [bool; 2],
        adds: bool,
        is_parallel: bool,
    ) {
        let (mut a, a_strides) = numbers::<T>([rows, depth], lie_by_rows[0]);
        let (mut b, b_strides) = numbers::<T>([depth, columns], lie_by_rows[1]);
        let (mut out, out_strides) = numbers::<T>([rows, columns], true);
        let before = out.clone();
        // SAFETY: all lie in three vectors of our own, in which `numbers` leaves gaps but no lack; the caller asked for
        // `is_wide`.
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
        for sizes in [[8, 1, 16], [131, 300, 70], [17, 513, 1100], [1, 2, 1]] {
            for lie_by_rows in [[true, true], [true, false], [false, true], [false, false]] {
                for [adds, is_parallel] in [[false, false], [true, false], [false, true], [true, true]] {
                    check::<f32>(sizes, lie_by_rows, adds, is_parallel);
                    check::<f64>(sizes, lie_by_rows, adds, is_parallel);
                }
            }
        }
    }
}
