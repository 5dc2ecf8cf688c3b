//! Products of the reflections that reduce real matrices, in registers.
#![expect(unsafe_code, reason = "asks for registers")]

use torch_library::Element;

use super::registers::{add, dot};
use super::small::field;
use crate::loops::{Held, Work};
use crate::vector::Vector;

/// Real numbers with registers.
pub(super) trait Real: field::Real + Element + Held {}

impl Real for f32 {}
impl Real for f64 {}

/// Computes the product of reflections, or its first columns. The vector of each begins `shift` places below the
/// diagonal.
pub(super) struct Product<'a, T> {
    pub(super) vectors: &'a [T],
    pub(super) rows: usize,
    pub(super) shift: usize,
    pub(super) product: &'a mut [T],
    pub(super) factors: &'a [T],
}

impl<T: Real> Work<T> for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    unsafe fn with<V: Vector<Element = T>>(self) {
        let (rows, n) = (self.rows, self.factors.len());
        self.product.fill(T::zero());
        self.product.iter_mut().step_by(rows + 1).for_each(|x| *x = T::one());
        for k in (0..n.saturating_sub(self.shift)).rev().filter(|k| self.factors[*k] != T::zero()) {
            let start = k + self.shift;
            let vector = &self.vectors[k * rows + start..(k + 1) * rows];
            for column in self.product.chunks_exact_mut(rows).skip(start) {
                let column = &mut column[start..];
                // SAFETY: the caller of `with` vouches for the registers of `V`, which is all that these require.
                unsafe {
                    let length = dot::<V>(column, vector);
                    add::<V>(column, vector, T::zero() - self.factors[k] * length);
                }
            }
        }
    }
}
