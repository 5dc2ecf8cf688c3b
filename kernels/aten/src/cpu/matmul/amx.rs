//! Sums of products of `bfloat16` pairs in AMX tiles, which Intel's processors have from Sapphire Rapids on.
//!
//! # How it works
//!
//! 1. A tile is 16 rows of 64 bytes. Of the eight tiles, four accumulate 16×16 sums each, two hold the left factor, one
//!    below the other, and two hold a panel of the right factor, side by side: up to [`ROWS`] rows are multiplied by
//!    one panel after the other.
//! 2. One step multiplies [`DEPTH`] columns of the left factor.
//! 3. The tiles are configured, filled, stored and released within one block of assembly, so that none of them is live
//!    in code that the compiler generates.
#![expect(
    unsafe_code,
    reason = "instructions that only assembly reaches, which read and write through pointers"
)]

use std::arch::asm;
use std::sync::LazyLock;

/// The number of rows of the left factor that are multiplied at a time: two tiles, one below the other.
pub const ROWS: usize = 32;

/// The number of columns of a panel: two tiles, side by side.
pub const WIDTH: usize = 32;

/// The number of columns of the left factor that a step multiplies: those of a tile.
pub const DEPTH: usize = 32;

/// The sums of the products of up to [`ROWS`] rows with a panel. None of its rows crosses a cache line.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct Sums(pub [[f32; WIDTH]; ROWS]);

/// Whether the processor has these tiles and the system permits this process to use them.
pub fn is_available() -> bool {
    static IS_AVAILABLE: LazyLock<bool> = LazyLock::new(|| has_instructions() && has_permission());
    *IS_AVAILABLE
}

/// Whether CPUID reports AMX-TILE and AMX-BF16, and a palette of eight tiles of 16 rows of 64 bytes. The standard
/// library has no stable name for these features yet.
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

/// Requests the tiles from Linux, as a process must do once: their state takes 8 KiB for each thread.
#[cfg(target_os = "linux")]
fn has_permission() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: a system call that accesses no memory of the process; all it changes is what the process may use.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn has_permission() -> bool {
    false // how other systems permit the tiles is not implemented
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
    /// For `rows` rows of the left factor: tiles 0 and 1 are the upper sums, 2 and 3 the lower ones, 4 and 5 the left
    /// factor, 6 and 7 the panel. A tile must have a row, so the lower tiles have one even if there are no such rows.
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

/// Rows of the left factor, in whole tiles.
pub(super) struct TileRows {
    pub(super) data: *const u16,
    /// The distance between rows in bytes.
    pub(super) stride: isize,
    /// The number of rows: at least 1 and at most [`ROWS`].
    pub(super) count: usize,
    /// The number of columns: a multiple of [`DEPTH`], and not 0.
    pub(super) columns: usize,
}

/// Writes the sums of the products of rows with panels, whose starts are `pitch` lines apart, or adds them to `sums` if
/// `adds`; there are as many panels as sums. The sums of further rows are arbitrary numbers.
///
/// # Safety
/// - [`is_available`] holds.
/// - These rows of contiguous elements can be read, and nothing writes them during the call.
#[expect(clippy::too_many_lines, reason = "the instructions are one block of assembly")]
pub(super) unsafe fn multiply(
    rows: &TileRows,
    panels: &[[u32; WIDTH]],
    pitch: usize,
    sums: &mut [Sums],
    adds: bool,
) {
    let lines = rows.columns / 2;
    let configuration = Configuration::new(rows.count);
    let Some(last) = sums.len().checked_sub(1) else { return };
    assert!(lines <= pitch && last * pitch + lines <= panels.len(), "panels that are not there");
    // If there are no lower rows, the first row is multiplied once more, into sums that are not used.
    let lower = if rows.count > 16 { 16 } else { 0 };
    // SAFETY: the caller guarantees the instructions. `ldtilecfg` reads 64 bytes, the size of the configuration. In
    // each step, the tiles of the left factor are 64 bytes of each of its rows, which the caller guarantees. A tile of
    // a panel is 16 lines of 64 bytes, and by the assertion each panel has 16 lines for each step. At most 16 rows of
    // 64 bytes are loaded and stored, four times, within the 32 rows of 128 bytes of a panel's sums, and there are sums
    // for each panel. All tiles are declared as clobbered and are released, and the stack is not used.
    unsafe {
        asm!(
            "ldtilecfg [{configuration}]",
            "2:",
            "test {adds}, {adds}",
            "jnz 3f",
            "tilezero tmm0",
            "tilezero tmm1",
            "tilezero tmm2",
            "tilezero tmm3",
            "jmp 4f",
            "3:",
            "tileloadd tmm0, [{sums} + {line}]",
            "tileloadd tmm1, [{sums} + {line} + 64]",
            "tileloadd tmm2, [{sums} + {line} + 2048]",
            "tileloadd tmm3, [{sums} + {line} + 2112]",
            "4:",
            "mov {left}, {bytes}",
            "5:",
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
            "sub {left}, 64",
            "jnz 5b",
            "sub {upper}, {bytes}",
            "sub {lower}, {bytes}",
            "tilestored [{sums} + {line}], tmm0",
            "tilestored [{sums} + {line} + 64], tmm1",
            "tilestored [{sums} + {line} + 2048], tmm2",
            "tilestored [{sums} + {line} + 2112], tmm3",
            "add {sums}, 4096",
            "add {panel}, {skipped}",
            "dec {count}",
            "jnz 2b",
            "tilerelease",
            configuration = in(reg) &raw const configuration,
            adds = in(reg) usize::from(adds),
            sums = inout(reg) sums.as_mut_ptr() => _,
            line = in(reg) size_of::<[u32; WIDTH]>(),
            left = out(reg) _,
            bytes = in(reg) 2 * rows.columns,
            upper = inout(reg) rows.data => _,
            lower = inout(reg) rows.data.wrapping_byte_offset(lower * rows.stride) => _,
            stride = in(reg) rows.stride,
            panel = inout(reg) panels.as_ptr() => _,
            skipped = in(reg) (pitch - lines) * size_of::<[u32; WIDTH]>(),
            count = inout(reg) sums.len() => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }
}
