//! Transforms of a few numbers of each line, which stay in registers.
#![expect(unsafe_code, reason = "calls instructions that the processor was found to have")]

use num_complex::Complex;

use super::super::registers::{Parts, Register};

/// Transforms as many numbers as there are roots of unity: 2, 4, 8, or an odd number.
///
/// # Safety
/// - The processor has AVX-512.
#[inline(always)]
pub(super) unsafe fn transform<V: Register, const N: usize>(
    x: [Parts<V>; N],
    roots: &[Complex<V::Real>],
) -> [Parts<V>; N] {
    let mut out = x;
    let (from, to) = (&x[..], &mut out[..]);
    // SAFETY: the caller vouches for the processor.
    unsafe {
        match N {
            2 => (to[0], to[1]) = (from[0].plus(from[1]), from[0].minus(from[1])),
            4 => [to[0], to[1], to[2], to[3]] = four([from[0], from[1], from[2], from[3]]),
            8 => eight(from, to, roots[1].re),
            _ => odd::<V, N>(from, to, roots),
        }
    }
    out
}

/// # Safety
/// - The processor has AVX-512.
#[inline(always)]
unsafe fn four<V: Register>([a, b, c, d]: [Parts<V>; 4]) -> [Parts<V>; 4] {
    // SAFETY: the caller vouches for the processor.
    unsafe {
        let (sum, difference) = (a.plus(c), a.minus(c));
        let (other_sum, other) = (b.plus(d), b.minus(d));
        [sum.plus(other_sum), difference.minus_i(other), sum.minus(other_sum), difference.plus_i(other)]
    }
}

/// Two transforms of four; `half` is the root of one half.
///
/// # Safety
/// - The processor has AVX-512.
#[inline(always)]
unsafe fn eight<V: Register>(x: &[Parts<V>], to: &mut [Parts<V>], half: V::Real) {
    // SAFETY: the caller vouches for the processor.
    unsafe {
        let half = V::splat(half);
        let [a, b, c, d] = four([x[0], x[2], x[4], x[6]]);
        let [e, f, g, h] = four([x[1], x[3], x[5], x[7]]);
        (to[0], to[4]) = (a.plus(e), a.minus(e));
        (to[2], to[6]) = (c.minus_i(g), c.plus_i(g));
        // The other two are turned by an odd number of eighths, up to the factor `half`.
        let f = Parts { re: f.re.plus(f.im), im: f.im.minus(f.re) };
        to[1] = Parts { re: f.re.times_plus(half, b.re), im: f.im.times_plus(half, b.im) };
        to[5] = Parts { re: f.re.times_from(half, b.re), im: f.im.times_from(half, b.im) };
        let h = Parts { re: h.im.minus(h.re), im: h.re.plus(h.im) };
        to[3] = Parts { re: h.re.times_plus(half, d.re), im: h.im.times_from(half, d.im) };
        to[7] = Parts { re: h.re.times_from(half, d.re), im: h.im.times_plus(half, d.im) };
    }
}

/// Pairs of numbers have the same real parts of roots, and opposite imaginary ones.
///
/// # Safety
/// - The processor has AVX-512.
#[inline(always)]
unsafe fn odd<V: Register, const N: usize>(x: &[Parts<V>], to: &mut [Parts<V>], roots: &[Complex<V::Real>]) {
    // SAFETY: the caller vouches for the processor.
    unsafe {
        let mut sums = [x[0]; N];
        let mut differences = [x[0]; N];
        let mut total = x[0];
        for j in 1..N.div_ceil(2) {
            (sums[j], differences[j]) = (x[j].plus(x[N - j]), x[j].minus(x[N - j]));
            total = total.plus(sums[j]);
        }
        to[0] = total;
        for k in 1..N.div_ceil(2) {
            let (mut along, mut across) = (x[0], Parts { re: V::zero(), im: V::zero() });
            for j in 1..N.div_ceil(2) {
                let root = roots[j * k % N];
                let (cos, sin) = (V::splat(root.re), V::splat(root.im));
                along.re = sums[j].re.times_plus(cos, along.re);
                along.im = sums[j].im.times_plus(cos, along.im);
                across.re = differences[j].re.times_plus(sin, across.re);
                across.im = differences[j].im.times_plus(sin, across.im);
            }
            (to[k], to[N - k]) = (along.plus_i(across), along.minus_i(across));
        }
    }
}
