//! Resizing of images of bytes: rows are stretched first, then columns, each time rounded to bytes, with weights in
//! fixed-point arithmetic.
//!
//! PyTorch: `upsample_avx_bilinear_bicubic_uint8`, which follows image libraries (Pillow).

use torch_library::prelude::*;

use super::{Direction, Resizing};
use crate::composite::collected;
use crate::cpu::volumes::{Volumes, each};
use crate::fixed_point::FixedPoint;
use crate::inlined::zip;
use crate::loops::{has_elements, on_vectors};

impl Resizing<'_> {
    pub(super) fn forth_bytes(&self, input: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        let volumes = Volumes::new(input, 2, true);
        let out = volumes.zeros(input, output_size, DType::UInt8)?;
        if !has_elements(&out) {
            return Ok(out);
        }
        let [_, height, width] = self.directions::<f64>(&input.sizes()[2..], output_size, true)?;
        let (height, width) = (Line::new(&height), Line::new(&width));
        let wide = collected(self.operator, (height.from * width.to * volumes.lanes) as i64, |_| 0u8)?;
        let (from, to) = (volumes.read::<u8>(input)?, volumes.write::<u8>(&out, 2)?);
        each(to.parts.count(), to.parts.len().max(from.len()), |n| {
            let mut wide = wide.clone();
            // SAFETY: the result was initialised with zeros, and `each` gives every volume to one thread, so this
            // volume is this thread's alone.
            let (image, out) = (from.get(n), unsafe { to.parts.get_mut(n) });
            let rows = image.chunks_exact(width.from * volumes.lanes);
            for (row, wide) in rows.zip(wide.chunks_exact_mut(width.to * volumes.lanes)) {
                stretch(&width, volumes.lanes, row, wide);
            }
            stretch(&height, width.to * volumes.lanes, &wide, out);
        });
        volumes.store(to, &out)?;
        Ok(out)
    }
}

/// The elements in one spatial dimension from which each new element is computed, and their weights.
struct Line {
    from: usize,
    to: usize,
    /// The number of elements for each new element.
    taps: usize,
    index: Vec<usize>,
    fixed: FixedPoint,
}

impl Line {
    fn new(direction: &Direction<f64>) -> Self {
        let (from, to) = (direction.from, direction.to);
        if from == to {
            let (index, fixed) = ((0..to).collect(), FixedPoint::new(&vec![1.0; to]));
            return Line { from, to, taps: 1, index, fixed };
        }
        let taps = direction.taps.len();
        let (mut index, mut weights) = (Vec::with_capacity(to * taps), Vec::with_capacity(to * taps));
        for i in 0..to {
            let start = index.len();
            for tap in &direction.taps {
                // Elements beyond an end repeat the one at the end; their weights are added up, so that they are
                // rounded only once.
                match index[start..].iter().position(|seen| *seen == tap.index[i]) {
                    Some(seen) => {
                        weights[start + seen] += tap.weight[i];
                        (index.push(tap.index[i]), weights.push(0.0))
                    }
                    None => (index.push(tap.index[i]), weights.push(tap.weight[i])),
                };
            }
        }
        Line { from, to, taps, index, fixed: FixedPoint::new(&weights) }
    }
}

on_vectors! {
    /// Computes a line of new elements, each of `lanes` contiguous bytes.
    fn stretch(line: &Line, lanes: usize, from: &[u8], to: &mut [u8]) {
        match (lanes, line.taps) {
            (1, 2) => return few::<1, 2>(line, from, to),
            (3, 2) => return few::<3, 2>(line, from, to),
            (4, 2) => return few::<4, 2>(line, from, to),
            (1, 4) => return few::<1, 4>(line, from, to),
            (3, 4) => return few::<3, 4>(line, from, to),
            (4, 4) => return few::<4, 4>(line, from, to),
            _ => {}
        }
        let mut sums = vec![0i32; lanes];
        let (half, precision) = (line.fixed.half(), line.fixed.precision);
        let taps = line.index.chunks_exact(line.taps).zip(line.fixed.weights.chunks_exact(line.taps));
        for (new, (index, weights)) in to.chunks_exact_mut(lanes).zip(taps) {
            sums.fill(half);
            for (index, weight) in index.iter().zip(weights) {
                for (sum, byte) in sums.iter_mut().zip(&from[index * lanes..][..lanes]) {
                    *sum += i32::from(*byte) * weight;
                }
            }
            for (new, sum) in new.iter_mut().zip(&sums) {
                *new = (sum >> precision).clamp(0, 255) as u8;
            }
        }
    }
}

/// Like [`stretch`], for a few lanes and taps, whose sums stay in registers.
#[inline(always)]
fn few<const LANES: usize, const TAPS: usize>(line: &Line, from: &[u8], to: &mut [u8]) {
    let (half, precision) = (line.fixed.half(), line.fixed.precision);
    let (from, to) = (from.as_chunks::<LANES>().0, to.as_chunks_mut::<LANES>().0);
    let (index, weights) = (line.index.as_chunks::<TAPS>().0, line.fixed.weights.as_chunks::<TAPS>().0);
    for (new, (index, weights)) in zip(to, zip(index, weights)) {
        let mut sums = [half; LANES];
        for tap in 0..TAPS {
            let bytes = &from[index[tap]];
            for lane in 0..LANES {
                sums[lane] += i32::from(bytes[lane]) * weights[tap];
            }
        }
        for lane in 0..LANES {
            new[lane] = (sums[lane] >> precision).clamp(0, 255) as u8;
        }
    }
}
