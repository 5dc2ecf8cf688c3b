//! Sums of products of `bfloat16` pairs in AMX tiles, which Intel's processors have from Sapphire Rapids on.
//!
//! # How it works
//!
//! 1. A tile is 16 rows of 64 bytes. Eight of them hold four blocks of 16×16 sums, two of the left factor, one below
//!    the other, and two of a panel, side by side: up to [`ROWS`] rows meet the columns of a panel.
//! 2. One step multiplies [`DEPTH`] columns of the left factor. Its last step reads a copy that zeros fill up.
//! 3. Each block of sums configures the tiles, fills them, stores them and releases them within one piece of assembly,
//!    so that no tile is live in code that the compiler writes.
#![expect(
    unsafe_code,
    reason = "instructions that only assembly reaches, which read and write through pointers"
)]

use std::arch::asm;
use std::sync::LazyLock;

/// How many rows of the left factor are multiplied at a time: two tiles, one below the other.
pub(super) const ROWS: usize = 32;

/// How many columns a panel has: two tiles, side by side.
pub(super) const WIDTH: usize = 32;

/// How many columns of the left factor a step multiplies: those of a tile.
pub(super) const DEPTH: usize = 32;

/// Whether the processor has these tiles, and the system lets this process use them.
pub(super) fn is_available() -> bool {
    static IS_AVAILABLE: LazyLock<bool> = LazyLock::new(|| has_instructions() && has_permission());
    *IS_AVAILABLE
}

/// Whether CPUID reports AMX-TILE and AMX-BF16, and a palette of eight tiles of 16 rows of 64 bytes. The standard library has no stable name for
/// these features yet.
fn has_instructions() -> bool {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const TILE: u32 = 1 << 24;
    const BF16: u32 = 1 << 22;
    const PALETTES: u32 = 0x1d;
    if __cpuid(0).eax < PALETTES || __cpuid_count(7, 0).edx & (TILE | BF16) != TILE | BF16 {
        return false;
    }
    let palette = __cpuid_count(PALETTES, 1);
    let (bytes_per_row, tiles, rows) = (palette.ebx & 0xffff, palette.ebx >> 16, palette.ecx & 0xffff);
    __cpuid_count(PALETTES, 0).eax >= 1 && bytes_per_row == 64 && tiles >= 8 && rows == 16
}

/// Asks Linux for the tiles: a process must, once, since their state is 8 KiB for each thread.
#[cfg(target_os = "linux")]
fn has_permission() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: a system call that reads no memory of ours, and changes what this process may use, nothing else.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn has_permission() -> bool {
    false // how another system grants them is not known here
}

/// The shape of each tile, as `ldtilecfg` reads it.
#[repr(C, align(64))]
struct Configuration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_per_row: [u16; 16],
    rows: [u8; 16],
}

impl Configuration {
    /// For `rows` rows of the left factor: the tiles 0 and 1 are their upper sums, 2 and 3 the lower ones, 4 and 5 the left
    /// factor, 6 and 7 the panel. A tile must have a row, so the lower ones have one even where there are no such rows.
    fn new(rows: usize) -> Self {
        let (upper, lower) = (rows.min(16) as u8, rows.saturating_sub(16).max(1) as u8);
        let mut configuration = Configuration {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            bytes_per_row: [0; 16],
            rows: [0; 16],
        };
        configuration.bytes_per_row[..8].fill(64);
        configuration.rows[..8].copy_from_slice(&[upper, upper, lower, lower, upper, lower, 16, 16]);
        configuration
    }
}

/// Rows of the left factor, of which the last step is copied.
pub(super) struct Rows {
    data: *const u16,
    /// Between rows, in bytes.
    stride: isize,
    count: usize,
    steps: usize,
    configuration: Configuration,
    last: [[u16; DEPTH]; ROWS],
}

impl Rows {
    /// `count` rows of `columns` elements, `stride` elements apart.
    ///
    /// # Safety
    /// - `count` is at least 1 and at most [`ROWS`]; `columns` is at least 1.
    /// - From `data` on, so many rows of contiguous elements can be read for as long as this lives, and nobody writes them
    ///   meanwhile.
    pub(super) unsafe fn new(data: *const u16, stride: isize, count: usize, columns: usize) -> Self {
        let steps = columns.div_ceil(DEPTH);
        let first = (steps - 1) * DEPTH;
        let mut last = [[0; DEPTH]; ROWS];
        for (row, last) in last.iter_mut().take(count).enumerate() {
            let row = data.wrapping_offset(row as isize * stride).wrapping_add(first);
            // SAFETY: `columns - first` elements of this row are left, at most `DEPTH`, which the caller lets us read.
            unsafe { row.copy_to_nonoverlapping(last.as_mut_ptr(), columns - first) };
        }
        Rows { data, stride: 2 * stride, count, steps, configuration: Configuration::new(count), last }
    }

    /// How many lines a panel must have for so many columns of the left factor: whole tiles, zeros behind the pairs.
    pub(super) fn lines(columns: usize) -> usize {
        columns.div_ceil(DEPTH) * DEPTH / 2
    }

    /// Writes the sums of the products of the rows with a panel. Sums of rows beyond these are undefined numbers.
    ///
    /// # Safety
    /// - [`is_available`] holds.
    /// - The panel has the [`lines`](Self::lines) of as many columns as the rows have.
    pub(super) unsafe fn multiply(&self, panel: &[[u32; WIDTH]], sums: &mut [[f32; WIDTH]; ROWS]) {
        // Where there are no lower rows, the first row is multiplied again, into sums that nobody reads.
        let lower = if self.count > 16 { 16 } else { 0 };
        // SAFETY: the caller promises the instructions. `ldtilecfg` reads 64 bytes, which the configuration has. In each
        // step but the last, a tile of the left factor is 64 bytes of each of its rows, which `new` was promised; in the last
        // they lie in `last`. A tile of the panel is 16 lines of 64 bytes, `steps` times 16 lines being there. Stored are
        // 16 rows at most of 64 bytes, four times, within the 32 rows of 128 bytes of `sums`. All tiles are clobbered and
        // released, and the stack is left alone.
        unsafe {
            asm!(
                "ldtilecfg [{configuration}]",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "2:",
                "cmp {steps}, 1",
                "cmove {upper}, {last_upper}",
                "cmove {lower}, {last_lower}",
                "cmove {stride}, {last_stride}",
                "tileloadd tmm4, [{upper} + {stride}]",
                "tileloadd tmm6, [{panel} + {line}]",
                "tileloadd tmm7, [{panel} + {line} + 64]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tileloadd tmm5, [{lower} + {stride}]",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {upper}, 64",
                "add {lower}, 64",
                "add {panel}, 2048",
                "dec {steps}",
                "jnz 2b",
                "tilestored [{sums} + {line}], tmm0",
                "tilestored [{sums} + {line} + 64], tmm1",
                "tilestored [{sums} + {line} + 2048], tmm2",
                "tilestored [{sums} + {line} + 2112], tmm3",
                "tilerelease",
                configuration = in(reg) &raw const self.configuration,
                steps = inout(reg) self.steps => _,
                upper = inout(reg) self.data => _,
                lower = inout(reg) self.data.wrapping_byte_offset(lower * self.stride) => _,
                stride = inout(reg) self.stride => _,
                last_upper = in(reg) self.last.as_ptr(),
                last_lower = in(reg) self.last[lower as usize..].as_ptr(),
                last_stride = in(reg) size_of::<[u16; DEPTH]>(),
                panel = inout(reg) panel.as_ptr() => _,
                line = in(reg) size_of::<[u32; WIDTH]>(),
                sums = in(reg) sums.as_mut_ptr(),
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
pub(super) mod emulator;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A small whole number, of which products and sums are exact.
    fn number(i: usize) -> f32 {
        (i * i % 13) as f32 - 6.0
    }

    fn bits(x: f32) -> u16 {
        (x.to_bits() >> 16) as u16
    }

    #[test]
    fn tiles_give_what_sums_give() {
        emulator::install();
        for count in [1, 7, 16, 17, 31, 32] {
            for columns in [1, 2, 31, 32, 33, 63, 64, 100] {
                let stride = columns + 5;
                let a: Vec<f32> = (0..count * stride).map(number).collect();
                let b = |step: usize, column: usize| {
                    if step < columns { number(7 * step + 3 * column + 1) } else { 0.0 }
                };
                let left: Vec<u16> = a.iter().map(|x| bits(*x)).collect();
                let pair = |line: usize, column: usize| {
                    u32::from(bits(b(2 * line, column))) | u32::from(bits(b(2 * line + 1, column))) << 16
                };
                let panel: Vec<[u32; WIDTH]> = (0..Rows::lines(columns))
                    .map(|line| std::array::from_fn(|column| pair(line, column)))
                    .collect();
                let mut sums = [[f32::NAN; WIDTH]; ROWS];
                // SAFETY: `count` rows of `columns` elements lie in `left`; the instructions are there or emulated, and the panel
                // has the lines that it should.
                unsafe {
                    Rows::new(left.as_ptr(), stride as isize, count, columns).multiply(&panel, &mut sums)
                };
                for row in 0..count {
                    for column in 0..WIDTH {
                        let want: f32 =
                            (0..columns).map(|step| a[row * stride + step] * b(step, column)).sum();
                        assert_eq!(sums[row][column], want, "{count}×{columns}, row {row}, column {column}");
                    }
                }
            }
        }
    }
}
