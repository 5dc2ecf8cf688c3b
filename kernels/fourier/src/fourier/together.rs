//! Transforming several lines at once, with a number of each in a register, so that nothing has to be exchanged within
//! registers.
//!
//! Lines across rows are read and written as they lie. Contiguous lines are transposed, square by square, into memory
//! that stays in the cache, and back.
#![expect(unsafe_code, reason = "reads and writes lines that the caller vouches for, on registers")]

use num_complex::Complex;

use super::plans::{Kind, Plan, Real};
use super::registers::{Parts, Register};
use super::stages::{Kept, Place, Rows, Stages};
use lines::Lines;

mod lines;

/// Contiguous lines of real numbers are transformed together up to this many pairs.
const SHORT: usize = 64;

/// The largest distance of rows times their number, in bytes, for which lines across them are transformed together:
/// rows of larger matrices are not in the cache any more when the results are written.
const NEAR: usize = 3 << 20;

/// Several lines at a time.
pub(super) struct Together<'a, T: Real> {
    stages: &'a Stages<T>,
    plan: &'a Plan<T>,
    scale: T,
    memory: Vec<T::Wide>,
}

impl<'a, T: Real> Together<'a, T> {
    /// The number of lines.
    pub(super) const LINES: usize = <T::Wide as Register>::COUNT;

    fn of(plan: &'a Plan<T>, scale: T) -> Option<Self> {
        let stages = plan.stages.as_ref()?;
        // Two copies of the numbers, and one more, which half a spectrum has.
        Some(Together { stages, plan, scale, memory: Vec::with_capacity(4 * stages.len + 2) })
    }

    /// For contiguous lines, if they have stages, and transposing takes less time than what `rustfft`
    /// does within registers: it does best if there are no large odd factors.
    pub(super) fn of_neighbours(plan: &'a Plan<T>, scale: T) -> Option<Self> {
        let is_odd = plan.len.is_multiple_of(25) || plan.len.is_multiple_of(7);
        let is_meant = match plan.kind {
            Kind::Complex(_) => is_odd,
            Kind::Real(_) => plan.len.is_multiple_of(2) && (is_odd || plan.len <= 2 * SHORT),
        };
        if is_meant { Self::of(plan, scale) } else { None }
    }

    /// For lines across rows, which are `apart` numbers apart, if [`are_for_columns`](Self::are_for_columns).
    pub(super) fn of_columns(plan: &'a Plan<T>, apart: usize, scale: T) -> Option<Self> {
        if Self::are_for_columns(plan, apart) { Self::of(plan, scale) } else { None }
    }

    /// Whether lines across rows are transformed together.
    pub(super) fn are_for_columns(plan: &Plan<T>, apart: usize) -> bool {
        let is_near = plan.len.saturating_mul(apart) <= NEAR / size_of::<Complex<T>>();
        is_near && Self::are_enough(apart) && plan.stages.is_some()
    }

    /// Whether so many lines are worth a register, which is partly empty if there are fewer than it has room for.
    pub(super) fn are_enough(count: usize) -> bool {
        2 * count > Self::LINES
    }

    fn is_inverse(&self) -> bool {
        let (Kind::Complex(direction) | Kind::Real(direction)) = self.plan.kind;
        direction == rustfft::FftDirection::Inverse
    }

    /// Transforms lines across rows, which are `apart` numbers apart, and of which each has one of `width` neighbouring
    /// numbers, in place.
    ///
    /// # Safety
    /// - There are as many rows as a line has numbers, of `width` numbers, at most [`LINES`](Self::LINES), which can be
    ///   read and written; nothing else uses them.
    pub(super) unsafe fn across(&mut self, rows: *mut Complex<T>, apart: usize, width: usize) {
        let (is_inverse, memory) = (self.is_inverse(), self.memory.as_mut_ptr());
        // SAFETY: there are stages only for a processor that has the registers; `of` has taken memory for two times the
        // numbers; the caller vouches for the rows.
        unsafe { across(self.stages, rows, [apart, width], is_inverse, self.scale, memory) };
    }

    /// Transforms contiguous lines, which follow each other.
    ///
    /// # Safety
    /// - There are `count` lines, at most [`LINES`](Self::LINES), at both addresses, which may be the same; those of
    ///   `from` can be read, those of `to` written; nothing else uses the latter or writes to the former.
    pub(super) unsafe fn along(&mut self, from: *const Complex<T>, to: *mut Complex<T>, count: usize) {
        let (is_inverse, len) = (self.is_inverse(), 2 * self.stages.len);
        let from =
            Lines { data: from.cast::<T>().cast_mut(), len, apart: len, count, is_swapped: is_inverse };
        let to = Lines { data: to.cast(), ..from };
        // SAFETY: there are stages only for a processor that has the registers; `of` has taken memory for two times the
        // numbers; the caller vouches for the lines.
        unsafe { along(self.stages, from, to, self.scale, self.memory.as_mut_ptr()) };
    }

    /// Transforms contiguous lines of real numbers, of even length, to half-spectra, which are `room` complex numbers
    /// apart.
    ///
    /// # Safety
    /// - There are `count` lines, at most [`LINES`](Self::LINES), of the plan's length at `from`, which can be read,
    ///   and to which nothing writes; and as many half-spectra at `to`, which can be written, and which nothing else
    ///   uses.
    pub(super) unsafe fn forward(&mut self, from: *const T, to: *mut Complex<T>, room: usize, count: usize) {
        let len = self.plan.len;
        let from = Lines { data: from.cast_mut(), len, apart: len, count, is_swapped: false };
        let to = Lines { data: to.cast(), len: len + 2, apart: 2 * room, ..from };
        let memory = self.memory.as_mut_ptr();
        // SAFETY: there are stages only for a processor that has the registers; `of` has taken memory for two times the
        // numbers and one more; the caller vouches for the lines.
        unsafe { forward(self.stages, &self.plan.roots, from, to, self.scale, memory) };
    }

    /// Transforms half-spectra to contiguous lines of real numbers, of even length.
    ///
    /// # Safety
    /// - There are `count` half-spectra, at most [`LINES`](Self::LINES), at `from`, which can be read, and to which
    ///   nothing writes; and as many lines of the plan's length at `to`, which can be written, and which nothing else
    ///   uses.
    pub(super) unsafe fn inverse(&mut self, from: *const Complex<T>, to: *mut T, count: usize) {
        let len = self.plan.len;
        let data = from.cast::<T>().cast_mut();
        let from = Lines { data, len: len + 2, apart: len + 2, count, is_swapped: false };
        let to = Lines { data: to, len, apart: len, is_swapped: true, ..from };
        let memory = self.memory.as_mut_ptr();
        // SAFETY: there are stages only for a processor that has the registers; `of` has taken memory for two times the
        // numbers and one more; the caller vouches for the lines.
        unsafe { inverse(self.stages, &self.plan.roots, from, to, self.scale, memory) };
    }
}

/// # Safety
/// - The requirements of [`Together::across`], on a processor with these features.
/// - There is memory for the registers of two times the numbers.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn across<T: Real>(
    stages: &Stages<T>,
    rows: *mut Complex<T>,
    sizes: [usize; 2],
    is_inverse: bool,
    scale: T,
    memory: *mut T::Wide,
) {
    // SAFETY: the caller vouches for the processor, the rows and the memory.
    unsafe {
        let rows = Rows::<T::Wide>::new(rows, sizes, is_inverse, scale);
        stages.run(rows, rows, memory);
    }
}

/// # Safety
/// - The requirements of [`Together::along`], on a processor with these features.
/// - There is memory for the registers of two times the numbers.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn along<T: Real>(stages: &Stages<T>, from: Lines<T>, to: Lines<T>, scale: T, memory: *mut T::Wide) {
    // SAFETY: the caller vouches for the processor, the lines and the memory.
    unsafe {
        from.gather(memory);
        to.scatter(stages.run_in(memory).0, scale);
    }
}

/// # Safety
/// - The requirements of [`Together::forward`], on a processor with these features.
/// - There is memory for the registers of two times the numbers, and one more.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn forward<T: Real>(
    stages: &Stages<T>,
    roots: &[Complex<T>],
    from: Lines<T>,
    to: Lines<T>,
    scale: T,
    memory: *mut T::Wide,
) {
    // SAFETY: the caller vouches for the processor, the lines and the memory.
    unsafe {
        from.gather(memory);
        let half = stages.run_in(memory);
        told_apart(half, stages.len, roots);
        to.scatter(half.0, scale);
    }
}

/// # Safety
/// - The requirements of [`Together::inverse`], on a processor with these features.
/// - There is memory for the registers of two times the numbers, and one more.
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn inverse<T: Real>(
    stages: &Stages<T>,
    roots: &[Complex<T>],
    from: Lines<T>,
    to: Lines<T>,
    scale: T,
    memory: *mut T::Wide,
) {
    // SAFETY: the caller vouches for the processor, the lines and the memory.
    unsafe {
        from.gather(memory);
        put_together(Kept(memory), stages.len, roots);
        to.scatter(stages.run_in(memory).0, scale);
    }
}

/// Converts the transform of pairs of real numbers to the half-spectrum of these, which has one number more.
///
/// # Safety
/// - The processor has AVX-512.
/// - There are `last` numbers that can be read, and one more that can be written; nothing else uses them.
#[inline(always)]
unsafe fn told_apart<T: Real, V: Register<Real = T>>(half: Kept<V>, last: usize, roots: &[Complex<T>]) {
    let two = T::one() + T::one();
    // SAFETY: places are at most `last`; the caller vouches for the processor, and for these places.
    unsafe {
        let Parts { re, im } = half.load(0);
        half.store(0, Parts { re: re.plus(im), im: V::zero() });
        half.store(last, Parts { re: re.minus(im), im: V::zero() });
        if last.is_multiple_of(2) {
            let Parts { re, im } = half.load(last / 2);
            half.store(last / 2, Parts { re, im: V::zero().minus(im) });
        }
        let mean = V::splat(two.recip());
        for (k, root) in (1..last.div_ceil(2)).map(|k| (k, roots[k - 1])) {
            let (a, b) = (half.load(k), half.load(last - k));
            let [low, high] = combined([a, b], root, mean);
            half.store(k, low);
            half.store(last - k, high);
        }
    }
}

/// The inverse of [`told_apart`], up to a factor, with real parts in the place of imaginary ones.
///
/// # Safety
/// - The processor has AVX-512.
/// - There are `last` numbers and one more that can be read and written; nothing else uses them.
#[inline(always)]
unsafe fn put_together<T: Real, V: Register<Real = T>>(half: Kept<V>, last: usize, roots: &[Complex<T>]) {
    let two = T::one() + T::one();
    // SAFETY: places are at most `last`; the caller vouches for the processor, and for these places.
    unsafe {
        let (first, end) = (half.load(0).re, half.load(last).re);
        half.store(0, Parts { re: first.minus(end), im: first.plus(end) });
        if last.is_multiple_of(2) {
            let Parts { re, im } = half.load(last / 2).scaled(V::splat(two));
            half.store(last / 2, Parts { re: V::zero().minus(im), im: re });
        }
        for (k, root) in (1..last.div_ceil(2)).map(|k| (k, roots[k - 1])) {
            let (a, b) = (half.load(k), half.load(last - k));
            let root = root.conj() * two;
            let [low, high] = combined([a, b], root, V::splat(T::one()));
            half.store(k, Parts { re: low.im, im: low.re });
            half.store(last - k, Parts { re: high.im, im: high.re });
        }
    }
}

/// `even + odd` and `conj(even - odd)`, with `even = (a + conj(b)) * factor` and `odd = (a - conj(b)) * root`.
///
/// # Safety
/// - The processor has AVX-512.
#[inline(always)]
unsafe fn combined<V: Register>([a, b]: [Parts<V>; 2], root: Complex<V::Real>, factor: V) -> [Parts<V>; 2] {
    // SAFETY: the caller vouches for the processor.
    unsafe {
        let even = Parts { re: a.re.plus(b.re), im: a.im.minus(b.im) }.scaled(factor);
        let odd = Parts { re: a.re.minus(b.re), im: a.im.plus(b.im) }.times(root);
        let high = even.minus(odd);
        [even.plus(odd), Parts { re: high.re, im: V::zero().minus(high.im) }]
    }
}
