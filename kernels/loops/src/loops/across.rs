//! Computing several rows at a time where an input is transposed.
//!
//! A row of a transposed tensor takes one element from each of many cache lines, and the next row takes the next
//! element of each. So chunks of `ROWS` rows are read together: whole cache lines, transposed into chunks of rows in
//! small square blocks that stay in registers.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that a walk keeps in bounds")]

use std::mem::MaybeUninit;
use std::ops::Range;

use smallvec::SmallVec;

use super::transpose::transpose_sized;
use super::walk::{Row, Walk};
use super::{Buffer, CHUNK, Input, Operands};
use crate::inlined::from_fn;

/// Rows of fewer elements are not worth it: loops along the next dimension take less time.
pub(super) const FEWEST: usize = 12;

/// The smallest number of elements for which this pays off: fewer stay in the L1 cache in any order.
pub(super) const WORTHWHILE: usize = 1024;

/// The number of rows that are computed together: a cache line of 4-byte elements.
const ROWS: usize = 16;

/// The distance in elements between the chunks of rows in a transposed tile: a little more than their length, since
/// addresses that are a power of two apart compete for the same cache sets.
const PITCH: usize = CHUNK + 8;

/// Chunks of several rows, transposed.
type Tile = Vec<MaybeUninit<u128>>;

impl<const N: usize> Operands<'_, N> {
    /// Computes the rows of a range.
    ///
    /// # Safety
    /// - For each row of the walk in this range, what [`row`](Self::row) requires: elements in bounds, used by nothing
    ///   else, each input the result itself or disjoint from it.
    pub(super) unsafe fn rows_across(&self, walk: &Walk<N>, range: Range<usize>) {
        let mut tiles: [Tile; N] = from_fn(|_| Vec::new());
        let mut rows: SmallVec<[Row<N>; ROWS]> = SmallVec::new();
        walk.rows(range, |row| {
            // A row that does not continue the others (of another length, or in another plane) is not transposed
            // together with them.
            if rows.len() >= ROWS || rows.last().is_some_and(|last| !last.is_followed_by(&row)) {
                // SAFETY: the rows are some of those that the caller vouches for; `is_followed_by` has found each
                // to have the length of the one before.
                unsafe { self.together(&rows, &mut tiles) };
                rows.clear();
            }
            rows.push(row);
        });
        // SAFETY: the rows are some of those that the caller vouches for; `is_followed_by` has found each to have
        // the length of the one before.
        unsafe { self.together(&rows, &mut tiles) };
    }

    /// Computes rows of equal length that are equally far apart.
    ///
    /// # Safety
    /// - For each of the rows, what [`row`](Self::row) requires: elements in bounds, used by nothing else, each input
    ///   the result itself or disjoint from it.
    /// - All rows have the same length.
    unsafe fn together(&self, rows: &[Row<N>], tiles: &mut [Tile; N]) {
        let Some(first) = rows.first() else { return };
        let mut buffers = [Buffer::EMPTY; N];
        let is_turned: [bool; N] = from_fn(|k| self.inputs[k].is_turned(k, rows));
        if rows.len() * first.len <= CHUNK && adjoin(rows, &is_turned) {
            // SAFETY: as the caller vouches for the rows, which `adjoin` has found to be one row of all their elements,
            // except in the inputs that are transposed.
            return unsafe { self.joined(rows, tiles, &is_turned) };
        }
        let mut start = 0;
        while start < first.len {
            let len = CHUNK.min(first.len - start);
            for k in (0..N).filter(|k| is_turned[*k]) {
                let (input, stride) = (&self.inputs[k], first.input_strides[k]);
                tiles[k].reserve((rows.len() * PITCH * input.size).div_ceil(size_of::<u128>())); // once
                let (place, tile) = (first.inputs[k] + start as isize * stride, tiles[k].as_mut_ptr().cast());
                // SAFETY: `start..start + len` is part of each row, which the caller vouches for; by `is_turned` each
                // row's elements lie next to those of the row before. The tile is this thread's, and now has room for
                // `rows.len()` chunks of `PITCH` elements, and `len` is less than that.
                unsafe { input.turn(place, stride, [len, rows.len()], tile, PITCH) };
            }
            for (n, row) in rows.iter().enumerate() {
                let inputs = from_fn(|k| match is_turned[k] {
                    true => tiles[k].as_ptr().cast::<u8>().wrapping_add(n * PITCH * self.inputs[k].size),
                    // SAFETY: in bounds, as the chunk is part of the row, which the caller vouches for, with nothing
                    // else writing to it; a chunk of the function's type fits a buffer.
                    false => unsafe { self.inputs[k].part(row, k, start, len, &mut buffers[k]) },
                });
                // SAFETY: `start..start + len` is part of the row that the caller vouches for; `len` elements of
                // the function's type are in the tile (plain ones, by `is_turned`) or where `part` says, and `len`
                // is at most `CHUNK`, which a buffer always has room for.
                unsafe { self.finish(row, start, len, inputs) };
            }
            start += len;
        }
    }

    /// Computes short rows as if they were one: starting a loop takes longer than going through a few elements.
    ///
    /// # Safety
    /// - For each of the rows, what [`row`](Self::row) requires: elements in bounds, used by nothing else, each input
    ///   the result itself or disjoint from it.
    /// - All rows have the same length, and altogether at most `CHUNK` elements.
    /// - They [`adjoin`], and `is_turned` marks the inputs that are [transposed](Input::is_turned).
    unsafe fn joined(&self, rows: &[Row<N>], tiles: &mut [Tile; N], is_turned: &[bool; N]) {
        let (first, len) = (&rows[0], rows[0].len);
        let count = rows.len() * len;
        let mut buffers = [Buffer::EMPTY; N];
        let inputs = from_fn(|k| {
            if !is_turned[k] {
                // SAFETY: the rows adjoin, so these are their elements, which the caller vouches for; `count` elements
                // of the function's type fit a buffer.
                return unsafe { self.inputs[k].part(first, k, 0, count, &mut buffers[k]) };
            }
            tiles[k].reserve((count * self.inputs[k].size).div_ceil(size_of::<u128>()));
            let tile: *mut u8 = tiles[k].as_mut_ptr().cast();
            // SAFETY: the caller vouches for the elements of the rows, which lie next to those of the row before. The
            // tile is this thread's, and now has room for all of them.
            unsafe {
                self.inputs[k].turn(first.inputs[k], first.input_strides[k], [len, rows.len()], tile, len);
            }
            tile.cast_const()
        });
        // SAFETY: the rows adjoin in `out`, too, so these are `count` elements that the caller vouches for; as many are
        // in the tile or where `part` says, and `count` is at most `CHUNK`, which a buffer always has room for.
        unsafe { self.finish(first, 0, count, inputs) };
    }
}

/// Whether each row starts where the one before ends, in the result and in each input that is not transposed.
fn adjoin<const N: usize>(rows: &[Row<N>], is_turned: &[bool; N]) -> bool {
    let len = rows[0].len as isize;
    let are_dense = rows[0].out_stride == 1 && (0..N).all(|k| is_turned[k] || rows[0].input_strides[k] == 1);
    are_dense
        && rows.windows(2).all(|pair| {
            pair[1].out == pair[0].out + len
                && (0..N).all(|k| is_turned[k] || pair[1].inputs[k] == pair[0].inputs[k] + len)
        })
}

impl<const N: usize> Operands<'_, N> {
    /// Whether the loop only copies elements, without a conversion.
    pub(super) fn is_copy(&self) -> bool {
        self.inner.compiled.is_identity && self.is_plain && self.inputs[0].is_plain
    }
}

impl<const N: usize> Row<N> {
    /// Whether `next` has the same length and comes one element after this row in an input that is transposed.
    fn is_followed_by(&self, next: &Self) -> bool {
        self.len == next.len
            && (0..N).any(|k| self.input_strides[k] > 1 && next.inputs[k] == self.inputs[k] + 1)
    }
}

impl Input {
    /// Whether this operand needs no conversion and is transposed: its neighbours in memory belong to neighbouring
    /// rows.
    fn is_turned<const N: usize>(&self, k: usize, rows: &[Row<N>]) -> bool {
        let is_next = |pair: &[Row<N>]| pair[1].inputs[k] == pair[0].inputs[k] + 1;
        self.is_plain && rows[0].input_strides[k] > 1 && rows.len() > 1 && rows.windows(2).all(is_next)
    }

    /// Like [`chunk`](Self::chunk), where the previous call may have been for another row.
    ///
    /// # Safety
    /// - The elements of the chunk lie in bounds, and are initialised.
    /// - Nothing writes to them during the call.
    /// - `len` elements of the function's type fit the buffer.
    unsafe fn part<const N: usize>(
        &self,
        row: &Row<N>,
        k: usize,
        start: usize,
        len: usize,
        buffer: &mut Buffer,
    ) -> *const u8 {
        let stride = row.input_strides[k];
        // SAFETY: these are elements `0..len` of the row that starts `start` later; the caller vouches for their
        // bounds, that nothing writes to them, and for the buffer's room.
        unsafe { self.chunk(row.inputs[k] + start as isize * stride, stride, 0, len, buffer) }
    }

    /// Transposes elements `start..start + len` of `count` rows into a tile, each row `pitch` elements after the one
    /// before.
    ///
    /// # Safety
    /// - `len` lines of `count` neighbours, `stride` apart, lie in bounds from `place` on, and are initialised.
    /// - Nothing writes to them during the call.
    /// - `count` lines of `len` elements, `pitch` apart, can be written from `to` on, in other memory, which nothing
    ///   else uses.
    unsafe fn turn(&self, place: isize, stride: isize, [len, count]: [usize; 2], to: *mut u8, pitch: usize) {
        // SAFETY: the caller vouches for an element at `place`.
        let data = unsafe { self.data.offset(place * self.size as isize) };
        // SAFETY: the caller vouches for `len` lines of `count` elements of this size, and for room for `count` of
        // `len` elsewhere.
        unsafe { transpose_sized(self.size, data, stride, [len, count], to, pitch) };
    }
}

#[cfg(test)]
mod tests {
    use torch_library::{Element, Tensor};

    use crate::loops::{assign, map};

    /// Copies the `[planes, rows, columns]` elements of a transposed view that starts at `offset`, with gaps between
    /// its lines, and without.
    fn check<T: Element + PartialEq + std::fmt::Debug>(planes: i64, rows: i64, columns: i64, offset: i64) {
        check_pitch::<T>([planes, rows, columns], offset, rows);
        check_pitch::<T>([planes, rows, columns], offset, rows + 3);
    }

    fn check_pitch<T: Element + PartialEq + std::fmt::Debug>(
        [planes, rows, columns]: [i64; 3],
        offset: i64,
        pitch: i64,
    ) {
        let count = planes * columns * pitch + offset;
        let elements = (0..count).map(|i| i.cast::<T>()).collect();
        let memory = Tensor::from_vec::<T>(elements, &[count]).unwrap();
        let strides = [columns * pitch, 1, pitch];
        let view = memory.strided_view(&[planes, rows, columns], &strides, offset).unwrap();
        let out = Tensor::empty(view.sizes(), T::DTYPE, view.device()).unwrap();
        map(&out, [&view], |[x]: [T; 1]| x).unwrap();
        // Plain copies, into dense memory and into every second element.
        let copy = Tensor::empty(view.sizes(), T::DTYPE, view.device()).unwrap();
        assign(&copy, &view).unwrap();
        let sparse = Tensor::empty(&[planes, rows, columns, 2], T::DTYPE, view.device()).unwrap();
        let strides = [rows * columns * 2, columns * 2, 2];
        let sparse = sparse.strided_view(view.sizes(), &strides, 1).unwrap();
        assign(&sparse, &view).unwrap();
        let got = out.to_vec::<T>().unwrap();
        assert_eq!(copy.to_vec::<T>().unwrap(), got);
        assert_eq!(sparse.to_vec::<T>().unwrap(), got);
        let strides = view.strides();
        for (i, got) in got.into_iter().enumerate() {
            let i = i as i64;
            let (plane, row, column) = (i / (rows * columns), i / columns % rows, i % columns);
            let place = offset + plane * strides[0] + row + column * pitch;
            assert_eq!(got, place.cast::<T>(), "[{plane}, {row}, {column}] of {rows} × {columns}");
        }
    }

    #[test]
    fn transposed_elements_of_every_size_arrive_where_they_belong() {
        for (rows, columns) in [
            (32, 33),
            (40, 300),
            (17, 263),
            (1, 2000),
            (2, 1024),
            (700, 9),
            (3, 515),
            (4, 700),
            (300, 21),
            (1000, 2),
            (515, 3),
            (300, 4),
        ] {
            check::<u8>(2, rows, columns, 1);
            check::<i16>(3, rows, columns, 0);
            check::<f32>(2, rows, columns, 5);
            check::<i64>(1, rows, columns, 3);
            check::<num_complex::Complex<f32>>(2, rows, columns, 1);
            check::<num_complex::Complex<f64>>(2, rows, columns, 1);
        }
    }

    #[test]
    fn a_sum_with_its_own_transpose_can_be_taken_in_place() {
        let n = 77;
        let x = Tensor::from_vec((0..n * n).map(|i| i as f32).collect(), &[n, n]).unwrap();
        let other = Tensor::from_vec((0..n * n).map(|i| (3 * i) as f32).collect(), &[n, n]).unwrap();
        let transposed = other.strided_view(&[n, n], &[1, n], 0).unwrap();
        map(&x, [&x, &transposed], |[a, b]: [f32; 2]| a + b).unwrap();
        for (i, sum) in x.to_vec::<f32>().unwrap().into_iter().enumerate() {
            let i = i as i64;
            assert_eq!(sum, (i + 3 * (i % n * n + i / n)) as f32);
        }
    }

    #[test]
    fn sums_of_two_memory_formats_are_those_of_their_elements() {
        for (batch, channels, pixels) in [(1, 5, 300), (3, 16, 257), (2, 3, 400), (2, 17, 64), (1, 31, 77)] {
            let numbers = |factor: i64| (0..batch * channels * pixels).map(|i| (factor * i) as f32).collect();
            let sizes = [batch, channels, pixels];
            let row_major = Tensor::from_vec(numbers(3), &sizes).unwrap();
            let laid = [channels * pixels, 1, channels];
            let channels_last =
                || Tensor::from_vec(numbers(1), &sizes).unwrap().strided_view(&sizes, &laid, 0).unwrap();
            let (x, out) = (channels_last(), channels_last());
            map(&out, [&x, &row_major], |[a, b]: [f32; 2]| a + b).unwrap();
            let want: Vec<f32> = std::iter::zip(&x.to_vec().unwrap(), &row_major.to_vec().unwrap())
                .map(|(a, b): (&f32, &f32)| a + b)
                .collect();
            assert_eq!(out.to_vec::<f32>().unwrap(), want, "{sizes:?}");
        }
    }
}
