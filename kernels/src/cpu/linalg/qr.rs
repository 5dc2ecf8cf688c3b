//! QR factors by Householder's reflections.

use torch_library::Element;
use torch_library::prelude::*;

use super::matrices::{conjugate, subtract, wide};
use crate::cpu::number::Divided;

/// Replaces a matrix by R on and above its diagonal, and below it by the vectors of reflections, whose first elements are ones
/// that are not kept. Gives back the factor of each reflection.
pub(super) fn factor<T: Divided + Element>(a: &mut [T], rows: usize, columns: usize) -> Vec<T> {
    let mut factors = Vec::new();
    for k in 0..rows.min(columns) {
        let (left, right) = a.split_at_mut((k + 1) * rows);
        let column = &mut left[k * rows + k..];
        let (beta, factor) = reflection(column);
        column[0] = T::ONE;
        right.chunks_exact_mut(rows).for_each(|other| reflect(&mut other[k..], column, conjugate(factor)));
        column[0] = beta;
        factors.push(factor);
    }
    factors
}

/// The first `columns` columns of Q, from what [`factor`] made.
pub(super) fn unitary<T: Divided + Element>(a: &[T], rows: usize, factors: &[T], columns: usize) -> Vec<T> {
    let mut q = vec![T::ZERO; rows * columns];
    (0..columns).for_each(|k| q[k * rows + k] = T::ONE);
    for (k, factor) in factors.iter().enumerate().rev() {
        let mut vector = a[k * rows + k..(k + 1) * rows].to_vec();
        vector[0] = T::ONE;
        q.chunks_exact_mut(rows).for_each(|column| reflect(&mut column[k..], &vector, *factor));
    }
    q
}

/// The vector and the factor of the reflection that leaves only the first element, and what becomes of that.
pub(super) fn reflection<T: Divided + Element>(x: &mut [T]) -> (T, T) {
    let first = wide(x[0]);
    let rest: f64 = x[1..].iter().map(|x| wide(*x).norm_sqr()).sum();
    if rest == 0.0 && first.im == 0.0 {
        return (x[0], T::ZERO);
    }
    let beta = -(first.norm_sqr() + rest).sqrt().copysign(first.re);
    let scale: T = (first - beta).cast();
    x[1..].iter_mut().for_each(|x| *x = x.over(scale));
    (beta.cast(), ((Complex64::from(beta) - first) / beta).cast())
}

/// `x -= factor * v * (vᴴ x)`
pub(super) fn reflect<T: Divided + Element>(x: &mut [T], v: &[T], factor: T) {
    let dot = v.iter().zip(&*x).fold(T::ZERO, |sum, (v, x)| sum.plus(conjugate(*v).times(*x)));
    subtract(x, v, factor.times(dot));
}
