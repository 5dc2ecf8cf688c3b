//! Singular values and vectors of an upper triangular matrix of two rows, accurate to nearly all digits.

use num_traits::Float;

use super::field::Real;
use super::rotation::Rotation;

/// The matrix `[[f, g], [0, h]]`.
#[derive(Clone, Copy)]
pub(super) struct Triangle<R> {
    pub(super) f: R,
    pub(super) g: R,
    pub(super) h: R,
}

/// A decomposition: the rotation from the left times the matrix times the inverse of the one from the right is the
/// diagonal matrix of `larger` and `smaller`, which may be negative.
pub(super) struct Decomposed<R> {
    pub(super) larger: R,
    pub(super) smaller: R,
    pub(super) left: Rotation<R>,
    pub(super) right: Rotation<R>,
}

impl<R: Real> Triangle<R> {
    /// The smaller singular value.
    pub(super) fn least(self) -> R {
        let Triangle { f, g, h } = self;
        let (f, g, h) = (f.abs(), g.abs(), h.abs());
        let (least, most) = (f.min(h), f.max(h));
        if least == R::ZERO {
            return R::ZERO;
        }
        let (sum, difference) = (R::ONE + least / most, (most - least) / most);
        let two = R::ONE + R::ONE;
        if g < most {
            let ratio = (g / most) * (g / most);
            let scale = two / (Float::sqrt(sum * sum + ratio) + Float::sqrt(difference * difference + ratio));
            return least * scale;
        }
        let ratio = most / g;
        if ratio == R::ZERO {
            return (least * most) / g;
        }
        let (sum, difference) = (sum * ratio, difference * ratio);
        let scale =
            R::ONE / (Float::sqrt(R::ONE + sum * sum) + Float::sqrt(R::ONE + difference * difference));
        two * (least * scale * ratio)
    }

    /// The decomposition, whose signs are LAPACK's.
    pub(super) fn decompose(self) -> Decomposed<R> {
        // The mirrored matrix has the same singular values, with the vectors of left and right exchanged.
        let is_mirrored = self.h.abs() > self.f.abs();
        let Triangle { f, g, h } = self;
        let (f, h) = if is_mirrored { (h, f) } else { (f, h) };
        let (sizes, left, right, is_beside) = falling(Triangle { f, g, h });
        let swapped = |at: Rotation<R>| Rotation { c: at.s, s: at.c };
        let (left, right) = if is_mirrored { (swapped(right), swapped(left)) } else { (left, right) };
        let sign = |x: R| R::ONE.signed(x);
        let sign_of_larger = match (is_beside, is_mirrored) {
            (true, _) => sign(right.s) * sign(left.c) * sign(g),
            (false, false) => sign(right.c) * sign(left.c) * sign(self.f),
            (false, true) => sign(right.s) * sign(left.s) * sign(self.h),
        };
        Decomposed {
            larger: sizes[0].signed(sign_of_larger),
            smaller: sizes[1].signed(sign_of_larger * sign(self.f) * sign(self.h)),
            left,
            right,
        }
    }
}

/// The singular values and the rotations of a triangle with `|f| ≥ |h|`, and whether `g` is the largest element.
fn falling<R: Real>(Triangle { f, g, h }: Triangle<R>) -> ([R; 2], Rotation<R>, Rotation<R>, bool) {
    let (one, two) = (R::ONE, R::ONE + R::ONE);
    let [size_f, size_g, size_h] = [f, g, h].map(R::abs);
    if size_g == R::ZERO {
        let still = Rotation { c: one, s: R::ZERO };
        return ([size_f, size_h], still, still, false);
    }
    let is_beside = size_g > size_f;
    if is_beside && size_f / size_g < R::ROUNDING {
        let smaller = if size_h > one { size_f / (size_g / size_h) } else { size_f / size_g * size_h };
        let (left, right) = (Rotation { c: one, s: h / g }, Rotation { c: f / g, s: one });
        return ([size_g, smaller], left, right, is_beside);
    }
    // Relative to `f`: the difference of the diagonal elements, their sum, and the one above the diagonal.
    let difference = if size_f - size_h == size_f { one } else { (size_f - size_h) / size_f };
    let (sum, off_diagonal) = (two - difference, g / f);
    let square = off_diagonal * off_diagonal;
    let longer = Float::sqrt(sum * sum + square);
    let shorter = if difference == R::ZERO {
        off_diagonal.abs()
    } else {
        Float::sqrt(difference * difference + square)
    };
    let mean = (longer + shorter) / two;
    let tangent = if square != R::ZERO {
        (off_diagonal / (longer + sum) + off_diagonal / (shorter + difference)) * (one + mean)
    } else if difference == R::ZERO {
        two.signed(f) * one.signed(g)
    } else {
        g / (size_f - size_h).signed(f) + off_diagonal / sum
    };
    let scale = Float::sqrt(tangent * tangent + two * two);
    let right = Rotation { c: two / scale, s: tangent / scale };
    let left = Rotation { c: (right.c + right.s * off_diagonal) / mean, s: h / f * right.s / mean };
    ([size_f * mean, size_h / mean], left, right, is_beside)
}
