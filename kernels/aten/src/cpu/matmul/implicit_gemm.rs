//! Implicit GEMM: products with a matrix that is never stored, whose elements are at offsets given by two lists, such
//! as the pixels under a window.
//!
//! # How it works
//!
//! 1. The other factor is a packed *panel* of up to [`WIDTH`] columns. A tile of some rows of the result by one or two
//!    vectors stays in registers; for each step of the sum (index of the inner dimension, K), a row of the panel is
//!    multiplied by one element for each row of the tile, which may be anywhere in memory.
//! 2. If there are few columns ([`Shape::Lines`]), vectors lie along rows whose elements are adjacent: such lines of
//!    rows are multiplied by one element of the panel for each step.
//! 3. If the sum runs over such lines ([`Shape::Dots`]), vectors lie along both factors.
#![expect(unsafe_code, reason = "reads and writes elements at addresses that the caller vouches for")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};
use std::cell::Cell;
use std::thread::LocalKey;

use torch_library::DType;

#[cfg(target_arch = "x86_64")]
use super::fetch::{AHEAD, fetch};
use crate::inlined::from_fn;
#[cfg(target_arch = "x86_64")]
use crate::loops::{has_avx2, has_avx512};
use crate::number::Number;
use crate::vector::{Few, Vector};

/// The number of columns of a panel.
pub const WIDTH: usize = 32;

/// The number of lines that are multiplied at a time.
const LINES: usize = 4;

/// The number of steps for which sums over lines are computed at a time.
const STEPS: usize = 3;

/// A matrix whose element in row `r` and step `s` of the sum is `rows[r] + steps[s]` elements after `data`.
#[derive(Clone, Copy)]
pub struct ImplicitMatrix<'a, T> {
    pub data: *const T,
    pub rows: &'a [usize],
    pub steps: &'a [usize],
}

/// An implicit matrix, a panel, and the memory of their product.
#[derive(Clone, Copy)]
pub struct Product<'a, T> {
    pub a: ImplicitMatrix<'a, T>,
    /// [`WIDTH`] numbers for each step, of which those after the last column do not count.
    pub panel: *const T,
    /// The number of columns.
    pub columns: usize,
    pub out: *mut T,
    /// Whether the product is added to the result.
    pub adds: bool,
    pub shape: Shape,
}

/// The form of the factors.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Rows times a panel: the result has rows of [`WIDTH`] numbers.
    Rows,
    /// Like `Rows`, but each column has a matrix of its own: the elements of these matrices are adjacent.
    Columns,
    /// Lines of `len` rows times a panel: a row of the matrix stands for the first of a line, and the others follow,
    /// one element after the other. Columns of the result are `pitch` apart; in each, the lines follow each other.
    Lines { len: usize, pitch: usize },
    /// The sum runs over the rows of such lines. In place of a panel there are columns `pitch` apart, in which the
    /// lines follow each other. The result has a row of [`WIDTH`] numbers for each step.
    Dots { len: usize, pitch: usize },
}

/// Memory for numbers that is aligned to a cache line, so that no vector of a panel crosses two.
#[derive(Default)]
pub struct Aligned {
    lines: Vec<Line>,
}

/// Lends the value that this thread has kept to a closure, and keeps it for the next call if `is_kept` allows.
pub fn lend<S: Default, R>(
    kept: &'static LocalKey<Cell<Option<S>>>,
    is_kept: impl FnOnce(&S) -> bool,
    f: impl FnOnce(&mut S) -> R,
) -> R {
    // While a thread exits, its thread-locals may be gone already.
    let mut value = kept.try_with(Cell::take).ok().flatten().unwrap_or_default();
    let result = f(&mut value);
    if is_kept(&value) {
        kept.try_with(|kept| kept.set(Some(value))).ok();
    }
    result
}

thread_local! {
    /// The memory that this thread used last, if it is not too large to keep.
    static KEPT: Cell<Option<Aligned>> = const { Cell::new(None) };
}

/// The most bytes that each thread keeps.
const MOST_KEPT: usize = (4 << 20) + (1 << 18);

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[expect(dead_code, reason = "is memory only")] [u8; 64]);

impl Aligned {
    /// Lends the memory that this thread used last to a closure.
    pub fn lend<R>(f: impl FnOnce(&mut Aligned) -> R) -> R {
        lend(&KEPT, |memory| memory.size() <= MOST_KEPT, f)
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.lines.len() * size_of::<Line>()
    }

    /// `len` numbers: zeros, or whatever numbers the bytes of previous ones form.
    pub fn numbers<T: Number>(&mut self, len: usize) -> &mut [T] {
        const { assert!(!matches!(T::DTYPE, DType::Bool), "not any byte is a bool") };
        let lines = (len * size_of::<T>()).div_ceil(size_of::<Line>());
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; 64]));
        }
        // SAFETY: `lines` cover `len` numbers, aligned to 64 bytes; all of their bytes were written, and any bytes are
        // a valid number, as asserted. `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), len) }
    }
}

impl<T: Number> Product<'_, T> {
    /// Computes the product.
    ///
    /// # Safety
    /// - Each `rows[r] + steps[s]` leads to an element of the matrix that can be read: for [`Shape::Columns`] to
    ///   [`WIDTH`] elements, for [`Shape::Lines`] and [`Shape::Dots`] to `len`.
    /// - `columns` is at most [`WIDTH`].
    /// - The panel has [`WIDTH`] numbers for each step; for [`Shape::Dots`], `columns` columns `pitch` apart, of as
    ///   many numbers as there are rows in all lines.
    /// - `out` has a row of [`WIDTH`] numbers for each row (for [`Shape::Dots`], for each step); for [`Shape::Lines`],
    ///   `columns` columns `pitch` apart. They can be written, and read if `adds`.
    /// - All are aligned and initialised (`out` only if `adds`), and the result shares no memory with the factors.
    /// - During the call, nothing else writes the factors, or reads or writes the result.
    pub unsafe fn compute(self) {
        // SAFETY: `T` is the type that is named, so `cast` changes no type; `has_avx512` and `has_avx2` found the
        // instructions; the caller guarantees all addresses.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            match T::DTYPE {
                DType::Float32 if has_avx512() => return widest::<__m512>(self.cast()),
                DType::Float64 if has_avx512() => return widest::<__m512d>(self.cast()),
                DType::Float32 if has_avx2() => return wide::<__m256>(self.cast()),
                DType::Float64 if has_avx2() => return wide::<__m256d>(self.cast()),
                _ if has_avx2() => return wide::<Few<T>>(self),
                _ => {}
            }
        }
        // SAFETY: the caller guarantees all addresses; any processor has these lanes.
        unsafe { self.by::<Few<T>>() }
    }
}

/// # Safety
/// - The requirements of [`Product::compute`] on all addresses.
/// - The processor has these features, and so the vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn widest<V: Vector>(product: Product<'_, V::Element>) {
    // SAFETY: the caller guarantees all addresses; a processor with these features has the vectors.
    unsafe { product.by::<V>() }
}

/// # Safety
/// - The requirements of [`Product::compute`] on all addresses.
/// - The processor has these features, and so the vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn wide<V: Vector>(product: Product<'_, V::Element>) {
    // SAFETY: the caller guarantees all addresses; a processor with these features has the vectors.
    unsafe { product.by::<V>() }
}

impl<'a, T: Number> Product<'a, T> {
    #[cfg(target_arch = "x86_64")]
    fn cast<U>(self) -> Product<'a, U> {
        let Product { a: ImplicitMatrix { data, rows, steps }, panel, columns, out, adds, shape } = self;
        let a = ImplicitMatrix { data: data.cast(), rows, steps };
        Product { a, panel: panel.cast(), columns, out: out.cast(), adds, shape }
    }

    /// # Safety
    /// - The requirements of [`compute`](Self::compute) on all addresses.
    /// - The processor has the vectors.
    #[inline(always)]
    unsafe fn by<V: Vector<Element = T>>(self) {
        // SAFETY: the caller guarantees the vectors and all addresses, for this shape.
        unsafe {
            match self.shape {
                Shape::Rows => self.strips::<V, false>(),
                Shape::Columns => self.strips::<V, true>(),
                Shape::Lines { len, pitch } => self.lines::<V>(len, pitch),
                Shape::Dots { len, pitch } => self.dots::<V>(len, pitch),
            }
        }
    }

    /// Computes all columns; with `OWN`, each column has a matrix of its own.
    ///
    /// # Safety
    /// - The requirements of [`by`](Self::by), for [`Shape::Columns`] if `OWN`, else for [`Shape::Rows`].
    #[inline(always)]
    unsafe fn strips<V: Vector<Element = T>, const OWN: bool>(&self) {
        let mut column = 0;
        while column < self.columns {
            // SAFETY: the caller guarantees this; a strip ends within the `WIDTH` numbers that rows of the panel and of
            // the result have.
            column += unsafe {
                match self.columns - column > V::LANES {
                    true => self.strip::<V, 2, OWN>(column),
                    false => self.strip::<V, 1, OWN>(column),
                }
            };
        }
    }

    /// Computes `N` vectors of columns, and returns the number of these columns.
    ///
    /// # Safety
    /// - The requirements of [`by`](Self::by), for [`Shape::Columns`] if `OWN`, else for [`Shape::Rows`].
    /// - `N` vectors from `column` on are within [`WIDTH`] numbers.
    #[inline(always)]
    unsafe fn strip<V: Vector<Element = T>, const N: usize, const OWN: bool>(&self, column: usize) -> usize {
        let mut row = 0;
        while row < self.a.rows.len() {
            // SAFETY: the caller guarantees this; at least as many rows are left as the tile has.
            row += unsafe {
                match self.a.rows.len() - row {
                    // Eight at most: each row has a pointer, and more pointers than registers halve the speed.
                    8.. if V::ROWS >= 8 => self.tile::<V, N, 8, OWN>(row, column),
                    4.. => self.tile::<V, N, 4, OWN>(row, column),
                    2.. => self.tile::<V, N, 2, OWN>(row, column),
                    _ => self.tile::<V, N, 1, OWN>(row, column),
                }
            };
        }
        N * V::LANES
    }

    /// Computes some rows of a strip, and returns their number.
    ///
    /// # Safety
    /// - The requirements of [`by`](Self::by), for [`Shape::Columns`] if `OWN`, else for [`Shape::Rows`].
    /// - `N` vectors from `column` on are within [`WIDTH`] numbers.
    /// - There are `ROWS` rows from `row` on.
    #[expect(
        clippy::needless_range_loop,
        reason = "`r` and `n` count rows and vectors of all that a tile has"
    )]
    #[inline(always)]
    unsafe fn tile<V: Vector<Element = T>, const N: usize, const ROWS: usize, const OWN: bool>(
        &self,
        row: usize,
        column: usize,
    ) -> usize {
        // SAFETY: `row + r` is less than the number of rows, of which the caller guarantees `ROWS` from `row` on; rows
        // and steps lead to elements, and each row of the panel and of the result has `WIDTH` numbers, which contain
        // the vectors.
        unsafe {
            let rows: [*const T; ROWS] = from_fn(|r| self.a.data.add(*self.a.rows.get_unchecked(row + r)));
            let mut line = self.panel.add(column);
            let mut sums = [[V::zero(); N]; ROWS];
            for step in self.a.steps {
                let vectors: [V; N] = from_fn(|n| V::load(line.add(n * V::LANES), V::LANES));
                #[cfg(target_arch = "x86_64")]
                if ROWS >= 8 {
                    // Panels of many steps come from the L2 cache.
                    fetch(line.wrapping_add(AHEAD * WIDTH), N * V::LANES);
                }
                for r in 0..ROWS {
                    let from = rows[r].add(*step);
                    for n in 0..N {
                        let factor = match OWN {
                            true => V::load(from.add(column + n * V::LANES), V::LANES),
                            false => V::splat(from),
                        };
                        sums[r][n] = factor.times_plus(vectors[n], sums[r][n]);
                    }
                }
                line = line.add(WIDTH);
            }
            for r in 0..ROWS {
                let to = self.out.add((row + r) * WIDTH + column);
                for n in 0..N {
                    let to = to.add(n * V::LANES);
                    let sum = if self.adds { sums[r][n].plus(V::load(to, V::LANES)) } else { sums[r][n] };
                    sum.store(to, V::LANES);
                }
            }
        }
        ROWS
    }

    /// Computes lines of `len` rows, column by column.
    ///
    /// # Safety
    /// - The requirements of [`by`](Self::by), for [`Shape::Lines`].
    #[inline(always)]
    unsafe fn lines<V: Vector<Element = T>>(&self, len: usize, pitch: usize) {
        for column in 0..self.columns {
            let mut line = 0;
            while line < self.a.rows.len() {
                let count = if self.a.rows.len() - line < LINES { 1 } else { LINES };
                for start in (0..len).step_by(V::LANES) {
                    // SAFETY: the caller guarantees this; as many lines are left, and `width` elements of each from
                    // `start` on.
                    unsafe {
                        let (to, width) =
                            (self.out.add(column * pitch + line * len + start), V::LANES.min(len - start));
                        match count {
                            1 => self.across::<V, 1>(line, column, start, width, to, len),
                            _ => self.across::<V, LINES>(line, column, start, width, to, len),
                        }
                    }
                }
                line += count;
            }
        }
    }

    /// Computes `width` elements of `N` lines.
    ///
    /// # Safety
    /// - The requirements of [`by`](Self::by), for [`Shape::Lines`] of `len`.
    /// - There are `N` lines from `line` on, `width` elements of each from `start` on, and the column `column`.
    /// - `to` is the address of these elements of the first line in that column of the result.
    #[inline(always)]
    unsafe fn across<V: Vector<Element = T>, const N: usize>(
        &self,
        line: usize,
        column: usize,
        start: usize,
        width: usize,
        to: *mut T,
        len: usize,
    ) {
        // SAFETY: `line + n` is less than the number of lines, of which the caller guarantees `N` from `line` on; lines
        // and steps lead to `width` elements from `start` on, and as many can be written every `len` elements from `to`
        // on.
        unsafe {
            let lines: [*const T; N] =
                from_fn(|n| self.a.data.add(self.a.rows.get_unchecked(line + n) + start));
            let mut sums = [V::zero(); N];
            for (s, step) in self.a.steps.iter().enumerate() {
                let factor = V::splat(self.panel.add(s * WIDTH + column));
                for n in 0..N {
                    sums[n] = V::load(lines[n].add(*step), width).times_plus(factor, sums[n]);
                }
            }
            for (n, sum) in sums.into_iter().enumerate() {
                let to = to.add(n * len);
                let sum = if self.adds { sum.plus(V::load(to, width)) } else { sum };
                sum.store(to, width);
            }
        }
    }

    /// Computes the sums over lines of `len` rows, column by column.
    ///
    /// # Safety
    /// - The requirements of [`by`](Self::by), for [`Shape::Dots`].
    #[inline(always)]
    unsafe fn dots<V: Vector<Element = T>>(&self, len: usize, pitch: usize) {
        for column in 0..self.columns {
            let (other, mut step) = (self.panel.wrapping_add(column * pitch), 0);
            while step < self.a.steps.len() {
                // SAFETY: the caller guarantees this; as many steps are left, and `other` is the start of a column.
                step += unsafe {
                    match self.a.steps.len() - step {
                        STEPS.. => self.dot::<V, STEPS>(step, column, other, len),
                        _ => self.dot::<V, 1>(step, column, other, len),
                    }
                };
            }
        }
    }

    /// Computes the sums of `N` steps with a column, and returns `N`.
    ///
    /// # Safety
    /// - The requirements of [`by`](Self::by), for [`Shape::Dots`] of `len`.
    /// - There are `N` steps from `step` on, and the column `column`, which starts at `other`.
    #[inline(always)]
    unsafe fn dot<V: Vector<Element = T>, const N: usize>(
        &self,
        step: usize,
        column: usize,
        other: *const T,
        len: usize,
    ) -> usize {
        // SAFETY: `step + n` is less than the number of steps, of which the caller guarantees `N` from `step` on; lines
        // and steps lead to `len` elements, as many as the column has for each line, and the result has a row of
        // `WIDTH` numbers for each step.
        unsafe {
            let mut sums = [V::zero(); N];
            let steps: [usize; N] = from_fn(|n| *self.a.steps.get_unchecked(step + n));
            for (i, line) in self.a.rows.iter().enumerate() {
                for start in (0..len).step_by(V::LANES) {
                    let width = V::LANES.min(len - start);
                    let factor = V::load(other.add(i * len + start), width);
                    for n in 0..N {
                        let pixels = V::load(self.a.data.add(line + start + steps[n]), width);
                        sums[n] = pixels.times_plus(factor, sums[n]);
                    }
                }
            }
            for (n, sum) in sums.into_iter().enumerate() {
                let to = self.out.add((step + n) * WIDTH + column);
                to.write(if self.adds { to.read().plus(sum.sum()) } else { sum.sum() });
            }
        }
        N
    }
}
