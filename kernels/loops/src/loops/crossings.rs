//! Reading and writing the elements at the Cartesian product of index lists, one list for each dimension.
//!
//! Operators that select in each dimension independently are of this kind: `x[rows, columns]` as a block, flipping,
//! reflection and replication padding, resizing to the nearest pixel.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that lists keep in bounds")]

use std::ops::Range;

use torch_library::{DType, Element, Leased, Result, Tensor, ensure};

use super::bytes::copy_row;
use super::planes::normalise;
use super::{convert, parallel};
use crate::inlined::zip;

/// From this many contiguous elements on, they are a row of their own.
const LONG: usize = 64;

/// Rows of fewer crossings are read column by column: starting a loop takes longer than going through a few elements.
const SHORT: usize = 16;

/// The number of short rows that are read together: they stay in the L1 cache, even if each has a cache line of its
/// own.
const TOGETHER: usize = 128;

/// The selection along one dimension.
pub enum Along {
    /// All indices in order, `stride` elements apart.
    Whole { size: i64, stride: i64 },
    /// For each selected index, its offset in elements from index 0.
    List(Vec<isize>),
}

/// The selected elements: their offsets are the sums of one number from each list, the last list varying fastest, and
/// at each such offset lie `unit` contiguous elements.
pub struct Crossings {
    /// Offsets for each dimension, outermost first; there is at least one list.
    lists: Vec<Vec<isize>>,
    /// The number of contiguous elements at each crossing.
    unit: usize,
}

impl Crossings {
    /// The product of the selections along all dimensions, outermost first. Innermost dimensions that are whole and
    /// contiguous become the unit.
    ///
    /// # Errors
    /// No memory for a list: a dimension of an expanded tensor may be longer than any.
    pub fn new(mut dims: Vec<Along>) -> Result<Self> {
        let mut unit = 1;
        while let Some(Along::Whole { size, stride }) = dims.last() {
            if *size != 1 && *stride != unit as i64 {
                break;
            }
            unit *= *size as usize;
            dims.pop();
        }
        let list = |along| match along {
            Along::Whole { size, stride } => {
                let mut list = Vec::new();
                let is_there = usize::try_from(size).is_ok_and(|size| list.try_reserve_exact(size).is_ok());
                ensure!(is_there, OutOfMemory, "cannot allocate memory for a list of {size} positions");
                list.extend((0..size).map(|index| (index * stride) as isize));
                Ok(list)
            }
            Along::List(list) => Ok(list),
        };
        let mut lists = dims.into_iter().map(list).collect::<Result<Vec<Vec<isize>>>>()?;
        while let [.., wider, row] = &lists[..]
            && wider.len() * row.len() < SHORT
        {
            let joined = wider.iter().flat_map(|base| row.iter().map(move |offset| base + offset)).collect();
            lists.truncate(lists.len() - 2);
            lists.push(joined);
        }
        if unit >= LONG || lists.is_empty() {
            lists.push(vec![0]);
        }
        Ok(Crossings { lists, unit })
    }

    /// Copies the selected elements, in this order, to a contiguous tensor of the same type.
    ///
    /// # Safety
    /// - Under the first lease, all crossings, counted from the source's first element, are elements of the source.
    /// - Under the second lease, `out` has as many elements of the same type, contiguous from its first element on.
    /// - The two share no memory.
    ///
    /// # Errors
    /// Memory that the host cannot access.
    pub unsafe fn read(
        &self,
        (source, reading): (&Tensor, &impl Leased),
        (out, writing): (&Tensor, &impl Leased),
    ) -> Result<()> {
        let (from, out, dtype) = (source.address(reading)?, out.address_mut(writing)?, source.dtype());
        let read = match dtype.size() {
            1 => Self::read_sized::<u8>,
            2 => Self::read_sized::<u16>,
            4 => Self::read_sized::<u32>,
            8 => Self::read_sized::<u64>,
            _ => Self::read_sized::<u128>,
        };
        // SAFETY: the caller vouches for the crossings and for as many places in `out`, in other memory; both are of
        // the source's type, so of this size, and the leases keep others from writing to the source and from using
        // `out`.
        unsafe { read(self, from, out, dtype == DType::Bool) };
        Ok(())
    }

    /// # Safety
    /// - All crossings from `source` on are elements of the size of `T`, initialised, and nothing writes to them during
    ///   the call.
    /// - As many can be written from `out` on, in other memory, which nothing else uses during the call.
    /// - Any bits are a value of `T`, which is a byte if `is_bool`.
    unsafe fn read_sized<T: Copy>(&self, source: *const u8, out: *mut u8, is_bool: bool) {
        let memory = Memory { source: source.cast::<T>(), out: out.cast::<T>() };
        let row = self.row();
        let most = (parallel::GRAIN / self.unit).max(1);
        let pieces: Vec<Piece> = row.chunks(most).map(|list| Piece::of(list, self.unit)).collect();
        let count = row.len() * self.unit;
        let grain = (parallel::GRAIN / count.clamp(1, most * self.unit)).max(1);
        if let ([Piece::Runs(runs)], false) = (pieces.as_slice(), is_bool)
            && let [Run { start, is_back: false, .. }] = runs[..]
        {
            // Whole rows, such as those of an embedding.
            return parallel::shares(self.rows(), grain, |rows| {
                self.each_row(rows, |row, base| {
                    let (from, to) = memory.at(base + start, row * count);
                    // SAFETY: the row is one of `rows()`, and the run is all of it: crossings that the caller vouches
                    // for, with as many places in `out`, in other memory. No other thread gets this row.
                    unsafe { copy(from, to, count) };
                });
            });
        }
        if row.len() < SHORT {
            return parallel::shares(self.rows(), grain, |rows| {
                self.each_run(rows, |row, base, starts| {
                    for (n, starts) in starts.chunks(TOGETHER).enumerate() {
                        let (from, to) = memory.at(base, (row + n * TOGETHER) * count);
                        // SAFETY: these are rows of `rows()`, whose crossings the caller vouches for, with as many
                        // places in `out`, in other memory. No other thread gets them.
                        unsafe { self.read_columns(from, starts, to, is_bool) };
                    }
                });
            });
        }
        parallel::shares(self.rows() * pieces.len(), grain, |items| {
            let rows = items.start / pieces.len()..items.end.div_ceil(pieces.len());
            let mut before = None;
            self.each_row(rows, |row, base| {
                let (from, to) = memory.at(base, row * count);
                if pieces.len() == 1 && before == Some(base) {
                    // SAFETY: the row before is this thread's too, as there is one piece to each, and has been written;
                    // this row's places follow it.
                    return unsafe { copy(to.sub(count), to, count) };
                }
                before = Some(base);
                for (n, piece) in pieces.iter().enumerate() {
                    if items.contains(&(row * pieces.len() + n)) {
                        // SAFETY: the piece is a part of the row's list: crossings that the caller vouches for, with as
                        // many places in `out`, in other memory. No other thread gets this item.
                        unsafe { piece.read(from, to.add(n * most * self.unit), is_bool) };
                    }
                }
            });
        });
    }

    /// Reads short rows: the first crossing of each, then the second, and so on.
    ///
    /// # Safety
    /// - All crossings of the rows that start at `starts` from `source` are elements of the size of `T`, initialised,
    ///   and nothing writes to them during the call.
    /// - As many can be written from `out` on, in other memory, which nothing else uses during the call.
    /// - Any bits are a value of `T`, which is a byte if `is_bool`; elements need not be aligned like it.
    unsafe fn read_columns<T: Copy>(&self, source: *const T, starts: &[isize], out: *mut T, is_bool: bool) {
        let (row, unit) = (self.row(), self.unit);
        let count = row.len() * unit;
        for (column, offset) in row.iter().enumerate() {
            let (from, to) = (source.wrapping_offset(*offset), out.wrapping_add(column * unit));
            for (n, start) in starts.iter().enumerate() {
                let (from, to) = (from.wrapping_offset(*start), to.wrapping_add(n * count));
                // SAFETY: the crossing of a row and a column, for which the caller vouches: `unit` elements, with as
                // many places in `out` for each.
                unsafe {
                    match unit {
                        1 => to.write_unaligned(from.read_unaligned()),
                        _ => copy(from, to, unit),
                    }
                }
            }
        }
        if is_bool {
            // SAFETY: these bytes were just written; the caller vouches that nothing else uses them.
            normalise(unsafe { std::slice::from_raw_parts_mut(out.cast(), starts.len() * count) });
        }
    }

    /// Replaces each selected element `x`, one after the other, by `f(x, value)`, where `value` is the next element of
    /// `values`, or always its only one.
    ///
    /// # Safety
    /// - Under the lease, which is for both tensors, all crossings, counted from the target's first element, are
    ///   elements of the target.
    /// - `values` has as many contiguous elements, or the only one if `is_single`.
    /// - None of these elements shares memory with the target.
    ///
    /// # Errors
    /// Memory that the host cannot access, elements of another type.
    pub unsafe fn write<T: Element>(
        &self,
        target: &Tensor,
        values: &Tensor,
        lease: &impl Leased,
        is_single: bool,
        f: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let (target, mut value, unit) =
            (target.data_ptr_mut::<T>(lease)?, values.data_ptr::<T>(lease)?, self.unit);
        self.each_row(0..self.rows(), |_, base| {
            let mut next = value; // a copy, since one behind a reference would be read again after each write
            for offset in self.row() {
                let to = target.wrapping_offset(base + offset);
                if !is_single && unit > 1 && T::DTYPE != DType::Bool {
                    // SAFETY: the caller vouches for `unit` contiguous elements in both, which share no memory; they
                    // are aligned `T`, and not booleans. Under the lease this thread alone uses them, and `f` gets
                    // copies.
                    let pair = unsafe {
                        (std::slice::from_raw_parts_mut(to, unit), std::slice::from_raw_parts(next, unit))
                    };
                    for (to, from) in zip(pair.0, pair.1) {
                        *to = f(*to, *from);
                    }
                } else {
                    for n in 0..unit {
                        let from = next.wrapping_add(if is_single { 0 } else { n });
                        // SAFETY: the caller vouches for these elements in both; they are aligned, `read` takes any
                        // byte for a boolean, and under the lease this thread alone uses them.
                        unsafe { to.add(n).write(f(convert::read(to.add(n)), convert::read(from))) };
                    }
                }
                next = next.wrapping_add(if is_single { 0 } else { unit });
            }
            value = next;
        });
        Ok(())
    }

    fn row(&self) -> &[isize] {
        &self.lists[self.lists.len() - 1]
    }

    /// The number of rows: the combinations of all lists but the last.
    fn rows(&self) -> usize {
        self.lists[..self.lists.len() - 1].iter().map(Vec::len).product::<usize>()
    }

    /// Calls a function with the number of each row and the offset at which it starts.
    fn each_row(&self, rows: Range<usize>, mut f: impl FnMut(usize, isize)) {
        self.each_run(rows, |first, base, starts| {
            starts.iter().enumerate().for_each(|(n, start)| f(first + n, base + start));
        });
    }

    /// Calls a function with rows that differ only in the last list but one: the number of the first row, an offset of
    /// all, and where each starts from there.
    fn each_run(&self, rows: Range<usize>, mut f: impl FnMut(usize, isize, &[isize])) {
        let Some((last, wider)) = self.lists[..self.lists.len() - 1].split_last() else {
            return rows.for_each(|row| f(row, 0, &[0]));
        };
        let mut row = rows.start;
        while row < rows.end {
            let (mut rest, within) = (row / last.len(), row % last.len());
            let part = |list: &Vec<isize>| {
                let offset = list[rest % list.len()];
                rest /= list.len();
                offset
            };
            let base: isize = wider.iter().rev().map(part).sum();
            let starts = &last[within..last.len().min(within + rows.end - row)];
            f(row, base, starts);
            row += starts.len();
        }
    }
}

/// Addresses that threads share.
struct Memory<T> {
    source: *const T,
    out: *mut T,
}

// SAFETY: the addresses are dereferenced only in `read_sized`, which gives each item to one thread.
unsafe impl<T> Sync for Memory<T> {}

impl<T> Memory<T> {
    fn at(&self, source: isize, out: usize) -> (*const T, *mut T) {
        (self.source.wrapping_offset(source), self.out.wrapping_add(out))
    }
}

/// How a part of each row is read: crossing by crossing, or in runs.
enum Piece<'a> {
    Each { list: &'a [isize], unit: usize },
    Runs(Vec<Run>),
}

/// Contiguous elements, in order or reversed.
#[derive(Clone, Copy)]
struct Run {
    start: isize,
    len: usize,
    is_back: bool,
}

impl<'a> Piece<'a> {
    /// Splits a list into runs, unless there would be so many that reading crossing by crossing is as fast.
    fn of(list: &'a [isize], unit: usize) -> Self {
        let most = (list.len() / 4).max(4);
        let mut runs: Vec<Run> = Vec::new();
        let mut last = None;
        for offset in list {
            let step = last.map(|last| offset - last);
            last = Some(*offset);
            let is_enough = runs.len() == most;
            match runs.last_mut() {
                Some(run) if step == Some(unit as isize) && !run.is_back => run.len += unit,
                Some(run) if step == Some(-1) && unit == 1 && (run.is_back || run.len == 1) => {
                    run.is_back = true;
                    run.len += 1;
                }
                _ if is_enough => return Piece::Each { list, unit },
                _ => runs.push(Run { start: *offset, len: unit, is_back: false }),
            }
        }
        Piece::Runs(runs)
    }

    /// # Safety
    /// - Every number of the list is the offset from `source` of an element (for runs, their other elements exist too),
    ///   and nothing writes to these during the call.
    /// - As many can be written from `out` on, in other memory, which nothing else uses.
    /// - Any bits are a value of `T`, which is a byte if `is_bool`; elements need not be aligned like it.
    unsafe fn read<T: Copy>(&self, source: *const T, out: *mut T, is_bool: bool) {
        let mut to = out;
        match self {
            Piece::Each { list, unit } if *unit > 1 => {
                for offset in *list {
                    // SAFETY: the caller vouches for `unit` elements there, and for as many places in `out` for each
                    // offset of the list, in other memory; bytes have no alignment.
                    unsafe { copy(source.offset(*offset), to, *unit) };
                    to = to.wrapping_add(*unit);
                }
            }
            Piece::Each { list, .. } => {
                for offset in *list {
                    // SAFETY: the caller vouches for an element there, and for as many places in `out` as the list
                    // is long; neither need be aligned.
                    unsafe { to.write_unaligned(source.offset(*offset).read_unaligned()) };
                    to = to.wrapping_add(1);
                }
            }
            Piece::Runs(runs) => {
                for run in runs {
                    // SAFETY: the run is a part of the list, and follows the runs before: the caller vouches for
                    // its elements and for places for them.
                    unsafe { run.read(source.offset(run.start), to) };
                    to = to.wrapping_add(run.len);
                }
            }
        }
        if is_bool {
            // SAFETY: all bytes from `out` to `to` were just written; the caller vouches that nothing else uses them.
            let bytes = unsafe {
                std::slice::from_raw_parts_mut(
                    out.cast::<u8>(),
                    to.cast::<u8>().offset_from(out.cast()) as usize,
                )
            };
            normalise(bytes); // memory from outside may hold other bytes
        }
    }
}

impl Run {
    /// # Safety
    /// - `from` is the first element of the run, and the others follow it in memory, or precede it if the run is
    ///   reversed; nothing writes to them during the call.
    /// - As many elements can be written from `to` on, in other memory, which nothing else uses.
    /// - Any bits are a value of `T`; elements need not be aligned like it.
    #[inline(always)]
    unsafe fn read<T: Copy>(self, from: *const T, to: *mut T) {
        if self.is_back {
            for i in 0..self.len {
                // SAFETY: `i` is below `self.len`, and the caller vouches for as many elements before `from` and
                // places after `to`, aligned or not.
                unsafe { to.add(i).write_unaligned(from.sub(i).read_unaligned()) };
            }
        } else if self.len == 1 {
            // SAFETY: the caller vouches for the only element of the run and for a place for it, aligned or not.
            unsafe { to.write_unaligned(from.read_unaligned()) };
        } else {
            // SAFETY: the caller vouches for `self.len` elements from `from` on, and for as many places from `to`
            // on, in other memory.
            unsafe { copy(from, to, self.len) };
        }
    }
}

/// Copies elements that need not be aligned like `T`.
///
/// # Safety
/// - `len` elements can be read from `from` on, and nothing writes to them during the call.
/// - `len` elements can be written from `to` on, in other memory, which nothing else uses.
/// - They need not be aligned like `T`.
#[inline(always)]
unsafe fn copy<T>(from: *const T, to: *mut T, len: usize) {
    // SAFETY: the caller vouches for `len` elements in both, which are disjoint; bytes have no alignment.
    unsafe { copy_row(from.cast(), to.cast(), len * size_of::<T>()) };
}

#[cfg(test)]
mod tests {
    use torch_library::{Device, Lease, Tensor};

    use super::{Along, Crossings, TOGETHER};

    /// Selections of all sizes below and above short rows, of single columns and of several next to each other, for
    /// more rows than are read together.
    #[test]
    fn columns_of_many_rows_are_read() {
        for (rows, inner) in [(1, 1), (3, 1), (2 * TOGETHER + 5, 1), (2 * TOGETHER + 5, 3)] {
            let width = 6;
            let elements: Vec<u8> = (0..rows * width * inner).map(|i| (i % 251) as u8).collect();
            let x = Tensor::from_slice(&elements, &[(rows * width * inner) as i64]).unwrap();
            for count in [0, 1, 2, 7, 15, 16, 17, 40] {
                let places: Vec<usize> = (0..count).map(|i| (i * 5 + 4) % width).collect();
                let dims = vec![
                    Along::Whole { size: rows as i64, stride: (width * inner) as i64 },
                    Along::List(places.iter().map(|place| (place * inner) as isize).collect()),
                    Along::Whole { size: inner as i64, stride: 1 },
                ];
                let expected: Vec<u8> = (0..rows)
                    .flat_map(|row| places.iter().map(move |place| (row * width + place) * inner))
                    .flat_map(|start| elements[start..start + inner].to_vec())
                    .collect();
                let out = Tensor::empty(&[expected.len() as i64], x.dtype(), Device::CPU).unwrap();
                let lease = Lease::new([&out], [&x]).unwrap();
                if count > 0 {
                    // SAFETY: the crossings are elements of `x` by their places, and `out`, other memory, has as many.
                    unsafe { Crossings::new(dims).unwrap().read((&x, &lease), (&out, &lease)).unwrap() };
                }
                drop(lease);
                assert_eq!(out.to_vec::<u8>().unwrap(), expected, "{count} of {rows} rows");
            }
        }
    }
}
