//! The folds behind reductions: sums, extremes and their positions, moments.

use num_traits::Float;
use torch_library::DType;

use crate::inlined::zip;
use crate::loops::reduce::{Fold, LANES, halved_to_one, in_lanes};
use crate::number::{Number, Ordered};

mod logical;
mod moments;
#[cfg(target_arch = "x86_64")]
mod registers;

pub use logical::{Every, Some};
pub use moments::{Moment, Moments};

/// The sum.
pub struct Sum;

impl<T: Number> Fold<T> for Sum {
    type Value = T;

    #[inline(always)]
    fn identity(&self) -> T {
        T::ZERO
    }

    #[inline(always)]
    fn step(&self, sum: T, element: T, _: usize) -> T {
        sum.plus(element)
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        a.plus(b)
    }

    #[inline(always)]
    fn slice(&self, elements: &[T], position: usize) -> T {
        #[cfg(target_arch = "x86_64")]
        if let Option::Some(sum) = registers::accumulated::<T, { registers::SUM }>(elements) {
            return sum;
        }
        match T::DTYPE {
            DType::Int64 => sum_of_few_lanes(elements),
            _ => in_lanes(self, elements, position),
        }
    }
}

/// The sum in as many lanes as stay in registers, for integers of eight bytes, whose order does not matter.
#[inline(always)]
fn sum_of_few_lanes<T: Number>(elements: &[T]) -> T {
    const FEW: usize = 16;
    let (chunks, rest) = elements.as_chunks::<FEW>();
    let mut lanes = [T::ZERO; FEW];
    for chunk in chunks {
        for (lane, x) in zip(&mut lanes, chunk) {
            *lane = lane.plus(*x);
        }
    }
    lanes.iter().chain(rest).fold(T::ZERO, |sum, x| sum.plus(*x))
}

/// The sum of the elements that are not NaN.
pub(crate) struct SumOfNumbers;

impl<T: Number> Fold<T> for SumOfNumbers {
    type Value = T;

    #[inline(always)]
    fn identity(&self) -> T {
        T::ZERO
    }

    #[inline(always)]
    fn step(&self, sum: T, element: T, _: usize) -> T {
        sum.plus(if element.is_unordered() { T::ZERO } else { element })
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        a.plus(b)
    }

    #[inline(always)]
    fn slice(&self, elements: &[T], position: usize) -> T {
        #[cfg(target_arch = "x86_64")]
        if let Option::Some(sum) = registers::accumulated::<T, { registers::NUMBERS }>(elements) {
            return sum;
        }
        in_lanes(self, elements, position)
    }
}

/// The sum of bytes, which are numbers or booleans. Any byte of a boolean that is not zero counts as one: memory from
/// outside may hold others.
pub(crate) struct SumOfBytes<const ARE_FLAGS: bool>;

impl<const ARE_FLAGS: bool> SumOfBytes<ARE_FLAGS> {
    #[inline(always)]
    fn number(byte: u8) -> u8 {
        if ARE_FLAGS { u8::from(byte != 0) } else { byte }
    }
}

impl<const ARE_FLAGS: bool> Fold<u8> for SumOfBytes<ARE_FLAGS> {
    type Value = i64;

    const IN_LANES: bool = false;
    const LINES: usize = 64;

    #[inline(always)]
    fn identity(&self) -> i64 {
        0
    }

    #[inline(always)]
    fn step(&self, sum: i64, element: u8, _: usize) -> i64 {
        sum + i64::from(Self::number(element))
    }

    #[inline(always)]
    fn merge(&self, a: i64, b: i64) -> i64 {
        a + b
    }

    /// In 16-bit lanes, which cannot overflow for up to 16 000 bytes.
    #[inline(always)]
    fn slice(&self, elements: &[u8], _: usize) -> i64 {
        let (rows, rest) = elements.as_chunks::<LANES>();
        let mut sum = rest.iter().map(|x| u32::from(Self::number(*x))).sum::<u32>();
        if !rows.is_empty() {
            let mut sums = [0u16; LANES];
            for row in rows {
                for (sum, x) in zip(&mut sums, row) {
                    *sum += u16::from(Self::number(*x));
                }
            }
            sum += sums.iter().map(|lane| u32::from(*lane)).sum::<u32>();
        }
        i64::from(sum)
    }

    /// In 16-bit lanes, which cannot overflow for so few lines.
    #[inline(always)]
    fn lines(&self, values: &mut [i64], lines: &[&[u8]], _: usize) {
        let (chunks, rest) = values.as_chunks_mut::<LANES>();
        let start = LANES * chunks.len();
        for (n, values) in chunks.iter_mut().enumerate() {
            let mut sums = [0u16; LANES];
            for line in lines.iter().filter_map(|line| line[n * LANES..].first_chunk::<LANES>()) {
                for (sum, x) in zip(&mut sums, line) {
                    *sum += u16::from(Self::number(*x));
                }
            }
            for (value, sum) in zip(values, &sums) {
                *value += i64::from(*sum);
            }
        }
        for line in lines {
            for (value, x) in zip(&mut *rest, &line[start..]) {
                *value += i64::from(Self::number(*x));
            }
        }
    }
}

/// The product.
pub struct Product;

impl<T: Number> Fold<T> for Product {
    type Value = T;

    #[inline(always)]
    fn identity(&self) -> T {
        T::ONE
    }

    #[inline(always)]
    fn step(&self, product: T, element: T, _: usize) -> T {
        product.times(element)
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        a.times(b)
    }

    #[inline(always)]
    fn slice(&self, elements: &[T], position: usize) -> T {
        #[cfg(target_arch = "x86_64")]
        if let Option::Some(product) = registers::accumulated::<T, { registers::PRODUCT }>(elements) {
            return product;
        }
        in_lanes(self, elements, position)
    }
}

/// The sum of squares, under the root of a norm of order 2.
pub(crate) struct SumOfSquares;

impl<T: Number> Fold<T> for SumOfSquares {
    type Value = T;

    #[inline(always)]
    fn identity(&self) -> T {
        T::ZERO
    }

    #[inline(always)]
    fn step(&self, sum: T, element: T, _: usize) -> T {
        sum.plus(element.times(element))
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        a.plus(b)
    }

    #[inline(always)]
    fn slice(&self, elements: &[T], position: usize) -> T {
        #[cfg(target_arch = "x86_64")]
        if let Option::Some(sum) = registers::accumulated::<T, { registers::SQUARES }>(elements) {
            return sum;
        }
        in_lanes(self, elements, position)
    }
}

/// The sum under the root of a norm of another order: the magnitudes raised to the order, or their maximum or minimum
/// if the order is infinite.
pub(crate) struct NormSum<T> {
    pub(crate) order: T,
}

impl<T: Float + Number> Fold<T> for NormSum<T> {
    type Value = T;

    #[inline(always)]
    fn identity(&self) -> T {
        if self.order == T::neg_infinity() { T::infinity() } else { T::ZERO }
    }

    #[inline(always)]
    fn step(&self, sum: T, element: T, _: usize) -> T {
        let magnitude = Float::abs(element);
        let power = match self.order {
            order if order.is_infinite() || order == T::ONE => magnitude,
            order if order == T::ZERO => {
                if magnitude == T::ZERO {
                    T::ZERO
                } else {
                    T::ONE
                }
            }
            order => magnitude.powf(order),
        };
        self.merge(sum, power)
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        if !self.order.is_infinite() {
            a + b
        } else if a.is_unordered() || ((a > b) == (self.order > T::ZERO) && !b.is_unordered()) {
            a
        } else {
            b
        }
    }
}

/// The largest element, or NaN if there is one.
pub struct Largest;

impl<T: Ordered> Fold<T> for Largest {
    type Value = T;

    const IS_FASTER_WIDEST: bool = true;

    #[inline(always)]
    fn identity(&self) -> T {
        T::LOWEST
    }

    #[inline(always)]
    fn step(&self, largest: T, element: T, _: usize) -> T {
        self.merge(largest, element)
    }

    /// NaN plus anything is NaN. (If `a` itself were chosen, LLVM would store only the values that change, under a
    /// mask, which takes some processors many cycles.)
    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        let larger = if a > b { a } else { b };
        if a.is_unordered() { a.plus(b) } else { larger }
    }

    #[inline(always)]
    fn slice(&self, elements: &[T], _: usize) -> T {
        extreme::<T, true>(elements, T::LOWEST, |a, b| if a > b { a } else { b })
    }
}

/// The smallest element, or NaN if there is one.
pub(crate) struct Smallest;

impl<T: Ordered> Fold<T> for Smallest {
    type Value = T;

    const IS_FASTER_WIDEST: bool = true;

    #[inline(always)]
    fn identity(&self) -> T {
        T::HIGHEST
    }

    #[inline(always)]
    fn step(&self, smallest: T, element: T, _: usize) -> T {
        self.merge(smallest, element)
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        let smaller = if a < b { a } else { b };
        if a.is_unordered() { a.plus(b) } else { smaller } // as in `Largest`
    }

    #[inline(always)]
    fn slice(&self, elements: &[T], _: usize) -> T {
        extreme::<T, false>(elements, T::HIGHEST, |a, b| if a < b { a } else { b })
    }
}

/// The best element by `better`, or NaN if there is one.
///
/// It takes a comparison and an addition for each element, which the processor executes in parallel: the sum is NaN if
/// an element is, and rarely otherwise, so that the search for a NaN rarely finds none.
#[inline(always)]
fn extreme<T: Ordered, const LARGEST: bool>(elements: &[T], worst: T, better: impl Fn(T, T) -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if let Option::Some((best, is_unordered)) = registers::extreme::<T, LARGEST>(elements) {
        return if is_unordered { unordered(elements).unwrap_or(best) } else { best };
    }
    if const { !T::DTYPE.is_floating_point() } {
        return elements.iter().fold(worst, |best, x| better(*x, best)); // which LLVM vectorises
    }
    let (chunks, rest) = elements.as_chunks::<LANES>();
    let (mut best, mut sum) = (worst, T::ZERO);
    if !chunks.is_empty() {
        let (mut lanes, mut sums) = ([worst; LANES], [T::ZERO; LANES]);
        for chunk in chunks {
            for (lane, x) in chunk.iter().enumerate() {
                lanes[lane] = better(*x, lanes[lane]);
                sums[lane] = sums[lane].plus(*x);
            }
        }
        best = halved_to_one(&lanes, &|a, b| better(b, a));
        sum = halved_to_one(&sums, &|a: T, b| a.plus(b));
    }
    for x in rest {
        best = better(*x, best);
        sum = sum.plus(*x);
    }
    if sum.is_unordered() { unordered(elements).unwrap_or(best) } else { best }
}

/// The first NaN.
#[cold]
fn unordered<T: Ordered>(elements: &[T]) -> Option<T> {
    elements.iter().copied().find(|x| x.is_unordered())
}

/// The smallest and the largest element, or NaN twice if there is one. A part of the elements is read twice, but only
/// once from memory.
pub struct Extremes;

impl<T: Ordered> Fold<T> for Extremes {
    type Value = [T; 2];

    const IS_FASTER_WIDEST: bool = true;
    const IN_LANES: bool = false;

    #[inline(always)]
    fn identity(&self) -> [T; 2] {
        [T::HIGHEST, T::LOWEST]
    }

    #[inline(always)]
    fn step(&self, [smallest, largest]: [T; 2], element: T, position: usize) -> [T; 2] {
        [Smallest.step(smallest, element, position), Largest.step(largest, element, position)]
    }

    #[inline(always)]
    fn merge(&self, a: [T; 2], b: [T; 2]) -> [T; 2] {
        [Smallest.merge(a[0], b[0]), Largest.merge(a[1], b[1])]
    }

    #[inline(always)]
    fn slice(&self, elements: &[T], position: usize) -> [T; 2] {
        [Smallest.slice(elements, position), Largest.slice(elements, position)]
    }
}

/// An element and its position; `usize::MAX` before the first element.
pub(crate) type Placed<T> = (T, usize);

/// The first of the largest elements, or of the smallest; the first NaN if there is one.
pub struct First<const LARGEST: bool>;

impl<const LARGEST: bool> First<LARGEST> {
    /// Whether `a` is chosen rather than `b`, wherever they are.
    #[inline(always)]
    fn is_better<T: Ordered>(a: T, b: T) -> bool {
        let is_worse = if LARGEST { a <= b } else { a >= b };
        !is_worse & !b.is_unordered()
    }
}

impl<T: Ordered, const LARGEST: bool> Fold<T> for First<LARGEST> {
    type Value = Placed<T>;

    const IS_FASTER_WIDEST: bool = true;
    const IN_LANES: bool = false;

    #[inline(always)]
    fn identity(&self) -> Placed<T> {
        (if LARGEST { T::LOWEST } else { T::HIGHEST }, usize::MAX)
    }

    #[inline(always)]
    fn step(&self, best: Placed<T>, element: T, position: usize) -> Placed<T> {
        // No step goes back, so one that is as good comes later, but for the first one.
        let is_taken = Self::is_better(element, best.0) | (best.1 == usize::MAX);
        (if is_taken { element } else { best.0 }, if is_taken { position } else { best.1 })
    }

    #[inline(always)]
    fn merge(&self, a: Placed<T>, b: Placed<T>) -> Placed<T> {
        let is_earlier = !Self::is_better(a.0, b.0) & (b.1 < a.1);
        if Self::is_better(b.0, a.0) | is_earlier { b } else { a }
    }

    /// Finds the best element first, then the first block that contains it, whose elements are compared one by one.
    #[inline(always)]
    fn slice(&self, elements: &[T], position: usize) -> Placed<T> {
        const BLOCK: usize = 64;
        if elements.is_empty() {
            return self.identity();
        }
        let best: T = if LARGEST { Largest.slice(elements, 0) } else { Smallest.slice(elements, 0) };
        let is_best = |x: T| (x == best) | (x.is_unordered() & best.is_unordered());
        let (mut start, (blocks, _)) = (0, elements.as_chunks::<BLOCK>());
        for block in blocks {
            let mut has_best = false;
            for x in block {
                has_best |= is_best(*x);
            }
            if has_best {
                break;
            }
            start += BLOCK;
        }
        let place = elements[start..].iter().position(|x| is_best(*x)).unwrap_or(0);
        (best, position + start + place)
    }
}

/// [`First`] for numbers of at most 32 bits and positions below 2³²: both in one number, of which the largest is
/// wanted. Unlike a pair, such numbers stay in vectors.
pub(crate) struct FirstInOne<const LARGEST: bool>;

impl<const LARGEST: bool> FirstInOne<LARGEST> {
    #[inline(always)]
    fn of<T: Keyed>(element: T, position: usize) -> i64 {
        i64::from(element.key::<LARGEST>()) << 32 | i64::from(!(position as u32))
    }

    /// The position in a value of at least one element.
    #[inline(always)]
    pub(crate) fn position(value: i64) -> i64 {
        i64::from(!(value as u32))
    }
}

impl<T: Keyed, const LARGEST: bool> Fold<T> for FirstInOne<LARGEST> {
    type Value = i64;

    const IS_FASTER_WIDEST: bool = true;

    #[inline(always)]
    fn identity(&self) -> i64 {
        i64::MIN
    }

    #[inline(always)]
    fn step(&self, best: i64, element: T, position: usize) -> i64 {
        best.max(Self::of(element, position))
    }

    #[inline(always)]
    fn merge(&self, a: i64, b: i64) -> i64 {
        a.max(b)
    }

    #[inline(always)]
    fn slice(&self, elements: &[T], position: usize) -> i64 {
        if elements.is_empty() {
            return i64::MIN;
        }
        let (best, place) = First::<LARGEST>.slice(elements, position);
        Self::of(best, place)
    }
}

/// A number whose order 32 bits can represent.
pub(crate) trait Keyed: Ordered {
    /// An integer that is larger for a larger number, or for a smaller one if not `LARGEST`; NaN has the largest.
    fn key<const LARGEST: bool>(self) -> i32;
}

impl Keyed for u8 {
    #[inline(always)]
    fn key<const LARGEST: bool>(self) -> i32 {
        i32::from(self).key::<LARGEST>()
    }
}

impl Keyed for i32 {
    #[inline(always)]
    fn key<const LARGEST: bool>(self) -> i32 {
        if LARGEST { self } else { !self }
    }
}

impl Keyed for f32 {
    #[inline(always)]
    fn key<const LARGEST: bool>(self) -> i32 {
        let x = if LARGEST { self } else { -self };
        let bits = (x + 0.0).to_bits().cast_signed(); // -0.0 equals 0.0
        // The bits of negative numbers grow with their magnitude.
        let key = if bits < 0 { bits ^ i32::MAX } else { bits };
        if x.is_nan() { i32::MAX } else { key }
    }
}
