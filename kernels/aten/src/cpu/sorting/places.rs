//! Sorting by keys: integers that order like the elements, combined with the elements' indices.
//!
//! # How it works
//!
//! Every element is mapped to an integer that compares as it does, its rank. The index of the element in the line is
//! appended, in the lower half of a wider integer: then no two are equal, so that any method of sorting is stable. Long
//! lines are sorted by radix sort, from the last digit, skipping the digits that all elements share; short ones by
//! comparison.

use torch_library::{Result, ensure};

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
    const PLACES: usize;

    fn new(rank: Self::Half, place: usize, descending: bool) -> Self;

    fn place(self) -> usize;

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

            const PLACES: usize = <$half>::MAX as usize;

            #[inline(always)]
            fn new(rank: $half, place: usize, descending: bool) -> Self {
                let rank = if descending { !rank } else { rank };
                <$whole>::from(rank) << <$half>::BITS | place as $whole
            }

            #[inline(always)]
            fn place(self) -> usize {
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
                (<$wide>::from(self) as $half) ^ (<$wide>::MIN as $half)
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

/// The buffers of a sort, which are kept from line to line.
pub struct Sorter<T: Sorted> {
    ranked: Vec<T::Ranked>,
    other: Vec<T::Ranked>,
}

impl<T: Sorted> Default for Sorter<T> {
    fn default() -> Self {
        Sorter { ranked: Vec::new(), other: Vec::new() }
    }
}

impl<T: Sorted> Sorter<T> {
    /// Checks that a line is not too long for the indices.
    ///
    /// # Errors
    /// 2^32 elements or more, for a dtype of up to 32 bits.
    pub fn check(operator: &str, len: usize) -> Result<()> {
        let most = T::Ranked::PLACES;
        ensure!(
            len <= most,
            NotSupported,
            "{operator}: lines of {len} elements of {}, at most {most} are sorted",
            T::DTYPE
        );
        Ok(())
    }

    /// The indices of the first `count` elements of a line in sorted order; equal elements keep their order.
    pub fn first(&mut self, line: &[T], count: usize, descending: bool) -> impl Iterator<Item = usize> {
        self.rank(line, descending);
        if 0 < count && count < line.len() / 4 {
            self.ranked.select_nth_unstable(count - 1);
            self.ranked.truncate(count);
        }
        self.sort();
        self.ranked[..count].iter().map(|ranked| ranked.place())
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
        self.ranked.select_nth_unstable(before).1.place()
    }

    fn rank(&mut self, line: &[T], descending: bool) {
        self.ranked.clear();
        let ranked = line.iter().enumerate().map(|(place, x)| T::Ranked::new(x.rank(), place, descending));
        self.ranked.extend(ranked);
    }

    fn sort(&mut self) {
        let count = self.ranked.len();
        if count < LONG {
            return self.ranked.sort_unstable();
        }
        let mut counts = vec![[0usize; 256]; T::Ranked::DIGITS];
        for ranked in &self.ranked {
            for (k, counts) in counts.iter_mut().enumerate() {
                counts[ranked.digit(k)] += 1;
            }
        }
        self.other.resize(count, T::Ranked::default());
        for (k, counts) in counts.iter_mut().enumerate().filter(|(_, counts)| !counts.contains(&count)) {
            let mut start = 0;
            for places in counts.iter_mut() {
                start += std::mem::replace(places, start);
            }
            for ranked in &self.ranked {
                let place = &mut counts[ranked.digit(k)];
                self.other[*place] = *ranked;
                *place += 1;
            }
            std::mem::swap(&mut self.ranked, &mut self.other);
        }
    }
}
