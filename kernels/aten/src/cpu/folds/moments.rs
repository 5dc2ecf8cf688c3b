//! Mean and squared deviations, in one pass over memory.

use num_traits::Float;
use torch_library::Element;

use super::Sum;
use crate::inlined::zip;
use crate::loops::reduce::{Fold, LANES};
use crate::number::Number;

/// The number of elements, their mean, and the sum of the squared deviations from it.
///
/// Elements are merged by the formulas of Welford and Chan, which stay precise if the mean is large.
pub struct Moments;

#[derive(Clone, Copy)]
pub struct Moment<T> {
    count: T,
    pub mean: T,
    pub squares: T,
}

impl<T: Float + Number> Fold<T> for Moments {
    type Value = Moment<T>;

    const IN_LANES: bool = false;

    const LINES: usize = 64;

    #[inline(always)]
    fn identity(&self) -> Moment<T> {
        Moment { count: T::ZERO, mean: T::ZERO, squares: T::ZERO }
    }

    #[inline(always)]
    fn step(&self, moment: Moment<T>, element: T, _: usize) -> Moment<T> {
        let count = moment.count + T::ONE;
        let distance = element - moment.mean;
        let mean = moment.mean + distance / count;
        Moment { count, mean, squares: moment.squares + distance * (element - mean) }
    }

    #[inline(always)]
    fn merge(&self, a: Moment<T>, b: Moment<T>) -> Moment<T> {
        // An empty part is skipped: the square of the distance to its mean may be infinite.
        if a.count == T::ZERO {
            return b;
        }
        if b.count == T::ZERO {
            return a;
        }
        let count = a.count + b.count;
        let (distance, share) = (b.mean - a.mean, b.count / count);
        Moment {
            count,
            mean: a.mean + distance * share,
            squares: a.squares + b.squares + distance * distance * a.count * share,
        }
    }

    /// One division for all of them.
    #[inline(always)]
    fn merge_each(&self, values: &mut [Moment<T>], others: &[Moment<T>]) {
        let (Some(first), Some(other)) = (values.first(), others.first()) else { return };
        let (before, more) = (first.count, other.count);
        if before == T::ZERO {
            return values.copy_from_slice(others);
        }
        if more == T::ZERO {
            return;
        }
        let count = before + more;
        let share = more / count;
        for (value, other) in zip(values, others) {
            let distance = other.mean - value.mean;
            value.count = count;
            value.mean = value.mean + distance * share;
            value.squares = value.squares + other.squares + distance * distance * before * share;
        }
    }

    /// Computes the mean first, then the squared deviations: this needs no division for each element.
    #[inline(always)]
    fn slice(&self, elements: &[T], position: usize) -> Moment<T> {
        if elements.is_empty() {
            return self.identity();
        }
        let count: T = (elements.len() as i64).cast();
        let mean = Sum.slice(elements, position) / count;
        if !mean.is_finite() {
            // Perhaps only the sum overflows, and not the mean.
            return elements.iter().fold(self.identity(), |moment, x| self.step(moment, *x, position));
        }
        let squares = SquaresAround(mean).slice(elements, position);
        if are_noise(count, mean, squares) {
            return corrected(count, mean, elements.iter().copied());
        }
        Moment { count, mean, squares }
    }

    #[inline(always)]
    fn lines(&self, values: &mut [Moment<T>], lines: &[&[T]], position: usize) {
        let mut first = 0;
        while first < values.len() {
            let left = &mut values[first..];
            first += match left.len() {
                LANES.. => columns::<T, LANES>(left, lines, first, position),
                16.. => columns::<T, 16>(left, lines, first, position),
                8.. => columns::<T, 8>(left, lines, first, position),
                _ => columns::<T, 1>(left, lines, first, position),
            };
        }
    }
}

/// Adds the moments of `N` columns, from `first` on, to as many values, and returns `N`: like [`Moments::slice`], for
/// several results at a time.
#[inline(always)]
fn columns<T: Float + Number, const N: usize>(
    values: &mut [Moment<T>],
    lines: &[&[T]],
    first: usize,
    position: usize,
) -> usize {
    let count: T = (lines.len() as i64).cast();
    let values: &mut [Moment<T>; N] = values.first_chunk_mut().expect("a value for each column");
    let line = |n: usize| -> [T; N] { *lines[n][first..].first_chunk().expect("lines have all columns") };
    let mut means = [T::ZERO; N];
    for n in 0..lines.len() {
        let line = line(n);
        for i in 0..N {
            means[i] = means[i] + line[i];
        }
    }
    let mut are_finite = true;
    for mean in &mut means {
        *mean = *mean / count;
        are_finite &= mean.is_finite();
    }
    if !are_finite {
        for n in 0..lines.len() {
            for (value, x) in zip(&mut *values, &line(n)) {
                *value = Moments.step(*value, *x, position);
            }
        }
        return N;
    }
    let (mut squares, mut is_noise) = ([T::ZERO; N], false);
    for n in 0..lines.len() {
        let line = line(n);
        for i in 0..N {
            squares[i] = SquaresAround(means[i]).step(squares[i], line[i], position);
        }
    }
    let mut moments = [Moments.identity(); N];
    for i in 0..N {
        is_noise |= are_noise(count, means[i], squares[i]);
        moments[i] = Moment { count, mean: means[i], squares: squares[i] };
    }
    if is_noise {
        for (i, moment) in moments.iter_mut().enumerate() {
            *moment = corrected(count, means[i], lines.iter().map(|line| line[first + i]));
        }
    }
    Moments.merge_each(values, &moments);
    N
}

/// The sum of the squared distances from a number.
struct SquaresAround<T>(T);

impl<T: Float + Number> Fold<T> for SquaresAround<T> {
    type Value = T;

    #[inline(always)]
    fn identity(&self) -> T {
        T::ZERO
    }

    #[inline(always)]
    fn step(&self, sum: T, element: T, _: usize) -> T {
        sum + (element - self.0) * (element - self.0)
    }

    #[inline(always)]
    fn merge(&self, a: T, b: T) -> T {
        a + b
    }
}

/// Whether squared deviations are no larger than the rounding error of the mean makes them.
#[inline(always)]
fn are_noise<T: Float + Number>(count: T, mean: T, squares: T) -> bool {
    const UNITS: i64 = 64; // of the mean's last digit, by which a sum in lanes is wrong at most
    let error = mean * T::epsilon() * UNITS.cast::<T>();
    squares > T::ZERO && squares <= count * error * error
}

/// The moment of elements that hardly differ from their rounded mean. The sum of their deviations would be zero but for
/// the mean's rounding error, and corrects it: equal elements are their own mean, without deviations.
#[cold]
fn corrected<T: Float + Number>(count: T, mean: T, elements: impl Iterator<Item = T>) -> Moment<T> {
    let (sum, squares) = elements.fold((T::ZERO, T::ZERO), |(sum, squares), x| {
        let distance = x - mean;
        (sum + distance, squares + distance * distance)
    });
    let error = sum / count;
    Moment { count, mean: mean + error, squares: (squares - sum * error).max(T::ZERO) }
}
