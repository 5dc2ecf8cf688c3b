//! Elements at the crossings of lists: each dimension says on its own where its indices lead.
//!
//! What picks whole slices is of this kind: `x[rows, columns]`, flipping, padding by what is there, resizing to the nearest.
#![expect(unsafe_code, reason = "reads and writes elements through pointers that lists keep in bounds")]

use std::ops::Range;

use torch_library::{DType, Element, Result, Tensor};

use super::{convert, data_ptr, parallel};

/// How many elements side by side are a row of their own.
const LONG: usize = 64;

/// One dimension of what is picked.
pub(crate) enum Along {
    /// All indices in order, so many elements apart.
    Whole { size: i64, stride: i64 },
    /// How many elements away from index 0 each index leads.
    List(Vec<isize>),
}

/// Where indices lead: to each sum of one number of each list, the last list's turn first, and from there to some neighbours.
pub(crate) struct Crossings {
    /// There is at least one.
    lists: Vec<Vec<isize>>,
    /// How many elements lie side by side at each crossing.
    unit: usize,
}

impl Crossings {
    /// Of dimensions, outermost first. Those at the end that are whole and one line in memory are taken together.
    pub(crate) fn new(mut dims: Vec<Along>) -> Self {
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

    /// Writes the elements to memory of the same type, in which they lie side by side in this order.
    ///
    /// # Safety
    /// All crossings, from the tensor's first element on, are elements of it; as many can be written from `out` on, and nobody else
    /// uses these.
    ///
    /// # Errors
    /// Memory that the host does not reach.
    pub(crate) unsafe fn read(&self, source: &Tensor, out: *mut u8) -> Result<()> {
        let (from, dtype) = (data_ptr(source)?, source.dtype());
        let read = match dtype.size() {
            1 => Self::read_sized::<u8>,
            2 => Self::read_sized::<u16>,
            4 => Self::read_sized::<u32>,
            8 => Self::read_sized::<u64>,
            _ => Self::read_sized::<u128>,
        };
        // SAFETY: passed on.
        unsafe { read(self, from, out, dtype == DType::Bool) };
        Ok(())
    }

    /// # Safety
    /// As [`read`](Self::read), of elements of this size.
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
                    // SAFETY: a part of what the caller vouches for, which is this thread's.
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
                    // SAFETY: the row before is this thread's too, and has been written.
                    return unsafe { copy(to.sub(count), to, count) };
                }
                before = Some(base);
                for (n, piece) in pieces.iter().enumerate() {
                    if items.contains(&(row * pieces.len() + n)) {
                        // SAFETY: a part of what the caller vouches for, which is this thread's.
                        unsafe { piece.read(from, to.add(n * most * self.unit), is_bool) };
                    }
                }
            });
        });
    }

    /// Replaces each element, one after the other, by what a function makes of it and of the next of other elements, or of a
    /// single one.
    ///
    /// # Safety
    /// All crossings, from the tensor's first element on, are elements of it; as many values can be read, or that one. They share
    /// no memory with the tensor.
    ///
    /// # Errors
    /// Memory that the host does not reach.
    pub(crate) unsafe fn write<T: Element>(
        &self,
        target: &Tensor,
        values: &Tensor,
        is_single: bool,
        f: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let (target, mut value, unit) =
            (target.data_ptr::<T>()?, values.data_ptr::<T>()?.cast_const(), self.unit);
        self.each_row(0..self.rows(), |_, base| {
            let mut next = value; // one behind a reference would be read anew after each write
            for offset in self.row() {
                let to = target.wrapping_offset(base + offset);
                if !is_single && unit > 1 && T::DTYPE != DType::Bool {
                    // SAFETY: `unit` elements of both by contract, which are no others' memory.
                    let pair = unsafe {
                        (std::slice::from_raw_parts_mut(to, unit), std::slice::from_raw_parts(next, unit))
                    };
                    pair.0.iter_mut().zip(pair.1).for_each(|(to, from)| *to = f(*to, *from));
                } else {
                    for n in 0..unit {
                        let from = next.wrapping_add(if is_single { 0 } else { n });
                        // SAFETY: elements by contract.
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

// SAFETY: plain addresses; which thread writes where is for `read_sized` to say.
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
    /// The list leads to elements, and as many can be written. They need not be aligned like `T`.
    unsafe fn read<T: Copy>(&self, source: *const T, out: *mut T, is_bool: bool) {
        let mut to = out;
        match self {
            Piece::Each(list) => {
                for offset in *list {
                    // SAFETY: by contract.
                    unsafe { to.write_unaligned(source.offset(*offset).read_unaligned()) };
                    to = to.wrapping_add(1);
                }
            }
            Piece::Runs(runs) => {
                for run in runs {
                    // SAFETY: a part of the list.
                    unsafe { run.read(source.offset(run.start), to) };
                    to = to.wrapping_add(run.len);
                }
            }
        }
        if is_bool {
            // SAFETY: the bytes that were written.
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
    /// The run can be read from its first element on, and as many elements written.
    #[inline(always)]
    unsafe fn read<T: Copy>(self, from: *const T, to: *mut T) {
        if self.is_back {
            for i in 0..self.len {
                // SAFETY: by contract.
                unsafe { to.add(i).write_unaligned(from.sub(i).read_unaligned()) };
            }
        } else if self.len == 1 {
            // SAFETY: by contract.
            unsafe { to.write_unaligned(from.read_unaligned()) };
        } else {
            // SAFETY: by contract; what is read is not written.
            unsafe { copy(from, to, self.len) };
        }
    }
}

/// Copies elements that need not be aligned like `T`.
///
/// # Safety
/// `len` of them can be read and written, and are no others' memory.
#[inline(always)]
unsafe fn copy<T>(from: *const T, to: *mut T, len: usize) {
    // SAFETY: by contract.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), len * size_of::<T>()) };
}
