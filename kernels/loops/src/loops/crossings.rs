//! Elements at the crossings of lists: each dimension says on its own where its indices lead.
//!
//! What picks whole slices is of this kind: `x[rows, columns]`, flipping, padding by what is there, resizing to the
//! nearest.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that lists keep in bounds")]

use std::ops::Range;

use torch_library::{DType, Element, Leased, Result, Tensor};

use super::{convert, parallel};
use crate::inlined::zip;

/// How many elements side by side are a row of their own.
const LONG: usize = 64;

/// One dimension of what is picked.
pub enum Along {
    /// All indices in order, so many elements apart.
    Whole { size: i64, stride: i64 },
    /// How many elements away from index 0 each index leads.
    List(Vec<isize>),
}

/// Where indices lead: to each sum of one number of each list, the last list's turn first, and from there to some
/// neighbours.
pub struct Crossings {
    /// There is at least one.
    lists: Vec<Vec<isize>>,
    /// How many elements lie side by side at each crossing.
    unit: usize,
}

impl Crossings {
    /// Of dimensions, outermost first. Those at the end that are whole and one line in memory are taken together.
    pub fn new(mut dims: Vec<Along>) -> Self {
        let mut unit = 1;
        while let Some(Along::Whole { size, stride }) = dims.last() {
            if *size != 1 && *stride != unit as i64 {
                break;
            }
            unit *= *size as usize;
            dims.pop();
        }
        let list = |along| match along {
            Along::Whole { size, stride } => (0..size).map(|index| (index * stride) as isize).collect(),
            Along::List(list) => list,
        };
        let mut lists: Vec<Vec<isize>> = dims.into_iter().map(list).collect();
        if unit >= LONG || lists.is_empty() {
            lists.push(vec![0]);
        }
        Crossings { lists, unit }
    }

    /// Writes the elements to a tensor of the same type, in which they lie side by side in this order.
    ///
    /// # Safety
    /// - Under the first lease, all crossings, from the source's first element on, are elements of it.
    /// - Under the second, as many of the same type lie side by side in `out`, from its first element on.
    /// - The two share no memory.
    ///
    /// # Errors
    /// Memory that the host does not reach.
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
        // SAFETY: the caller vouches for the crossings and for as many places in `out`, elsewhere; both are of the
        // source's type, so of this size, and the leases keep others from writing to the one, and from using the
        // other.
        unsafe { read(self, from, out, dtype == DType::Bool) };
        Ok(())
    }

    /// # Safety
    /// - All crossings from `source` on are elements of the size of `T`, initialised, and nobody writes to them
    ///   meanwhile.
    /// - As many can be written from `out` on, in other memory, which nobody else uses meanwhile.
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
                    // SAFETY: the row is one of `rows()`, and the run all of it: crossings that the caller vouches
                    // for, with as many places in `out`, elsewhere. No other thread gets this row.
                    unsafe { copy(from, to, count) };
                });
            });
        }
        parallel::shares(self.rows() * pieces.len(), grain, |items| {
            let rows = items.start / pieces.len()..items.end.div_ceil(pieces.len());
            let mut before = None;
            self.each_row(rows, |row, base| {
                let (from, to) = memory.at(base, row * count);
                if pieces.len() == 1 && before == Some(base) {
                    // SAFETY: the row before is one of this thread's too, as there is one piece to each, and has been
                    // written; this row's places follow it.
                    return unsafe { copy(to.sub(count), to, count) };
                }
                before = Some(base);
                for (n, piece) in pieces.iter().enumerate() {
                    if items.contains(&(row * pieces.len() + n)) {
                        // SAFETY: the piece is a part of the row's list: crossings that the caller vouches for,
                        // with as many places in `out`, elsewhere. No other thread gets this item.
                        unsafe { piece.read(from, to.add(n * most * self.unit), is_bool) };
                    }
                }
            });
        });
    }

    /// Replaces each element, one after the other, by what a function makes of it and of the next of other
    /// elements, or of a single one.
    ///
    /// # Safety
    /// - Under the lease, which is for both tensors, all crossings, from the target's first element on, are
    ///   elements of it.
    /// - `values` has as many, side by side, or that one if `is_single`.
    /// - None of them shares memory with the target.
    ///
    /// # Errors
    /// Memory that the host does not reach, elements of another type.
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
            let mut next = value; // one behind a reference would be read anew after each write
            for offset in self.row() {
                let to = target.wrapping_offset(base + offset);
                if !is_single && unit > 1 && T::DTYPE != DType::Bool {
                    // SAFETY: the caller vouches for `unit` elements side by side in both, which are apart; they
                    // are aligned `T`, and no booleans. Under the lease this thread alone uses them, and `f` gets
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

    /// How many rows there are.
    fn rows(&self) -> usize {
        self.lists[..self.lists.len() - 1].iter().map(Vec::len).product::<usize>()
    }

    /// Calls a function with the numbers of rows and where they start.
    fn each_row(&self, rows: Range<usize>, mut f: impl FnMut(usize, isize)) {
        let Some((last, wider)) = self.lists[..self.lists.len() - 1].split_last() else {
            return rows.for_each(|row| f(row, 0));
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
            for offset in &last[within..last.len().min(within + rows.end - row)] {
                f(row, base + offset);
                row += 1;
            }
        }
    }
}

/// Addresses that threads share.
struct Memory<T> {
    source: *const T,
    out: *mut T,
}

// SAFETY: the addresses are followed in `read_sized` only, which gives each item to one thread.
unsafe impl<T> Sync for Memory<T> {}

impl<T> Memory<T> {
    fn at(&self, source: isize, out: usize) -> (*const T, *mut T) {
        (self.source.wrapping_offset(source), self.out.wrapping_add(out))
    }
}

/// How a part of each row is read.
enum Piece<'a> {
    Each(&'a [isize]),
    Runs(Vec<Run>),
}

/// Neighbours, in order or back to front.
#[derive(Clone, Copy)]
struct Run {
    start: isize,
    len: usize,
    is_back: bool,
}

impl<'a> Piece<'a> {
    /// Runs, unless single elements are in so many of them that each is as soon read alone.
    fn of(list: &'a [isize], unit: usize) -> Self {
        let most = if unit == 1 { (list.len() / 4).max(4) } else { usize::MAX };
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
                _ if is_enough => return Piece::Each(list),
                _ => runs.push(Run { start: *offset, len: unit, is_back: false }),
            }
        }
        Piece::Runs(runs)
    }

    /// # Safety
    /// - Every number of the list leads from `source` to an element (for runs, to their neighbours too), and nobody
    ///   writes to these meanwhile.
    /// - As many can be written from `out` on, in other memory, which nobody else uses.
    /// - Any bits are a value of `T`, which is a byte if `is_bool`; elements need not be aligned like it.
    unsafe fn read<T: Copy>(&self, source: *const T, out: *mut T, is_bool: bool) {
        let mut to = out;
        match self {
            Piece::Each(list) => {
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
            // SAFETY: all bytes from `out` to `to` were just written; the caller vouches for nobody else using them.
            let bytes = unsafe {
                std::slice::from_raw_parts_mut(
                    out.cast::<u8>(),
                    to.cast::<u8>().offset_from(out.cast()) as usize,
                )
            };
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0)); // from outside, any other may be there
        }
    }
}

impl Run {
    /// # Safety
    /// - `from` is the first element of the run, the others are its neighbours after it, or before it if the run is
    ///   back to front; nobody writes to them meanwhile.
    /// - As many can be written from `to` on, in other memory, which nobody else uses.
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
/// - `len` elements can be read from `from` on, and nobody writes to them meanwhile.
/// - `len` elements can be written from `to` on, in other memory, which nobody else uses.
/// - They need not be aligned like `T`.
#[inline(always)]
unsafe fn copy<T>(from: *const T, to: *mut T, len: usize) {
    // SAFETY: the caller vouches for `len` elements in both, which are apart; bytes have no alignment.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), len * size_of::<T>()) };
}
