//! A window that slides over images: where it is put, and what it covers there.
#![expect(unsafe_code, reason = "shares planes of images among threads")]

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::loops::parts::Parts;
use super::loops::{self, parallel};

mod convolution;
mod plan;
mod planes;
mod pool;
mod reach;
mod sheet;

/// How a window is put, in one direction.
#[derive(Clone, Copy, Debug)]
struct Axis {
    kernel: i64,
    stride: i64,
    padding: i64,
    dilation: i64,
}

/// One number for both directions, or one for each.
fn pair(operator: &str, name: &str, values: &[i64]) -> Result<[i64; 2]> {
    match *values {
        [both] => Ok([both; 2]),
        [height, width] => Ok([height, width]),
        _ => bail!(Argument, "{operator}: {name} is {values:?}, expected one number or two"),
    }
}

/// One number for all directions, or one for each: that of one of so many.
fn of_direction(operator: &str, name: &str, values: &[i64], direction: usize, count: usize) -> Result<i64> {
    match values {
        [all] => Ok(*all),
        each if each.len() == count => Ok(each[direction]),
        _ => bail!(Argument, "{operator}: {name} is {values:?}, expected one number or {count}"),
    }
}

/// Those of all directions.
fn per_direction(operator: &str, name: &str, values: &[i64], count: usize) -> Result<Vec<i64>> {
    (0..count).map(|direction| of_direction(operator, name, values, direction, count)).collect()
}

impl Axis {
    /// Of a direction that is not there.
    const NONE: Axis = Axis { kernel: 1, stride: 1, padding: 0, dilation: 1 };

    /// Both directions, from an operator's arguments; no stride means that of the window.
    fn both(
        operator: &str,
        kernel: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
    ) -> Result<[Axis; 2]> {
        let kernel = pair(operator, "kernel_size", kernel)?;
        let stride = if stride.is_empty() { kernel } else { pair(operator, "stride", stride)? };
        let padding = pair(operator, "padding", padding)?;
        let dilation = pair(operator, "dilation", dilation)?;
        let axes = [0, 1].map(|i| Axis {
            kernel: kernel[i],
            stride: stride[i],
            padding: padding[i],
            dilation: dilation[i],
        });
        axes.into_iter().try_for_each(|axis| axis.checked(operator).map(drop))?;
        Ok(axes)
    }

    fn checked(self, operator: &str) -> Result<Self> {
        let Axis { kernel, stride, padding, dilation } = self;
        ensure!(
            kernel > 0 && stride > 0 && dilation > 0 && padding >= 0,
            Argument,
            "{operator}: kernel {kernel}, stride {stride} and dilation {dilation} must be positive, padding {padding} not negative"
        );
        let largest = [kernel, stride, padding, dilation].into_iter().max().unwrap_or(0);
        let limit = i64::from(i32::MAX); // products and sums of two stay in range
        ensure!(
            largest <= limit,
            Argument,
            "{operator}: a window reaches at most {limit} pixels, not {largest}"
        );
        Ok(self)
    }

    /// How many pixels lie under the window, the gaps of dilation included.
    fn extent(self) -> i64 {
        self.dilation * (self.kernel - 1) + 1
    }

    /// How many places there are for the window in `size` pixels.
    fn places(self, size: i64) -> i64 {
        (size.saturating_add(2 * self.padding) - self.extent()).div_euclid(self.stride) + 1
    }

    /// How many pixels so many places cover, less those of the padding.
    fn spread(self, places: i64) -> i64 {
        let last = (places - 1).saturating_mul(self.stride);
        (last - 2 * self.padding).saturating_add(self.extent())
    }

    /// As [`places`](Self::places), with a last one that hangs over the edge, if it starts inside.
    fn places_over_edge(self, size: i64) -> i64 {
        let reach = size.saturating_add(2 * self.padding) - self.extent();
        let places = reach.saturating_add(self.stride - 1).div_euclid(self.stride) + 1;
        let starts_outside = (places - 1).saturating_mul(self.stride) >= size.saturating_add(self.padding);
        places - i64::from(starts_outside)
    }

    /// The first pixel of a line that the window covers at a place, and the end of these: not after it if there is none.
    fn reach(self, place: i64, size: i64) -> (i64, i64) {
        let start = place * self.stride - self.padding;
        let outside =
            if start < 0 { (-start).unsigned_abs().div_ceil(self.dilation as u64) as i64 } else { 0 };
        (start + outside * self.dilation, (start + self.extent()).min(size))
    }
}

/// Images of any strides, as planes of pixels.
struct Images {
    /// The sizes before the last two.
    outer: Vec<i64>,
    height: i64,
    width: i64,
}

impl Images {
    /// # Errors
    /// Neither three nor four dimensions, no pixels.
    fn of(operator: &str, tensor: &Tensor) -> Result<Self> {
        let sizes = tensor.sizes();
        let is_image = matches!(sizes.len(), 3 | 4) && !sizes[sizes.len() - 2..].contains(&0);
        ensure!(
            is_image,
            Shape,
            "{operator}: sizes {sizes:?} are not [batch, channels, height, width] nor [channels, height, width], or there are no pixels"
        );
        let (outer, image) = sizes.split_at(sizes.len() - 2);
        Ok(Images { outer: outer.to_vec(), height: image[0], width: image[1] })
    }

    /// The sizes with other numbers of pixels.
    fn resized(&self, height: i64, width: i64) -> Vec<i64> {
        [&self.outer[..], &[height, width]].concat()
    }
}

/// Computes images plane by plane, in the computing type, and writes them to `out` in whatever layout it has; it holds zeros
/// before. The closure gets the number of the plane, its pixels, and the places of the result.
fn planes<T: Element, R: Element>(
    input: &Tensor,
    out: &Tensor,
    f: impl Fn(usize, &[T], &mut [R]) + Sync,
) -> Result<()> {
    if !loops::has_elements(out) {
        return Ok(());
    }
    let is_row_major = out.dtype() == R::DTYPE && out.is_contiguous(MemoryFormat::Contiguous);
    let result = if is_row_major { out.clone() } else { Tensor::empty(out.sizes(), R::DTYPE, out.device())? };
    let (from, to) = (Parts::row_major(input, plane(input))?, Parts::of(&result, plane(out))?);
    parallel::shares(to.count(), (parallel::GRAIN / from.len().max(to.len())).max(1), |range| {
        for n in range {
            // SAFETY: nobody writes to the input, and this plane of the result is this thread's alone.
            unsafe { f(n, from.get(n), to.get_mut(n)) };
        }
    });
    if is_row_major {
        return Ok(());
    }
    match_dtype!(out.dtype(), O => loops::map(out, [&result], |[x]: [O; 1]| x))
}

/// How many pixels a plane has.
fn plane(tensor: &Tensor) -> usize {
    tensor.sizes().iter().rev().take(2).product::<i64>() as usize
}
