//! Nearest-neighbour interpolation: pixels are copied as they are, whatever their type.

use std::mem::MaybeUninit;

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::{Direction, Resizing, is_obvious};
use crate::cpu::volumes::Volumes;
use crate::loops::pointwise::unsupported;
use crate::loops::{has_elements, parallel};
use crate::number::Number;

/// The elements in one spatial dimension that are copied.
struct Copied {
    from: usize,
    to: usize,
    /// For each new element, the one that it is a copy of.
    index: Vec<usize>,
}

impl<T> From<Direction<T>> for Copied {
    fn from(mut direction: Direction<T>) -> Self {
        Copied { from: direction.from, to: direction.to, index: direction.taps.swap_remove(0).index }
    }
}

impl Resizing<'_> {
    pub(super) fn forth_nearest(&self, input: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        match_dtype!(input.dtype(), T: Float => self.copied::<T, T>(input, output_size),
        else => match_dtype!(input.dtype(), T: Half => self.copied::<T, f32>(input, output_size),
        else => match input.dtype() {
            DType::UInt8 => self.copied::<u8, u8>(input, output_size),
            _ => Err(unsupported(self.operator, input.dtype())),
        }))
    }

    /// Copies pixels of type `T`, of which PyTorch finds the places in the opmath type `M`.
    fn copied<T: Element, M: Number>(&self, input: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        let volumes = Volumes::new(input, self.scales.len(), true);
        // SAFETY: `copy` writes every line in full, and the lines are all elements; after an error the tensor is
        // dropped here.
        let out = unsafe { volumes.uninit(input, output_size, input.dtype())? };
        if !has_elements(&out) {
            return Ok(out);
        }
        let directions =
            self.directions::<M>(&input.sizes()[2..], output_size, is_obvious(input, output_size))?;
        let [depth, height, width] = directions.map(Copied::from);
        let (rows, pixel, len) = (depth.to * height.to, volumes.lanes, width.from * volumes.lanes);
        let (from, to) = (volumes.read::<T>(input)?, volumes.write::<T>(&out, 1)?);
        parallel::shares(to.parts.count(), (parallel::GRAIN / to.parts.len()).max(1), |lines| {
            let mut last = None;
            for line in lines {
                let (volume, place) = (line / rows, line % rows);
                let row = depth.index[place / height.to] * height.from + height.index[place % height.to];
                // SAFETY: `shares` gives every line to one thread, so this line of the leased result is this
                // thread's alone.
                let out = unsafe { to.parts.uninit(line) };
                if last.replace([volume, row]) == Some([volume, row]) {
                    // SAFETY: this thread wrote the line before, and no other has it.
                    out.write_copy_of_slice(unsafe { to.parts.get(line - 1) });
                } else {
                    copy(&width.index, pixel, &from.get(volume)[row * len..][..len], out);
                }
            }
        });
        volumes.store(to, &out)?;
        Ok(out)
    }
}

/// Writes a line of pixels.
fn copy<T: Copy>(index: &[usize], pixel: usize, from: &[T], to: &mut [MaybeUninit<T>]) {
    match pixel {
        1 => {
            for (to, at) in to.iter_mut().zip(index) {
                to.write(from[*at]);
            }
        }
        _ => {
            for (to, at) in to.chunks_exact_mut(pixel).zip(index) {
                to.write_copy_of_slice(&from[at * pixel..][..pixel]);
            }
        }
    }
}
