//! Products of 16-bit floats where one factor has only a few rows (or columns): a step of a language model, a head of
//! attention that looks back, a vector.
//!
//! The other factor is read once, as it lies in memory, and widened in registers. A copy of it as `f32`, by which
//! larger products are computed, would be twice as large, and take longer to write than the product does.
#![expect(
    unsafe_code,
    reason = "reads and writes elements through pointers, and uses instructions that it asks for"
)]

use std::arch::x86_64::*;
use std::ops::Range;

use torch_library::{DType, Lease, Result, Tensor, ensure};

use super::fetch::fetch;
use super::{GRAIN_OF_VECTORS, Matrices};
use crate::loops::convert::{self, Storer};
use crate::loops::{self, parallel};

/// The most rows that the smaller factor may have: the larger one is widened again for every one or two of them.
const FEW: isize = 8;

/// How many columns of the result are computed at a time.
const COLUMNS: usize = 64;

/// As many if the larger factor's rows are contiguous, and long: of each row, several cache lines are then read, which
/// follow each other in a page.
const LONG: usize = 512;

/// How many contiguous rows of the larger factor are added at a time.
const ROWS: usize = 4;

/// How many elements a register holds.
const LANES: usize = 8;

/// Whether this module multiplies the matrices of two tensors; the numbers of matrices in them do not matter.
pub fn are_for(a: &Tensor, b: &Tensor) -> bool {
    let (Some([rows, _]), Some([_, columns])) = (a.sizes().last_chunk::<2>(), b.sizes().last_chunk::<2>())
    else {
        return false;
    };
    let large = if rows <= columns { b } else { a };
    let is_half = |tensor: &Tensor| matches!(tensor.dtype(), DType::Float16 | DType::BFloat16);
    is_half(a)
        && a.dtype() == b.dtype()
        && *rows.min(columns) <= FEW as i64
        && *rows.max(columns) > 1
        && large.strides().last_chunk::<2>().is_some_and(|strides| strides.contains(&1))
        && loops::has_avx2()
        && is_x86_feature_detected!("f16c")
}

/// Writes the products of matrices for which [`are_for`] is true, in any dtype.
///
/// # Errors
/// Memory that the host cannot access, or that changed meanwhile.
pub fn multiply(out: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let lease = Lease::new([out], [a, b])?;
    super::check(out, a, b)?;
    ensure!(are_for(a, b), Busy, "a matrix was changed while it was multiplied");
    let dtype = a.dtype();
    let (mut to, mut few, mut large) = (
        Matrices::over(out, out.address_mut(&lease)?),
        Matrices::<u16>::over(a, a.address(&lease)?.cast_mut().cast()),
        Matrices::<u16>::over(b, b.address(&lease)?.cast_mut().cast()),
    );
    if few.rows > large.columns {
        (to, few, large) = (to.transposed(), large.transposed(), few.transposed());
    }
    let steps = few.columns.next_multiple_of(LANES);
    // SAFETY: the lease keeps the elements as they are, which are those of matrices of a tensor of this dtype.
    let rows = unsafe { widened(few, dtype, steps) };
    let product = Product {
        out: to,
        size: out.dtype().size() as isize,
        store: convert::storer::<f32>(out.dtype()),
        rows: &rows,
        height: few.rows,
        steps,
        large,
    };
    let width = if large.row_stride != 1 && large.columns >= 2 * LONG { LONG } else { COLUMNS };
    let parts = large.columns.div_ceil(width);
    let grain = (GRAIN_OF_VECTORS / (width * large.rows).max(1)).max(1);
    parallel::shares(to.count * parts, grain, |range| {
        for index in range {
            let (batch, first) = (index / parts, index % parts * width);
            let columns = first..large.columns.min(first + width);
            // SAFETY: `are_for` found the instructions, and elements that are contiguous in one direction; by `check`,
            // the sizes match and the result is disjoint from the factors; only this thread has these columns of it,
            // at most `width`. The lease prevents other accesses.
            unsafe {
                match (dtype, width) {
                    (DType::Float16, COLUMNS) => product.columns::<false, COLUMNS>(batch, columns),
                    (DType::Float16, _) => product.columns::<false, LONG>(batch, columns),
                    (_, COLUMNS) => product.columns::<true, COLUMNS>(batch, columns),
                    _ => product.columns::<true, LONG>(batch, columns),
                }
            }
        }
    });
    Ok(())
}

/// The rows of all matrices of a batch as `f32`, each followed by zeros up to `steps` elements.
///
/// # Safety
/// - The matrices' elements can be read, are of `dtype`, and nothing writes to them during the call.
unsafe fn widened(from: Matrices<u16>, dtype: DType, steps: usize) -> Vec<f32> {
    let load = convert::loader::<f32>(dtype);
    let mut rows = vec![0.0; from.count * from.rows * steps];
    for (index, to) in rows.chunks_exact_mut(steps.max(1)).enumerate() {
        let row = from.at(index / from.rows).from(index % from.rows, 0);
        // SAFETY: the caller guarantees the elements of this row; there is room for as many in `to`, as `steps` is no
        // less.
        unsafe { load(row.data.cast(), from.column_stride, from.columns, to.as_mut_ptr().cast()) };
    }
    rows
}

/// A product, and the memory of its result.
struct Product<'a> {
    out: Matrices<u8>,
    /// The size of an element of `out` in bytes; its strides count elements.
    size: isize,
    store: Storer,
    /// The rows of the smaller factor, of `steps` numbers each: `height` for each matrix of the batch.
    rows: &'a [f32],
    height: usize,
    steps: usize,
    large: Matrices<u16>,
}

impl Product<'_> {
    /// Computes some columns of the result, at most `WIDTH`, for a matrix of the batch.
    ///
    /// # Safety
    /// - The larger factor is contiguous in one direction, and in bounds; the result's columns are in bounds.
    /// - Nothing else writes the factor, or uses these columns of the result.
    /// - The processor has these features.
    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn columns<const IS_BF16: bool, const WIDTH: usize>(&self, batch: usize, columns: Range<usize>) {
        let size = self.height * self.steps;
        let rows = &self.rows[batch * size..][..size];
        let large = self.large.at(batch).columns(columns.clone());
        let mut sums = [[0f32; WIDTH]; FEW as usize];
        // SAFETY: the caller guarantees these columns of the factor, which are contiguous or lie side by side.
        unsafe {
            match large.row_stride {
                1 => by_columns::<IS_BF16, WIDTH>(rows, self.steps, large, &mut sums),
                _ => by_rows::<IS_BF16, WIDTH>(rows, self.steps, large, &mut sums),
            }
        }
        for (row, sums) in sums[..self.height].iter().enumerate() {
            let place = batch as isize * self.out.batch_stride
                + row as isize * self.out.row_stride
                + columns.start as isize * self.out.column_stride;
            // SAFETY: the caller guarantees these columns of each row of the result, of the dtype that `store` was
            // chosen for.
            unsafe {
                let to = self.out.data.wrapping_offset(place * self.size);
                (self.store)(sums.as_ptr().cast(), columns.len(), to, self.out.column_stride);
            }
        }
    }
}

/// Writes the products of `rows`, which are `steps` long, with a matrix whose columns are contiguous.
///
/// # Safety
/// - The matrix can be read, its columns are contiguous, and nothing writes to it.
/// - It has at most `steps` rows, and more than `steps` minus the lanes of a register.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn by_columns<const IS_BF16: bool, const WIDTH: usize>(
    rows: &[f32],
    steps: usize,
    matrix: Matrices<u16>,
    sums: &mut [[f32; WIDTH]],
) {
    for (pair, sums) in rows.chunks(2 * steps).zip(sums.chunks_mut(2)) {
        // SAFETY: the caller guarantees the matrix, and `steps` elements in each row, which are no fewer than it has.
        unsafe {
            match pair.len() > steps {
                true => {
                    let rows = [pair.as_ptr(), pair[steps..].as_ptr()];
                    by_each_column::<IS_BF16, 2, 4, WIDTH>(rows, matrix, sums);
                }
                false => by_each_column::<IS_BF16, 1, 8, WIDTH>([pair.as_ptr()], matrix, sums),
            }
        }
    }
}

/// Multiplies `H` rows by the columns, `N` at a time: as many sums as fill half of the registers.
///
/// # Safety
/// - The matrix can be read, its columns are contiguous, and nothing writes to it.
/// - From each address of `rows` on, as many elements can be read as it has rows, and those that fill the last
///   register.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn by_each_column<const IS_BF16: bool, const H: usize, const N: usize, const WIDTH: usize>(
    rows: [*const f32; H],
    matrix: Matrices<u16>,
    sums: &mut [[f32; WIDTH]],
) {
    for first in (0..matrix.columns).step_by(N) {
        let count = N.min(matrix.columns - first);
        // Beyond the last column, the last one is computed once more.
        let lines: [*const u16; N] =
            std::array::from_fn(|n| matrix.from(0, first + n.min(count - 1)).data.cast_const());
        // SAFETY: the caller guarantees these columns and the rows.
        let found =
            unsafe { dots::<IS_BF16, H, N>(rows, lines, matrix.rows, N as isize * matrix.column_stride) };
        for (row, sums) in sums[..H].iter_mut().enumerate() {
            for (sum, found) in sums[first..][..count].iter_mut().zip(&found) {
                *sum = found[row];
            }
        }
    }
}

/// The elements of a cache line.
const LINE: usize = 32;

/// The sums of products of `H` rows with each of some lines. What lies `next` elements after each is prefetched, since
/// the processor does not look beyond a page, which a line often is.
///
/// # Safety
/// - From each address of `lines` on, `len` elements can be read.
/// - From each address of `rows` on, as many and those that fill the last register.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn dots<const IS_BF16: bool, const H: usize, const N: usize>(
    rows: [*const f32; H],
    lines: [*const u16; N],
    len: usize,
    next: isize,
) -> [[f32; H]; N] {
    let mut sums = [[_mm256_setzero_ps(); H]; N];
    for start in (0..len).step_by(LANES) {
        let left = len - start;
        if start % LINE == 0 {
            lines.iter().for_each(|line| fetch(line.wrapping_add(start).wrapping_offset(next), 1));
        }
        // SAFETY: `left` elements are left in each line, and as many as fill the register in each row.
        unsafe {
            let mut factors = [_mm256_setzero_ps(); H];
            for (factor, row) in factors.iter_mut().zip(&rows) {
                *factor = _mm256_loadu_ps(row.add(start));
            }
            for (line, sums) in lines.iter().zip(&mut sums) {
                let elements = widen::<IS_BF16>(line.add(start), left);
                for (sum, factor) in sums.iter_mut().zip(&factors) {
                    *sum = _mm256_fmadd_ps(elements, *factor, *sum);
                }
            }
        }
    }
    // Loops, since closures that the compiler does not inline into `map` would pass registers through memory.
    let mut totals = [[0.0; H]; N];
    for (totals, sums) in totals.iter_mut().zip(&sums) {
        for (of_line, sum) in totals.iter_mut().zip(sums) {
            *of_line = total(*sum);
        }
    }
    totals
}

/// Writes the products of `rows`, which are `steps` long, with a matrix whose rows are contiguous.
///
/// # Safety
/// - The matrix can be read, its rows are contiguous, and nothing writes to it.
/// - It has at most `WIDTH` columns, a multiple of the lanes of a register, and at most `steps` rows.
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn by_rows<const IS_BF16: bool, const WIDTH: usize>(
    rows: &[f32],
    steps: usize,
    matrix: Matrices<u16>,
    sums: &mut [[f32; WIDTH]],
) {
    let width = matrix.columns;
    for first in (0..matrix.rows).step_by(ROWS) {
        let count = ROWS.min(matrix.rows - first);
        for start in (0..width).step_by(LANES) {
            if start % LINE == 0 {
                // A row is often as long as a page, beyond which the processor does not look.
                (0..ROWS).for_each(|n| fetch(matrix.from(first + ROWS + n, start).data.cast_const(), 1));
            }
            let mut elements = [_mm256_setzero_ps(); ROWS];
            for (n, elements) in elements[..count].iter_mut().enumerate() {
                // SAFETY: row `first + n` exists, and `width - start` elements are left in it.
                *elements = unsafe {
                    widen::<IS_BF16>(matrix.from(first + n, start).data.cast_const(), width - start)
                };
            }
            for (row, sums) in rows.chunks_exact(steps).zip(&mut *sums) {
                // SAFETY: `start` is a multiple of the lanes, and so is the number of sums.
                unsafe {
                    let place = sums.as_mut_ptr().add(start);
                    let mut sum = _mm256_loadu_ps(place);
                    for (factor, elements) in row[first..].iter().zip(&elements[..count]) {
                        sum = _mm256_fmadd_ps(*elements, _mm256_set1_ps(*factor), sum);
                    }
                    _mm256_storeu_ps(place, sum);
                }
            }
        }
    }
}

/// The elements from an address on as `f32`, at most as many as a register has, and zeros after them.
///
/// # Safety
/// - From `from` on, `len` elements can be read, or as many as a register has.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn widen<const IS_BF16: bool>(from: *const u16, len: usize) -> __m256 {
    let mut last = [0; LANES];
    let from = match len < LANES {
        true => {
            // SAFETY: the caller guarantees `len` elements, for which there is room.
            unsafe { from.copy_to_nonoverlapping(last.as_mut_ptr(), len) };
            last.as_ptr()
        }
        false => from,
    };
    // SAFETY: eight elements, which need not be aligned.
    let bits = unsafe { _mm_loadu_si128(from.cast()) };
    match IS_BF16 {
        true => _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(bits))),
        false => _mm256_cvtph_ps(bits),
    }
}

/// The sum of all lanes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn total(lanes: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps::<1>(lanes));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
}
