//! Transforming lines of real numbers, where half of the spectrum is enough: the other half has the conjugates.
//!
//! An even number of real numbers is transformed as half as many complex ones. The spectra of their real and imaginary
//! parts are then separated and combined; the inverse transform does the opposite.
#![expect(
    unsafe_code,
    reason = "lends lines of tensors as slices, and takes pairs of real numbers for complex ones"
)]

use num_complex::Complex;

#[cfg(target_arch = "x86_64")]
use super::lines::several;
use super::lines::{Memory, grain, scaled, scratch};
use super::numbers::number;
use super::plans::{Plan, Real};
use crate::loops::{on_vectors, parallel};

#[cfg(target_arch = "x86_64")]
mod registers;

#[cfg(target_arch = "x86_64")]
use registers::{Ends, combined};

/// Transforms lines of real numbers to lines of length `room`: half of the spectrum, or all of it.
pub(super) fn forward<T: Real>(
    out: &Memory<Complex<T>>,
    room: usize,
    given: &Memory<T>,
    plan: &Plan<T>,
    scale: f64,
) {
    let (len, half) = (plan.len, plan.len / 2 + 1);
    parallel::shares(given.len() / len, grain(len), |range| {
        #[cfg(target_arch = "x86_64")]
        let range = several(range, plan, scale, |together, start, count| {
            let from = given.address(start * len, count * len);
            let to = out.address(start * room, count * room);
            // SAFETY: these lines of `out` are this thread's alone; `given` is another tensor, which nothing writes to
            // under the lease. Together, there are only lines of even length.
            unsafe { together.forward(from, to, room, count) };
            for at in (start..start + count).filter(|_| room > half) {
                // SAFETY: the half-spectrum was just written; this line of `out` is this thread's alone.
                let (half, rest) =
                    unsafe { (out.get(at * room, half), out.zeroed(at * room + half, room - half)) };
                mirror(half, rest);
            }
        });
        let mut scratch = Scratch::of(plan, plan.fft.get_immutable_scratch_len());
        for at in range {
            // SAFETY: this line of `out` is this thread's alone; `given` is another tensor, which nothing writes to
            // under the lease.
            let (from, to) = unsafe { (given.get(at * len, len), out.zeroed(at * room, room)) };
            let (half, rest) = to.split_at_mut(half);
            transform(from, half, plan, &mut scratch, scale);
            mirror(half, rest);
        }
    });
}

/// Fills the rest of a spectrum with the conjugates of the first half.
fn mirror<T: Real>(half: &[Complex<T>], rest: &mut [Complex<T>]) {
    for (x, conjugate) in rest.iter_mut().rev().zip(&half[1..]) {
        *x = conjugate.conj();
    }
}

/// Transforms half-spectra to lines of real numbers.
pub(super) fn inverse<T: Real>(out: &Memory<T>, given: &Memory<Complex<T>>, plan: &Plan<T>, scale: f64) {
    let (len, half) = (plan.len, plan.len / 2 + 1);
    parallel::shares(out.len() / len, grain(len), |range| {
        #[cfg(target_arch = "x86_64")]
        let range = several(range, plan, scale, |together, start, count| {
            let from = given.address(start * half, count * half);
            let to = out.address(start * len, count * len);
            // SAFETY: these lines of `out` are this thread's alone; `given` is another tensor, which nothing writes to
            // under the lease. Together, there are only lines of even length.
            unsafe { together.inverse(from, to, count) };
        });
        let mut scratch = Scratch::of(plan, plan.fft.get_inplace_scratch_len());
        for at in range {
            // SAFETY: this line of `out` is this thread's alone; `given` is another tensor, which nothing writes to
            // under the lease.
            let (from, to) = unsafe { (given.get(at * half, half), out.zeroed(at * len, len)) };
            transform_back(from, to, plan, &mut scratch, scale);
        }
    });
}

/// Scratch memory.
struct Scratch<T> {
    /// A line of complex numbers, for transforms of full length.
    line: Vec<Complex<T>>,
    inner: Vec<Complex<T>>,
}

impl<T: Real> Scratch<T> {
    fn of(plan: &Plan<T>, inner: usize) -> Self {
        let line = if plan.len.is_multiple_of(2) { 0 } else { plan.len };
        let inner = if plan.len.is_multiple_of(2) { inner } else { plan.fft.get_inplace_scratch_len() };
        Scratch { line: scratch(line), inner: scratch(inner) }
    }
}

fn transform<T: Real>(
    given: &[T],
    half: &mut [Complex<T>],
    plan: &Plan<T>,
    scratch: &mut Scratch<T>,
    scale: f64,
) {
    if plan.len.is_multiple_of(2) {
        // SAFETY: a complex number is two real ones (`repr(C)`) with the same alignment, and half as many fit into the
        // slice, which stays borrowed.
        let pairs = unsafe { std::slice::from_raw_parts(given.as_ptr().cast(), given.len() / 2) };
        plan.fft.process_immutable_with_scratch(pairs, &mut half[..given.len() / 2], &mut scratch.inner);
        told_apart(half, &plan.roots, number(scale));
        return;
    }
    for (x, real) in scratch.line.iter_mut().zip(given) {
        *x = Complex::new(*real, T::zero());
    }
    plan.fft.process_with_scratch(&mut scratch.line, &mut scratch.inner);
    half.copy_from_slice(&scratch.line[..half.len()]);
    scaled(half, scale);
}

fn transform_back<T: Real>(
    half: &[Complex<T>],
    out: &mut [T],
    plan: &Plan<T>,
    scratch: &mut Scratch<T>,
    scale: f64,
) {
    let (len, scale) = (plan.len, number(scale));
    if len.is_multiple_of(2) {
        // SAFETY: a complex number is two real ones (`repr(C)`) with the same alignment; the slice has `len` real
        // numbers, and stays borrowed exclusively.
        let pairs = unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), len / 2) };
        put_together(pairs, half, &plan.roots, scale);
        plan.fft.process_with_scratch(pairs, &mut scratch.inner);
        return;
    }
    let (start, end) = scratch.line.split_at_mut(half.len());
    start.copy_from_slice(half);
    start[0].im = T::zero(); // the sum of real numbers is real
    for (x, conjugate) in end.iter_mut().rev().zip(&half[1..]) {
        *x = conjugate.conj();
    }
    plan.fft.process_with_scratch(&mut scratch.line, &mut scratch.inner);
    for (x, complex) in out.iter_mut().zip(&scratch.line) {
        *x = complex.re * scale;
    }
}

on_vectors! {
    /// Converts the transform of pairs, which has one more place after it, to the half-spectrum of the real numbers in
    /// the pairs.
    fn told_apart<T: Real>(half: &mut [Complex<T>], roots: &[Complex<T>], scale: T) {
        let last = half.len() - 1;
        let (first, mean) = (half[0], scale / (T::one() + T::one()));
        half[0] = Complex::new((first.re + first.im) * scale, T::zero());
        half[last] = Complex::new((first.re - first.im) * scale, T::zero());
        if last.is_multiple_of(2) {
            half[last / 2] = half[last / 2].conj() * scale;
        }
        let count = roots.len().min((last - 1) / 2);
        #[cfg(target_arch = "x86_64")]
        let done = {
            let inner = half[1..last].as_mut_ptr_range();
            let ends = Ends { front: inner.start, back: inner.end };
            // SAFETY: there are `count` pairs between the first and the last number, which are this function's.
            unsafe { combined::<T, false>(&ends, &ends, &roots[..count], [mean, scale]) }
        };
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        let (low, high) = half[1 + done..last - done].split_at_mut(count - done);
        let pairs = low.iter_mut().zip(high.iter_mut().rev());
        for ((low, high), root) in pairs.zip(&roots[done..]) {
            let (a, b) = (*low, high.conj());
            let (even, odd) = ((a + b) * mean, (a - b) * (root * scale));
            *low = even + odd;
            *high = (even - odd).conj();
        }
    }
}

on_vectors! {
    /// The inverse of [`told_apart`], up to a factor: the number of real numbers.
    fn put_together<T: Real>(pairs: &mut [Complex<T>], half: &[Complex<T>], roots: &[Complex<T>], scale: T) {
        let last = pairs.len();
        let twice = scale + scale;
        let (first, end) = (half[0].re * scale, half[last].re * scale);
        pairs[0] = Complex::new(first + end, first - end);
        if last.is_multiple_of(2) {
            pairs[last / 2] = half[last / 2].conj() * twice;
        }
        let count = roots.len().min((last - 1) / 2);
        #[cfg(target_arch = "x86_64")]
        let done = {
            let (given, inner) = (half[1..last].as_ptr_range(), pairs[1..].as_mut_ptr_range());
            let from = Ends { front: given.start.cast_mut(), back: given.end.cast_mut() };
            let to = Ends { front: inner.start, back: inner.end };
            // SAFETY: there are `count` pairs in both, apart from the first and the last number; `half` is only read.
            unsafe { combined::<T, true>(&from, &to, &roots[..count], [scale, twice]) }
        };
        #[cfg(not(target_arch = "x86_64"))]
        let done = 0;
        let (low, high) = pairs[1 + done..last - done].split_at_mut(count - done);
        let left = &half[1 + done..half.len() - 1 - done];
        let given = left.iter().zip(left.iter().rev());
        let places = low.iter_mut().zip(high.iter_mut().rev());
        for (((low, high), (a, b)), root) in places.zip(given).zip(&roots[done..]) {
            let (even, odd) = ((a + b.conj()) * scale, (a - b.conj()) * (root.conj() * twice));
            *low = even + odd;
            *high = (even - odd).conj();
        }
    }
}
