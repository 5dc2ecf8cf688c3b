//! Non-maximum suppression.

use torch_library::prelude::*;
use torch_library_aten::real::{Real, elements};
use torch_library_kernels::aten;

use crate::ops::torchvision;
use crate::parts::is_double;

#[torch_impl(torchvision::nms, CPU)]
fn nms(dets: &Tensor, scores: &Tensor, iou_threshold: f64) -> Result<Tensor> {
    let is_double = is_double(&[("dets", dets), ("scores", scores)])?;
    ensure!(
        matches!(dets.sizes(), [_, 4]),
        Shape,
        "`dets` has sizes {:?}, expected [N, 4]: a box in each row",
        dets.sizes()
    );
    ensure!(
        scores.sizes() == &dets.sizes()[..1],
        Shape,
        "`scores` has sizes {:?}, expected one for each of {} boxes",
        scores.sizes(),
        dets.sizes()[0]
    );
    let (_, order) = aten::sort_stable::call(scores, Some(true), 0, true)?;
    let order = order.to_vec::<i64>()?;
    let kept = match is_double {
        true => kept(&elements::<f64>(dets)?, &order, iou_threshold),
        false => kept(&elements::<f32>(dets)?, &order, iou_threshold),
    };
    let count = kept.len() as i64;
    Tensor::from_vec(kept, &[count])
}

/// The boxes, in descending order of scores, that no earlier kept box overlaps too much.
fn kept<T: Real>(boxes: &[T], order: &[i64], threshold: f64) -> Vec<i64> {
    let boxes: Vec<_> = order.iter().map(|at| Rectangle::new(&boxes[4 * *at as usize..][..4])).collect();
    let mut suppressed = vec![false; boxes.len()];
    let mut kept = Vec::new();
    for (place, this) in boxes.iter().enumerate() {
        if suppressed[place] {
            continue;
        }
        kept.push(order[place]);
        for (other, suppressed) in boxes[place + 1..].iter().zip(&mut suppressed[place + 1..]) {
            *suppressed |= this.overlap(other).to_f64().is_some_and(|overlap| overlap > threshold);
        }
    }
    kept
}

/// A box with its area.
struct Rectangle<T> {
    left: T,
    top: T,
    right: T,
    bottom: T,
    area: T,
}

impl<T: Real> Rectangle<T> {
    fn new(numbers: &[T]) -> Self {
        let [left, top, right, bottom] = [numbers[0], numbers[1], numbers[2], numbers[3]];
        Rectangle { left, top, right, bottom, area: (right - left) * (bottom - top) }
    }

    /// Intersection over union: the area of both as a fraction of the area of either.
    fn overlap(&self, other: &Self) -> T {
        let width = (self.right.min(other.right) - self.left.max(other.left)).max(T::zero());
        let height = (self.bottom.min(other.bottom) - self.top.max(other.top)).max(T::zero());
        let both = width * height;
        both / (self.area + other.area - both)
    }
}
