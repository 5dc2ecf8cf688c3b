//! Normally distributed numbers, which come in pairs: the Box-Muller transform.

use std::f64::consts::PI;

use super::{Source, double, each};
use crate::functions::{Circular, NearOne};
use crate::loops::on_vectors;

/// The number of pairs that are transformed together.
const PAIRS: usize = 64;

/// Fills `out` with functions of normally distributed numbers, which `transform` makes of uniform ones. The first of
/// these is the spare one, if there is one; if `out` has no place for the second number of the last pair, that is the
/// next spare one.
pub(super) fn fill(
    out: &mut [f64],
    next: &mut Source<'_>,
    spare: &mut Option<f64>,
    transform: fn(&mut [[f64; 2]]),
    number: impl Fn(f64) -> f64,
) {
    let (first, rest) = out.split_at_mut(usize::from(spare.is_some()).min(out.len()));
    for out in first {
        *out = spare.take().unwrap_or_default();
    }
    for out in rest.chunks_mut(2 * PAIRS) {
        let mut pairs = [[0.0; 2]; PAIRS];
        let pairs = &mut pairs[..out.len().div_ceil(2)];
        each(pairs.as_flattened_mut(), next, double);
        transform(pairs);
        let (own, others) = pairs.as_flattened().split_at(out.len());
        out.copy_from_slice(own);
        *spare = others.first().copied();
    }
    apply(out, &number);
}

/// Makes two independent normal numbers of two uniform ones from 0 to 1, by the functions of the standard library.
pub(super) fn transform_exactly(pairs: &mut [[f64; 2]]) {
    for pair in pairs {
        let radius = (-2.0 * (-pair[1]).ln_1p()).sqrt();
        let (sin, cos) = (2.0 * PI * pair[0]).sin_cos();
        *pair = [radius * cos, radius * sin];
    }
}

on_vectors! {
    /// Like [`transform_exactly`], by functions without branches, which are accurate to a few units in the last place.
    pub(super) fn transform(pairs: &mut [[f64; 2]]) {
        for pair in pairs {
            let radius = (-2.0 * (-pair[1]).logarithm_of_one_more()).sqrt();
            let angle = 2.0 * PI * pair[0];
            *pair = [radius * angle.cosine(), radius * angle.sine()];
        }
    }
}

on_vectors! {
    fn apply<F: Fn(f64) -> f64>(numbers: &mut [f64], number: &F) {
        for x in numbers {
            *x = number(*x);
        }
    }
}
