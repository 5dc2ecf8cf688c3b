//! Rows of the left factor, multiplied by panels of the right one: in AMX tiles or in registers.
#![expect(unsafe_code, reason = "copies rows through pointers, and uses instructions that callers ask for")]

use std::arch::x86_64::*;
use std::marker::PhantomData;

use crate::cpu::matmul::amx::{self, DEPTH, Sums, TileRows, WIDTH};
use crate::inlined::{from_fn, zip};
use crate::loops;

/// What multiplies pairs of `bfloat16`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// AMX-BF16.
    Tiles,
    /// AVX512-BF16.
    Registers,
}

impl Unit {
    /// The fastest one that the processor has and the system permits. Every processor with tiles has the registers.
    #[inline]
    pub fn best() -> Option<Unit> {
        match loops::has_avx512() && is_x86_feature_detected!("avx512bf16") {
            true if amx::is_available() => Some(Unit::Tiles),
            true => Some(Unit::Registers),
            false => None,
        }
    }

    /// The columns of the left factor are padded to a multiple of this.
    fn columns_of_step(self) -> usize {
        match self {
            Unit::Tiles => DEPTH,
            Unit::Registers => 2,
        }
    }
}

/// Up to [`amx::ROWS`] rows of the left factor.
pub struct Rows<'a> {
    unit: Unit,
    data: *const u16,
    /// The distance between rows in elements.
    stride: isize,
    count: usize,
    columns: usize,
    buffer: PhantomData<&'a [u16]>,
}

impl<'a> Rows<'a> {
    /// `count` rows of `columns` elements, `stride` elements apart. If the columns do not fill whole steps, they are
    /// copied into the buffer.
    ///
    /// # Safety
    /// - `count` is at least 1 and at most [`amx::ROWS`]; `columns` is at least 1.
    /// - From `data` on, these rows of contiguous elements can be read for as long as the value lives, and nothing
    ///   writes them during that time.
    pub unsafe fn new(
        unit: Unit,
        data: *const u16,
        stride: isize,
        count: usize,
        columns: usize,
        buffer: &'a mut Vec<u16>,
    ) -> Self {
        let width = columns.next_multiple_of(unit.columns_of_step());
        let (mut data, mut stride) = (data, stride);
        if columns != width {
            buffer.resize(count * width, 0);
            for (row, to) in buffer.chunks_exact_mut(width).enumerate() {
                let from = data.wrapping_offset(row as isize * stride);
                // SAFETY: the caller guarantees `columns` elements in each row, fewer than there are in `to`.
                unsafe { from.copy_to_nonoverlapping(to.as_mut_ptr(), columns) };
                to[columns..].fill(0);
            }
            (data, stride) = (buffer.as_ptr(), width as isize);
        }
        Rows { unit, data, stride, count, columns: width, buffer: PhantomData }
    }

    /// The number of lines of a panel for `columns` columns of the left factor: those of whole tiles, with zeros after
    /// the pairs.
    pub fn lines(columns: usize) -> usize {
        columns.div_ceil(DEPTH) * DEPTH / 2
    }

    /// Writes the sums of the products of the rows with panels, whose starts are `pitch` lines apart, or adds them to
    /// `sums` if `adds`; there are as many panels as sums. The sums of further rows are arbitrary numbers.
    ///
    /// # Safety
    /// - The unit's instructions can be executed.
    pub unsafe fn multiply(&self, panels: &[[u32; WIDTH]], pitch: usize, sums: &mut [Sums], adds: bool) {
        if self.unit == Unit::Tiles {
            let rows = TileRows {
                data: self.data,
                stride: 2 * self.stride,
                count: self.count,
                columns: self.columns,
            };
            // SAFETY: the caller guarantees the instructions; `new` has made whole tiles of rows, whose elements its
            // caller guarantees.
            return unsafe { amx::multiply(&rows, panels, pitch, sums, adds) };
        }
        for (n, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the instructions.
            unsafe { self.by_panel(&panels[n * pitch..], &mut sums.0, adds, WIDTH) };
        }
    }

    /// Multiplies by one panel, of which `width` columns are in use, in registers: writes a row of sums for each row,
    /// or adds to it if `adds`. The sums of other columns are arbitrary numbers.
    ///
    /// # Safety
    /// - The processor has the instructions.
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub(super) unsafe fn by_panel(
        &self,
        panel: &[[u32; WIDTH]],
        sums: &mut [[f32; WIDTH]],
        adds: bool,
        width: usize,
    ) {
        let (panel, sums) = (&panel[..self.columns / 2], &mut sums[..self.count]);
        // SAFETY: the panel has a line for each pair of a row; the caller guarantees the instructions.
        unsafe {
            match width <= WIDTH / 2 {
                true => self.by_registers::<1>(panel, sums, adds),
                false => self.by_registers::<2>(panel, sums, adds),
            }
        }
    }

    /// Like [`by_panel`](Self::by_panel), for the columns of some registers.
    ///
    /// # Safety
    /// - `panel` has no more lines than a row has pairs, and there is a row of sums for each row.
    /// - The processor has the instructions.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    unsafe fn by_registers<const REGISTERS: usize>(
        &self,
        panel: &[[u32; WIDTH]],
        sums: &mut [[f32; WIDTH]],
        adds: bool,
    ) {
        let mut row = 0;
        while row < self.count {
            // SAFETY: at least as many rows are left as each arm multiplies; the caller guarantees the rest.
            row += unsafe {
                match self.count - row {
                    // With two for each row, 28 of 32 registers.
                    14 | 28 => self.some::<14, REGISTERS>(row, panel, &mut sums[row..], adds),
                    12.. => self.some::<12, REGISTERS>(row, panel, &mut sums[row..], adds),
                    8.. => self.some::<8, REGISTERS>(row, panel, &mut sums[row..], adds),
                    4.. => self.some::<4, REGISTERS>(row, panel, &mut sums[row..], adds),
                    2.. => self.some::<2, REGISTERS>(row, panel, &mut sums[row..], adds),
                    _ => self.some::<1, REGISTERS>(row, panel, &mut sums[row..], adds),
                }
            };
        }
    }

    /// Multiplies some rows, from `row` on, by the first registers of one panel, and returns their number.
    ///
    /// # Safety
    /// - There are `COUNT` rows from `row` on, and `panel` has no more lines than a row has pairs.
    /// - `REGISTERS` is at most 2, and there is a row of sums for each row.
    /// - The processor has the instructions.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    unsafe fn some<const COUNT: usize, const REGISTERS: usize>(
        &self,
        row: usize,
        panel: &[[u32; WIDTH]],
        out: &mut [[f32; WIDTH]],
        adds: bool,
    ) -> usize {
        const LANES: usize = WIDTH / 2;
        let mut sums = [[_mm512_setzero_ps(); REGISTERS]; COUNT];
        if adds {
            for (sums, out) in zip(&mut sums, &*out) {
                // SAFETY: a row of sums has the numbers of two registers.
                *sums = from_fn(|n| unsafe { _mm512_loadu_ps(out.as_ptr().add(n * LANES)) });
            }
        }
        let rows: [*const u16; COUNT] =
            from_fn(|i| self.data.wrapping_offset((row + i) as isize * self.stride));
        for (i, line) in panel.iter().enumerate() {
            // SAFETY: a line has the size of two registers, for which any bits are valid.
            let line = unsafe { std::mem::transmute::<[u32; WIDTH], [__m512bh; 2]>(*line) };
            for (row, sums) in zip(&rows, &mut sums) {
                // SAFETY: pair `i` of the row exists, as the caller guarantees; it need not be aligned.
                let pair = _mm512_set1_epi32(unsafe { row.cast::<i32>().add(i).read_unaligned() });
                // SAFETY: both are registers of one size, for which any bits are valid.
                let pair = unsafe { std::mem::transmute::<__m512i, __m512bh>(pair) };
                for n in 0..REGISTERS {
                    sums[n] = _mm512_dpbf16_ps(sums[n], pair, line[n]);
                }
            }
        }
        for (sums, out) in zip(&sums, out) {
            for (n, sums) in sums.iter().enumerate() {
                // SAFETY: a row of sums has the numbers of two registers.
                unsafe { _mm512_storeu_ps(out.as_mut_ptr().add(n * LANES), *sums) };
            }
        }
        COUNT
    }
}
