//! Products of some rows, such as a batch of tokens, and a large column-major matrix, such as the weight of a linear
//! layer.
//!
//! # How it works
//!
//! 1. What is computed is the transpose: the weight, whose rows are contiguous, times the transposed rows. These are
//!    packed into panels, as the right factor of [`blocks`](super::blocks) is, and stay in the L2 cache.
//! 2. Rows of the weight, those of one tile at a time, are read in place while they are multiplied by all panels. So
//!    a weight comes from memory once, in the order in which it lies there, and is never copied. The next rows are
//!    fetched meanwhile.
//! 3. Rows of the transposed result are computed in memory that stays in the cache, and transposed from there.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
use std::ops::Range;

use torch_library::DType;

use super::blocks::{Block, DEPTH_IN_BYTES, LARGE_IN_BYTES, Rows, share, wide, widest};
use super::implicit_gemm::Aligned;
use super::target::Target;
use super::tiles::by_transpose;
use super::{GRAIN, Matrices};
use crate::loops::has_avx512;
use crate::number::Number;
use crate::vector::Vector;

/// The bytes of the panels by which some rows of the weight are multiplied before the next steps of the sum: they leave
/// room in the L2 cache for these rows.
const PANELS_IN_BYTES: usize = 1 << 20;

/// The bytes of the panels that all threads pack before they multiply by them: those of a few hundred tokens.
const TOGETHER_IN_BYTES: usize = 4 << 20;

/// The number of tiles, one below the other, whose results are transposed together: whole cache lines.
const GROUPS: usize = 16;

/// The bytes of the widest vectors.
const WIDEST: usize = 64;

/// The smallest number of multiplications for which this pays off.
const WORTH_PACKING: usize = 1 << 22;

/// At least `FEWEST_ROWS` rows fill tiles; the panels of at most `MOST_ROWS` stay in the cache for the steps of a
/// block.
const FEWEST_ROWS: usize = 32;
const MOST_ROWS: usize = 1024;

/// Whether a product of factors, in the form that `tiles::turned` returned, is better computed in this way: the right
/// factor is column-major, and larger than the copies of the left one and of the result.
#[inline]
pub(super) fn are_for<T>(out: &Matrices<T>, a: &Matrices<T>, b: &Matrices<T>, is_parallel: bool) -> bool {
    let is_column_major = b.row_stride == 1 && b.column_stride != 1;
    let copied = out.rows.saturating_mul(a.columns.saturating_add(out.columns));
    let elements = a.columns.saturating_mul(out.columns);
    is_column_major
        && a.column_stride == 1
        && out.row_stride > 0
        && (FEWEST_ROWS..=MOST_ROWS).contains(&out.rows)
        && copied <= elements
        && elements.saturating_mul(out.rows) >= WORTH_PACKING
        // The last vector across the rows may be mostly empty, which costs one thread more than it saves.
        && (is_parallel || out.rows.next_multiple_of(WIDEST / size_of::<T>()) - out.rows <= out.rows / 20)
}

/// Computes a product.
///
/// # Safety
/// - The requirements of `tiles::multiply`: matrices in bounds and of matching sizes, `out` disjoint from the others,
///   no other access, and all in the form that `tiles::turned` returned.
/// - The rows of `a` and the columns of `b` are contiguous, and those of `out` a positive number of elements apart.
pub unsafe fn multiply<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>, is_parallel: bool) {
    Aligned::lend(|memory| {
        let product = Product { is_parallel, memory };
        // SAFETY: `T` is the type that is named, so the casts change no type; `has_avx512` found the instructions of
        // `widest`, `turned` those of `wide`; the caller guarantees the matrices.
        unsafe {
            match T::DTYPE {
                DType::Float32 if has_avx512() => {
                    product.compute::<__m512, 9, 3>(to.cast(), a.cast(), b.cast(), widest::<__m512, 9, 3>);
                }
                DType::Float64 if has_avx512() => {
                    product.compute::<__m512d, 9, 3>(to.cast(), a.cast(), b.cast(), widest::<__m512d, 9, 3>);
                }
                DType::Float32 => {
                    product.compute::<__m256, 4, 2>(to.cast(), a.cast(), b.cast(), wide::<__m256>);
                }
                _ => product.compute::<__m256d, 4, 2>(to.cast(), a.cast(), b.cast(), wide::<__m256d>),
            }
        }
    });
}

/// How a product is computed.
struct Product<'a> {
    is_parallel: bool,
    /// The memory of the panels.
    memory: &'a mut Aligned,
}

impl Product<'_> {
    /// Computes the product by tiles of `ROWS` rows and, in each, `VECTORS` vectors.
    ///
    /// # Safety
    /// - The requirements of [`multiply`] on the matrices.
    /// - `rows` multiplies panels of `VECTORS` vectors `V`, and the processor has its instructions.
    unsafe fn compute<V: Vector, const ROWS: usize, const VECTORS: usize>(
        self,
        to: Target<V::Element>,
        a: Matrices<V::Element>,
        b: Matrices<V::Element>,
        rows: Rows<V::Element>,
    ) {
        let (most_steps, out) = (DEPTH_IN_BYTES / size_of::<V::Element>(), to.out);
        let is_large = b.rows.saturating_mul(b.columns) >= LARGE_IN_BYTES / size_of::<V::Element>();
        let together = (TOGETHER_IN_BYTES / DEPTH_IN_BYTES / out.rows).max(1) * most_steps;
        for step in (0..a.columns).step_by(together) {
            let depth = (a.columns - step).min(together);
            let panels = self.memory.numbers::<V::Element>(out.rows * depth).as_mut_ptr();
            let width = VECTORS * V::LANES;
            let all = Block { panels, width, depth, columns: out.rows, next: None };
            let (part, to) = (Part { all: &all, most_steps, is_large, rows }, to.after(step));
            let (groups, weight) = (out.columns.div_ceil(ROWS), b.from(step, 0).transposed());
            let grain = GRAIN / (ROWS * depth * out.rows);
            // SAFETY: there is memory for a column of `depth` numbers for each row of `a`; the caller guarantees the
            // matrices, of which these are parts, and `rows`, which run when all panels are filled. Each range of
            // columns of the result belongs to one thread.
            unsafe {
                all.fill(most_steps, a.from(0, step).transposed(), self.is_parallel);
                share(self.is_parallel, groups, grain, &|range| {
                    part.columns::<ROWS>(range.start * ROWS..(range.end * ROWS).min(out.columns), to, weight);
                });
            }
        }
    }
}

/// Some steps of the product.
struct Part<'a, T> {
    all: &'a Block<T>,
    /// The number of steps of a block of panels.
    most_steps: usize,
    /// Whether the weight is so large that no cache holds it, so that its rows are fetched.
    is_large: bool,
    rows: Rows<T>,
}

impl<T: Number> Part<'_, T> {
    /// Computes some columns of the result.
    ///
    /// # Safety
    /// - The panels are filled, and nothing writes them during the call.
    /// - The weight has a row for each column of the result, with a contiguous element for each step.
    /// - The requirements of [`multiply`] on these columns of the result, which only this thread uses.
    /// - The processor has the instructions of `self.rows`.
    unsafe fn columns<const ROWS: usize>(&self, range: Range<usize>, to: Target<T>, weight: Matrices<T>) {
        // SAFETY: the caller guarantees these columns of the result, and as many rows of the weight.
        unsafe {
            by_transpose(to, range, GROUPS * ROWS, |turned, column| {
                self.transpose::<ROWS>(turned, weight.from(column, 0));
            });
        }
    }

    /// Computes some rows of the transposed result, by as many blocks at a time as stay in the cache.
    ///
    /// # Safety
    /// - The requirements of [`columns`](Self::columns), for contiguous rows of the result and as many of the weight.
    unsafe fn transpose<const ROWS: usize>(&self, to: Target<T>, weight: Matrices<T>) {
        let blocks = self.all.depth.div_ceil(self.most_steps);
        let at_once = (PANELS_IN_BYTES / DEPTH_IN_BYTES / to.out.columns).max(1);
        for first in (0..blocks).step_by(at_once) {
            for row in (0..to.out.rows).step_by(ROWS) {
                let to = to.from(row, 0).height((to.out.rows - row).min(ROWS));
                for n in first..(first + at_once).min(blocks) {
                    let (block, step) = (self.all.part(n, self.most_steps), n * self.most_steps);
                    let (weight, next) = (weight.from(row, step), weight.from(row + ROWS, step));
                    let next = Matrices { rows: ROWS, columns: block.depth, ..next };
                    let block = Block { next: self.is_large.then_some(next), ..block };
                    // SAFETY: the caller guarantees filled panels, rows of the weight, and the result.
                    unsafe { (self.rows)(&block, 0..block.count(), to.after(n), weight) };
                }
            }
        }
    }
}
