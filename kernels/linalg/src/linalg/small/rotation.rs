//! Rotations of a plane.

use super::field::{Field, Real};
use num_traits::Float;

/// The rotation that maps `(x, y)` to `(c x + s y, c y - s x)`.
#[derive(Clone, Copy)]
pub(in super::super) struct Rotation<R> {
    pub(in super::super) c: R,
    pub(in super::super) s: R,
}

impl<R: Real> Rotation<R> {
    /// The rotation that maps `(f, g)` to `(r, 0)`, and `r`.
    ///
    /// Of the two there are, this is the one that LAPACK chooses since version 3.10: `r` has the sign of `f`, so that
    /// `c` is not negative.
    #[inline(always)]
    pub(super) fn onto_first(f: R, g: R) -> (Self, R) {
        if f == R::ZERO && g != R::ZERO {
            return (Rotation { c: R::ZERO, s: R::ONE.signed(g) }, g.abs());
        }
        Self::onto(f, g, |r| r.signed(f))
    }

    /// Like [`onto_first`](Self::onto_first), with the choice that LAPACK made before: `r` has the sign of `f` if `f`
    /// is the larger of the two, and is positive otherwise.
    #[inline(always)]
    pub(super) fn onto_first_by_size(f: R, g: R) -> (Self, R) {
        if f == R::ZERO && g != R::ZERO {
            return (Rotation { c: R::ZERO, s: R::ONE }, g);
        }
        Self::onto(f, g, |r| if f.abs() > g.abs() { r.signed(f) } else { r })
    }

    #[inline(always)]
    fn onto(f: R, g: R, sign: impl Fn(R) -> R) -> (Self, R) {
        if g == R::ZERO {
            return (Rotation { c: R::ONE, s: R::ZERO }, f);
        }
        let small = R::LEAST / R::ROUNDING;
        let r = length(f, g);
        if r < small {
            // Subnormal numbers have too few digits.
            let (f, g) = (f / small, g / small);
            let r = sign(length(f, g));
            return (Rotation { c: f / r, s: g / r }, r * small);
        }
        let r = sign(r);
        (Rotation { c: f / r, s: g / r }, r)
    }

    /// The image of a point.
    #[inline(always)]
    pub(super) fn of(self, x: R, y: R) -> (R, R) {
        (self.c * x + self.s * y, self.c * y - self.s * x)
    }

    /// Replaces two columns by their images, element by element.
    #[inline(always)]
    pub(super) fn apply<T: Field<Real = R>>(self, x: &mut [T], y: &mut [T]) {
        for (x, y) in x.iter_mut().zip(y) {
            (*x, *y) = (x.by_plus(self.c, y.by(self.s)), y.by_plus(self.c, -x.by(self.s)));
        }
    }
}

/// The length of a vector in the plane, also if squares of its elements overflow or underflow.
#[inline(always)]
pub(super) fn length<R: Real>(x: R, y: R) -> R {
    let square = x * x + y * y;
    if square > R::LEAST / R::ROUNDING && square < R::max_value() { Float::sqrt(square) } else { x.hypot(y) }
}
