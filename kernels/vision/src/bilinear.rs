//! Bilinear interpolation: the four elements around a point, and their weights.

use torch_library_aten::real::{Real, real};

/// An element of a plane and its weight.
pub(crate) type Tap<T> = (usize, T);

/// The taps of a point of a region: a point that is outside by more than one element has none, and counts as zero, a
/// nearer one is moved to the edge. A tap whose weight is zero counts if its element is not finite.
pub(crate) fn inside<T: Real>(y: T, x: T, height: usize, width: usize) -> Option<[Tap<T>; 4]> {
    let is_near = |at: T, len: usize| at >= -T::one() && at <= real(len as f64);
    if !(is_near(y, height) && is_near(x, width)) || height == 0 || width == 0 {
        return None;
    }
    let (y, x) = (Between::new(y, height), Between::new(x, width));
    Some([
        (y.low * width + x.low, y.below() * x.below()),
        (y.low * width + x.high, y.below() * x.above),
        (y.high * width + x.low, y.above * x.below()),
        (y.high * width + x.high, y.above * x.above),
    ])
}

/// Two neighbours on one axis, and the distance of a point from the lower one.
struct Between<T> {
    low: usize,
    high: usize,
    above: T,
}

impl<T: Real> Between<T> {
    fn new(at: T, len: usize) -> Self {
        let at = at.max(T::zero());
        let low = at.to_usize().unwrap_or_default();
        if low + 1 >= len {
            Between { low: len - 1, high: len - 1, above: T::zero() }
        } else {
            Between { low, high: low + 1, above: at - real(low as f64) }
        }
    }

    fn below(&self) -> T {
        T::one() - self.above
    }
}

/// A sampling point of a deformable convolution; elements outside are zeros.
#[derive(Clone, Copy)]
pub(crate) struct Point<T> {
    /// The indices of the four elements around the point, if they are in the plane.
    corners: [Option<usize>; 4],
    /// The distances of the point from the upper and from the left elements.
    down: T,
    right: T,
    /// Whether the point is above or to the left of the plane by exactly one element. Its value is zero, as further
    /// outside, but it grows when the point moves inwards.
    is_on_border: bool,
}

impl<T: Real> Point<T> {
    pub(crate) fn new(y: T, x: T, height: usize, width: usize) -> Self {
        let is_near = |at: T, len: usize| at >= real(-1.0) && at < real(len as f64);
        if !is_near(y, height) || !is_near(x, width) {
            // The distances of an infinite point would be NaN.
            return Point { corners: [None; 4], down: T::zero(), right: T::zero(), is_on_border: false };
        }
        let (top, left) = (y.floor(), x.floor());
        let index = |y: T, x: T| {
            let inside = |at: T, len: usize| {
                at.to_i64().and_then(|at| usize::try_from(at).ok()).filter(|at| *at < len)
            };
            Some(inside(y, height)? * width + inside(x, width)?)
        };
        let (bottom, far) = (top + T::one(), left + T::one());
        let corners = [index(top, left), index(top, far), index(bottom, left), index(bottom, far)];
        let is_on_border = y == real(-1.0) || x == real(-1.0);
        Point { corners, down: y - top, right: x - left, is_on_border }
    }

    fn values(&self, plane: &[T]) -> [T; 4] {
        self.corners.map(|corner| corner.map_or(T::zero(), |at| plane[at]))
    }

    fn weights(&self) -> [T; 4] {
        let (up, left) = (T::one() - self.down, T::one() - self.right);
        [up * left, up * self.right, self.down * left, self.down * self.right]
    }

    /// The interpolated value.
    pub(crate) fn value(&self, plane: &[T]) -> T {
        if self.is_on_border {
            return T::zero();
        }
        let (values, weights) = (self.values(plane), self.weights());
        values.into_iter().zip(weights).fold(T::zero(), |sum, (value, weight)| sum + value * weight)
    }

    /// The derivatives of the value when the point moves down, and to the right; on the border those inwards, as in
    /// torchvision.
    pub(crate) fn slopes(&self, plane: &[T]) -> (T, T) {
        let [a, b, c, d] = self.values(plane);
        let (up, left) = (T::one() - self.down, T::one() - self.right);
        (left * (c - a) + self.right * (d - b), up * (b - a) + self.down * (d - c))
    }

    /// Adds a gradient to the elements that the value was computed from.
    pub(crate) fn scatter(&self, plane: &mut [T], gradient: T) {
        if self.is_on_border {
            return;
        }
        for (corner, weight) in self.corners.into_iter().zip(self.weights()) {
            if let Some(at) = corner.filter(|_| weight != T::zero()) {
                plane[at] = plane[at] + gradient * weight; // an infinite gradient without a weight would be NaN
            }
        }
    }
}
