//! Rows whose elements are copied from the last to the first, in vectors whose order is reversed.
#![expect(unsafe_code, reason = "reads and writes elements through pointers")]

use super::on_vectors;
use crate::inlined::from_fn;

/// Rows of elements of `size` bytes, to be copied back to front: the address of the first row's last element, that of
/// its place in the result, and for both the distance in bytes to the next row.
///
/// Invariant: `len` elements up to the source's address can be read, as many written from the target's on, and likewise
/// for all `count` rows; nothing else uses them while this lives, and the two share no memory.
#[derive(Clone, Copy)]
struct Rows {
    from: (*const u8, isize),
    to: (*mut u8, isize),
    count: usize,
    len: usize,
    size: usize,
}

/// Copies `count` rows of `len` elements of `size` bytes, each from its last element to its first. The source is the
/// address of the first row's last element; each row is at a distance in bytes from the one before, in both.
///
/// # Safety
/// - `len` elements up to the source's address can be read, and as many written from the target's on, and likewise for
///   the other rows.
/// - Nothing else uses them during the call, and the two share no memory.
/// - `size` is 1, 2, 4, 8 or 16; elements need not be aligned.
pub(super) unsafe fn reverse_rows(
    size: usize,
    from: (*const u8, isize),
    to: (*mut u8, isize),
    count: usize,
    len: usize,
) {
    reverse(Rows { from, to, count, len, size });
}

on_vectors! {
    /// Copies the rows, in blocks of one vector.
    fn reverse(rows: Rows) {
        match rows.size {
            1 => rows.in_blocks::<u8, 32>(),
            2 => rows.in_blocks::<u16, 16>(),
            4 => rows.in_blocks::<u32, 8>(),
            8 => rows.in_blocks::<u64, 4>(),
            _ => rows.in_blocks::<u128, 2>(),
        }
    }
}

impl Rows {
    /// Copies the rows in blocks of `N` elements, of which the last overlaps the one before.
    #[inline(always)]
    fn in_blocks<T: Copy, const N: usize>(self) {
        let ((from, step), (to, out_step)) = (self.from, self.to);
        for row in 0..self.count as isize {
            let from = from.wrapping_offset(row * step).cast::<T>();
            let to = to.wrapping_offset(row * out_step).cast::<T>();
            if self.len < N {
                for i in 0..self.len {
                    // SAFETY: `i` is below `len`, for which the invariant vouches in both; neither need be aligned.
                    unsafe { to.add(i).write_unaligned(from.sub(i).read_unaligned()) };
                }
                continue;
            }
            let last = self.len - N;
            for i in (0..last).step_by(N).chain([last]) {
                // SAFETY: `i + N` is at most `len`, for which the invariant vouches in both; neither need be aligned.
                unsafe {
                    let block = from.sub(i + N - 1).cast::<[T; N]>().read_unaligned();
                    to.add(i).cast::<[T; N]>().write_unaligned(from_fn(|n| block[N - 1 - n]));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::reverse_rows;

    fn check<T: Copy + Default + PartialEq + std::fmt::Debug>(number: impl Fn(usize) -> T) {
        let from: Vec<T> = (0..700).map(number).collect();
        for (len, count) in (0..70).flat_map(|len| [0, 1, 3].map(|count| (len, count))) {
            for (gap, out_gap) in [(0, 0), (3, 1)] {
                let (mut to, size) = (vec![T::default(); count * (len + out_gap)], size_of::<T>());
                let step = ((len + gap) * size) as isize;
                // SAFETY: `count` rows are within both, two vectors; the first one of the source ends with its
                // element `len - 1`.
                unsafe {
                    let from = (from.as_ptr().wrapping_add(len).wrapping_sub(1).cast(), step);
                    let to = (to.as_mut_ptr().cast(), ((len + out_gap) * size) as isize);
                    reverse_rows(size, from, to, count, len);
                }
                for (row, to) in to.chunks((len + out_gap).max(1)).enumerate() {
                    let start = row * (len + gap);
                    let expected: Vec<T> = from[start..start + len].iter().rev().copied().collect();
                    assert_eq!(to[..len], expected, "row {row} of {len}");
                    assert!(
                        to[len..].iter().all(|x| *x == T::default()),
                        "the gap behind row {row} of {len}"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_of_every_length_are_reversed() {
        check(|i| i as u8);
        check(|i| i as u16);
        check(|i| i as u32);
        check(|i| i as u64);
        check(|i| i as u128);
    }
}
