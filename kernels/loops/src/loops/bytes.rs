//! Copies of bytes, where `memcpy` is slow or takes longer to call than to run.
#![expect(unsafe_code, reason = "copies through pointers")]

use std::ptr::copy;

/// From this many bytes on, `memcpy` may use an instruction that copies byte by byte, `rep movsb`.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 1024;

/// The lengths for which that instruction takes longer to start than it saves: on AMD processors (Zen 5) up to
/// twice as long as a loop over vectors, depending on where in their pages the two lie.
#[cfg(target_arch = "x86_64")]
const STARTING: std::ops::Range<usize> = 2048..6144;

/// Copies `len` bytes.
///
/// # Safety
/// - `len` bytes can be read from `from` on, and written from `to` on; nothing else uses them during the call.
/// - `to` is `from`, or the two share no memory.
#[inline]
pub unsafe fn copy_bytes(from: *const u8, to: *mut u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    if len >= LONG
        && from != to.cast_const()
        && (STARTING.contains(&len) || is_slightly_ahead(from, to))
        && super::has_avx2()
    {
        // SAFETY: `has_avx2` found the features; the caller vouches for the bytes, and since `to` is not `from`, they
        // share no memory.
        return unsafe { in_vectors(from, to, len) };
    }
    // SAFETY: the caller vouches for the bytes of both.
    unsafe { copy(from, to, len) }
}

/// Whether the target is less than a cache line ahead of the source, counted within a page. `rep movsb`, which the C
/// library uses for long copies, then copies a few bytes at a time on AMD processors (Zen 3 and 4): fourteen times
/// as slowly as it does otherwise.
#[cfg(target_arch = "x86_64")]
#[inline]
fn is_slightly_ahead(from: *const u8, to: *mut u8) -> bool {
    const PAGE: usize = 4096;
    (1..64).contains(&(to.addr().wrapping_sub(from.addr()) % PAGE))
}

/// # Safety
/// - The requirements of [`copy_bytes`], with memory of their own for both.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn in_vectors(from: *const u8, to: *mut u8, len: usize) {
    type Line = [std::arch::x86_64::__m256i; 4];
    let lines_end = len - len % size_of::<Line>();
    for start in (0..lines_end).step_by(size_of::<Line>()) {
        // SAFETY: `start` and the bytes of a line after it are below `len`, for which the caller vouches.
        unsafe {
            let line = from.add(start).cast::<Line>().read_unaligned();
            to.add(start).cast::<Line>().write_unaligned(line);
        }
    }
    // SAFETY: the rest of the `len` bytes that the caller vouches for.
    unsafe { copy(from.add(lines_end), to.add(lines_end), len - lines_end) };
}

/// Like [`copy_bytes`], for rows that are often short: up to 64 bytes are copied by a few instructions.
///
/// # Safety
/// - The requirements of [`copy_bytes`].
#[inline(always)]
pub unsafe fn copy_row(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller vouches for `len` bytes in both. Each branch copies two parts of a size that is at most `len`
    // and at least half of it: the first and the last bytes, which together are all. Both are read before any is
    // written, in case `to` is `from`.
    unsafe {
        match len {
            33..=64 => both_ends::<[u128; 2]>(from, to, len),
            16..=32 => both_ends::<u128>(from, to, len),
            8..=15 => both_ends::<u64>(from, to, len),
            4..=7 => both_ends::<u32>(from, to, len),
            2..=3 => both_ends::<u16>(from, to, len),
            1 => to.write(from.read()),
            0 => {}
            _ => copy_bytes(from, to, len),
        }
    }
}

/// Copies `count` rows of `len` bytes, each at a distance in bytes from the one before, in the source and in the
/// target. How a row is copied depends on its length, and is chosen once for all of them.
///
/// # Safety
/// - The requirements of [`copy_bytes`], for each row.
/// - No row of the target shares memory with another row of either.
pub(super) unsafe fn copy_rows(from: (*const u8, isize), to: (*mut u8, isize), count: usize, len: usize) {
    // SAFETY: the caller vouches for `len` bytes of each row in both; `both_ends` gets as in `copy_row` at least half
    // of them as `T`.
    unsafe {
        match len {
            0 => {}
            1 => each_row(from, to, count, |from, to| to.write(from.read())),
            2..=3 => each_row(from, to, count, |from, to| both_ends::<u16>(from, to, len)),
            4 => each_row(from, to, count, |from, to| both_ends::<u32>(from, to, 4)),
            5..=7 => each_row(from, to, count, |from, to| both_ends::<u32>(from, to, len)),
            8 => each_row(from, to, count, |from, to| both_ends::<u64>(from, to, 8)),
            9..=15 => each_row(from, to, count, |from, to| both_ends::<u64>(from, to, len)),
            16 => each_row(from, to, count, |from, to| both_ends::<u128>(from, to, 16)),
            17..=32 => each_row(from, to, count, |from, to| both_ends::<u128>(from, to, len)),
            33..=64 => each_row(from, to, count, |from, to| both_ends::<[u128; 2]>(from, to, len)),
            65..=128 => each_row(from, to, count, |from, to| both_ends::<[u128; 4]>(from, to, len)),
            _ => each_row(from, to, count, |from, to| copy_bytes(from, to, len)),
        }
    }
}

/// Calls a function with the addresses of each row.
#[inline(always)]
fn each_row(
    (from, step): (*const u8, isize),
    (to, out_step): (*mut u8, isize),
    count: usize,
    copy: impl Fn(*const u8, *mut u8),
) {
    for row in 0..count as isize {
        copy(from.wrapping_offset(row * step), to.wrapping_offset(row * out_step));
    }
}

/// Copies the first and the last bytes of a row, as many as `T` has.
///
/// # Safety
/// - The requirements of [`copy_bytes`], for `len` bytes, at least as many as `T` has.
/// - Any bits are a value of `T`.
#[inline(always)]
unsafe fn both_ends<T: Copy>(from: *const u8, to: *mut u8, len: usize) {
    let last = len - size_of::<T>();
    // SAFETY: the caller vouches for `len` bytes in both.
    unsafe {
        let (first_part, last_part) =
            (from.cast::<T>().read_unaligned(), from.add(last).cast::<T>().read_unaligned());
        to.cast::<T>().write_unaligned(first_part);
        to.add(last).cast::<T>().write_unaligned(last_part);
    }
}

#[cfg(test)]
mod tests {
    use super::{copy_bytes, copy_row, copy_rows};

    #[test]
    fn bytes_of_every_length_and_distance_arrive() {
        let from: Vec<u8> = (0..20_000_u32).map(|i| (i % 251) as u8 + 1).collect();
        for len in (0..140).chain([1023, 1024, 1025, 4099, 9000]) {
            for ahead in [0, 1, 12, 32, 63, 64, 4095] {
                let mut to = vec![0; 20_000];
                let page = to.as_ptr().addr().wrapping_sub(from.as_ptr().addr()) % 4096;
                let first = (4096 - page) % 4096 + ahead; // `ahead` of the source, counted within a page
                let copies: [unsafe fn(*const u8, *mut u8, usize); 2] = [copy_bytes, copy_row];
                for copy in copies {
                    to.fill(0);
                    // SAFETY: `len` bytes are within both, two vectors.
                    unsafe { copy(from.as_ptr(), to.as_mut_ptr().add(first), len) };
                    assert_eq!(to[first..first + len], from[..len], "{len} bytes, {ahead} ahead");
                    assert!(to[..first].iter().chain(&to[first + len..]).all(|byte| *byte == 0));
                }
            }
        }
    }

    #[test]
    fn rows_of_every_length_are_copied_over_any_distance() {
        let from: Vec<u8> = (0..3000_u32).map(|i| (i % 251) as u8 + 1).collect();
        for (len, count) in (0..140).flat_map(|len| [0, 1, 2, 7].map(|count| (len, count))) {
            for (step, gap) in [(len as isize, 0), (len as isize + 3, 5), (-(len as isize) - 1, 1), (0, 2)] {
                let first = if step < 0 { 2800 } else { 0 };
                let mut to = vec![0; count * (len + gap)];
                // SAFETY: `count` rows of `len` bytes are within both, two vectors, from these first ones on.
                unsafe {
                    let from = (from.as_ptr().add(first), step);
                    copy_rows(from, (to.as_mut_ptr(), (len + gap) as isize), count, len);
                }
                for (row, to) in to.chunks((len + gap).max(1)).enumerate() {
                    let start = first.wrapping_add_signed(row as isize * step);
                    assert_eq!(to[..len], from[start..start + len], "row {row} of {len} bytes");
                    assert!(
                        to[len..].iter().all(|byte| *byte == 0),
                        "the gap behind row {row} of {len} bytes"
                    );
                }
            }
        }
    }

    #[test]
    fn copies_end_with_their_last_byte() {
        let long = [1023, 1024, 2047, 2048, 2049, 2175, 2176, 6143, 6144, 6145];
        let long = if cfg!(miri) { &long[..1] } else { &long[..] };
        for len in (0..70).chain(long.iter().copied()) {
            for ahead in [0, 1, 31] {
                let from: Vec<u8> = (0..ahead + len).map(|i| (i % 251) as u8 + 1).collect();
                let copies: [unsafe fn(*const u8, *mut u8, usize); 2] = [copy_bytes, copy_row];
                for copy in copies {
                    let mut to = vec![0; len]; // which a memory checker sees the end of
                    // SAFETY: `len` bytes are within both, two vectors.
                    unsafe { copy(from.as_ptr().add(ahead), to.as_mut_ptr(), len) };
                    assert_eq!(to, from[ahead..], "{len} bytes");
                }
            }
        }
    }
}
