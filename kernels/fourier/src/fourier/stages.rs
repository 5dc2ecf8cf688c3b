//! The stages of a transform of several lines at once (Stockham's algorithm): each reads numbers that are far apart in
//! a line, transforms a few of them in registers, multiplies them by roots of unity, and writes them next to each
//! other, so that after the last stage they are in order.
#![expect(unsafe_code, reason = "reads and writes memory that the caller vouches for")]

use std::arch::x86_64::{__m512i, _MM_HINT_T0, _mm_prefetch};

use num_complex::Complex;

use super::numbers::{Number, number};
use super::registers::{Parts, Register};
use crate::inlined::from_fn;
use crate::loops::has_avx512;
use butterflies::transform;

mod butterflies;

/// Longer lines are transformed one by one: the registers of several would not stay in the cache.
const LONGEST: usize = 2048;

/// The number of groups by which rows are fetched before they are used: rows are far apart, and processors do not
/// foresee which is next.
const AHEAD: usize = 4;

/// Numbers of several lines, by their place in a line.
pub(super) trait Place<V: Register>: Copy {
    /// # Safety
    /// - The processor has AVX-512.
    /// - There is such a place, which can be read, and nothing else writes to it.
    unsafe fn load(self, at: usize) -> Parts<V>;

    /// # Safety
    /// - The processor has AVX-512.
    /// - There is such a place, which can be written, and nothing else uses it.
    unsafe fn store(self, at: usize, x: Parts<V>);

    /// Has a place that is used soon brought into the cache; there need not be such a place.
    fn fetch(self, _at: usize) {}
}

/// Registers in memory: the real parts and the imaginary parts at each place, in turn.
#[derive(Clone, Copy)]
pub(super) struct Kept<V>(pub(super) *mut V);

impl<V: Register> Place<V> for Kept<V> {
    #[inline(always)]
    unsafe fn load(self, at: usize) -> Parts<V> {
        // SAFETY: the caller vouches for the place.
        unsafe { Parts { re: self.0.add(2 * at).read(), im: self.0.add(2 * at + 1).read() } }
    }

    #[inline(always)]
    unsafe fn store(self, at: usize, x: Parts<V>) {
        // SAFETY: the caller vouches for the place.
        unsafe {
            self.0.add(2 * at).write(x.re);
            self.0.add(2 * at + 1).write(x.im);
        }
    }
}

/// Rows of complex numbers, one of each line.
#[derive(Clone, Copy)]
pub(super) struct Rows<V: Register> {
    data: *mut V::Real,
    /// The distance of rows, in real numbers.
    apart: usize,
    /// The real numbers in each of two registers that are in use.
    counts: [usize; 2],
    orders: [[__m512i; 2]; 2],
    scale: V,
}

impl<V: Register> Rows<V> {
    /// Rows of `width` numbers, at most as many as a register has; numbers that are written are multiplied by `scale`.
    /// With `is_swapped`, real parts are taken for imaginary ones, which makes a transform its own inverse.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    #[inline(always)]
    pub(super) unsafe fn new(
        data: *mut Complex<V::Real>,
        [apart, width]: [usize; 2],
        is_swapped: bool,
        scale: V::Real,
    ) -> Self {
        let first = (2 * width).min(V::COUNT);
        let counts = [first, 2 * width - first];
        // SAFETY: the caller vouches for the processor.
        let (orders, scale) = unsafe { (V::orders(is_swapped), V::splat(scale)) };
        Rows { data: data.cast(), apart: 2 * apart, counts, orders, scale }
    }
}

impl<V: Register> Place<V> for Rows<V> {
    #[inline(always)]
    unsafe fn load(self, at: usize) -> Parts<V> {
        let from = self.data.wrapping_add(at * self.apart);
        // SAFETY: the caller vouches for the row, of which as many numbers are read as there are.
        unsafe {
            let a = V::load(from, self.counts[0]);
            let b = V::load(from.wrapping_add(V::COUNT), self.counts[1]);
            let [re, im] = self.orders[0];
            Parts { re: a.merged(b, re), im: a.merged(b, im) }
        }
    }

    #[inline(always)]
    unsafe fn store(self, at: usize, x: Parts<V>) {
        let to = self.data.wrapping_add(at * self.apart);
        // SAFETY: the caller vouches for the row, of which as many numbers are written as there are.
        unsafe {
            let x = x.scaled(self.scale);
            let [first, second] = self.orders[1];
            x.re.merged(x.im, first).store(to, self.counts[0]);
            x.re.merged(x.im, second).store(to.wrapping_add(V::COUNT), self.counts[1]);
        }
    }

    #[inline(always)]
    fn fetch(self, at: usize) {
        let row = self.data.wrapping_add(at * self.apart);
        // SAFETY: every x86-64 processor has this instruction, which does nothing for an address that is not there.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(row.cast());
            _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(V::COUNT).cast());
        }
    }
}

/// The stages for lines of one length.
pub(super) struct Stages<T> {
    pub(super) len: usize,
    stages: Vec<Stage<T>>,
}

/// A stage, which transforms `width` numbers at a time.
struct Stage<T> {
    width: usize,
    /// The number of such groups in each of the parts that the line has before this stage.
    count: usize,
    /// The number of those parts.
    parts: usize,
    /// The roots of unity of order `width`.
    roots: Vec<Complex<T>>,
    /// The factors of all numbers but the first of each group.
    factors: Vec<Complex<T>>,
}

impl<T: Number> Stages<T> {
    /// The stages for a length; `None` if it has large prime factors, or is 0, 1 or large, or if the processor does not
    /// have AVX-512.
    pub(super) fn new(len: usize) -> Option<Self> {
        if len > LONGEST || !has_avx512() {
            return None;
        }
        let (mut left, mut parts, mut stages) = (len, 1, Vec::new());
        while left > 1 {
            let width = match left {
                16 => 4,
                _ => [8, 4, 7, 5, 3, 2].into_iter().find(|width| left.is_multiple_of(*width))?,
            };
            let count = left / width;
            let factors = (0..count).flat_map(|at| (1..width).map(move |k| root(at * k, left))).collect();
            let roots = (0..width).map(|k| root(k, width)).collect();
            stages.push(Stage { width, count, parts, roots, factors });
            (left, parts) = (count, parts * width);
        }
        (len > 1).then_some(Stages { len, stages })
    }

    /// Transforms lines that the first half of some memory holds, and returns the half that holds the result.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    /// - There is memory for two times `len` places, which nothing else uses, and the first half can be read.
    #[inline(always)]
    pub(super) unsafe fn run_in<V: Register<Real = T>>(&self, memory: *mut V) -> Kept<V> {
        let to = Kept(memory.wrapping_add(2 * self.len * (self.stages.len() % 2)));
        // SAFETY: the caller vouches for this; the last stage reads from the other half, if there is another stage.
        unsafe { self.run(Kept(memory), to, memory) };
        to
    }

    /// Transforms lines from one place to another, by way of memory for the registers of two times as many numbers.
    /// `from` and `to` may be the same, `from` the first half of that memory, and `to` the half that
    /// [`run_in`](Self::run_in) returns.
    ///
    /// # Safety
    /// - The processor has AVX-512.
    /// - Both places have `len` numbers; `from` can be read, `to` written; there is as much memory as that for two
    ///   times `len` places. Nothing else uses them.
    #[inline(always)]
    pub(super) unsafe fn run<V: Register<Real = T>>(
        &self,
        from: impl Place<V>,
        to: impl Place<V>,
        memory: *mut V,
    ) {
        let kept = [Kept(memory), Kept(memory.wrapping_add(2 * self.len))];
        // SAFETY: the caller vouches for the processor, and for all places.
        unsafe {
            let [first, middle @ .., last] = &self.stages[..] else {
                return self.stages[0].run::<V, true>(from, to);
            };
            first.run::<V, false>(from, kept[1]);
            for (n, stage) in middle.iter().enumerate() {
                stage.run::<V, false>(kept[1 - n % 2], kept[n % 2]);
            }
            last.run::<V, true>(kept[1 - middle.len() % 2], to);
        }
    }
}

/// A root of unity.
fn root<T: Number>(k: usize, order: usize) -> Complex<T> {
    let (sin, cos) = (std::f64::consts::TAU * k as f64 / order as f64).sin_cos();
    Complex::new(number(cos), number(-sin))
}

impl<T: Number> Stage<T> {
    /// # Safety
    /// - The processor has AVX-512.
    /// - Both places have `width * count * parts` numbers; `from` can be read, `to` written. Nothing else uses them.
    /// - If this is the last stage, there is one group in each part.
    #[inline(always)]
    unsafe fn run<V: Register<Real = T>, const IS_LAST: bool>(&self, from: impl Place<V>, to: impl Place<V>) {
        // SAFETY: the caller vouches for all of this.
        unsafe {
            match self.width {
                2 => self.run_in::<V, 2, IS_LAST>(from, to),
                3 => self.run_in::<V, 3, IS_LAST>(from, to),
                4 => self.run_in::<V, 4, IS_LAST>(from, to),
                5 => self.run_in::<V, 5, IS_LAST>(from, to),
                7 => self.run_in::<V, 7, IS_LAST>(from, to),
                _ => self.run_in::<V, 8, IS_LAST>(from, to),
            }
        }
    }

    /// # Safety
    /// - The requirements of [`run`](Self::run), with `N` numbers in a group.
    #[inline(always)]
    unsafe fn run_in<V: Register<Real = T>, const N: usize, const IS_LAST: bool>(
        &self,
        from: impl Place<V>,
        to: impl Place<V>,
    ) {
        let (count, parts) = (self.count, self.parts);
        for at in 0..count {
            let factors = &self.factors[at * (N - 1)..][..N - 1];
            for k in 0..N {
                from.fetch(at + AHEAD + count * k);
            }
            for part in 0..parts {
                // SAFETY: all of these places are below `N * count * parts`, which the caller vouches for.
                unsafe {
                    let x = from_fn(|k| from.load(part + parts * (at + count * k)));
                    let y = transform::<V, N>(x, &self.roots);
                    for k in 0..N {
                        if IS_LAST {
                            to.fetch(part + AHEAD + parts * k);
                        }
                        let y = if IS_LAST || k == 0 { y[k] } else { y[k].times(factors[k - 1]) };
                        to.store(part + parts * (N * at + k), y);
                    }
                }
            }
        }
    }
}
