//! Large products of floating-point matrices, by blocks of packed factors.
//!
//! # How it works
//!
//! 1. The right factor is processed block by block: a block has as many steps of the sum, and as many columns, as fit
//!    into the second-level cache. All threads together pack it into panels, which are as wide as a tile.
//! 2. Rows of the left factor, those of one tile at a time, are transposed into memory that stays in the first-level
//!    cache, and multiplied with all panels of the block.
//!
//! If the lines of a matrix are a power of two apart, they compete for a few sets of the caches; the packed copies do
//! not.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
use std::ops::Range;

use torch_library::DType;

use super::implicit_gemm::Aligned;
use super::tiles::{PanelBuffer, Strip, pack};
use super::{GRAIN, Matrices};
use crate::loops::{is_widest, parallel};
use crate::number::Number;
use crate::vector::Vector;

/// The bytes of a row of the left factor that a block is multiplied with, one element for each step: the rows of a tile
/// leave room in the first-level cache for the panels.
const DEPTH_IN_BYTES: usize = 1024;

/// The width of a block in vectors of four-byte elements. Of eight-byte elements it has twice as many vectors, for half
/// as many steps: a block takes 1 MiB with the widest vectors, and half of that otherwise.
const VECTORS: usize = 64;

/// The number of multiplications from which copies of both factors pay.
const WORTH_PACKING: usize = 1 << 25;

/// The number of rows from which a copy of the right factor pays.
const ROWS_WORTH_PACKING: usize = 128;

/// The number of columns from which a copy of the left factor pays.
const COLUMNS_WORTH_PACKING: usize = 32;

/// Whether a product of factors, in the form that `tiles::turned` returned, is better computed by
/// blocks than in place.
#[inline]
pub(super) fn are_for<T>(a: &Matrices<T>, b: &Matrices<T>) -> bool {
    let is_large = a.rows.saturating_mul(a.columns).saturating_mul(b.columns) >= WORTH_PACKING;
    is_large && a.rows >= ROWS_WORTH_PACKING && b.columns >= COLUMNS_WORTH_PACKING
}

/// Writes a product to `out`, or adds it to `out` if `adds`.
///
/// # Safety
/// - The requirements of `tiles::multiply`: matrices in bounds and of matching sizes, `out`
///   apart from the others, no other access, and all in the form that `tiles::turned` returned.
pub unsafe fn multiply<T: Number>(
    out: Matrices<T>,
    a: Matrices<T>,
    b: Matrices<T>,
    adds: bool,
    is_parallel: bool,
) {
    Aligned::lend(|memory| {
        let blocks = Blocks { is_parallel, adds, memory };
        // SAFETY: `T` is the type that is named, so the casts change no type; `is_widest` found the instructions of
        // `widest`, `turned` those of `wide`; the caller guarantees the matrices.
        unsafe {
            match T::DTYPE {
                DType::Float32 if is_widest() => {
                    blocks.multiply::<__m512>(out.cast(), a.cast(), b.cast(), widest::<__m512>);
                }
                DType::Float64 if is_widest() => {
                    blocks.multiply::<__m512d>(out.cast(), a.cast(), b.cast(), widest::<__m512d>);
                }
                DType::Float32 => blocks.multiply::<__m256>(out.cast(), a.cast(), b.cast(), wide::<__m256>),
                _ => blocks.multiply::<__m256d>(out.cast(), a.cast(), b.cast(), wide::<__m256d>),
            }
        }
    });
}

/// Multiplies rows with some panels of a block: [`Block::multiply`], compiled for a processor's instructions.
type Rows<T> = unsafe fn(&Block<T>, Range<usize>, [Matrices<T>; 2]);

/// How blocks are multiplied.
struct Blocks<'a> {
    is_parallel: bool,
    adds: bool,
    /// The memory of a block.
    memory: &'a mut Aligned,
}

impl Blocks<'_> {
    /// # Safety
    /// - The requirements of [`multiply`](fn@multiply) on the matrices.
    /// - `rows` is one of the functions below, for vectors `V`, and the processor has its instructions.
    unsafe fn multiply<V: Vector>(
        self,
        out: Matrices<V::Element>,
        a: Matrices<V::Element>,
        b: Matrices<V::Element>,
        rows: Rows<V::Element>,
    ) {
        let Blocks { is_parallel, adds, memory } = self;
        let share = |count: usize, grain: usize, f: &(dyn Fn(Range<usize>) + Sync)| match is_parallel {
            true => parallel::shares(count, grain.max(1), f),
            false => f(0..count),
        };
        let (width, groups) = (2 * V::LANES, out.rows.div_ceil(V::ROWS));
        let size = size_of::<V::Element>();
        let (most_steps, most_columns) = (DEPTH_IN_BYTES / size, VECTORS * V::LANES * size / 4);
        for left in (0..out.columns).step_by(most_columns) {
            let columns = (out.columns - left).min(most_columns);
            let out = Matrices { columns, ..out.from(0, left) };
            for step in (0..a.columns).step_by(most_steps) {
                let depth = (a.columns - step).min(most_steps);
                let (a, b) = (Matrices { columns: depth, ..a.from(0, step) }, b.from(step, left));
                let panels = memory.numbers::<V::Element>(columns * depth).as_mut_ptr();
                let block = Block { panels, width, depth, columns, adds: adds || step > 0 };
                share(block.count(), parallel::GRAIN / (width * depth), &|range| {
                    // SAFETY: the block is `depth` rows and `columns` columns of `b`, which the caller guarantees; each
                    // panel is filled by one thread.
                    range.for_each(|panel| unsafe { block.fill(panel, b) });
                });
                // If there are few rows, several threads share their columns.
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
                        // SAFETY: `data` has room for the rows of a tile with `depth` numbers each, which is less than
                        // a panel; the rows are in `a` and `out`, which the caller guarantees. The panels were filled
                        // by `share` before; each group and part belongs to one thread.
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
}

/// # Safety
/// - The requirements of [`Block::multiply`]: filled panels, rows in bounds, and a result that only this thread uses.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn widest<V: Vector>(
    block: &Block<V::Element>,
    panels: Range<usize>,
    [out, a]: [Matrices<V::Element>; 2],
) {
    // SAFETY: the caller guarantees panels and rows; a processor with these features has the vectors.
    unsafe { block.multiply::<V>(panels, out, a) }
}

/// # Safety
/// - The requirements of [`Block::multiply`]: filled panels, rows in bounds, and a result that only this thread uses.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma")]
unsafe fn wide<V: Vector>(
    block: &Block<V::Element>,
    panels: Range<usize>,
    [out, a]: [Matrices<V::Element>; 2],
) {
    // SAFETY: the caller guarantees panels and rows; a processor with these features has the vectors.
    unsafe { block.multiply::<V>(panels, out, a) }
}

/// Some steps and some columns of the right factor, packed in separate memory.
struct Block<T> {
    /// The panels, one after the other, each of `depth` rows of its columns.
    panels: *mut T,
    /// The number of columns of a panel, except the last.
    width: usize,
    depth: usize,
    columns: usize,
    /// Whether products are added to the result.
    adds: bool,
}

// SAFETY: this is an address and numbers; the functions that access the address are `unsafe`, and `blocks` has each
// panel filled by one thread.
unsafe impl<T: Send + Sync> Sync for Block<T> {}

impl<T: Number> Block<T> {
    /// The number of panels.
    fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// A panel's first column, its number of columns, and its address.
    fn panel(&self, panel: usize) -> (usize, usize, *mut T) {
        let column = panel * self.width;
        (column, (self.columns - column).min(self.width), self.panels.wrapping_add(column * self.depth))
    }

    /// Packs a panel from a matrix that starts where the block does.
    ///
    /// # Safety
    /// - `panel` is less than [`count`](Self::count), and there is memory for all panels at `panels`.
    /// - `depth` rows of `columns` columns from the start of `from` can be read, and nothing writes them during the
    ///   call.
    /// - Nothing else uses the panel during the call.
    unsafe fn fill(&self, panel: usize, from: Matrices<T>) {
        let (column, width, to) = self.panel(panel);
        // SAFETY: a panel is `depth` rows of `width` of the columns that the caller guarantees, and the caller
        // guarantees as much memory there.
        unsafe { pack(from.from(0, column), self.depth, width, to) };
    }

    /// Multiplies some rows with some panels.
    ///
    /// # Safety
    /// - The panels are filled, and nothing writes them during the call.
    /// - `a` can be read, and has `depth` columns, and as many rows as `out`.
    /// - The rows of `out` are contiguous and can be written (and read if `adds`); nothing else uses them in the
    ///   columns of the panels.
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
            // SAFETY: a filled panel, and the `width` columns of the result from its own first column on: the caller
            // guarantees both.
            unsafe { strip.compute::<V>(width) };
        }
    }
}
