//! Sorting by keys: integers that order like the elements, combined with the elements' indices.
//!
//! # How it works
//!
//! Every element is mapped to an integer that compares as it does, its rank. The index of the element in the line is
//! appended, in the lower half of a wider integer: then no two are equal, so that any method of sorting is stable. Long
//! lines are sorted by radix sort, from the last digit, skipping the digits that all elements share; short ones by
//! comparison.

use torch_library::{DType, Result, ensure};

use super::ties;
use crate::loops::on_vectors;
use crate::number::Ordered;

/// An element whose order can be expressed by an integer.
pub trait Sorted: Ordered {
    /// An integer with the rank in its upper half, and the index in its lower half.
    type Ranked: Ranked;

    /// The rank of an element: zeros of either sign have the same, and NaN counts as larger than all numbers.
    fn rank(self) -> <Self::Ranked as Ranked>::Half;
}

/// A rank with an index appended.
pub trait Ranked: Copy + Ord + Default {
    type Half: Copy + Ord;

    /// The number of indices that can be represented.
    const INDICES: usize;

    fn new(rank: Self::Half, index: usize, descending: bool) -> Self;

    fn index(self) -> usize;

    fn rank(self) -> Self::Half;

    /// The number of digits of the rank.
    const DIGITS: usize;

    /// The `k`-th digit, counted from the last.
    fn digit(self, k: usize) -> usize;
}

macro_rules! ranked {
    ($($whole:ty, $half:ty;)+) => { $(
        impl Ranked for $whole {
            type Half = $half;

            const INDICES: usize = <$half>::MAX as usize;

            #[inline(always)]
            fn new(rank: $half, index: usize, descending: bool) -> Self {
                let rank = if descending { !rank } else { rank };
                <$whole>::from(rank) << <$half>::BITS | index as $whole
            }

            #[inline(always)]
            fn index(self) -> usize {
                self as $half as usize
            }

            #[inline(always)]
            fn rank(self) -> $half {
                (self >> <$half>::BITS) as $half
            }

            const DIGITS: usize = size_of::<$half>();

            #[inline(always)]
            fn digit(self, k: usize) -> usize {
                (self >> (<$half>::BITS as usize + 8 * k)) as u8 as usize
            }
        }
    )+ };
}

ranked! {
    u64, u32;
    u128, u64;
}

macro_rules! sorted_whole {
    ($($ty:ty: $ranked:ty, $half:ty, $wide:ty;)+) => { $(
        impl Sorted for $ty {
            type Ranked = $ranked;

            #[inline(always)]
            fn rank(self) -> $half {
                <$wide>::from(self).wrapping_sub(<$wide>::from(<$ty as Ordered>::LOWEST)) as $half
            }
        }
    )+ };
}

sorted_whole! {
    bool: u64, u32, i32;
    u8: u64, u32, i32;
    i8: u64, u32, i32;
    i16: u64, u32, i32;
    i32: u64, u32, i32;
    i64: u128, u64, i64;
}

macro_rules! sorted_float {
    ($($ty:ty: $ranked:ty, $half:ty;)+) => { $(
        impl Sorted for $ty {
            type Ranked = $ranked;

            #[inline(always)]
            fn rank(self) -> $half {
                const SIGN: $half = 1 << (<$half>::BITS - 1);
                let bits = (self + 0.0).to_bits(); // -0 becomes 0
                let rank = if bits & SIGN == 0 { bits | SIGN } else { !bits };
                if self.is_nan() { <$half>::MAX } else { rank }
            }
        }
    )+ };
}

sorted_float! {
    f32: u64, u32;
    f64: u128, u64;
}

/// The smallest length of a line for which radix sort is faster than comparison.
const LONG: usize = 512;

/// Equal elements of lines up to this length are left in PyTorch's order, unless a sort is to be stable. PyTorch leaves
/// that order open; to find it, a line is sorted twice, which takes much longer in the end than radix sort.
pub(super) const LONGEST_LIKE_PYTORCH: usize = 4096;

/// If less than one element in this many is wanted, whole blocks of the line are passed over.
const FEW: usize = 16;

/// The number of elements of such a block.
const BLOCK: usize = 256;

/// If at most one element in this many is wanted, PyTorch finds them with a heap, and otherwise by selection.
const FEW_IN_PYTORCH: usize = 64;

on_vectors! {
    /// Whether an element of a block precedes one of this rank.
    fn find_before<T: Sorted>(block: &[T], last: Half<T>, descending: bool, is_found: &mut bool) {
        for x in block {
            *is_found |= T::Ranked::new(x.rank(), 0, descending).rank() < last;
        }
    }
}

on_vectors! {
    /// Counts the elements of a line that are not after one of this rank.
    fn count_up_to<T: Sorted>(line: &[T], last: Half<T>, descending: bool, count: &mut usize) {
        *count = line.iter().filter(|x| T::Ranked::new(x.rank(), 0, descending).rank() <= last).count();
    }
}

on_vectors! {
    /// Counts the elements of a line that have this rank.
    fn count_equals<T: Sorted>(line: &[T], rank: Half<T>, count: &mut usize) {
        *count = line.iter().filter(|x| x.rank() == rank).count();
    }
}

/// Whether an element precedes another, wherever they are.
fn precedes<R: Ranked>(a: R, b: R) -> bool {
    a.rank() < b.rank()
}

type Half<T> = <<T as Sorted>::Ranked as Ranked>::Half;

on_vectors! {
    /// The smallest and the largest element of a line, which has one at least.
    fn find_extremes<T: Sorted>(line: &[T], extremes: &mut [T; 2]) {
        let [mut smallest, mut largest] = [line[0]; 2];
        for x in line {
            smallest = if *x < smallest { *x } else { smallest };
            largest = if *x > largest { *x } else { largest };
        }
        *extremes = [smallest, largest];
    }
}

/// The buffers of a sort, which are kept from line to line.
pub struct Sorter<T: Sorted> {
    ranked: Vec<T::Ranked>,
    other: Vec<T::Ranked>,
    narrow: Option<Box<Narrow>>,
}

/// A line of integers of 64 bits that are close to each other, such as indices, as ones of 32 bits: ranks have half the
/// size then.
#[derive(Default)]
struct Narrow {
    line: Vec<i32>,
    sorter: Sorter<i32>,
}

impl<T: Sorted> Default for Sorter<T> {
    fn default() -> Self {
        Sorter { ranked: Vec::new(), other: Vec::new(), narrow: None }
    }
}

impl<T: Sorted> Sorter<T> {
    /// Checks that a line is not too long for the indices.
    ///
    /// # Errors
    /// 2^32 elements or more, for a dtype of up to 32 bits.
    pub fn check(operator: &str, len: usize) -> Result<()> {
        let most = T::Ranked::INDICES;
        ensure!(
            len <= most,
            NotSupported,
            "{operator}: lines of {len} elements of {}, at most {most} are sorted",
            T::DTYPE
        );
        Ok(())
    }

    /// Writes the indices of a line in sorted order. Equal elements keep their order if that is to be `stable`, and in
    /// long lines; in others they are in that of PyTorch.
    pub fn all(&mut self, line: &[T], indices: &mut [i64], descending: bool, stable: bool) {
        if let Some(narrow) = self.narrowed(line) {
            return narrow.sorter.all(&narrow.line, indices, descending, stable);
        }
        self.rank(line, descending);
        self.sort();
        if !stable && (ties::SHORT + 1..=LONGEST_LIKE_PYTORCH).contains(&line.len()) && !self.are_different()
        {
            self.rank(line, descending);
            ties::sort(&mut self.ranked, &precedes);
        }
        self.write(indices);
    }

    /// Writes the indices of the first elements of a line in sorted order, or in that in which PyTorch finds them;
    /// equal elements are in that of PyTorch.
    pub fn first(&mut self, line: &[T], indices: &mut [i64], descending: bool, is_sorted: bool) {
        let count = indices.len();
        let are_few = count.saturating_mul(FEW_IN_PYTORCH) <= line.len();
        if count > 0 && !((is_sorted || are_few) && self.find_first(line, count, descending)) {
            self.rank(line, descending);
            if are_few {
                ties::partial_sort(&mut self.ranked, count, &precedes);
            } else {
                ties::nth_element(&mut self.ranked, count - 1, &precedes);
                if is_sorted {
                    ties::sort(&mut self.ranked[..count - 1], &precedes);
                }
            }
        }
        self.write(indices);
    }

    /// Sorts the first `count` elements of a line, for a `count` of at least 1. Returns whether no two of them are
    /// equal, and no other element is equal to the last of them: then there is only one such order.
    fn find_first(&mut self, line: &[T], count: usize, descending: bool) -> bool {
        if count < line.len() / FEW {
            self.rank_first(line, count, descending);
        } else {
            self.rank(line, descending);
            if count < line.len() / 4 {
                self.keep(count);
            }
        }
        self.sort();
        let (mut up_to_last, last) = (0, self.ranked[count - 1].rank());
        count_up_to(line, last, descending, &mut up_to_last);
        self.ranked.truncate(count);
        up_to_last == count && self.are_different()
    }

    /// A line of 64-bit integers as 32-bit ones in the same order, if it is long and their differences fit.
    fn narrowed(&mut self, line: &[T]) -> Option<&mut Narrow> {
        if T::DTYPE != DType::Int64 || !(LONG..=<u64 as Ranked>::INDICES).contains(&line.len()) {
            return None;
        }
        let mut extremes = [line[0]; 2];
        find_extremes(line, &mut extremes);
        let [smallest, largest] = extremes.map(|x| x.cast::<i64>());
        u32::try_from(largest.checked_sub(smallest)?).ok()?;
        let narrow = self.narrow.get_or_insert_default();
        narrow.line.clear();
        let above = |x: &T| x.cast::<i64>().wrapping_sub(smallest) as u32;
        narrow.line.extend(line.iter().map(|x| (above(x) ^ 1 << 31).cast_signed()));
        Some(narrow)
    }

    /// Whether no two elements that were sorted are equal.
    fn are_different(&self) -> bool {
        self.ranked.windows(2).all(|pair| pair[0].rank() != pair[1].rank())
    }

    fn write(&self, indices: &mut [i64]) {
        indices.iter_mut().zip(&self.ranked).for_each(|(to, ranked)| *to = ranked.index() as i64);
    }

    /// The elements of a line in sorted order, as ranks with indices.
    pub fn sorted(&mut self, line: &[T]) -> &[T::Ranked] {
        self.rank(line, false);
        self.sort();
        &self.ranked
    }

    /// The index of the element with `before` others before it in sorted order; equal elements keep their order.
    ///
    /// # Panics
    /// If there are not more than `before` elements.
    pub fn nth(&mut self, line: &[T], before: usize) -> usize {
        self.rank(line, false);
        self.ranked.select_nth_unstable(before).1.index()
    }

    /// Like [`nth`](Self::nth), but of equal elements the one that PyTorch finds.
    pub fn selected(&mut self, line: &[T], before: usize) -> usize {
        let index = self.nth(line, before);
        let (mut equals, rank) = (0, line[index].rank());
        count_equals(line, rank, &mut equals);
        if equals == 1 {
            return index;
        }
        self.rank(line, false);
        let found = ties::quick_select(&mut self.ranked, before, &precedes);
        found.map_or_else(|| self.nth(line, before), Ranked::index)
    }

    /// Ranks the elements that come first in sorted order, `count` of them. A block is passed over if none of its
    /// elements precedes the last of the first `count` so far.
    fn rank_first(&mut self, line: &[T], count: usize, descending: bool) {
        self.ranked.clear();
        let mut last = None;
        for (n, block) in line.chunks(BLOCK).enumerate() {
            let ranked = |(i, x): (usize, &T)| T::Ranked::new(x.rank(), n * BLOCK + i, descending);
            match last {
                None => self.ranked.extend(block.iter().enumerate().map(ranked)),
                Some(last) => {
                    let mut is_found = false;
                    find_before(block, last, descending, &mut is_found);
                    if !is_found {
                        continue;
                    }
                    // Of equal elements, those that came before remain.
                    let before = block.iter().enumerate().map(ranked).filter(|ranked| ranked.rank() < last);
                    self.ranked.extend(before);
                }
            }
            if self.ranked.len() >= 2 * count + BLOCK {
                self.keep(count);
                last = self.ranked.last().map(|ranked| ranked.rank());
            }
        }
        self.keep(count);
    }

    /// Keeps the elements that come first in sorted order, `count` of them, the last of which moves to the end.
    fn keep(&mut self, count: usize) {
        self.ranked.select_nth_unstable(count - 1);
        self.ranked.truncate(count);
    }

    fn rank(&mut self, line: &[T], descending: bool) {
        self.ranked.clear();
        let ranked = line.iter().enumerate().map(|(index, x)| T::Ranked::new(x.rank(), index, descending));
        self.ranked.extend(ranked);
    }

    fn sort(&mut self) {
        let count = self.ranked.len();
        if count < LONG {
            return self.ranked.sort_unstable();
        }
        // Ranks of narrower integers than theirs are small numbers.
        let digits = T::Ranked::DIGITS.min(size_of::<T>());
        let mut counts = vec![[0usize; 256]; digits];
        for ranked in &self.ranked {
            for (k, counts) in counts.iter_mut().enumerate() {
                counts[ranked.digit(k)] += 1;
            }
        }
        self.other.resize(count, T::Ranked::default());
        for (k, counts) in counts.iter_mut().enumerate().filter(|(_, counts)| !counts.contains(&count)) {
            let mut start = 0;
            for offset in counts.iter_mut() {
                start += std::mem::replace(offset, start);
            }
            for ranked in &self.ranked {
                let offset = &mut counts[ranked.digit(k)];
                self.other[*offset] = *ranked;
                *offset += 1;
            }
            std::mem::swap(&mut self.ranked, &mut self.other);
        }
    }
}
