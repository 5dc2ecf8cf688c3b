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

use super::fetch::Later;
use super::implicit_gemm::Aligned;
use super::target::Target;
use super::tiles::{NEAR, PanelBuffer, Strip, pack};
use super::{GRAIN, Matrices};
use crate::loops::{has_avx512, parallel};
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

/// The smallest number of rows for which it pays off if the rows of the right factor are far apart, and it is so large
/// that no cache holds it from one product to the next, such as the weight of a linear layer.
const FEW_ROWS_WORTH_PACKING: usize = 32;
pub(super) const LARGE_IN_BYTES: usize = 2 << 20;

/// The smallest number of columns for which a copy of the left factor pays off.
const COLUMNS_WORTH_PACKING: usize = 32;

/// Whether one thread computes a product of few rows and a large row-major matrix faster by blocks than in place.
#[inline]
pub(super) fn are_for_few_rows<T>(a: &Matrices<T>, b: &Matrices<T>) -> bool {
    let is_far = b.column_stride == 1 && b.row_stride.unsigned_abs() * size_of::<T>() > NEAR;
    let is_large = b.rows.saturating_mul(b.columns) >= LARGE_IN_BYTES / size_of::<T>();
    is_far && is_large && a.rows >= FEW_ROWS_WORTH_PACKING && b.columns >= COLUMNS_WORTH_PACKING
}

/// Whether a product of factors, in the form that `tiles::turned` returned, is better computed by blocks than in place,
/// which all threads pack.
#[inline]
pub(super) fn are_for<T>(a: &Matrices<T>, b: &Matrices<T>) -> bool {
    let elements = a.rows.saturating_mul(b.columns);
    let is_large = elements.saturating_mul(a.columns) >= WORTH_PACKING
        || elements >= MANY_ELEMENTS && a.columns <= FEW_STEPS;
    is_large && a.rows >= ROWS_WORTH_PACKING && b.columns >= COLUMNS_WORTH_PACKING
}

/// Computes a product.
///
/// # Safety
/// - The requirements of `tiles::multiply`: matrices in bounds and of matching sizes, `out` disjoint from the others,
///   no other access, and all in the form that `tiles::turned` returned.
pub unsafe fn multiply<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>, is_parallel: bool) {
    Aligned::lend(|memory| {
        let blocks = Blocks { is_parallel, memory };
        // SAFETY: `T` is the type that is named, so the casts change no type; `has_avx512` found the instructions of
        // `widest`, `turned` those of `wide`; the caller guarantees the matrices.
        unsafe {
            match T::DTYPE {
                DType::Float32 if has_avx512() => blocks.widest::<__m512>(to.cast(), a.cast(), b.cast()),
                DType::Float64 if has_avx512() => blocks.widest::<__m512d>(to.cast(), a.cast(), b.cast()),
                DType::Float32 => {
                    blocks.multiply::<__m256, 4, 2>(to.cast(), a.cast(), b.cast(), wide::<__m256>);
                }
                _ => blocks.multiply::<__m256d, 4, 2>(to.cast(), a.cast(), b.cast(), wide::<__m256d>),
            }
        }
    });
}

/// Multiplies rows with some panels of a block: [`Block::multiply`], compiled for a processor's instructions.
pub(super) type Rows<T> = unsafe fn(&Block<T>, Range<usize>, Target<T>, Matrices<T>);

/// How blocks are multiplied.
struct Blocks<'a> {
    is_parallel: bool,
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
        to: Target<V::Element>,
        a: Matrices<V::Element>,
        b: Matrices<V::Element>,
    ) {
        // A last panel of one vector takes as long as one of two, which does not matter among many panels.
        let has_narrow_panel = (1..=V::LANES).contains(&(to.out.columns % (3 * V::LANES)));
        // SAFETY: the caller guarantees this.
        unsafe {
            match !has_narrow_panel || to.out.columns >= 12 * V::LANES {
                true => self.multiply::<V, 9, 3>(to, a, b, widest::<V, 9, 3>),
                false => self.multiply::<V, 12, 2>(to, a, b, widest::<V, 12, 2>),
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
        to: Target<V::Element>,
        a: Matrices<V::Element>,
        b: Matrices<V::Element>,
        rows: Rows<V::Element>,
    ) {
        let (width, size) = (VECTORS * V::LANES, size_of::<V::Element>());
        let (most_steps, most_columns) = (DEPTH_IN_BYTES / size, WIDTH * V::LANES * size / 4);
        for left in (0..to.out.columns).step_by(most_columns) {
            let columns = (to.out.columns - left).min(most_columns);
            let to = to.from(0, left).width(columns);
            let together = most_steps * if self.is_parallel { (TOGETHER / columns).max(1) } else { 1 };
            for step in (0..a.columns).step_by(together) {
                let depth = (a.columns - step).min(together);
                let (a, from) = (Matrices { columns: depth, ..a.from(0, step) }, b.from(step, left));
                let panels = self.memory.numbers::<V::Element>(columns * depth).as_mut_ptr();
                let all = Block { panels, width, depth, columns, next: None };
                // SAFETY: there is memory for `columns` columns of `depth` steps, of which `b` has as many; the caller
                // guarantees the matrices, of which these are parts, and `rows`, which run when all panels are filled.
                unsafe {
                    all.fill(most_steps, from, self.is_parallel);
                    self.rows::<V, ROWS>(&all, most_steps, to.after(step), a, rows);
                }
            }
        }
    }

    /// Multiplies all rows with filled blocks of `most_steps` steps each. A thread that takes some rows goes through
    /// the blocks with these alone, so that no thread waits for another between two blocks.
    ///
    /// # Safety
    /// - The blocks of `all` are filled, and nothing writes them during the call.
    /// - The requirements of [`multiply`](fn@multiply) on the result and `a`, with a column for each step of `all`.
    /// - `rows` is one of the functions below, for vectors `V`, and the processor has its instructions.
    unsafe fn rows<V: Vector, const ROWS: usize>(
        &self,
        all: &Block<V::Element>,
        most_steps: usize,
        to: Target<V::Element>,
        a: Matrices<V::Element>,
        rows: Rows<V::Element>,
    ) {
        let groups = to.out.rows.div_ceil(ROWS);
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
                let to = to.after(n);
                for (group, part) in range.clone().map(|item| (item / parts, item % parts)) {
                    let row = group * ROWS;
                    let height = (to.out.rows - row).min(ROWS);
                    let to = to.from(row, 0).height(height);
                    let panels = part * block.count() / parts..(part + 1) * block.count() / parts;
                    let data = buffer.start();
                    // Neighbours are at a constant distance, so a tile needs one pointer for all of its rows.
                    let lines = Matrices { data, row_stride: 1, column_stride: height as isize, ..to.out };
                    // SAFETY: `data` has room for the rows of a tile with as many numbers each as the block has steps,
                    // which is less than a panel; the rows are in `a` and the result, which the caller guarantees, like
                    // filled panels. Each group and part belongs to one thread.
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
pub(super) unsafe fn widest<V: Vector, const ROWS: usize, const N: usize>(
    block: &Block<V::Element>,
    panels: Range<usize>,
    to: Target<V::Element>,
    a: Matrices<V::Element>,
) {
    // SAFETY: the caller guarantees panels and rows; a processor with these features has the vectors.
    unsafe { block.multiply::<V, ROWS, N>(panels, to, a) }
}

/// # Safety
/// - The requirements of [`Block::multiply`]: filled panels, rows in bounds, and a result that only this thread uses.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn wide<V: Vector>(
    block: &Block<V::Element>,
    panels: Range<usize>,
    to: Target<V::Element>,
    a: Matrices<V::Element>,
) {
    // SAFETY: the caller guarantees panels and rows; a processor with these features has the vectors.
    unsafe { block.multiply::<V, 4, 2>(panels, to, a) }
}

/// Some steps and some columns of the right factor, packed in separate memory: a block, or several.
pub(super) struct Block<T> {
    /// The panels, one after the other, each of `depth` rows of its columns.
    pub(super) panels: *mut T,
    /// The number of columns of a panel, except the last.
    pub(super) width: usize,
    pub(super) depth: usize,
    pub(super) columns: usize,
    /// The next rows of a weight, which are fetched from memory meanwhile.
    pub(super) next: Option<Matrices<T>>,
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

    /// Multiplies up to `ROWS` rows with some panels of at most `N` vectors.
    ///
    /// # Safety
    /// - The panels are filled, and nothing writes them during the call.
    /// - `a` has the rows of the result for each of `depth` steps; they can be read.
    /// - The rows of the result are contiguous and can be written (and read if they are added to); nothing else uses
    ///   them in the columns of the panels.
    /// - The processor has the vectors.
    #[inline(always)]
    unsafe fn multiply<V: Vector<Element = T>, const ROWS: usize, const N: usize>(
        &self,
        panels: Range<usize>,
        to: Target<T>,
        a: Matrices<T>,
    ) {
        let a = Matrices { rows: to.out.rows, columns: self.depth, ..a };
        for n in panels {
            let (column, width, data) = self.panel(n);
            let (to, panel, pitch) = (to.from(0, column), data.cast_const(), width as isize);
            let later = match self.next {
                None => Later::nothing(panel),
                Some(next) => Later::part(next, n, self.count(), self.depth),
            };
            // SAFETY: a filled panel, and the `width` columns of the result from its own first column on: the caller
            // guarantees both.
            unsafe { Strip { to, a, panel, pitch, later }.compute::<V, N, ROWS>(width) };
        }
    }
}
