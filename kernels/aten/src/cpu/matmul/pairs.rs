//! Products of `bfloat16` matrices by the instructions that multiply pairs of elements and add them in `float32`: in
//! AMX tiles, or in registers (AVX512-BF16).
//!
//! # How it works
//!
//! 1. The second factor is processed in *panels* of [`WIDTH`] columns, which are packed so that the elements of two
//!    rows are interleaved; only as many as the threads need at a time, so there is never a second copy of a matrix.
//! 2. Each panel is multiplied by all [`Rows`] of the first factor, up to twelve at a time: their sums fill the
//!    registers. Pairs of that factor are adjacent already if its rows are contiguous. In [tiles](super::amx) it is 32
//!    rows and 512 columns at a time, which are multiplied by several panels while they are in the cache.
//! 3. The sums are rounded once, as they are written; whole rows of a panel by one instruction.
//!
//! Products with a vector need no panels, and read the matrix as it lies in memory. So do those of a few rows and a
//! matrix whose columns are contiguous, in registers.
//!
//! A weight of a linear layer has contiguous columns. If it is multiplied by few rows, the transposed product is
//! computed in tiles: the few rows become panels, and tiles are loaded from the weight itself, which is read once and
//! not packed.
#![expect(
    unsafe_code,
    reason = "reads and writes elements through pointers, and uses instructions that it asks for"
)]

use std::arch::x86_64::*;
use std::ops::Range;

use torch_library::{DType, Lease, Result, Tensor, bail, ensure};

use super::amx::{ROWS, Sums, WIDTH};
use super::implicit_gemm::Aligned;
use super::{GRAIN, Matrices};
use crate::loops::convert::{self, Storer};
use crate::loops::transpose::transpose;
use crate::loops::{self, parallel};

mod few;
mod panels;
mod rows;
mod vector;

pub(in crate::cpu) use panels::pack;
pub use rows::{Rows, Unit};

/// The number of rows that are multiplied at a time in registers: their sums take 24 of 32.
const HEIGHT: usize = 12;

/// The bytes of panels by which the same rows are multiplied in tiles: half of the L2 cache.
const PANELS_IN_CACHE: usize = 1 << 20;

/// The largest number of these panels.
const MAX_PANELS: usize = 8;

/// The number of columns of the first factor that are multiplied in tiles before the next ones: those of 32 rows leave
/// room in the L1 cache for the panels.
const STEPS: usize = 512;

/// Whether matrices are multiplied by this module.
pub fn is_for(a: &Tensor, b: &Tensor) -> bool {
    [a, b].iter().all(|factor| factor.dtype() == DType::BFloat16) && Unit::best().is_some()
}

/// Writes the products of matrices for which [`is_for`] is true, in any dtype.
///
/// # Errors
/// Other factors, memory that the host cannot access.
pub fn multiply(out: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let unit = Unit::best().filter(|_| is_for(a, b));
    let Some(unit) = unit else {
        bail!(Internal, "factors of {} and {} are not multiplied in pairs", a.dtype(), b.dtype());
    };
    // SAFETY: `is_for` was just checked, and `best` found the instructions.
    unsafe { multiply_by(unit, out, a, b) }
}

/// Like [`multiply`], with the instructions of one unit.
///
/// # Safety
/// - `is_for` is true for the factors.
/// - The unit's instructions can be executed.
///
/// # Errors
/// Memory that the host cannot access.
pub unsafe fn multiply_by(unit: Unit, out: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    if let ([.., rows, _], [.., 1, pitch], [.., 1]) = (a.sizes(), a.strides(), b.sizes())
        && *rows > 1
        && *pitch != 1
    {
        // A vector times the rows of the transpose, which are contiguous.
        let [out, a, b] = [transposed(out)?, transposed(a)?, transposed(b)?];
        // SAFETY: the caller guarantees both.
        return unsafe { multiply_by(unit, &out, &b, &a) };
    }
    let dense = match a.strides().last() {
        Some(1) => a.clone(),
        _ => loops::copy(a, a.dtype())?,
    };
    let lease = Lease::new([out], [&dense, b])?;
    super::check(out, &dense, b)?;
    ensure!(dense.strides().last() == Some(&1), Busy, "the strides of a matrix changed while it was read");
    let product = Product {
        out: Matrices::over(out, out.address_mut(&lease)?),
        size: out.dtype().size() as isize,
        store: convert::storer::<f32>(out.dtype()),
        is_rounded: out.dtype() == DType::BFloat16 && out.strides().last() == Some(&1),
        a: Matrices::over(&dense, dense.address(&lease)?.cast_mut().cast()),
        b: Matrices::over(b, b.address(&lease)?.cast_mut().cast()),
        unit,
        is_transposed: false,
    };
    let (product, form) = product.with_vector();
    if let Some(form) = form {
        // SAFETY: by `check`, the factors have columns, the sizes match and the result is disjoint from the factors;
        // the rows of `dense` are contiguous as ensured; the strides are those of the tensors. The lease prevents other
        // accesses; the caller guarantees the instructions, and every unit has those of registers.
        unsafe { product.times_vectors(form) };
        return Ok(());
    }
    if product.has_few_rows() {
        // SAFETY: by `check`, the factors have columns, the sizes match and the result is disjoint from the factors;
        // the rows of `dense` are contiguous as ensured; the strides are those of the tensors. The lease prevents other
        // accesses; the caller guarantees the instructions of the unit, which is that of registers.
        unsafe { product.times_columns() };
        return Ok(());
    }
    let product = product.oriented();
    let (lines, at_a_time, rows) = (product.lines(), product.panels_at_a_time(), product.rows_at_a_time());
    let blocks = [product.b.columns.div_ceil(WIDTH * at_a_time), product.a.rows.div_ceil(rows)];
    let work = rows * product.a.columns * WIDTH * at_a_time;
    let count = product.out.count * blocks[0] * blocks[1];
    parallel::shares(count, (GRAIN / work.max(1)).max(1), |range| {
        Aligned::lend(|scratch| {
            let panels = scratch.numbers(at_a_time * lines * WIDTH).as_chunks_mut().0;
            let mut buffers = Buffers::new(if unit == Unit::Tiles { at_a_time } else { 0 });
            for index in range {
                let product = product.at(index / (blocks[0] * blocks[1]));
                let (first, row) =
                    (index % blocks[0] * at_a_time * WIDTH, index / blocks[0] % blocks[1] * rows);
                let rows = row..product.a.rows.min(row + rows);
                // SAFETY: by `check`, the factors have columns, the sizes match and the result is disjoint from the
                // factors; the rows of `dense` are contiguous as ensured, and `oriented` found that the columns of `b`
                // are if they became rows; the strides are those of the tensors. The lease prevents other accesses,
                // only this thread uses these rows and columns of the result, and the caller guarantees the
                // instructions.
                unsafe { product.block(rows, first, panels, &mut buffers) };
            }
        });
    });
    Ok(())
}

/// The transposed matrices.
fn transposed(matrices: &Tensor) -> Result<Tensor> {
    let geometry = matrices.geometry();
    let [mut sizes, mut strides] = [geometry.sizes(), geometry.strides()].map(<[i64]>::to_vec);
    for values in [&mut sizes, &mut strides] {
        if let Some([rows, columns]) = values.last_chunk_mut::<2>() {
            std::mem::swap(rows, columns);
        }
    }
    matrices.strided_view(&sizes, &strides, matrices.storage_offset())
}

/// The buffers of a thread.
struct Buffers {
    /// The sums of the rows with each panel, in tiles.
    sums: Vec<Sums>,
    /// A padded copy of rows.
    rows: Vec<u16>,
}

impl Buffers {
    fn new(panels: usize) -> Self {
        Buffers { sums: vec![Sums([[0.0; WIDTH]; ROWS]); panels], rows: Vec::new() }
    }
}

/// Two factors, and the memory of their product.
struct Product {
    out: Matrices<u8>,
    /// The size of an element of `out` in bytes; its strides count elements.
    size: isize,
    store: Storer,
    /// Whether the result has the dtype of the factors, and contiguous rows.
    is_rounded: bool,
    a: Matrices<u16>,
    b: Matrices<u16>,
    unit: Unit,
    /// Whether all three matrices are the transposes of those that the caller has.
    is_transposed: bool,
}

impl Product {
    /// The transposed product, if the second factor has contiguous columns and the first one so few rows that all of
    /// them are packed at a time.
    fn oriented(self) -> Self {
        let fits = self.a.rows < self.b.columns && self.a.rows <= WIDTH * self.panels_in_cache();
        if !(self.unit == Unit::Tiles && fits && self.b.row_stride == 1) {
            return self;
        }
        let (out, a, b) = (self.out.transposed(), self.b.transposed(), self.a.transposed());
        Product { out, a, b, is_transposed: true, ..self }
    }

    /// The number of lines of a panel: one for each pair of steps, followed in tiles by zeros that fill the last one.
    fn lines(&self) -> usize {
        match self.unit {
            Unit::Tiles => Rows::lines(self.a.columns),
            Unit::Registers => self.a.columns.div_ceil(2),
        }
    }

    /// The number of panels that are packed together: in tiles as many as the cache holds, while each thread has work.
    fn panels_at_a_time(&self) -> usize {
        let panels = self.b.columns.div_ceil(WIDTH);
        match (self.unit, self.is_transposed) {
            (Unit::Registers, _) => 1,
            (Unit::Tiles, true) => panels.max(1), // as many as `oriented` found room for
            (Unit::Tiles, false) => {
                (self.out.count * panels / rayon::current_num_threads()).clamp(1, self.panels_in_cache())
            }
        }
    }

    /// The largest number of panels that are packed together in tiles.
    fn panels_in_cache(&self) -> usize {
        (PANELS_IN_CACHE / (self.lines() * size_of::<[u32; WIDTH]>()).max(1)).clamp(1, MAX_PANELS)
    }

    /// The number of rows that are multiplied by the same panels: all, unless there are fewer panels and products than
    /// threads, which share the rows then.
    fn rows_at_a_time(&self) -> usize {
        let blocks = self.out.count * self.b.columns.div_ceil(WIDTH * self.panels_at_a_time());
        let shares = rayon::current_num_threads().div_ceil(blocks.max(1));
        self.a.rows.div_ceil(shares).max(1).next_multiple_of(ROWS)
    }

    /// The product at an index of the batch.
    fn at(&self, batch: usize) -> Self {
        let offset = batch as isize * self.out.batch_stride * self.size;
        let out = Matrices { data: self.out.data.wrapping_offset(offset), ..self.out };
        Product { out, a: self.a.at(batch), b: self.b.at(batch), ..*self }
    }

    /// Computes rows of the product, in as many columns as there are panels for, or as are left.
    ///
    /// # Safety
    /// - The matrices are in bounds, not empty, and of matching sizes; the rows of `a` are contiguous.
    /// - Nothing else writes the factors, or uses these rows of the result in these columns, from `first` on.
    /// - The product has these rows; `first` is less than the number of columns; `panels` are whole ones, and in tiles
    ///   there are sums for each.
    /// - The processor has the instructions.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
    unsafe fn block(
        &self,
        rows: Range<usize>,
        first: usize,
        panels: &mut [[u32; WIDTH]],
        buffers: &mut Buffers,
    ) {
        let lines = self.lines();
        let end = self.b.columns.min(first + panels.len() / lines * WIDTH);
        let width = |column: usize| WIDTH.min(end - column);
        // SAFETY: the caller guarantees these columns of the factor, the panels and the instructions.
        unsafe { pack(self.b, first..end, lines, panels) };
        if self.unit == Unit::Registers {
            // SAFETY: `pack` filled this panel, the only one; the caller guarantees the rest.
            return unsafe {
                self.columns_in_registers(rows, first, width(first), panels, &mut buffers.rows)
            };
        }
        let sums = &mut buffers.sums[..(end - first).div_ceil(WIDTH)];
        for row in rows.clone().step_by(ROWS) {
            let (count, stride) = (ROWS.min(rows.end - row), self.a.row_stride);
            for step in (0..self.a.columns).step_by(STEPS) {
                let (from, columns) = (self.row(row).wrapping_add(step), STEPS.min(self.a.columns - step));
                // SAFETY: `count` rows and `columns` columns are left; the caller guarantees that the rows are
                // contiguous and not written, and the instructions. `pack` filled the panels, which have the lines for
                // the columns of `a`.
                unsafe {
                    let rows = Rows::new(self.unit, from, stride, count, columns, &mut buffers.rows);
                    rows.multiply(&panels[step / 2..], lines, sums, step > 0);
                }
            }
            for (column, sums) in (first..end).step_by(WIDTH).zip(&*sums) {
                // SAFETY: the caller guarantees the instructions, and these rows and columns of the result.
                unsafe { self.store(row, &sums.0[..count], column, width(column)) };
            }
        }
    }

    /// Computes rows of the columns of one panel in registers.
    ///
    /// # Safety
    /// - As for [`block`](Self::block), for `width` columns from `first` on, which are packed in `panel`.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
    unsafe fn columns_in_registers(
        &self,
        rows: Range<usize>,
        first: usize,
        width: usize,
        panel: &[[u32; WIDTH]],
        buffer: &mut Vec<u16>,
    ) {
        let mut sums = [[0.0; WIDTH]; HEIGHT];
        for row in rows.clone().step_by(HEIGHT) {
            let sums = &mut sums[..HEIGHT.min(rows.end - row)];
            let (from, stride, columns) = (self.row(row), self.a.row_stride, self.a.columns);
            // SAFETY: as many rows are left; the caller guarantees that they are contiguous and not written, the
            // instructions, and these rows and columns of the result.
            unsafe {
                Rows::new(self.unit, from, stride, sums.len(), columns, buffer)
                    .by_panel(panel, sums, false, width);
                self.store(row, sums, first, width);
            }
        }
    }

    /// The address of a row of the first factor.
    fn row(&self, row: usize) -> *const u16 {
        self.a.data.wrapping_offset(row as isize * self.a.row_stride)
    }

    /// Writes sums to rows of the result from `row` on, in each to `width` columns from `first` on.
    ///
    /// # Safety
    /// - The result has these rows and columns, and nothing else uses them; `width` is at most [`WIDTH`].
    /// - The processor has the instructions.
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
    unsafe fn store(&self, row: usize, sums: &[[f32; WIDTH]], first: usize, width: usize) {
        let place = row as isize * self.out.row_stride + first as isize * self.out.column_stride;
        let out = self.out.data.wrapping_offset(place * self.size);
        if !self.is_transposed {
            // SAFETY: the caller guarantees these rows and columns, and the instructions.
            return unsafe {
                self.store_lines(sums, width, out, [self.out.row_stride, self.out.column_stride])
            };
        }
        let mut lines = [[0.0; WIDTH]; WIDTH];
        // SAFETY: there are `width` sums in each row, at most `WIDTH`, and at most `ROWS` rows, as many as a line has
        // room for. The caller guarantees these rows and columns, of which the columns are the rows of the caller's
        // result, and the instructions.
        unsafe {
            transpose(
                sums.as_ptr().cast::<f32>(),
                WIDTH as isize,
                [sums.len(), width],
                lines.as_mut_ptr().cast(),
                WIDTH,
            );
            self.store_lines(&lines[..width], sums.len(), out, [self.out.column_stride, self.out.row_stride]);
        }
    }

    /// Writes `width` sums of each line to memory from `out` on, with these distances between lines and between sums.
    ///
    /// # Safety
    /// - All of these places are in the result, and nothing else uses them; `width` is at most [`WIDTH`].
    /// - If `is_rounded`, the distance between sums is 1.
    /// - The processor has the instructions.
    #[inline]
    #[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,avx512bf16")]
    unsafe fn store_lines(&self, lines: &[[f32; WIDTH]], width: usize, out: *mut u8, strides: [isize; 2]) {
        for (i, sums) in lines.iter().enumerate() {
            let out = out.wrapping_offset(i as isize * strides[0] * self.size);
            if self.is_rounded {
                // SAFETY: both are registers of one size, for which any bits are valid.
                let rounded = unsafe { std::mem::transmute::<__m512bh, __m512i>(rounded(sums)) };
                let mask = u32::MAX >> (WIDTH - width);
                // SAFETY: `width` elements of two bytes are contiguous in this line of the result (`is_rounded`); the
                // caller guarantees these places, and others are not written.
                unsafe { _mm512_mask_storeu_epi16(out.cast(), mask, rounded) };
                continue;
            }
            // SAFETY: `sums` has `WIDTH` numbers, and this line of the result `width` elements of the dtype that
            // `store` was chosen for, at this distance; the caller guarantees these places.
            unsafe { (self.store)(sums.as_ptr().cast(), width, out, strides[1]) };
        }
    }
}

/// The sums, rounded to `bfloat16`. Subnormal sums were flushed to zero before, by the instruction of the products.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn rounded(sums: &[f32; WIDTH]) -> __m512bh {
    // SAFETY: a line has the size of two registers, for which any bits are valid.
    let [left, right] = unsafe { std::mem::transmute::<[f32; WIDTH], [__m512; 2]>(*sums) };
    _mm512_cvtne2ps_pbh(right, left)
}
