//! Operations on columns in vector registers, for the steps of factorisations, in any width that the processor has.
#![expect(
    unsafe_code,
    reason = "reads and writes slices register by register, on processors that have these"
)]

use crate::number::Number;
use crate::vector::Vector;

/// Whether the processor has the widest registers that there are.
pub(super) fn has_widest_registers() -> bool {
    #[cfg(target_arch = "x86_64")]
    return crate::loops::has_avx512();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Repeats an expression with the start and the length of each part of a column that fills a register, and of the
/// remainder. It is not a function of a closure, which would have to be inlined.
macro_rules! each {
    ($V:ty, $len:expr, |$start:ident, $count:ident| $body:expr) => {{
        let (len, mut at) = ($len, 0);
        let whole = len - len % <$V>::LANES;
        while at < whole {
            let ($start, $count) = (at, <$V>::LANES);
            $body
            at += <$V>::LANES;
        }
        if whole < len {
            let ($start, $count) = (whole, len - whole);
            $body
        }
    }};
}

/// `to += factor * from`
///
/// # Safety
/// - The processor has the registers of `V`.
#[inline(always)]
pub(super) unsafe fn add<V: Vector>(to: &mut [V::Element], from: &[V::Element], factor: V::Element) {
    let (to, from, len) = (to.as_mut_ptr(), from.as_ptr(), to.len().min(from.len()));
    // SAFETY: a pointer to a local variable; the caller vouches for the registers.
    let factor = unsafe { V::splat(&raw const factor) };
    each!(V, len, |start, len| {
        // SAFETY: `each` stays within `len`, the length of the shortest slice; the caller vouches for the registers.
        unsafe {
            let sum = V::load(from.add(start), len).times_plus(factor, V::load(to.add(start), len));
            sum.store(to.add(start), len);
        }
    });
}

/// `to += x * from + y * other`
///
/// # Safety
/// - The processor has the registers of `V`.
#[inline(always)]
pub(super) unsafe fn add_two<V: Vector>(
    to: &mut [V::Element],
    (from, x): (&[V::Element], V::Element),
    (other, y): (&[V::Element], V::Element),
) {
    let len = to.len().min(from.len()).min(other.len());
    let (to, from, other) = (to.as_mut_ptr(), from.as_ptr(), other.as_ptr());
    // SAFETY: pointers to local variables; the caller vouches for the registers.
    let (x, y) = unsafe { (V::splat(&raw const x), V::splat(&raw const y)) };
    each!(V, len, |start, len| {
        // SAFETY: `each` stays within `len`, the length of the shortest slice; the caller vouches for the registers.
        unsafe {
            let sum = V::load(from.add(start), len).times_plus(x, V::load(to.add(start), len));
            V::load(other.add(start), len).times_plus(y, sum).store(to.add(start), len);
        }
    });
}

/// The sum of products of two columns.
///
/// # Safety
/// - The processor has the registers of `V`.
#[inline(always)]
pub(super) unsafe fn dot<V: Vector>(a: &[V::Element], b: &[V::Element]) -> V::Element {
    let (a, b, len) = (a.as_ptr(), b.as_ptr(), a.len().min(b.len()));
    // SAFETY: the caller vouches for the registers.
    let mut sum = unsafe { V::zero() };
    each!(V, len, |start, len| {
        // SAFETY: `each` stays within `len`, the length of the shortest slice; the caller vouches for the registers.
        sum = unsafe { V::load(a.add(start), len).times_plus(V::load(b.add(start), len), sum) };
    });
    // SAFETY: the caller vouches for the registers.
    unsafe { sum.sum() }
}

/// `to += x * from`, and the sum of products of that and `other`
///
/// # Safety
/// - The processor has the registers of `V`.
#[inline(always)]
pub(super) unsafe fn add_and_dot<V: Vector>(
    to: &mut [V::Element],
    (from, x): (&[V::Element], V::Element),
    other: &[V::Element],
) -> V::Element {
    let len = to.len().min(from.len()).min(other.len());
    let (to, from, other) = (to.as_mut_ptr(), from.as_ptr(), other.as_ptr());
    // SAFETY: a pointer to a local variable; the caller vouches for the registers.
    let (x, mut sum) = unsafe { (V::splat(&raw const x), V::zero()) };
    each!(V, len, |start, len| {
        // SAFETY: `each` stays within `len`, the length of the shortest slice; the caller vouches for the registers.
        unsafe {
            let new = V::load(from.add(start), len).times_plus(x, V::load(to.add(start), len));
            new.store(to.add(start), len);
            sum = V::load(other.add(start), len).times_plus(new, sum);
        }
    });
    // SAFETY: the caller vouches for the registers.
    unsafe { sum.sum() }
}

/// `to += x * from`, and `sums += y * to`
///
/// # Safety
/// - The processor has the registers of `V`.
#[inline(always)]
pub(super) unsafe fn add_and_sum<V: Vector>(
    to: &mut [V::Element],
    (from, x): (&[V::Element], V::Element),
    (sums, y): (&mut [V::Element], V::Element),
) {
    let len = to.len().min(from.len()).min(sums.len());
    let (to, from, sums) = (to.as_mut_ptr(), from.as_ptr(), sums.as_mut_ptr());
    // SAFETY: pointers to local variables; the caller vouches for the registers.
    let (x, y) = unsafe { (V::splat(&raw const x), V::splat(&raw const y)) };
    each!(V, len, |start, len| {
        // SAFETY: `each` stays within `len`, the length of the shortest slice; the caller vouches for the registers.
        unsafe {
            let new = V::load(from.add(start), len).times_plus(x, V::load(to.add(start), len));
            new.store(to.add(start), len);
            new.times_plus(y, V::load(sums.add(start), len)).store(sums.add(start), len);
        }
    });
}

/// `to += x * from + y * other`, and `sums += z * to`
///
/// # Safety
/// - The processor has the registers of `V`.
#[inline(always)]
pub(super) unsafe fn add_two_and_sum<V: Vector>(
    to: &mut [V::Element],
    (from, x): (&[V::Element], V::Element),
    (other, y): (&[V::Element], V::Element),
    (sums, z): (&mut [V::Element], V::Element),
) {
    let len = to.len().min(from.len()).min(other.len()).min(sums.len());
    let (to, from, other, sums) = (to.as_mut_ptr(), from.as_ptr(), other.as_ptr(), sums.as_mut_ptr());
    // SAFETY: pointers to local variables; the caller vouches for the registers.
    let (x, y, z) = unsafe { (V::splat(&raw const x), V::splat(&raw const y), V::splat(&raw const z)) };
    each!(V, len, |start, len| {
        // SAFETY: `each` stays within `len`, the length of the shortest slice; the caller vouches for the registers.
        unsafe {
            let sum = V::load(from.add(start), len).times_plus(x, V::load(to.add(start), len));
            let new = V::load(other.add(start), len).times_plus(y, sum);
            new.store(to.add(start), len);
            new.times_plus(z, V::load(sums.add(start), len)).store(sums.add(start), len);
        }
    });
}

/// Rotates two columns: `(c x - s y, s x + c y)`.
///
/// # Safety
/// - The processor has the registers of `V`.
#[inline(always)]
pub(super) unsafe fn turn<V: Vector>(
    x: &mut [V::Element],
    y: &mut [V::Element],
    c: V::Element,
    s: V::Element,
) {
    let (x, y, len, less) = (x.as_mut_ptr(), y.as_mut_ptr(), x.len().min(y.len()), s.negated());
    // SAFETY: pointers to local variables; the caller vouches for the registers.
    let (zero, c, s, less) =
        unsafe { (V::zero(), V::splat(&raw const c), V::splat(&raw const s), V::splat(&raw const less)) };
    each!(V, len, |start, len| {
        // SAFETY: `each` stays within `len`, the length of the shortest slice; the caller vouches for the registers.
        unsafe {
            let (left, right) = (V::load(x.add(start), len), V::load(y.add(start), len));
            right.times_plus(less, left.times_plus(c, zero)).store(x.add(start), len);
            right.times_plus(c, left.times_plus(s, zero)).store(y.add(start), len);
        }
    });
}
