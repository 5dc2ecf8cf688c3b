//! Transposes of lines, in small square blocks that stay in registers.
#![expect(unsafe_code, reason = "reads and writes lines through pointers")]

use crate::inlined::from_fn;
#[cfg(target_arch = "x86_64")]
use crate::inlined::zip;

/// The number of bytes of a line that are filled one after the other: eight cache lines.
const FILLED: usize = 512;

/// Addresses that are a multiple of this many bytes apart fall into one set of the L1 cache.
const COLLIDING: usize = 4096;

/// Transposes `len` lines of `count` elements, `stride` apart, into `count` lines of `len` elements, `pitch` apart.
///
/// # Safety
/// - `len` lines of `count` elements, `stride` apart, can be read from `from` on, and nothing writes to them during the
///   call.
/// - `count` lines of `len` elements, `pitch` apart, can be written from `to` on, in other memory, which nothing else
///   uses.
/// - `T` takes 1, 2, 4, 8 or 16 bytes.
pub unsafe fn transpose<T>(
    from: *const T,
    stride: isize,
    [len, count]: [usize; 2],
    to: *mut T,
    pitch: usize,
) {
    // SAFETY: the caller vouches for `len` lines of `count` elements of this size, and for room for `count` of `len`
    // elsewhere.
    unsafe { transpose_sized(size_of::<T>(), from.cast(), stride, [len, count], to.cast(), pitch) }
}

/// Like [`transpose`], for elements of `size` bytes, which need not be aligned.
///
/// # Safety
/// - `len` lines of `count` elements of `size` bytes, `stride` apart, can be read from `data` on, and nothing writes to
///   them during the call.
/// - `count` lines of `len` elements, `pitch` apart, can be written from `to` on, in other memory, which nothing else
///   uses.
/// - `size` is 1, 2, 4, 8 or 16.
pub(super) unsafe fn transpose_sized(
    size: usize,
    data: *const u8,
    stride: isize,
    [len, count]: [usize; 2],
    to: *mut u8,
    pitch: usize,
) {
    let transpose = match size {
        1 => in_squares::<u8, 8>,
        2 => in_squares::<u16, 8>,
        4 => in_squares::<u32, 8>,
        8 => in_squares::<u64, 4>,
        _ => in_squares::<u128, 2>,
    };
    // SAFETY: the caller vouches for the lines of both, of elements of `size` bytes, which is the size of the integer
    // that stands for them.
    unsafe { transpose(data, stride, len, count, to, pitch) };
}

/// Transposes `len` lines of `count` elements, `stride` apart, into `count` lines of `len` elements, `pitch` apart,
/// with wide registers where there are any.
///
/// # Safety
/// - `len` lines of `count` elements, `stride` apart, can be read from `data` on, and nothing writes to them during the
///   call.
/// - `count` lines of `len` elements, `pitch` apart, can be written from `tile` on, in other memory, which nothing else
///   uses.
/// - Elements take as many bytes as `T`, of which any bits are a value; they need not be aligned like it.
unsafe fn in_squares<T: Copy, const SIDE: usize>(
    data: *const u8,
    stride: isize,
    len: usize,
    count: usize,
    tile: *mut u8,
    pitch: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if super::has_avx2() {
        // SAFETY: `has_avx2` found these features; the caller vouches for the lines of both.
        return unsafe { in_wide_squares::<T, SIDE>(data.cast(), stride, len, count, tile.cast(), pitch) };
    }
    // SAFETY: the caller vouches for the lines of both; `squares` calls the closure with squares of `SIDE` that lie
    // within them.
    unsafe {
        squares::<T, SIDE>(data.cast(), stride, len, count, tile.cast(), pitch, |data, tile| {
            square::<T, SIDE>(data, stride, tile, pitch);
        });
    }
}

/// # Safety
/// - `len` lines of `count` elements, `stride` apart, can be read from `data` on, and nothing writes to them during the
///   call.
/// - `count` lines of `len` elements, `pitch` apart, can be written from `tile` on, in other memory, which nothing else
///   uses.
/// - Any bits are a value of `T`; elements need not be aligned like it.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn in_wide_squares<T: Copy, const SIDE: usize>(
    data: *const T,
    stride: isize,
    len: usize,
    count: usize,
    tile: *mut T,
    pitch: usize,
) {
    // SAFETY: the caller vouches for the lines of both, and for the features; `squares` calls the closure with
    // squares of `SIDE` that lie within them, and the functions are for squares of these sizes.
    unsafe {
        squares::<T, SIDE>(data, stride, len, count, tile, pitch, |data, tile| {
            match (size_of::<T>(), SIDE) {
                (4, 8) => words(data.cast(), stride, tile.cast(), pitch),
                (8, 4) => double_words(data.cast(), stride, tile.cast(), pitch),
                (2, 8) => half_words(data.cast(), stride, tile.cast(), pitch),
                (1, 8) => bytes(data.cast(), stride, tile.cast(), pitch),
                _ => square::<T, SIDE>(data, stride, tile, pitch),
            }
        });
    }
}

/// Transposes a block of 8 × 8 elements of 4 bytes: exchanges single elements, then pairs, then halves of registers.
///
/// # Safety
/// - Eight lines of eight elements, `stride` apart, can be read from `data` on, and nothing writes to them during the
///   call.
/// - Eight lines of eight elements, `pitch` apart, can be written from `tile` on, in other memory, which nothing else
///   uses.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn words(data: *const f32, stride: isize, tile: *mut f32, pitch: usize) {
    use std::arch::x86_64::*;
    // Prefetch the next lines, which are too far away for the hardware to do it.
    (8..16).for_each(|i| _mm_prefetch::<_MM_HINT_T0>(data.wrapping_offset(i * stride).cast()));
    // SAFETY: `i` is below eight, and the caller vouches for a line of eight elements there; loads need no alignment.
    let lines: [__m256; 8] = from_fn(|i| unsafe { _mm256_loadu_ps(data.offset(i as isize * stride)) });
    let pairs: [[__m256; 2]; 4] = from_fn(|i| {
        let (a, b) = (lines[2 * i], lines[2 * i + 1]);
        [_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)]
    });
    let fours: [[__m256; 4]; 2] = from_fn(|i| {
        let ([a, b], [c, d]) = (pairs[2 * i], pairs[2 * i + 1]);
        let (low, high) = (_mm256_shuffle_ps::<0x44>, _mm256_shuffle_ps::<0xee>);
        [low(a, c), high(a, c), low(b, d), high(b, d)]
    });
    let [above, below] = fours;
    for (j, (a, b)) in zip(&above, &below).enumerate() {
        // SAFETY: `j` is below four, and the caller vouches for lines `j` and `j + 4` of the tile, of eight
        // elements; stores need no alignment.
        unsafe {
            _mm256_storeu_ps(tile.add(j * pitch), _mm256_permute2f128_ps::<0x20>(*a, *b));
            _mm256_storeu_ps(tile.add((j + 4) * pitch), _mm256_permute2f128_ps::<0x31>(*a, *b));
        }
    }
}

/// Transposes a block of 4 × 4 elements of 8 bytes: exchanges single elements, then halves of registers.
///
/// # Safety
/// - Four lines of as many elements, `stride` apart, can be read from `data` on, and nothing writes to them during the
///   call.
/// - As many lines, `pitch` apart, can be written from `tile` on, in other memory, which nothing else uses.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn double_words(data: *const f64, stride: isize, tile: *mut f64, pitch: usize) {
    use std::arch::x86_64::*;
    // SAFETY: `i` is below four, and the caller vouches for a line of four elements there; loads need no alignment.
    let lines: [__m256d; 4] = from_fn(|i| unsafe { _mm256_loadu_pd(data.offset(i as isize * stride)) });
    let [[a, b], [c, d]]: [[__m256d; 2]; 2] = from_fn(|i| {
        let (a, b) = (lines[2 * i], lines[2 * i + 1]);
        [_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)]
    });
    for (j, (above, below)) in [(a, c), (b, d)].into_iter().enumerate() {
        // SAFETY: `j` is below two, and the caller vouches for lines `j` and `j + 2` of the tile, of four elements;
        // stores need no alignment.
        unsafe {
            _mm256_storeu_pd(tile.add(j * pitch), _mm256_permute2f128_pd::<0x20>(above, below));
            _mm256_storeu_pd(tile.add((j + 2) * pitch), _mm256_permute2f128_pd::<0x31>(above, below));
        }
    }
}

/// Transposes a block of 8 × 8 elements of 2 bytes: exchanges single elements, then pairs, then halves of registers.
///
/// # Safety
/// - Eight lines of eight elements, `stride` apart, can be read from `data` on, and nothing writes to them during the
///   call.
/// - Eight lines of eight elements, `pitch` apart, can be written from `tile` on, in other memory, which nothing else
///   uses.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn half_words(data: *const u16, stride: isize, tile: *mut u16, pitch: usize) {
    use std::arch::x86_64::*;
    // SAFETY: `i` is below eight, and the caller vouches for a line of eight elements there; loads need no alignment.
    let lines: [__m128i; 8] =
        from_fn(|i| unsafe { _mm_loadu_si128(data.offset(i as isize * stride).cast()) });
    // Columns 0 to 3 and 4 to 7 of two lines, then columns 2 n and 2 n + 1 of four.
    let pairs: [[__m128i; 2]; 4] = from_fn(|i| {
        let (a, b) = (lines[2 * i], lines[2 * i + 1]);
        [_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)]
    });
    let fours: [[__m128i; 4]; 2] = from_fn(|i| {
        let ([a, b], [c, d]) = (pairs[2 * i], pairs[2 * i + 1]);
        [
            _mm_unpacklo_epi32(a, c),
            _mm_unpackhi_epi32(a, c),
            _mm_unpacklo_epi32(b, d),
            _mm_unpackhi_epi32(b, d),
        ]
    });
    let [above, below] = fours;
    for (j, (a, b)) in zip(&above, &below).enumerate() {
        // SAFETY: `j` is below four, and the caller vouches for lines `2 j` and `2 j + 1` of the tile, of eight
        // elements; stores need no alignment.
        unsafe {
            _mm_storeu_si128(tile.add(2 * j * pitch).cast(), _mm_unpacklo_epi64(*a, *b));
            _mm_storeu_si128(tile.add((2 * j + 1) * pitch).cast(), _mm_unpackhi_epi64(*a, *b));
        }
    }
}

/// Transposes a block of 8 × 8 bytes: exchanges single elements, then pairs, then fours.
///
/// # Safety
/// - Eight lines of eight bytes, `stride` apart, can be read from `data` on, and nothing writes to them during the
///   call.
/// - Eight lines of eight bytes, `pitch` apart, can be written from `tile` on, in other memory, which nothing else
///   uses.
/// - The processor has these features.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn bytes(data: *const u8, stride: isize, tile: *mut u8, pitch: usize) {
    use std::arch::x86_64::*;
    // SAFETY: `i` is below eight, and the caller vouches for a line of eight bytes there; loads need no alignment.
    let lines: [__m128i; 8] =
        from_fn(|i| unsafe { _mm_loadl_epi64(data.offset(i as isize * stride).cast()) });
    // All columns of two lines, then columns 0 to 3 and 4 to 7 of four, then columns 2 n and 2 n + 1 of all.
    let pairs: [__m128i; 4] = from_fn(|i| _mm_unpacklo_epi8(lines[2 * i], lines[2 * i + 1]));
    let [above, below]: [[__m128i; 2]; 2] = from_fn(|i| {
        let (a, b) = (pairs[2 * i], pairs[2 * i + 1]);
        [_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)]
    });
    for (j, (a, b)) in zip(&above, &below).enumerate() {
        for (n, columns) in [_mm_unpacklo_epi32(*a, *b), _mm_unpackhi_epi32(*a, *b)].into_iter().enumerate() {
            let column = 4 * j + 2 * n;
            // SAFETY: `column` is at most six, and the caller vouches for this line and the next of the tile, of eight
            // bytes; stores need no alignment.
            unsafe {
                _mm_storel_epi64(tile.add(column * pitch).cast(), columns);
                let second = _mm_unpackhi_epi64(columns, columns);
                _mm_storel_epi64(tile.add((column + 1) * pitch).cast(), second);
            }
        }
    }
}

/// Transposes lines block by block, with a function that transposes one square block.
///
/// # Safety
/// - `len` lines of `count` elements, `stride` apart, can be read from `data` on, and nothing writes to them during the
///   call.
/// - `count` lines of `len` elements, `pitch` apart, can be written from `tile` on, in other memory, which nothing else
///   uses.
/// - Any bits are a value of `T`; elements need not be aligned like it.
/// - `square` may be called with a square of `SIDE` lines of as many elements that lies within these.
#[inline(always)]
unsafe fn squares<T: Copy, const SIDE: usize>(
    data: *const T,
    stride: isize,
    len: usize,
    count: usize,
    tile: *mut T,
    pitch: usize,
    square: impl Fn(*const T, *mut T),
) {
    let (even_len, even_count) = (len - len % SIDE, count - count % SIDE);
    if len == pitch && (1..=4).contains(&len) {
        let interleave = match len {
            1 => interleave::<T, 1>,
            2 => interleave::<T, 2>,
            3 => interleave::<T, 3>,
            _ => interleave::<T, 4>,
        };
        // SAFETY: `len` and `pitch` are both `LEN`; the caller vouches for `LEN` lines of `count` elements, and for
        // room for them elsewhere.
        return unsafe { interleave(data, stride, count, tile) };
    }
    if stride == count as isize && (2..=4).contains(&count) {
        let deinterleave = match count {
            2 => deinterleave::<T, 2>,
            3 => deinterleave::<T, 3>,
            _ => deinterleave::<T, 4>,
        };
        // SAFETY: `count` and `stride` are both `COUNT`; the caller vouches for `len` lines of `COUNT` elements, and
        // for room for them elsewhere.
        return unsafe { deinterleave(data, len, tile, pitch) };
    }
    // Some cache lines of each line of the tile are filled before the next line's: it may fall into the same set of the
    // cache, which holds a few lines only. If those that are read do, each is read to its end instead.
    let are_colliding = |step: usize| (step * size_of::<T>()).is_multiple_of(COLLIDING);
    let is_read_along = are_colliding(stride.unsigned_abs()) && !are_colliding(pitch);
    let height = if is_read_along { SIDE } else { SIDE.max(FILLED / size_of::<T>()) };
    for top in (0..even_len).step_by(height) {
        for j in (0..even_count).step_by(SIDE) {
            for i in (top..even_len.min(top + height)).step_by(SIDE) {
                // SAFETY: `i + SIDE` is at most `len`, and `j + SIDE` at most `count`: a square within the lines that
                // the caller vouches for.
                unsafe { square(data.offset(i as isize * stride).add(j), tile.add(j * pitch + i)) };
            }
        }
    }
    for i in 0..len {
        for j in if i < even_len { even_count } else { 0 }..count {
            // SAFETY: `i` is below `len` and `j` below `count`: an element of the lines that the caller vouches
            // for, which need not be aligned.
            unsafe {
                let element = data.offset(i as isize * stride).add(j).read_unaligned();
                tile.add(j * pitch + i).write_unaligned(element);
            }
        }
    }
}

/// Transposes `LEN` lines into contiguous rows of `LEN` elements.
///
/// # Safety
/// - `LEN` lines of `count` elements, `stride` apart, can be read from `data` on, and nothing writes to them during the
///   call.
/// - `LEN * count` elements can be written from `tile` on, in other memory, which nothing else uses.
/// - Any bits are a value of `T`; elements need not be aligned like it.
#[inline(always)]
unsafe fn interleave<T: Copy, const LEN: usize>(data: *const T, stride: isize, count: usize, tile: *mut T) {
    for j in 0..count {
        for i in 0..LEN {
            // SAFETY: `i` is below `LEN` and `j` below `count`: an element that the caller vouches for in both,
            // which need not be aligned.
            unsafe {
                let element = data.offset(i as isize * stride).add(j).read_unaligned();
                tile.add(j * LEN + i).write_unaligned(element);
            }
        }
    }
}

/// Transposes contiguous rows of `COUNT` elements into `COUNT` lines.
///
/// # Safety
/// - `COUNT * len` elements can be read from `data` on, and nothing writes to them during the call.
/// - `COUNT` lines of `len` elements, `pitch` apart, can be written from `tile` on, in other memory, which nothing else
///   uses.
/// - Any bits are a value of `T`; elements need not be aligned like it.
#[inline(always)]
unsafe fn deinterleave<T: Copy, const COUNT: usize>(data: *const T, len: usize, tile: *mut T, pitch: usize) {
    for i in 0..len {
        for j in 0..COUNT {
            // SAFETY: `i` is below `len` and `j` below `COUNT`: an element that the caller vouches for in both, which
            // need not be aligned.
            unsafe { tile.add(j * pitch + i).write_unaligned(data.add(i * COUNT + j).read_unaligned()) };
        }
    }
}

/// # Safety
/// - `SIDE` lines of as many elements, `stride` apart, can be read from `data` on, and nothing writes to them during
///   the call.
/// - As many lines, `pitch` apart, can be written from `tile` on, in other memory, which nothing else uses.
/// - Any bits are a value of `T`; elements need not be aligned like it.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "`j` counts the columns of all lines")]
unsafe fn square<T: Copy, const SIDE: usize>(data: *const T, stride: isize, tile: *mut T, pitch: usize) {
    let lines: [[T; SIDE]; SIDE] = from_fn(|i| {
        // SAFETY: `i` is below `SIDE`, and the caller vouches for a line of as many elements there, which need not be
        // aligned.
        unsafe { data.offset(i as isize * stride).cast::<[T; SIDE]>().read_unaligned() }
    });
    for j in 0..SIDE {
        let line: [T; SIDE] = from_fn(|i| lines[i][j]);
        // SAFETY: `j` is below `SIDE`, and the caller vouches for room for a line of as many elements there, which
        // need not be aligned.
        unsafe { tile.add(j * pitch).cast::<[T; SIDE]>().write_unaligned(line) };
    }
}

#[cfg(test)]
mod tests {
    use super::transpose;

    /// Transposes `len` lines of `count` elements, `stride` apart, to lines that are `pitch` apart. Both vectors end
    /// with their last line, so that a memory checker sees every access beyond it.
    fn check<T: Copy + PartialEq + std::fmt::Debug>(
        [len, count, stride, pitch]: [usize; 4],
        number: impl Fn(usize) -> T,
    ) {
        let extent = |lines: usize, step: usize, len: usize| (lines - 1) * step + len;
        let from: Vec<T> = (0..extent(len, stride, count)).map(&number).collect();
        let mut to = vec![number(0); extent(count, pitch, len)];
        // SAFETY: the lines lie within the two vectors, of elements of 1 to 16 bytes.
        unsafe { transpose(from.as_ptr(), stride as isize, [len, count], to.as_mut_ptr(), pitch) };
        for (i, x) in to.into_iter().enumerate() {
            let (line, place) = (i / pitch, i % pitch);
            let expected = if place < len { from[place * stride + line] } else { number(0) };
            assert_eq!(x, expected, "[{place}, {line}] of {len} × {count}, {stride} and {pitch} apart");
        }
    }

    fn check_sizes(lines: [usize; 4]) {
        check(lines, |i| i as u8);
        check(lines, |i| i as u16);
        check(lines, |i| i as u32);
        check(lines, |i| i as u64);
        check(lines, |i| i as u128);
    }

    #[test]
    fn lines_at_every_distance_are_transposed() {
        // Distances that are multiples of 4 096 bytes, for elements of some sizes, and others.
        let all = [[1024, 1024], [1000, 1024], [1024, 1000], [4096, 256], [300, 4096], [333, 301]];
        for distances in if cfg!(miri) { &all[5..] } else { &all[..] } {
            for [len, count] in [[256, 32], [150, 41], [7, 300], [129, 8]] {
                let [len, count] = if cfg!(miri) { [len / 16 + 1, count / 16 + 1] } else { [len, count] };
                check_sizes([len, count, distances[0], distances[1]]);
            }
        }
    }

    #[test]
    fn lines_around_the_side_of_a_square_are_transposed() {
        let sides = if cfg!(miri) { &[1, 3, 9][..] } else { &[1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17] };
        for (len, count) in sides.iter().flat_map(|len| sides.iter().map(|count| (*len, *count))) {
            check_sizes([len, count, count, len]); // without gaps
            check_sizes([len, count, count + 3, len + 1]);
        }
    }

    #[test]
    fn nothing_is_written_where_there_are_no_lines() {
        let (from, mut to) = ([1.0_f32; 16], [0.0_f32; 16]);
        // SAFETY: no lines lie within any memory, and a local array is other memory.
        unsafe { transpose(from.as_ptr(), 4, [0, 4], to.as_mut_ptr(), 0) };
        assert_eq!(to, [0.0; 16]);
    }
}
