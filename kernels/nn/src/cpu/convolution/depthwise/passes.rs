//! Which pixels of a source the pixels of a result sum, one spatial dimension at a time.

use std::ops::Range;

use crate::cpu::axis::Axis;

/// Some equidistant pixels of a result, and the taps of each: the pixels of the source that it sums, which are as far
/// apart from one pixel to the next for every tap.
#[derive(Clone)]
pub(super) struct Pass {
    /// The first pixel of the result, and the distance to the next.
    first: usize,
    step: usize,
    count: usize,
    /// The number of pixels of the source.
    source: usize,
    /// The distance between the pixels of the source under one tap.
    stride: isize,
    taps: Vec<Tap>,
}

/// A tap: its number in the window, its pixel of the source for the first pixel of the result, and the pixels of the
/// result for which it is not in the padding.
#[derive(Clone)]
pub(super) struct Tap {
    pub(super) number: usize,
    pub(super) pixel: isize,
    inside: Range<usize>,
}

impl Tap {
    fn new(number: i64, pixel: i64, stride: i64, source: usize, count: usize) -> Self {
        let first = (stride - 1 - pixel).div_euclid(stride);
        let end = (source as i64 - 1 - pixel).div_euclid(stride) + 1;
        let [start, end] = [first, end].map(|n| n.clamp(0, count as i64) as usize);
        Tap { number: number as usize, pixel: pixel as isize, inside: start.min(end)..end }
    }
}

impl Pass {
    /// All places, which sum pixels of the image.
    pub(super) fn of_places(axis: Axis, image: usize, places: usize) -> Self {
        let Axis { kernel, stride, padding, dilation } = axis;
        let tap = |number: i64| Tap::new(number, number * dilation - padding, stride, image, places);
        let taps = (0..kernel).map(tap).collect();
        Pass { first: 0, step: 1, count: places, source: image, stride: stride as isize, taps }
    }

    /// The pixels of the image, which sum places: those of one phase of the stride after the other, since pixels of
    /// different phases are under different taps.
    pub(super) fn of_pixels(axis: Axis, image: usize, places: usize) -> Vec<Self> {
        let Axis { kernel, stride, padding, dilation } = axis;
        let pass = |phase: i64| {
            let (first, step) = (phase as usize, stride as usize);
            let count = (image - first).div_ceil(step);
            let tap = |number: i64| {
                let reach = phase + padding - number * dilation;
                (reach % stride == 0).then(|| Tap::new(number, reach / stride, 1, places, count))
            };
            let taps = (0..kernel).rev().filter_map(tap).collect(); // in the order of their pixels
            Pass { first, step, count, source: places, stride: 1, taps }
        };
        (0..stride.min(image as i64)).map(pass).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn source(&self) -> usize {
        self.source
    }

    pub(super) fn stride(&self) -> isize {
        self.stride
    }

    pub(super) fn taps(&self) -> &[Tap] {
        &self.taps
    }

    /// The place in the result of pixel `n` of the pass.
    pub(super) fn pixel(&self, n: usize) -> usize {
        self.first + n * self.step
    }

    /// The taps of pixel `n` that are not in the padding. They follow each other, as taps are equidistant.
    pub(super) fn taps_inside(&self, n: usize) -> &[Tap] {
        let is_inside = |tap: &Tap| tap.inside.contains(&n);
        let start = self.taps.iter().position(is_inside).unwrap_or(self.taps.len());
        let rest = &self.taps[start..];
        &rest[..rest.iter().position(|tap| !is_inside(tap)).unwrap_or(rest.len())]
    }

    /// The numbers of the taps of pixel `n` that are not in the padding, and their pixels of the source.
    pub(super) fn sources(&self, n: usize) -> impl Iterator<Item = (usize, usize)> {
        let pixel = move |tap: &Tap| (tap.number, (tap.pixel + n as isize * self.stride) as usize);
        self.taps_inside(n).iter().map(pixel)
    }

    /// Whether a pixel under one of these taps is under the next one for the pixel of the result before.
    pub(super) fn are_neighbours(&self, taps: &[Tap]) -> bool {
        self.stride == 1 && taps.windows(2).all(|pair| pair[1].pixel == pair[0].pixel + 1)
    }

    /// The pixels for which none of these taps is in the padding.
    pub(super) fn inside(&self, taps: &[Tap]) -> Range<usize> {
        let mut range = 0..self.count;
        for tap in taps {
            range.start = range.start.max(tap.inside.start);
            range.end = range.end.min(tap.inside.end);
        }
        range.start..range.end.max(range.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of a place and a pixel under a tap of its window is found from either side.
    #[test]
    fn both_directions_meet_the_same_pairs() {
        for (kernel, stride, padding, dilation) in
            [(3, 1, 1, 1), (3, 2, 1, 1), (5, 2, 4, 3), (1, 3, 0, 1), (2, 3, 1, 2), (7, 1, 3, 1)]
        {
            let axis = Axis { kernel, stride, padding, dilation };
            let image = 17usize;
            let places = axis.places(image as i64) as usize;
            let forward = Pass::of_places(axis, image, places);
            let mut pairs = Vec::new();
            for place in 0..places {
                pairs.extend(forward.sources(place).map(|(tap, pixel)| (tap, place, pixel)));
                let is_inside = forward.taps_inside(place).len() == kernel as usize;
                assert_eq!(is_inside, forward.inside(forward.taps()).contains(&place));
            }
            let mut others = Vec::new();
            for pass in Pass::of_pixels(axis, image, places) {
                for n in 0..pass.count() {
                    others.extend(pass.sources(n).map(|(tap, place)| (tap, place, pass.pixel(n))));
                    let is_inside = pass.taps_inside(n).len() == pass.taps().len();
                    assert_eq!(is_inside, pass.inside(pass.taps()).contains(&n));
                }
            }
            pairs.sort_unstable();
            others.sort_unstable();
            assert_eq!(pairs, others, "{axis:?}");
        }
    }
}
