//! Large products of floating-point matrices, by blocks of packed factors.
//!
//! # How it works
//!
//! 1. The right factor is processed block by block: a block has as many steps of the sum (indices of the inner
//!    dimension, K), and as many columns, as fit into the L2 cache. All threads together pack it, or a few blocks, into
//!    panels, which are as wide as a tile.
//! 2. Rows of the left factor, those of one tile at a time, are transposed into memory that stays in the L1 cache, and
//!    multiplied by all panels of the block.
//!
//! If the rows of a matrix are a power of two apart, they compete for a few cache sets; the packed copies do not.
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

/// The bytes of a row of the left factor by which a block is multiplied, one element for each step: the rows of a tile
/// leave room in the L1 cache for the panels.
pub(super) const DEPTH_IN_BYTES: usize = 1024;

/// The width of a block in vectors of four-byte elements: a multiple of two and of three, so that panels are whole. Of
/// eight-byte elements it has twice as many vectors, for half as many steps: a block takes 1 MiB with the widest
/// vectors, and half of that otherwise.
const WIDTH: usize = 66;

/// The number of blocks that threads pack at once, times the number of columns: 4 MiB of the right factor. With more
/// blocks, threads wait less often for each other.
const TOGETHER: usize = 4 << 10;

/// From this many groups of rows per thread on, two ranges of them for each thread share the work evenly.
const MANY_GROUPS: usize = 32;

/// The smallest number of multiplications for which copies of both factors pay off.
const WORTH_PACKING: usize = 1 << 25;

/// With at most `FEW_STEPS` steps, most of the time goes to writing the result, which blocks do row by row; that pays
/// off if it has at least `MANY_ELEMENTS` elements.
const FEW_STEPS: usize = 64;
const MANY_ELEMENTS: usize = 1 << 19;

/// The smallest number of rows for which a copy of the right factor pays off.
const ROWS_WORTH_PACKING: usize = 128;

/// The smallest number of columns for which a copy of the left factor pays off.
const COLUMNS_WORTH_PACKING: usize = 32;

/// Whether a product of factors, in the form that `tiles::turned` returned, is better computed by
/// blocks than in place.
#[inline]
pub(super) fn are_for<T>(a: &Matrices<T>, b: &Matrices<T>) -> bool {
    let elements = a.rows.saturating_mul(b.columns);
    let is_large = elements.saturating_mul(a.columns) >= WORTH_PACKING
        || elements >= MANY_ELEMENTS && a.columns <= FEW_STEPS;
    is_large && a.rows >= ROWS_WORTH_PACKING && b.columns >= COLUMNS_WORTH_PACKING
}

/// Writes a product to `out`, or adds it to `out` if `adds`.
///
/// # Safety
/// - The requirements of `tiles::multiply`: matrices in bounds and of matching sizes, `out` disjoint from the others,
///   no other access, and all in the form that `tiles::turned` returned.
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
                DType::Float32 if is_widest() => blocks.widest::<__m512>(out.cast(), a.cast(), b.cast()),
                DType::Float64 if is_widest() => blocks.widest::<__m512d>(out.cast(), a.cast(), b.cast()),
                DType::Float32 => {
                    blocks.multiply::<__m256, 4, 2>(out.cast(), a.cast(), b.cast(), wide::<__m256>);
                }
                _ => blocks.multiply::<__m256d, 4, 2>(out.cast(), a.cast(), b.cast(), wide::<__m256d>),
            }
        }
    });
}

/// Multiplies rows with some panels of a block: [`Block::multiply`], compiled for a processor's instructions.
pub(super) type Rows<T> = unsafe fn(&Block<T>, Range<usize>, Matrices<T>, Matrices<T>);

/// How blocks are multiplied.
struct Blocks<'a> {
    is_parallel: bool,
    adds: bool,
    /// The memory of a block.
    memory: &'a mut Aligned,
}

impl Blocks<'_> {
    /// Multiplies by tiles of the shape, of the two that fill the registers, whose panels fit the columns better.
    ///
    /// # Safety
    /// - The requirements of [`multiply`](fn@multiply) on the matrices.
    /// - The processor has the instructions of [`widest`].
    unsafe fn widest<V: Vector>(
        self,
        out: Matrices<V::Element>,
        a: Matrices<V::Element>,
        b: Matrices<V::Element>,
    ) {
        // A last panel of one vector takes as long as one of two, which does not matter among many panels.
        let has_narrow_panel = (1..=V::LANES).contains(&(out.columns % (3 * V::LANES)));
        // SAFETY: the caller guarantees this.
        unsafe {
            match !has_narrow_panel || out.columns >= 12 * V::LANES {
                true => self.multiply::<V, 9, 3>(out, a, b, widest::<V, 3>),
                false => self.multiply::<V, 12, 2>(out, a, b, widest::<V, 2>),
            }
        }
    }

    /// Multiplies by tiles of `ROWS` rows and, in each, `VECTORS` vectors.
    ///
    /// # Safety
    /// - The requirements of [`multiply`](fn@multiply) on the matrices.
    /// - `rows` is one of the functions below, for panels of `VECTORS` vectors `V`, and the processor has its
    ///   instructions.
    unsafe fn multiply<V: Vector, const ROWS: usize, const VECTORS: usize>(
        self,
        out: Matrices<V::Element>,
        a: Matrices<V::Element>,
        b: Matrices<V::Element>,
        rows: Rows<V::Element>,
    ) {
        let (width, size) = (VECTORS * V::LANES, size_of::<V::Element>());
        let (most_steps, most_columns) = (DEPTH_IN_BYTES / size, WIDTH * V::LANES * size / 4);
        for left in (0..out.columns).step_by(most_columns) {
            let columns = (out.columns - left).min(most_columns);
            let out = Matrices { columns, ..out.from(0, left) };
            let together = most_steps * if self.is_parallel { (TOGETHER / columns).max(1) } else { 1 };
            for step in (0..a.columns).step_by(together) {
                let depth = (a.columns - step).min(together);
                let (a, b) = (Matrices { columns: depth, ..a.from(0, step) }, b.from(step, left));
                let panels = self.memory.numbers::<V::Element>(columns * depth).as_mut_ptr();
                let all = Block { panels, width, depth, columns, adds: self.adds || step > 0 };
                // SAFETY: there is memory for `columns` columns of `depth` steps, of which `b` has as many; the caller
                // guarantees the matrices, of which these are parts, and `rows`, which run when all panels are filled.
                unsafe {
                    all.fill(most_steps, b, self.is_parallel);
                    self.rows::<V, ROWS>(&all, most_steps, out, a, rows);
                }
            }
        }
    }

    /// Multiplies all rows with filled blocks of `most_steps` steps each. A thread that takes some rows goes through
    /// the blocks with these alone, so that no thread waits for another between two blocks.
    ///
    /// # Safety
    /// - The blocks of `all` are filled, and nothing writes them during the call.
    /// - The requirements of [`multiply`](fn@multiply) on `out` and `a`, which has as many columns as `all` has steps.
    /// - `rows` is one of the functions below, for vectors `V`, and the processor has its instructions.
    unsafe fn rows<V: Vector, const ROWS: usize>(
        &self,
        all: &Block<V::Element>,
        most_steps: usize,
        out: Matrices<V::Element>,
        a: Matrices<V::Element>,
        rows: Rows<V::Element>,
    ) {
        let groups = out.rows.div_ceil(ROWS);
        let threads = rayon::current_num_threads();
        // If there are few rows, several threads share their columns.
        let parts = match self.is_parallel {
            true => (8 * threads).div_ceil(groups).min(all.count()),
            false => 1,
        };
        let mut grain = GRAIN / (ROWS * all.depth * all.columns / parts).max(1);
        if all.depth > most_steps && groups >= MANY_GROUPS * threads {
            // Each range of rows reads all blocks, which do not stay in the cache together, so there are few.
            grain = grain.max(groups / (2 * threads));
        }
        share(self.is_parallel, groups * parts, grain, &|range| {
            let mut buffer = PanelBuffer::EMPTY;
            for n in 0..all.depth.div_ceil(most_steps) {
                let (block, a) = (all.part(n, most_steps), a.from(0, n * most_steps));
                for (group, part) in range.clone().map(|item| (item / parts, item % parts)) {
                    let row = group * ROWS;
                    let height = (out.rows - row).min(ROWS);
                    let to = Matrices { rows: height, ..out.from(row, 0) };
                    let panels = part * block.count() / parts..(part + 1) * block.count() / parts;
                    let data = buffer.start();
                    // Neighbours are at a constant distance, so a tile needs one pointer for all of its rows.
                    let lines = Matrices { data, row_stride: 1, column_stride: height as isize, ..to };
                    // SAFETY: `data` has room for the rows of a tile with as many numbers each as the block has steps,
                    // which is less than a panel; the rows are in `a` and `out`, which the caller guarantees, as it
                    // does filled panels. Each group and part belongs to one thread.
                    unsafe {
                        pack(a.from(row, 0).transposed(), block.depth, height, data);
                        rows(&block, panels, to, lines);
                    }
                }
            }
        });
    }
}

/// Runs a function over the ranges that make up `0..count`, with a grain size of `grain`.
pub(super) fn share(is_parallel: bool, count: usize, grain: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    match is_parallel {
        true => parallel::shares(count, grain.max(1), f),
        false => f(0..count),
    }
}

/// # Safety
/// - The requirements of [`Block::multiply`]: filled panels, rows in bounds, and a result that only this thread uses.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
pub(super) unsafe fn widest<V: Vector, const N: usize>(
    block: &Block<V::Element>,
    panels: Range<usize>,
    out: Matrices<V::Element>,
    a: Matrices<V::Element>,
) {
    // SAFETY: the caller guarantees panels and rows; a processor with these features has the vectors.
    unsafe { block.multiply::<V, N>(panels, out, a) }
}

/// # Safety
/// - The requirements of [`Block::multiply`]: filled panels, rows in bounds, and a result that only this thread uses.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn wide<V: Vector>(
    block: &Block<V::Element>,
    panels: Range<usize>,
    out: Matrices<V::Element>,
    a: Matrices<V::Element>,
) {
    // SAFETY: the caller guarantees panels and rows; a processor with these features has the vectors.
    unsafe { block.multiply::<V, 2>(panels, out, a) }
}

/// Some steps and some columns of the right factor, packed in separate memory: a block, or several.
pub(super) struct Block<T> {
    /// The panels, one after the other, each of `depth` rows of its columns.
    pub(super) panels: *mut T,
    /// The number of columns of a panel, except the last.
    pub(super) width: usize,
    pub(super) depth: usize,
    pub(super) columns: usize,
    /// Whether products are added to the result.
    pub(super) adds: bool,
}

// SAFETY: this is an address and numbers; the functions that access the address are `unsafe`, and `blocks` has each
// panel filled by one thread.
unsafe impl<T: Send + Sync> Sync for Block<T> {}

impl<T: Number> Block<T> {
    /// One of the blocks that are packed one after the other, of `most_steps` steps each.
    pub(super) fn part(&self, n: usize, most_steps: usize) -> Block<T> {
        let first = n * most_steps;
        Block {
            panels: self.panels.wrapping_add(first * self.columns),
            depth: (self.depth - first).min(most_steps),
            adds: self.adds || n > 0,
            ..*self
        }
    }

    /// The number of panels.
    pub(super) fn count(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// A panel's first column, its number of columns, and its address.
    fn panel(&self, panel: usize) -> (usize, usize, *mut T) {
        let column = panel * self.width;
        (column, (self.columns - column).min(self.width), self.panels.wrapping_add(column * self.depth))
    }

    /// Packs all panels, as blocks of `most_steps` steps each.
    ///
    /// # Safety
    /// - There is memory for `depth` rows of `columns` columns at `panels`.
    /// - As many rows and columns of `from` can be read, and nothing writes them during the call.
    /// - Nothing else uses the panels during the call.
    pub(super) unsafe fn fill(&self, most_steps: usize, from: Matrices<T>, is_parallel: bool) {
        let (blocks, count) = (self.depth.div_ceil(most_steps), self.count());
        share(is_parallel, blocks * count, parallel::GRAIN / (self.width * most_steps), &|range| {
            for (n, panel) in range.map(|item| (item / count, item % count)) {
                let from = from.from(n * most_steps, 0);
                // SAFETY: the part is some of the rows and all columns of the matrix, which the caller guarantees; each
                // panel is filled by one thread.
                unsafe { self.part(n, most_steps).fill_one(panel, from) };
            }
        });
    }

    /// Packs a panel from a matrix that starts where the block does.
    ///
    /// # Safety
    /// - `panel` is less than [`count`](Self::count), and there is memory for all panels at `panels`.
    /// - `depth` rows of `columns` columns from the start of `from` can be read, and nothing writes them during the
    ///   call.
    /// - Nothing else uses the panel during the call.
    unsafe fn fill_one(&self, panel: usize, from: Matrices<T>) {
        let (column, width, to) = self.panel(panel);
        // SAFETY: a panel is `depth` rows of `width` of the columns that the caller guarantees, and the caller
        // guarantees as much memory there.
        unsafe { pack(from.from(0, column), self.depth, width, to) };
    }

    /// Multiplies some rows with some panels of at most `N` vectors.
    ///
    /// # Safety
    /// - The panels are filled, and nothing writes them during the call.
    /// - `a` has the rows of `out` for each of `depth` steps; they can be read.
    /// - The rows of `out` are contiguous and can be written (and read if `adds`); nothing else uses them in the
    ///   columns of the panels.
    /// - The processor has the vectors.
    #[inline(always)]
    unsafe fn multiply<V: Vector<Element = T>, const N: usize>(
        &self,
        panels: Range<usize>,
        out: Matrices<T>,
        a: Matrices<T>,
    ) {
        let a = Matrices { rows: out.rows, columns: self.depth, ..a };
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
            unsafe { strip.compute::<V, N>(width) };
        }
    }
}
