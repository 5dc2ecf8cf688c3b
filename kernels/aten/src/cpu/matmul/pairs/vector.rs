//! Products of a matrix and a vector, which read the matrix once, as it lies in memory: nothing is packed.
#![expect(
    unsafe_code,
    reason = "reads and writes elements through pointers, and uses instructions that callers ask for"
)]

use std::arch::x86_64::*;
use std::ops::Range;

use super::Product;
use crate::cpu::matmul::GRAIN_OF_VECTORS;
use crate::cpu::matmul::fetch::fetch;
use crate::inlined::from_fn;
use crate::loops::parallel;

/// The elements of a register.
pub(super) const LANES: usize = 32;

/// The columns that are summed side by side where the rows of the matrix are contiguous: four cache lines of each row.
const COLUMNS: usize = 4 * LANES;

/// The rows that are multiplied at a time by a vector along them.
const ROWS: usize = 8;

/// Which factor is the vector, and how the matrix lies.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// The second factor is a column; the rows of the first one, which are contiguous, are multiplied by it.
    Column,
    /// The first factor is a row, by which rows of the second one are multiplied, and added.
    Row,
}

impl Product {
    /// The form of the product that is computed here, if a factor is a vector: it may be the transposed one.
    pub(super) fn with_vector(self) -> (Self, Option<Form>) {
        if self.a.rows == 1 && self.b.row_stride == 1 && self.b.columns > 1 {
            let (out, a, b) = (self.out.transposed(), self.b.transposed(), self.a.transposed());
            return (Product { out, a, b, ..self }, Some(Form::Column));
        }
        let form = match (self.a.rows, self.b.columns) {
            (_, 1) if self.b.row_stride == 1 => Some(Form::Column),
            (1, _) if self.b.column_stride == 1 => Some(Form::Row),
            _ => None,
        };
        (self, form)
    }

    /// Computes the products with vectors of a whole batch.
    ///
    /// # Safety
    /// - The matrices are in bounds, not empty, of matching sizes and of this form; the rows of `a` are contiguous.
    /// - Nothing else writes the factors, or uses the result.
    /// - The processor has the instructions of [`Unit::Registers`](super::Unit).
    pub(super) unsafe fn times_vectors(&self, form: Form) {
        let (count, each) = match form {
            Form::Column => (self.a.rows, ROWS),
            Form::Row => (self.b.columns, COLUMNS),
        };
        let parts = count.div_ceil(each);
        let grain = (GRAIN_OF_VECTORS / (each * self.a.columns)).max(1);
        parallel::shares(self.out.count * parts, grain, |range| {
            for index in range {
                let (product, first) = (self.at(index / parts), index % parts * each);
                let part = first..count.min(first + each);
                // SAFETY: a part of the rows or columns, which only this thread has; the caller guarantees the rest.
                unsafe {
                    match form {
                        Form::Column => product.rows_by_column(part),
                        Form::Row => product.row_by_columns(part),
                    }
                }
            }
        });
    }

    /// Multiplies some rows of the first factor, at most [`ROWS`], by the only column of the second one.
    ///
    /// # Safety
    /// - As for [`times_vectors`](Self::times_vectors), for these rows.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
    unsafe fn rows_by_column(&self, rows: Range<usize>) {
        let (from, stride, len) = (self.row(rows.start), self.a.row_stride, self.a.columns);
        let vector = self.b.data.cast_const();
        let mut sums = [0f32; ROWS];
        // SAFETY: the caller guarantees these rows, and a vector as long, both contiguous.
        unsafe {
            match rows.len() {
                ROWS => {
                    // The processor does not look beyond a page, which a row often is.
                    let next = ROWS as isize * stride;
                    sums = dots::<ROWS, 1>(from, stride, vector, len, next);
                }
                count => {
                    for (row, sum) in sums[..count].iter_mut().enumerate() {
                        let from = from.wrapping_offset(row as isize * stride);
                        [*sum] = dots::<1, 8>(from, stride, vector, len, 0);
                    }
                }
            }
        }
        let out = self.out.data.wrapping_offset(rows.start as isize * self.out.row_stride * self.size);
        // SAFETY: the caller guarantees these rows of the result, of which each has one element, of the dtype that
        // `store` was chosen for.
        unsafe { (self.store)(sums.as_ptr().cast(), rows.len(), out, self.out.row_stride) };
    }

    /// Multiplies the only row of the first factor by some columns of the second one, at most [`COLUMNS`].
    ///
    /// # Safety
    /// - As for [`times_vectors`](Self::times_vectors), for these columns.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
    unsafe fn row_by_columns(&self, columns: Range<usize>) {
        let mut sums = [0f32; COLUMNS];
        let (stride, len) = (self.b.row_stride, self.a.columns);
        let matrix = self.b.data.cast_const().wrapping_add(columns.start);
        // SAFETY: the caller guarantees these columns of each row, which are contiguous, and a factor for each row.
        unsafe {
            match columns.len() {
                COLUMNS => joined::<4>(self.row(0), matrix, stride, len, COLUMNS, &mut sums),
                width => {
                    for (n, sums) in sums[..width].chunks_mut(LANES).enumerate() {
                        joined::<1>(self.row(0), matrix.add(n * LANES), stride, len, sums.len(), sums);
                    }
                }
            }
        }
        let out = self.out.data.wrapping_offset(columns.start as isize * self.out.column_stride * self.size);
        // SAFETY: the caller guarantees these columns of the result, which has one row, of the dtype that `store` was
        // chosen for.
        unsafe { (self.store)(sums.as_ptr().cast(), columns.len(), out, self.out.column_stride) };
    }
}

/// The elements from an address on, at most as many as a register has, and zeros after them.
///
/// # Safety
/// - From `from` on, `len` elements can be read, or as many as a register has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
pub(super) unsafe fn load(from: *const u16, len: usize) -> __m512i {
    if len >= LANES {
        // SAFETY: the caller guarantees as many elements.
        return unsafe { from.cast::<__m512i>().read_unaligned() };
    }
    // SAFETY: only `len` elements are read, which the caller guarantees.
    unsafe { _mm512_maskz_loadu_epi16((1 << len) - 1, from.cast()) }
}

/// Adds the products of pairs.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) fn add_pairs(sums: __m512, a: __m512i, b: __m512i) -> __m512 {
    // SAFETY: both are 512 bits, of which any are a value.
    let [a, b] = unsafe { std::mem::transmute::<[__m512i; 2], [__m512bh; 2]>([a, b]) };
    _mm512_dpbf16_ps(sums, a, b)
}

/// The sums of products of `R` rows with a vector of `len` elements, each of them in `N` registers. What lies `next`
/// elements after each is prefetched.
///
/// # Safety
/// - From `vector` on, and from each of `R` addresses `stride` apart, `len` elements can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn dots<const R: usize, const N: usize>(
    rows: *const u16,
    stride: isize,
    vector: *const u16,
    len: usize,
    next: isize,
) -> [f32; R] {
    let mut sums = [[_mm512_setzero_ps(); N]; R];
    for start in (0..len).step_by(N * LANES) {
        for n in 0..N {
            let at = start + n * LANES;
            let left = len.saturating_sub(at);
            if left == 0 {
                break;
            }
            // SAFETY: `left` elements are left in the vector and in each row.
            unsafe {
                let factors = load(vector.add(at), left);
                for (row, sums) in sums.iter_mut().enumerate() {
                    let from = rows.offset(row as isize * stride).add(at);
                    fetch(from.wrapping_offset(next), 1);
                    let elements = load(from, left);
                    sums[n] = add_pairs(sums[n], elements, factors);
                }
            }
        }
    }
    from_fn(|row| {
        let mut sum = sums[row][0];
        for other in &sums[row][1..] {
            sum = _mm512_add_ps(sum, *other);
        }
        _mm512_reduce_add_ps(sum)
    })
}

/// Writes the sums of `len` rows, each times its factor, in `width` columns: `N` registers of them, or fewer in one.
///
/// # Safety
/// - `width` is that of `N` registers, or if `N` is 1 at most that of one; `sums` has as many numbers.
/// - From `factors` on, `len` elements can be read, and from each of `len` addresses `stride` apart, `width`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
unsafe fn joined<const N: usize>(
    factors: *const u16,
    matrix: *const u16,
    stride: isize,
    len: usize,
    width: usize,
    sums: &mut [f32],
) {
    // The halves of a register that interleaves two rows: lanes of four columns, in turn.
    let mut halves = [[_mm512_setzero_ps(); 2]; N];
    for row in (0..len).step_by(2) {
        // SAFETY: `row` is less than `len`, and so is `row + 1` where it is read; the caller guarantees these rows.
        unsafe {
            let is_pair = row + 1 < len;
            let second = if is_pair { *factors.add(row + 1) } else { 0 };
            let pair = _mm512_set1_epi32(i32::from(*factors.add(row)) | i32::from(second) << 16);
            for (n, [low, high]) in halves.iter_mut().enumerate() {
                let first = matrix.offset(row as isize * stride).add(n * LANES);
                let x = load(first, width);
                let y = if is_pair { load(first.offset(stride), width) } else { _mm512_setzero_si512() };
                *low = add_pairs(*low, _mm512_unpacklo_epi16(x, y), pair);
                *high = add_pairs(*high, _mm512_unpackhi_epi16(x, y), pair);
            }
        }
    }
    for (halves, sums) in halves.iter().zip(sums.chunks_mut(LANES)) {
        // SAFETY: two registers of sixteen numbers each.
        let halves = unsafe { std::mem::transmute::<[__m512; 2], [[[f32; 4]; 4]; 2]>(*halves) };
        for (n, sums) in sums.chunks_mut(4).enumerate() {
            sums.copy_from_slice(&halves[n % 2][n / 2][..sums.len()]);
        }
    }
}
