//! im2col and col2im: the windows of images as columns, and back.
//!
//! Each tap of the window gives one row of a channel's columns, line of places by line: the pixels of a line that the
//! tap covers are copied, or added, at once.
#![expect(
    unsafe_code,
    reason = "shares channels among threads, in memory that nothing was written to before"
)]

use std::mem::MaybeUninit;
use std::ops::Range;

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::axis::Axis;
use super::volumes::{each, pixels};
use crate::aten;
use crate::inlined::{fill, zip};
use crate::loops;
use crate::loops::parts::{Parts, PartsMut};
use crate::loops::pointwise::unsupported;
use crate::loops::{assign, has_elements, match_opmath, on_vectors};
use crate::number::Number;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn im2col(
        this: &Tensor,
        kernel_size: &[i64],
        dilation: &[i64],
        padding: &[i64],
        stride: &[i64],
    ) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::im2col::NAME;
        let axes = axes(OPERATOR, [kernel_size, stride, padding, dilation])?;
        let &[height, width] = pixels(OPERATOR, this, 2)? else {
            bail!(Shape, "{OPERATOR}: sizes {:?} have no height and width", this.sizes())
        };
        let front = &this.sizes()[..this.dim() - 2];
        let columns = Columns::new(OPERATOR, axes, [height, width])?;
        ensure!(
            height > 0 && width > 0 && front[front.len() - 1] > 0,
            Shape,
            "{OPERATOR}: sizes {:?} have no pixels, only a batch may be empty",
            this.sizes()
        );
        let mut sizes = front.to_vec();
        sizes[front.len() - 1] = sizes[front.len() - 1].saturating_mul(columns.taps());
        sizes.push(columns.count());
        let dtype = this.dtype();
        ensure!(is_summed(dtype), DType, "{OPERATOR} is not implemented for {dtype}");
        // SAFETY: `unfold` writes all columns of each channel, which are all elements; after an error the tensor is
        // dropped here.
        let out = unsafe { Tensor::uninit(&sizes, dtype, this.device())? };
        if has_elements(&out) {
            match_dtype!(dtype, T: NotFloat8 => columns.unfolded::<T>(this, &out)?, else => {});
        }
        Ok(out)
    }

    fn col2im(
        this: &Tensor,
        output_size: &[i64],
        kernel_size: &[i64],
        dilation: &[i64],
        padding: &[i64],
        stride: &[i64],
    ) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::col2im::NAME;
        let axes = axes(OPERATOR, [kernel_size, stride, padding, dilation])?;
        let sizes = pair(OPERATOR, "output_size", output_size)?;
        let most = i64::from(i32::MAX);
        ensure!(
            sizes.iter().all(|size| (1..=most).contains(size)),
            Argument,
            "{OPERATOR}: output_size is {output_size:?}, expected numbers from 1 to {most}"
        );
        let columns = Columns::new(OPERATOR, axes, sizes)?;
        let &[ref batch @ .., rows, count] = this.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?}, expected rows and columns", this.sizes())
        };
        ensure!(
            batch.len() <= 1 && rows > 0 && rows % columns.taps() == 0 && count == columns.count(),
            Shape,
            "{OPERATOR}: sizes {:?}, expected a multiple of {} rows (the elements of a window) and {} columns (the \
             places of the window), with or without a batch",
            this.sizes(),
            columns.taps(),
            columns.count()
        );
        let sizes = [batch, &[rows / columns.taps()], &sizes].concat();
        let dtype = this.dtype();
        ensure!(is_summed(dtype), DType, "{OPERATOR} is not implemented for {dtype}");
        let out = Tensor::zeros(&sizes, dtype, this.device())?;
        match_opmath!(dtype, T: Bool | Float | Complex => {
            if has_elements(&out) {
                let sums = match dtype == T::DTYPE {
                    true => out.clone(),
                    false => Tensor::zeros(&sizes, T::DTYPE, this.device())?,
                };
                columns.folded::<T>(this, &sums)?;
                if dtype != T::DTYPE {
                    assign(&out, &sums)?;
                }
            }
        }, else => return Err(unsupported(OPERATOR, dtype)));
        Ok(out)
    }
}

/// Whether `col2im` supports the type: PyTorch's does not take integers.
fn is_summed(dtype: DType) -> bool {
    dtype == DType::Bool || dtype.is_floating_point() || dtype.is_complex()
}

fn pair(operator: &str, name: &str, numbers: &[i64]) -> Result<[i64; 2]> {
    match *numbers {
        [first, second] => Ok([first, second]),
        _ => bail!(Argument, "{operator}: {name} is {numbers:?}, expected two numbers"),
    }
}

fn axes(operator: &str, [kernel, stride, padding, dilation]: [&[i64]; 4]) -> Result<[Axis; 2]> {
    let (kernel, stride) = (pair(operator, "kernel_size", kernel)?, pair(operator, "stride", stride)?);
    let (padding, dilation) = (pair(operator, "padding", padding)?, pair(operator, "dilation", dilation)?);
    let axis = |at: usize| {
        let axis =
            Axis { kernel: kernel[at], stride: stride[at], padding: padding[at], dilation: dilation[at] };
        axis.checked(operator)
    };
    Ok([axis(0)?, axis(1)?])
}

/// The geometry of im2col: the windows of an image.
struct Columns {
    axes: [Axis; 2],
    /// Height and width of an image.
    sizes: [i64; 2],
    /// The number of places in each spatial dimension.
    places: [i64; 2],
}

impl Columns {
    fn new(operator: &str, axes: [Axis; 2], sizes: [i64; 2]) -> Result<Self> {
        let places = [axes[0].places(sizes[0]), axes[1].places(sizes[1])];
        ensure!(
            places.iter().all(|count| *count > 0),
            Shape,
            "{operator}: a window of {:?} pixels fits nowhere in an image of {sizes:?}",
            axes.map(|axis| axis.kernel)
        );
        Ok(Columns { axes, sizes, places })
    }

    fn taps(&self) -> i64 {
        self.axes[0].kernel * self.axes[1].kernel
    }

    fn count(&self) -> i64 {
        self.places[0].saturating_mul(self.places[1])
    }

    /// Calls a closure for each tap and each line of places: with the position of the line in the columns, the range of
    /// its places where the tap is on a pixel, and the position of the first such pixel.
    #[inline(always)]
    fn lines(&self, mut f: impl FnMut(usize, Range<usize>, usize)) {
        let [down, across] = self.axes;
        let [height, width] = self.sizes;
        let mut line = 0;
        for tap in 0..down.kernel {
            let rows = met(down, tap, height, self.places[0]);
            for at in 0..across.kernel {
                let met = met(across, at, width, self.places[1]);
                for place in 0..self.places[0] {
                    let y = place * down.stride - down.padding + tap * down.dilation;
                    let x = met.start * across.stride - across.padding + at * across.dilation;
                    let (met, first) = match rows.contains(&place) && !met.is_empty() {
                        true => (met.start as usize..met.end as usize, (y * width + x) as usize),
                        false => (0..0, 0),
                    };
                    f(line, met, first);
                    line += self.places[1] as usize;
                }
            }
        }
    }

    fn unfolded<T: Element>(&self, images: &Tensor, out: &Tensor) -> Result<()> {
        let from = Parts::<T>::row_major(images, (self.sizes[0] * self.sizes[1]) as usize)?;
        let to = PartsMut::<T>::of(out, (self.taps() * self.count()) as usize)?;
        ensure!(
            from.count() == to.count(),
            Busy,
            "images were resized to {:?} while they were read",
            images.sizes()
        );
        each(to.count(), to.len(), |n| {
            // SAFETY: `each` gives every channel to one thread, so these columns of the leased result are this
            // thread's alone.
            unfold(self, from.get(n), unsafe { to.uninit(n) });
        });
        Ok(())
    }

    fn folded<T: Number>(&self, columns: &Tensor, out: &Tensor) -> Result<()> {
        let from = Parts::<T>::row_major(columns, (self.taps() * self.count()) as usize)?;
        let to = PartsMut::<T>::of(out, (self.sizes[0] * self.sizes[1]) as usize)?;
        ensure!(
            from.count() == to.count(),
            Busy,
            "columns were resized to {:?} while they were read",
            columns.sizes()
        );
        each(to.count(), from.len(), |n| {
            // SAFETY: the result was initialised with zeros, and `each` gives every channel to one thread, so this
            // channel is this thread's alone.
            fold(self, from.get(n), unsafe { to.get_mut(n) });
        });
        Ok(())
    }
}

/// The range of places, out of `places`, at which a tap is on a pixel.
fn met(axis: Axis, tap: i64, size: i64, places: i64) -> Range<i64> {
    let start = axis.padding - tap * axis.dilation;
    let up_to = |pixel: i64| (pixel + start).max(0).unsigned_abs().div_ceil(axis.stride as u64) as i64;
    let first = up_to(0).min(places);
    first..up_to(size).clamp(first, places)
}

/// Writes all columns of a channel.
fn unfold<T: Element>(columns: &Columns, plane: &[T], out: &mut [MaybeUninit<T>]) {
    let (places, stride) = (columns.places[1] as usize, columns.axes[1].stride as usize);
    let zero = MaybeUninit::new(T::default());
    columns.lines(|line, met, first| {
        let out = &mut out[line..][..places];
        let (before, rest) = out.split_at_mut(met.start);
        let (out, after) = rest.split_at_mut(met.len());
        fill(before, zero);
        fill(after, zero);
        match stride {
            1 => {
                for (out, x) in zip(out, &plane[first..][..met.len()]) {
                    out.write(*x);
                }
            }
            _ => {
                for (n, out) in out.iter_mut().enumerate() {
                    out.write(plane[first + n * stride]);
                }
            }
        }
    });
}

on_vectors! {
    /// Adds all columns of a channel to its pixels.
    fn fold<T: Number>(columns: &Columns, from: &[T], plane: &mut [T]) {
        let stride = columns.axes[1].stride as usize;
        columns.lines(|line, met, first| {
            let from = &from[line..][met.clone()];
            match stride {
                1 => {
                    for (sum, x) in zip(&mut plane[first..][..met.len()], from) {
                        *sum = sum.plus(*x);
                    }
                }
                _ => {
                    for (n, x) in from.iter().enumerate() {
                        let sum = &mut plane[first + n * stride];
                        *sum = sum.plus(*x);
                    }
                }
            }
        });
    }
}
