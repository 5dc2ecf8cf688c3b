//! Products of floating-point matrices, by tiles of the result that stay in registers.
//!
//! # How it works
//!
//! 1. A tile has a few rows of one or two vectors. For each step of the sum (index of the inner dimension, K), a row of
//!    the right factor's *panel*, which is as wide as the tile, is multiplied by one element of the left factor for
//!    each row. These elements may be anywhere in memory, so the left factor is never packed.
//! 2. A panel is read in place if its rows are close to each other and contiguous; otherwise it is copied, or
//!    transposed, into memory that stays in the L1 cache while all tiles below each other use it.
//! 3. A column-major result is computed as its transpose. So are a few rows times a column-major matrix, such as the
//!    weight of a linear layer, into memory that is then transposed.
//! 4. Fewer rows times a column-major matrix are dot products, which need no panel. One row times a wide row-major
//!    matrix is a sum of its rows.
//! 5. A recurrent network multiplies by one matrix again and again. If that is larger than the cache, dot products go
//!    through it in alternating directions, and so begin with the columns that the cache still holds.
#![expect(unsafe_code, reason = "reads and writes matrices that the caller vouches for")]

use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;

use torch_library::DType;

use super::Matrices;
use super::fetch::{AHEAD, Later, fetch};
use super::implicit_gemm::Aligned;
use super::target::Target;
use crate::inlined::{from_fn, zip};
use crate::loops::transpose::transpose;
use crate::loops::{has_avx2, has_avx512};
use crate::number::Number;
use crate::vector::Vector;

/// The number of steps of a sum before a tile goes back to memory: a panel of that many rows stays in the cache.
pub(super) const DEPTH: usize = 256;

/// The largest size of a panel's row in bytes: two vectors.
const WIDTH: usize = 128;

/// The size of a panel's row in bytes where both factors are packed: three vectors.
const WIDTH_OF_BLOCKS: usize = 192;

/// The smallest number of rows for which a panel whose rows are far apart is worth copying, as its rows compete for
/// cache sets.
const ROWS_WORTH_PACKING: usize = 16;

/// The largest distance in bytes of rows that are not far apart.
pub(super) const NEAR: usize = 1024;

/// More than the rows of any tile: a strip of all tiles that the registers have room for.
const ALL_ROWS: usize = usize::MAX;

/// The smallest number of vectors in a row that counts as wide.
const WIDE: usize = 8;

/// The largest number of rows whose product with a column-major matrix is computed by dot products.
const ROWS_OF_DOTS: usize = 3;

/// The number of columns that are computed at a time by way of their transpose.
const COLUMNS_OF_TRANSPOSE: usize = 1024;

/// The largest number of left-over columns that are computed by dot products, as they would fill a small part of a
/// vector.
const COLUMNS_OF_DOTS: usize = 4;

/// The smallest length of these dot products for each left-over column: for shorter ones, to add up the elements of a
/// vector takes longer than tiles whose vectors are mostly empty.
const STEPS_OF_DOTS: usize = 6;

/// The number of dot products that are computed at a time: each element of the row is loaded once for all of them.
const DOTS: usize = 4;

/// The smallest size in bytes of a matrix that is read in alternating directions: half of a common L2 cache.
const LARGE: usize = 1 << 20;

thread_local! {
    /// Whether this thread reads the next large matrix from its last column to its first.
    static IS_BACKWARD: Cell<bool> = const { Cell::new(false) };
}

/// The result and its factors in the form that [`multiply`] needs: transposed, if the result is column-major.
///
/// `None` if [`multiply`] cannot compute them: the processor must have vectors, the elements must be real, and the
/// result contiguous in one direction.
#[inline]
pub(super) fn turned<T: Number>(
    to: Target<T>,
    a: Matrices<T>,
    b: Matrices<T>,
) -> Option<(Target<T>, [Matrices<T>; 2])> {
    let (to, [a, b]) = match to.out.column_stride == 1 && to.out.columns > 1 {
        true => (to, [a, b]),
        false => (to.transposed(), [b.transposed(), a.transposed()]),
    };
    let is_real = matches!(T::DTYPE, DType::Float32 | DType::Float64);
    let is_ours = is_real && (to.out.column_stride == 1 || to.out.columns == 1) && has_avx2();
    is_ours.then_some((to, [a, b]))
}

/// Computes a product.
///
/// # Safety
/// - The requirements of [`multiply_one`](super::multiply_one): matrices in bounds and of matching sizes, `out`
///   disjoint from the others, and no other access.
/// - The matrices are those that [`turned`] returned, or corresponding rows or columns of them: so the processor has
///   vectors, and the rows of `out` are contiguous.
#[inline(always)]
pub(super) unsafe fn multiply<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>) {
    // SAFETY: the caller guarantees this; `is_few_rows` has found what `transposed` needs.
    unsafe { if is_few_rows(&to.out, &a, &b) { transposed(to, a, b) } else { direct(to, a, b) } }
}

/// Whether the right factor would be transposed panel by panel, and it is better to transpose the left one and the
/// result: there are few rows.
fn is_few_rows<T>(out: &Matrices<T>, a: &Matrices<T>, b: &Matrices<T>) -> bool {
    let is_column_major = b.row_stride == 1 && b.column_stride != 1;
    let copied = out.rows.saturating_mul(a.columns.saturating_add(out.columns));
    is_column_major
        && a.column_stride == 1
        && out.row_stride > 0
        && out.rows > ROWS_OF_DOTS
        && copied <= a.columns.saturating_mul(out.columns) / 2
}

/// Like [`multiply`], by way of the transpose.
///
/// # Safety
/// - The requirements of [`multiply`].
/// - The rows of `out` are a positive number of elements apart.
unsafe fn transposed<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>) {
    // SAFETY: the caller guarantees the result and its factors, of which as many columns are used as `turned` has rows.
    unsafe {
        by_transpose(to, 0..to.out.columns, COLUMNS_OF_TRANSPOSE, |turned, column| {
            let b = Matrices { columns: turned.out.rows, ..b.from(0, column) };
            direct(turned, b.transposed(), a.transposed());
        });
    }
}

/// Computes some columns of a result by way of their transpose, at most `most` at a time: `compute` writes it to memory
/// that stays in the cache. It gets the transpose, and its first column.
///
/// # Safety
/// - These columns of the result can be written (and read if a product is added to them), and nothing else uses them.
/// - The rows of `out` are a positive number of elements apart.
#[inline]
pub(super) unsafe fn by_transpose<T: Number>(
    to: Target<T>,
    columns: Range<usize>,
    most: usize,
    compute: impl Fn(Target<T>, usize),
) {
    Aligned::lend(|memory| {
        let (rows, most) = (to.out.rows, columns.len().min(most));
        let data = memory.numbers::<T>(rows * most).as_mut_ptr();
        for column in columns.clone().step_by(most.max(1)) {
            let (to, count) = (to.from(0, column), (columns.end - column).min(most));
            let out = to.out;
            // SAFETY: the memory has room for `count` lines of `rows` elements, is initialised, and disjoint from
            // everything else; the caller guarantees as many columns of the result, and positive distances.
            unsafe {
                if to.is_sum() {
                    transpose(out.data, out.row_stride, [rows, count], data, rows);
                }
                let row_stride = rows as isize;
                let turned =
                    Matrices { data, rows: count, columns: rows, row_stride, column_stride: 1, ..out };
                compute(to.transposed_to(turned).for_vectors(), column);
                transpose(data, row_stride, [count, rows], out.data, out.row_stride as usize);
            }
        }
    });
}

/// [`multiply`] without a transpose.
///
/// # Safety
/// - The requirements of [`multiply`].
#[inline(always)]
unsafe fn direct<T: Number>(to: Target<T>, a: Matrices<T>, b: Matrices<T>) {
    // SAFETY: `T` is the type that is named (`turned` accepts two), so the casts change no type; `has_avx512` found the
    // wider instructions, `turned` the others; the caller guarantees the matrices.
    unsafe {
        match T::DTYPE {
            DType::Float32 if has_avx512() => widest::<__m512>(to.cast(), a.cast(), b.cast()),
            DType::Float64 if has_avx512() => widest::<__m512d>(to.cast(), a.cast(), b.cast()),
            DType::Float32 => wide::<__m256>(to.cast(), a.cast(), b.cast()),
            _ => wide::<__m256d>(to.cast(), a.cast(), b.cast()),
        }
    }
}

/// # Safety
/// - The requirements of [`product`] on the matrices.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn widest<V: Vector>(to: Target<V::Element>, a: Matrices<V::Element>, b: Matrices<V::Element>) {
    // SAFETY: the caller guarantees the matrices; a processor with these features has the vectors.
    unsafe { product::<V>(to, a, b) }
}

/// # Safety
/// - The requirements of [`product`] on the matrices.
/// - The processor has these features, and so the vectors.
#[target_feature(enable = "avx2,fma")]
unsafe fn wide<V: Vector>(to: Target<V::Element>, a: Matrices<V::Element>, b: Matrices<V::Element>) {
    // SAFETY: the caller guarantees the matrices; a processor with these features has the vectors.
    unsafe { product::<V>(to, a, b) }
}

/// # Safety
/// - The matrices are in bounds, aligned and initialised (the result only if a product is added to it), and of matching
///   sizes.
/// - The rows of the result are contiguous, and disjoint from the others.
/// - During the call, nothing else writes the others, or reads or writes the result.
/// - The processor has the vectors.
#[inline(always)]
unsafe fn product<V: Vector>(to: Target<V::Element>, a: Matrices<V::Element>, b: Matrices<V::Element>) {
    let out = to.out;
    if out.rows <= ROWS_OF_DOTS && b.row_stride == 1 && a.column_stride == 1 {
        // SAFETY: the caller guarantees this; the columns of `b` and the rows of `a` are contiguous, as was just
        // checked.
        return unsafe { dots::<V>(to, a, b) };
    }
    if out.rows == 1 && b.column_stride == 1 && out.columns >= WIDE * V::LANES {
        // SAFETY: the caller guarantees this; the rows of `b` are contiguous, as was just checked.
        return unsafe { rows::<V>(to, a, b) };
    }
    let size = size_of::<V::Element>();
    let is_near = out.rows < ROWS_WORTH_PACKING || b.row_stride.unsigned_abs() * size <= NEAR;
    let mut buffer = PanelBuffer::EMPTY;
    let buffer = buffer.start::<V::Element>();
    for step in (0..a.columns).step_by(DEPTH) {
        let depth = (a.columns - step).min(DEPTH);
        let (a, to) = (Matrices { columns: depth, ..a.from(0, step) }, to.after(step));
        let mut column = 0;
        while column < out.columns {
            let width = match out.columns - column {
                left if left >= 2 * V::LANES => 2 * V::LANES,
                left => left.min(V::LANES),
            };
            let (to, from) = (to.from(0, column).width(width), b.from(step, column));
            column += width;
            if width <= COLUMNS_OF_DOTS && depth > STEPS_OF_DOTS * width && a.column_stride == 1 {
                let to = to.transposed();
                // SAFETY: the buffer has `DEPTH` rows of two vectors, more than `width` columns of `depth` elements;
                // these are in `b`, which the caller guarantees.
                unsafe { pack(from.transposed(), width, depth, buffer) };
                let columns =
                    Matrices { data: buffer, row_stride: depth as isize, column_stride: 1, ..to.out };
                // SAFETY: these are columns of the result and rows of `a`, which the caller guarantees, and the copy
                // that was just packed.
                unsafe { dots::<V>(to, columns, a.transposed()) };
                continue;
            }
            let later = Later::nothing(from.data.cast_const());
            let mut strip = Strip { to, a, panel: from.data, pitch: from.row_stride, later };
            if b.column_stride != 1 || !is_near {
                // SAFETY: the buffer has `DEPTH` rows of two vectors, and `depth` and `width` are at most these; the
                // rows are in `b`, which the caller guarantees.
                unsafe { pack(from, depth, width, buffer) };
                (strip.panel, strip.pitch) = (buffer, width as isize);
            }
            // SAFETY: `width` columns of the result and `b`, or the copy that was just packed; the caller guarantees
            // the matrices and the vectors.
            unsafe { strip.compute::<V, 2, ALL_ROWS>(width) };
        }
    }
}

/// Like [`product`], for a few rows times a column-major matrix: dot products.
///
/// # Safety
/// - The requirements of [`product`].
/// - The rows of `a` and the columns of `b` are contiguous.
#[inline(always)]
unsafe fn dots<V: Vector>(to: Target<V::Element>, a: Matrices<V::Element>, b: Matrices<V::Element>) {
    let out = to.out;
    let is_large = b.rows * out.columns * size_of::<V::Element>() >= LARGE;
    let is_backward = is_large && IS_BACKWARD.replace(!IS_BACKWARD.get());
    let groups = out.columns.div_ceil(DOTS);
    for row in 0..out.rows {
        let line = a.from(row, 0).data.cast_const();
        for group in 0..groups {
            let first = DOTS * if is_backward { groups - 1 - group } else { group };
            let left = out.columns - first;
            // SAFETY: as many columns are left, and they are as long as the line, since the sizes match; the caller
            // guarantees the rest of the matrices.
            unsafe {
                if left >= DOTS {
                    dot::<V, DOTS>(to.from(row, first), line, b.from(0, first));
                    continue;
                }
                for column in first..out.columns {
                    dot::<V, 1>(to.from(row, column), line, b.from(0, column));
                }
            }
        }
    }
}

/// The dot products of a line and each of `N` columns.
///
/// # Safety
/// - There are `N` columns with contiguous elements, and the line is as long as they are; all can be read.
/// - `to` has `N` elements in its row, which can be written (and read if they are added to); nothing else uses them.
/// - The processor has the vectors.
#[inline(always)]
unsafe fn dot<V: Vector, const N: usize>(
    to: Target<V::Element>,
    line: *const V::Element,
    columns: Matrices<V::Element>,
) {
    let (depth, even) = (columns.rows, columns.rows - columns.rows % V::LANES);
    let column = |n: usize, step: usize| columns.from(step, n).data.cast_const();
    // SAFETY: each step is less than `depth`, the length that the caller guarantees for line and columns; `n` is less
    // than `N`, the number of columns and of elements of `to`; after the last whole vector, `depth - even` elements are
    // left.
    unsafe {
        let mut sums = [V::zero(); N];
        for step in (0..even).step_by(V::LANES) {
            let x = V::load(line.add(step), V::LANES);
            for (n, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(column(n, step), V::LANES).times_plus(x, *sum);
            }
        }
        if even < depth {
            let x = V::load(line.add(even), depth - even);
            for (n, sum) in sums.iter_mut().enumerate() {
                *sum = V::load(column(n, even), depth - even).times_plus(x, *sum);
            }
        }
        for (n, sum) in sums.into_iter().enumerate() {
            to.out.from(0, n).data.write(to.sum(0, n, sum.sum()));
        }
    }
}

/// Like [`product`], for one row times a row-major matrix: a sum of rows, four at a time, each of which is read from
/// end to end.
///
/// # Safety
/// - The requirements of [`product`].
/// - The result has one row, and the rows of `b` are contiguous.
#[inline(always)]
unsafe fn rows<V: Vector>(to: Target<V::Element>, a: Matrices<V::Element>, b: Matrices<V::Element>) {
    let mut step = 0;
    while step < a.columns {
        let (factors, first, to) = (a.from(0, step), b.from(step, 0), to.after(step));
        // SAFETY: as many rows of `b` are left, and they are as long as that of the result, since the sizes match; the
        // caller guarantees the matrices.
        step += unsafe {
            match a.columns - step {
                4.. => sum_of_rows::<V, 4>(to, factors, first),
                _ => sum_of_rows::<V, 1>(to, factors, first),
            }
        };
    }
}

/// The sum of `N` rows, each times a factor; returns `N`.
///
/// # Safety
/// - There are `N` rows and factors; the rows have contiguous elements, as many as the result, and all can be read.
/// - The first row of the result can be written (and read if it is added to), is disjoint from the others, and nothing
///   else uses it.
/// - The processor has the vectors.
#[inline(always)]
unsafe fn sum_of_rows<V: Vector, const N: usize>(
    to: Target<V::Element>,
    a: Matrices<V::Element>,
    b: Matrices<V::Element>,
) -> usize {
    let out = to.out;
    // SAFETY: each `n` is less than `N`, the number of rows and factors that the caller guarantees; `column + count` is
    // at most `out.columns`, the length that it guarantees for the rows and the result.
    unsafe {
        let factors: [V; N] = from_fn(|n| V::splat(a.from(0, n).data));
        let lines: [*const V::Element; N] = from_fn(|n| b.from(n, 0).data.cast_const());
        let addend = to.addend_of_rows::<V>(0..1, out.columns);
        let sum = |column: usize, count: usize| {
            let mut sum = match addend.is_nothing() {
                true => V::zero(),
                false => V::load(addend.at(0, 0).add(column), count),
            };
            for (factor, line) in zip(&factors, &lines) {
                sum = V::load(line.add(column), count).times_plus(*factor, sum);
            }
            sum.store(out.data.add(column), count);
        };
        let even = out.columns - out.columns % V::LANES;
        (0..even).step_by(V::LANES).for_each(|column| sum(column, V::LANES));
        if even < out.columns {
            sum(even, out.columns - even);
        }
    }
    N
}

/// Copies `depth` rows of `width` columns to memory without gaps.
///
/// # Safety
/// - `depth` rows of `width` columns from the start of `from` can be read, and nothing writes them during the call.
/// - `buffer` is aligned, disjoint from them, and has room for `depth * width` elements.
#[inline(always)]
pub(super) unsafe fn pack<T: Number>(from: Matrices<T>, depth: usize, width: usize, buffer: *mut T) {
    // SAFETY: `row` is less than `depth` and `column` less than `width`, which the caller guarantees to exist and to
    // have room for.
    unsafe {
        if from.row_stride == 1 && from.column_stride != 1 {
            return transpose(from.data, from.column_stride, [width, depth], buffer, width);
        }
        for row in 0..depth {
            let (ahead, from) = (from.from(row + AHEAD, 0), from.from(row, 0));
            let to = buffer.add(row * width);
            if from.column_stride == 1 {
                // The rows may be pages apart, and the processor prefetches nothing across pages.
                fetch(ahead.data, width);
                match width * size_of::<T>() {
                    // A copy of a constant number of bytes compiles to no call.
                    WIDTH => from.data.cast::<[u8; WIDTH]>().copy_to_nonoverlapping(to.cast(), 1),
                    WIDTH_OF_BLOCKS => {
                        from.data.cast::<[u8; WIDTH_OF_BLOCKS]>().copy_to_nonoverlapping(to.cast(), 1);
                    }
                    _ => from.data.copy_to_nonoverlapping(to, width),
                }
                continue;
            }
            for column in 0..width {
                to.add(column).write(from.from(0, column).data.read());
            }
        }
    }
}

/// A buffer for a panel.
#[repr(align(64))]
pub(super) struct PanelBuffer([MaybeUninit<u8>; DEPTH * WIDTH]);

impl PanelBuffer {
    pub(super) const EMPTY: PanelBuffer = PanelBuffer([const { MaybeUninit::uninit() }; DEPTH * WIDTH]);

    /// The start of the buffer.
    pub(super) fn start<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }
}

/// The part of a product that one panel contributes to.
pub(super) struct Strip<T> {
    pub(super) to: Target<T>,
    pub(super) a: Matrices<T>,
    pub(super) panel: *const T,
    pub(super) pitch: isize,
    /// What each tile fetches for a later strip.
    pub(super) later: Later<T>,
}

impl<T: Number> Strip<T> {
    /// Computes the strip, `width` columns wide: up to `N` vectors, which are two or three. Tiles have at most `ROWS`
    /// rows: fewer, where the result has no more, compile faster.
    ///
    /// # Safety
    /// - The panel has a row of `width` elements for each column of `a`, `pitch` apart, which can be read.
    /// - `a` can be read; it has as many rows as the result, whose rows have `width` contiguous elements.
    /// - These can be written (and read if they are added to), are disjoint from the others, and used by nothing else.
    /// - The processor has the vectors.
    #[inline(always)]
    pub(super) unsafe fn compute<V, const N: usize, const ROWS: usize>(&self, width: usize)
    where
        V: Vector<Element = T>,
    {
        // SAFETY: the caller guarantees this; `width` is one to three vectors, of which the last has the number of
        // elements that is passed. A constant number of lanes needs no mask.
        unsafe {
            match width {
                _ if N == 3 && width == 3 * V::LANES => self.tiles::<V, 3, ROWS>(V::LANES),
                _ if N == 3 && width > 2 * V::LANES => self.tiles::<V, 3, ROWS>(width - 2 * V::LANES),
                _ if width == 2 * V::LANES => self.tiles::<V, 2, ROWS>(V::LANES),
                _ if width > V::LANES => self.tiles::<V, 2, ROWS>(width - V::LANES),
                _ if width == V::LANES => self.tiles::<V, 1, ROWS>(V::LANES),
                _ => self.tiles::<V, 1, ROWS>(width),
            }
        }
    }

    /// Computes the strip tile by tile, with `last` elements in the last of `N` vectors.
    ///
    /// # Safety
    /// - The requirements of [`compute`](Self::compute), with a width of `N - 1` vectors and `last` elements.
    #[inline(always)]
    unsafe fn tiles<V: Vector<Element = T>, const N: usize, const ROWS: usize>(&self, last: usize) {
        let mut row = 0;
        while row < self.to.out.rows {
            // SAFETY: the caller guarantees this; at least as many rows are left as the tile has.
            row += unsafe {
                match self.to.out.rows - row {
                    // Nine rows of three vectors leave five of 32 registers for the factors.
                    9.. if ROWS == 9 => self.tile::<V, N, 9>(row, last),
                    9 if ROWS > 12 && V::ROWS >= 8 => self.tile::<V, N, 9>(row, last),
                    12 if ROWS == 12 => self.tile::<V, N, 12>(row, last),
                    // Four rows alone would wait for their sums, so sixteen are two tiles of eight.
                    12..=15 | 17.. if ROWS > 12 && V::ROWS >= 12 => self.tile::<V, N, 12>(row, last),
                    8.. if ROWS >= 12 && V::ROWS >= 8 => self.tile::<V, N, 8>(row, last),
                    4.. => self.tile::<V, N, 4>(row, last),
                    2.. => self.tile::<V, N, 2>(row, last),
                    _ => self.tile::<V, N, 1>(row, last),
                }
            };
        }
    }

    /// Computes some rows, and returns their number.
    ///
    /// # Safety
    /// - The requirements of [`compute`](Self::compute), with a width of `N - 1` vectors and `last` elements.
    /// - There are `ROWS` rows from `row` on.
    #[expect(
        clippy::needless_range_loop,
        reason = "`r` and `n` count rows and vectors of all that a tile has"
    )]
    #[inline(always)]
    unsafe fn tile<V: Vector<Element = T>, const N: usize, const ROWS: usize>(
        &self,
        row: usize,
        last: usize,
    ) -> usize {
        let Strip { to, a, panel, pitch, later } = *self;
        let count = |n: usize| if n + 1 == N { last } else { V::LANES };
        // SAFETY: `line` has a row of the panel for each column of `a`, and `count` keeps vectors within the width; `r`
        // is less than `ROWS`, the number of rows of `a` and the result that the caller guarantees.
        unsafe {
            let addend = to.addend_of_rows::<V>(row..row + ROWS, (N - 1) * V::LANES + last);
            let mut sums = [[V::zero(); N]; ROWS];
            let rows: [*const T; ROWS] = from_fn(|r| a.from(row + r, 0).data.cast_const());
            let (mut step, mut line) = (0, panel);
            for passed in 0..a.columns {
                let vectors: [V; N] = from_fn(|n| V::load(line.add(n * V::LANES), count(n)));
                if ROWS >= 8 {
                    fetch(line.wrapping_offset(AHEAD as isize * pitch), N * V::LANES);
                    later.fetch(passed);
                }
                for r in 0..ROWS {
                    let factor = V::splat(rows[r].wrapping_offset(step));
                    for n in 0..N {
                        sums[r][n] = factor.times_plus(vectors[n], sums[r][n]);
                    }
                }
                step += a.column_stride;
                line = line.wrapping_offset(pitch);
            }
            for r in 0..ROWS {
                let (to, from) = (to.out.from(row + r, 0).data, addend.at(row + r, 0));
                for n in 0..N {
                    let to = to.add(n * V::LANES);
                    let sum = match addend.is_nothing() {
                        false => sums[r][n].plus(V::load(from.add(n * V::LANES), count(n))),
                        true => sums[r][n],
                    };
                    sum.store(to, count(n));
                }
            }
        }
        ROWS
    }
}
