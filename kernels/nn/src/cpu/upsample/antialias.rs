//! Antialiased resizing: each pixel is a weighted sum of the few that it covers, along one spatial dimension and then
//! along the other.
#![expect(unsafe_code, reason = "gives each thread lines of the result")]

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use crate::aten;
use crate::composite::upsample::antialias::{Bands, CUBIC, LANCZOS, LINEAR, Resizing, resizing};
use crate::fixed_point::FixedPoint;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::{self, on_vectors, parallel};
use crate::number::Number;

resizing! { [CPU] forth, back }

fn forth(resizing: &Resizing, input: &Tensor, output_size: &[i64]) -> Result<Tensor> {
    let _lease = loops::frozen([input])?;
    let [from, to] = resizing.sizes(input, output_size)?;
    let format = input.suggest_memory_format();
    if from == to {
        return aten::clone::with(input).memory_format(format).call(); // in any dtype, whatever the scales
    }
    let mut images = input.clone();
    // Bytes are rounded along the lines first, as in PyTorch. Of floats there are fewer after the columns.
    let directions = if input.dtype() == DType::UInt8 { [1, 0] } else { [0, 1] };
    for direction in directions.into_iter().filter(|direction| from[*direction] != to[*direction]) {
        let bands = resizing.bands(direction, from[direction], to[direction])?;
        images = match_dtype!(input.dtype(), T: Float => {
            let weights = bands.weights.iter().map(|weight| weight.cast::<T>()).collect();
            along(&images, direction, &bands.with(weights), |_| {})?
        }, else => {
            let fixed = FixedPoint::new(&bands.weights);
            let (half, precision) = (fixed.half(), fixed.precision);
            let rounded = |x: &mut i32| *x = ((*x + half) >> precision).clamp(0, 255);
            along(&images, direction, &bands.with(fixed.weights), |line: &mut [i32]| line.iter_mut().for_each(rounded))?
        });
    }
    aten::contiguous::with(&aten::to_dtype(&images, input.dtype())?).memory_format(format).call()
}

fn back(resizing: &Resizing, grad: &Tensor, output_size: &[i64], input_size: &[i64]) -> Result<Tensor> {
    let _lease = loops::frozen([grad])?;
    let [from, to] = resizing.sizes_back(grad, output_size, input_size)?;
    let mut images = grad.clone();
    for direction in [1, 0] {
        let bands = resizing.bands(direction, from[direction], to[direction])?;
        let bands = bands.transposed(from[direction] as usize);
        images = match_dtype!(grad.dtype(), T: Float => {
            let weights = bands.weights.iter().map(|weight| weight.cast::<T>()).collect();
            along(&images, direction, &bands.with(weights), |_| {})?
        }, else => images);
    }
    let format = if resizing.keeps_format { grad.suggest_memory_format() } else { MemoryFormat::Contiguous };
    aten::contiguous::with(&images).memory_format(format).call()
}

/// Weighted sums along the lines of images (`direction` 1) or along their columns (0). A closure gets each line of the
/// result to finish it.
fn along<T: Number>(
    images: &Tensor,
    direction: usize,
    bands: &Bands<T>,
    finish: impl Fn(&mut [T]) + Sync,
) -> Result<Tensor> {
    let &[batch, channels, height, width] = images.sizes() else {
        bail!(Shape, "sizes {:?} are not those of images", images.sizes())
    };
    let new = bands.starts.len();
    let sizes = if direction == 0 { [new as i64, width] } else { [height, new as i64] };
    let out = Tensor::zeros(&[batch, channels, sizes[0], sizes[1]], T::DTYPE, images.device())?;
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    let [rows, len] = [sizes[0] as usize, sizes[1] as usize];
    let work = len * bands.weights.len().div_ceil(new).max(1);
    let (from, to) = (Parts::<T>::row_major(images, width as usize)?, PartsMut::<T>::of(&out, len)?);
    parallel::shares((batch * channels) as usize * rows, (parallel::GRAIN / work).max(1), |range| {
        for at in range {
            // SAFETY: each line of the new tensor is one thread's.
            let line = unsafe { to.get_mut(at) };
            if direction == 0 {
                let (image, row) = (at / rows, at % rows);
                let first = image * height as usize + bands.starts[row];
                let weights = bands.of(row);
                let lines = from.range(first..first + weights.len());
                sum_of_lines(lines, weights, line);
            } else {
                shrink(from.get(at), bands, line);
            }
            finish(line);
        }
    });
    Ok(out)
}

on_vectors! {
    /// Writes the sum of lines that follow each other, each times its weight.
    fn sum_of_lines<T: Number>(lines: &[T], weights: &[T], to: &mut [T]) {
        const COLUMNS: usize = 64;
        let len = to.len();
        let (blocks, rest) = to.as_chunks_mut::<COLUMNS>();
        let whole = COLUMNS * blocks.len();
        for (block, to) in blocks.iter_mut().enumerate() {
            let mut sums = [T::ZERO; COLUMNS]; // in registers
            for (row, weight) in weights.iter().enumerate() {
                let line = &lines[row * len + block * COLUMNS..][..COLUMNS];
                for column in 0..COLUMNS {
                    sums[column] = sums[column].plus(weight.times(line[column]));
                }
            }
            *to = sums;
        }
        for (column, to) in rest.iter_mut().enumerate() {
            let sum = |sum: T, (row, weight): (usize, &T)| sum.plus(weight.times(lines[row * len + whole + column]));
            *to = weights.iter().enumerate().fold(T::ZERO, sum);
        }
    }
}

on_vectors! {
    /// Writes a weighted sum of a run of elements for each new one.
    fn shrink<T: Number>(line: &[T], bands: &Bands<T>, to: &mut [T]) {
        const LANES: usize = 8;
        for (new, to) in to.iter_mut().enumerate() {
            let weights = bands.of(new);
            let (chunks, rest) = weights.as_chunks::<LANES>();
            let run = &line[bands.starts[new]..][..weights.len()];
            let (run_chunks, run_rest) = run.as_chunks::<LANES>();
            let mut sum = T::ZERO;
            if !chunks.is_empty() {
                let mut sums = [T::ZERO; LANES];
                for (weights, elements) in chunks.iter().zip(run_chunks) {
                    for lane in 0..LANES {
                        sums[lane] = sums[lane].plus(weights[lane].times(elements[lane]));
                    }
                }
                sum = sums.into_iter().fold(sum, T::plus);
            }
            for (weight, element) in rest.iter().zip(run_rest) {
                sum = sum.plus(weight.times(*element));
            }
            *to = sum;
        }
    }
}
