//! Pooling of volumes, and of images by shares: the largest element or the mean under windows of three directions.

use std::ops::Range;

use torch_library::Element;
use torch_library::geometry::contiguous_strides;
use torch_library::prelude::*;

use super::{Axis, like};
use crate::aten;
use crate::cpu::loops::{self, match_computing};
use crate::cpu::number::{Number, Ordered};
use crate::cpu::window::{per_direction, planes};
use crate::pointwise::unsupported;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn max_pool3d_with_indices(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
    ) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = "aten::max_pool3d_with_indices";
        let axes = axes(OPERATOR, kernel_size, stride, padding, dilation)?;
        Pooling::of_windows(OPERATOR, this, axes, ceil_mode)?.largest(this)
    }

    fn max_pool3d_with_indices_backward(
        grad_output: &Tensor,
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
        indices: &Tensor,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::max_pool3d_with_indices_backward";
        let axes = axes(OPERATOR, kernel_size, stride, padding, dilation)?;
        Pooling::of_windows(OPERATOR, this, axes, ceil_mode)?.returned(grad_output, this, indices)
    }

    fn avg_pool3d(
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::avg_pool3d";
        check_no_half(OPERATOR, this)?;
        let axes = axes(OPERATOR, kernel_size, stride, padding, &[1])?;
        let divisor = Divisor::new(OPERATOR, count_include_pad, divisor_override)?;
        check_fits(OPERATOR, this, axes)?;
        Pooling::of_windows(OPERATOR, this, axes, ceil_mode)?.means(this, divisor)
    }

    fn avg_pool3d_backward(
        grad_output: &Tensor,
        this: &Tensor,
        kernel_size: &[i64],
        stride: &[i64],
        padding: &[i64],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: Option<i64>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::avg_pool3d_backward";
        check_no_half(OPERATOR, this)?;
        let axes = axes(OPERATOR, kernel_size, stride, padding, &[1])?;
        let divisor = Divisor::new(OPERATOR, count_include_pad, divisor_override)?;
        check_fits(OPERATOR, this, axes)?;
        Pooling::of_windows(OPERATOR, this, axes, ceil_mode)?.spread(grad_output, this, divisor)
    }

    fn _adaptive_avg_pool3d(this: &Tensor, output_size: &[i64]) -> Result<Tensor> {
        Pooling::of_shares("aten::_adaptive_avg_pool3d", this, output_size, 3)?.means(this, Divisor::Covered)
    }

    fn _adaptive_avg_pool3d_backward(grad_output: &Tensor, this: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = "aten::_adaptive_avg_pool3d_backward";
        let output_size = last(OPERATOR, grad_output, 3)?;
        Pooling::of_shares(OPERATOR, this, output_size, 3)?.spread(grad_output, this, Divisor::Covered)
    }

    fn adaptive_max_pool3d(this: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
        Pooling::of_shares("aten::adaptive_max_pool3d", this, output_size, 3)?.largest(this)
    }

    fn adaptive_max_pool3d_backward(grad_output: &Tensor, this: &Tensor, indices: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = "aten::adaptive_max_pool3d_backward";
        let output_size = last(OPERATOR, grad_output, 3)?;
        Pooling::of_shares(OPERATOR, this, output_size, 3)?.returned(grad_output, this, indices)
    }

    fn adaptive_max_pool2d(this: &Tensor, output_size: &[i64]) -> Result<(Tensor, Tensor)> {
        Pooling::of_shares("aten::adaptive_max_pool2d", this, output_size, 2)?.largest(this)
    }

    fn adaptive_max_pool2d_backward(grad_output: &Tensor, this: &Tensor, indices: &Tensor) -> Result<Tensor> {
        const OPERATOR: &str = "aten::adaptive_max_pool2d_backward";
        let output_size = last(OPERATOR, grad_output, 2)?;
        Pooling::of_shares(OPERATOR, this, output_size, 2)?.returned(grad_output, this, indices)
    }
}

/// Refuses halves, whose means of volumes PyTorch has not.
fn check_no_half(operator: &str, this: &Tensor) -> Result<()> {
    match this.dtype() {
        dtype @ (DType::Float16 | DType::BFloat16) => Err(unsupported(operator, dtype)),
        _ => Ok(()),
    }
}

/// The windows of three directions; no stride means that of the window.
fn axes(
    operator: &str,
    kernel: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
) -> Result<[Axis; 3]> {
    let each = |name, values| per_direction(operator, name, values, 3);
    let kernel = each("kernel_size", kernel)?;
    let stride = if stride.is_empty() { kernel.clone() } else { each("stride", stride)? };
    let (padding, dilation) = (each("padding", padding)?, each("dilation", dilation)?);
    let axes = [0, 1, 2].map(|i| Axis {
        kernel: kernel[i],
        stride: stride[i],
        padding: padding[i],
        dilation: dilation[i],
    });
    for axis in axes {
        axis.checked(operator)?;
        ensure!(
            axis.padding <= axis.kernel / 2,
            Argument,
            "{operator}: padding {padding:?} is more than half the window, {kernel:?}"
        );
    }
    Ok(axes)
}

/// # Errors
/// A window that is larger than the volume, whatever the padding: a mean is not of padding alone.
fn check_fits(operator: &str, input: &Tensor, axes: [Axis; 3]) -> Result<()> {
    let (sizes, kernel) = (last(operator, input, 3)?, axes.map(|axis| axis.kernel));
    ensure!(
        sizes.iter().zip(kernel).all(|(size, kernel)| kernel <= *size),
        Shape,
        "{operator}: a window of {kernel:?} is larger than volumes of {sizes:?}"
    );
    Ok(())
}

/// The last sizes of a tensor that has as many, and channels.
fn last<'a>(operator: &str, tensor: &'a Tensor, count: usize) -> Result<&'a [i64]> {
    let sizes = tensor.sizes();
    ensure!(
        sizes.len() == count + 1 || sizes.len() == count + 2,
        Shape,
        "{operator}: sizes {sizes:?}, expected channels and {count} dimensions, and maybe a batch"
    );
    Ok(&sizes[sizes.len() - count..])
}

/// What a sum is divided by.
#[derive(Clone, Copy)]
enum Divisor {
    /// The number of elements under the window.
    Covered,
    /// That number, padding included.
    Padded,
    Fixed(i64),
}

impl Divisor {
    fn new(operator: &str, count_include_pad: bool, divisor_override: Option<i64>) -> Result<Self> {
        ensure!(divisor_override != Some(0), Argument, "{operator}: the divisor is 0");
        let counted = if count_include_pad { Divisor::Padded } else { Divisor::Covered };
        Ok(divisor_override.map_or(counted, Divisor::Fixed))
    }
}

/// A window of one direction at one place.
#[derive(Clone)]
struct Window {
    covered: Range<i64>,
    step: i64,
    /// How far it reaches, over padding too.
    extent: i64,
}

impl Window {
    fn indices(&self) -> impl Iterator<Item = usize> + use<> {
        self.covered.clone().step_by(self.step as usize).map(|index| index as usize)
    }
}

/// The windows of all places: of three directions, of which images have only the last two.
struct Pooling {
    operator: &'static str,
    /// Those of the input.
    sizes: [usize; 3],
    windows: [Vec<Window>; 3],
    ndim: usize,
}

impl Pooling {
    fn of_windows(operator: &'static str, input: &Tensor, axes: [Axis; 3], over_edge: bool) -> Result<Self> {
        Pooling::new(operator, input, 3, |at, size| {
            let axis = axes[at];
            let places = if over_edge { axis.places_over_edge(size) } else { axis.places(size) };
            ensure!(
                places > 0,
                Shape,
                "{operator}: a window of {} does not fit a dimension of {size} with padding {}",
                axis.extent(),
                axis.padding
            );
            let window = |place: i64| {
                let (first, end) = axis.reach(place, size);
                let start = place * axis.stride - axis.padding;
                let extent = (start + axis.kernel).min(size + axis.padding) - start;
                Window { covered: first..end, step: axis.dilation, extent }
            };
            crate::composite::collected(operator, places, window)
        })
    }

    /// As many windows as there are to be places, next to each other; they overlap where they do not divide.
    fn of_shares(operator: &'static str, input: &Tensor, output_size: &[i64], ndim: usize) -> Result<Self> {
        let output_size = per_direction(operator, "output_size", output_size, ndim)?;
        ensure!(
            input.dtype().is_floating_point(),
            DType,
            "{operator} is not implemented for {}",
            input.dtype()
        );
        ensure!(
            output_size.iter().all(|size| *size >= 0),
            Argument,
            "{operator}: output_size {output_size:?} is negative"
        );
        Pooling::new(operator, input, ndim, |at, size| {
            let places = output_size[at];
            let window = |place: i64| {
                let covered = place * size / places..((place + 1) * size + places - 1) / places;
                Window { extent: covered.end - covered.start, covered, step: 1 }
            };
            crate::composite::collected(operator, places, window)
        })
    }

    fn new(
        operator: &'static str,
        input: &Tensor,
        ndim: usize,
        windows: impl Fn(usize, i64) -> Result<Vec<Window>>,
    ) -> Result<Self> {
        let own = last(operator, input, ndim)?;
        ensure!(
            own.iter().all(|size| *size > 0) && input.sizes()[input.dim() - ndim - 1] > 0,
            Shape,
            "{operator}: sizes {:?} have no elements to pool",
            input.sizes()
        );
        let (mut sizes, mut all) =
            ([1; 3], [0; 3].map(|_| vec![Window { covered: 0..1, step: 1, extent: 1 }]));
        for (at, size) in own.iter().enumerate() {
            sizes[3 - ndim + at] = *size as usize;
            all[3 - ndim + at] = windows(at, *size)?;
        }
        Ok(Pooling { operator, sizes, windows: all, ndim })
    }

    /// The sizes of the result.
    fn output(&self, input: &Tensor) -> Vec<i64> {
        let mut sizes = input.sizes().to_vec();
        let start = sizes.len() - self.ndim;
        let places = self.windows[3 - self.ndim..].iter().map(|windows| windows.len() as i64);
        sizes[start..].iter_mut().zip(places).for_each(|(size, places)| *size = places);
        sizes
    }

    /// Calls a closure with each place and its windows.
    fn places(&self, mut f: impl FnMut(usize, [&Window; 3])) {
        let [planes, rows, columns] = &self.windows;
        let windows = planes.iter().flat_map(|z| rows.iter().map(move |y| (z, y)));
        let windows = windows.flat_map(|(z, y)| columns.iter().map(move |x| [z, y, x]));
        windows.enumerate().for_each(|(place, windows)| f(place, windows));
    }

    /// Calls a closure with the elements under the window, in order.
    fn cover(&self, [z, y, x]: [&Window; 3], mut f: impl FnMut(usize)) {
        for z in z.indices() {
            for y in y.indices() {
                for x in x.indices() {
                    f((z * self.sizes[1] + y) * self.sizes[2] + x);
                }
            }
        }
    }

    fn divisor(&self, divisor: Divisor, windows: [&Window; 3]) -> i64 {
        match divisor {
            Divisor::Fixed(divisor) => divisor,
            Divisor::Padded => windows.iter().map(|window| window.extent).product(),
            Divisor::Covered => windows.iter().map(|window| window.indices().count() as i64).product(),
        }
    }

    fn largest(&self, input: &Tensor) -> Result<(Tensor, Tensor)> {
        let sizes = self.output(input);
        let (out, indices) = (like(input, &sizes, input.dtype())?, like(input, &sizes, DType::Int64)?);
        match_computing!(input.dtype(), T: Integer | Float => {
            if !loops::has_elements(&out) {
                return Ok((out, indices));
            }
            self.volumes(input, &indices, |volume: &[T], places: &mut [i64]| {
                self.places(|place, windows| places[place] = self.largest_of(volume, windows));
            })?;
            let volumes = self.rows(&loops::contiguous(input)?)?;
            let found = aten::gather(&volumes, 1, &self.rows(&loops::contiguous(&indices)?)?)?;
            let found = found.strided_view(&sizes, &contiguous_strides(&sizes), 0)?;
            loops::map(&out, [&found], |[x]: [T; 1]| x)?;
        }, else => return Err(unsupported(self.operator, input.dtype())));
        Ok((out, indices))
    }

    /// Where the largest element under a window is; NaN counts as larger than all numbers.
    fn largest_of<T: Ordered>(&self, volume: &[T], windows: [&Window; 3]) -> i64 {
        let mut found: Option<(usize, T)> = None;
        self.cover(windows, |at| {
            let x = volume[at];
            if found.is_none_or(|(_, largest)| x > largest || x.is_unordered()) {
                found = Some((at, x));
            }
        });
        found.map_or(0, |(at, _)| at as i64)
    }

    fn means(&self, input: &Tensor, divisor: Divisor) -> Result<Tensor> {
        let out = like(input, &self.output(input), input.dtype())?;
        ensure!(
            !input.dtype().is_integer() || input.dtype() == DType::Int64,
            DType,
            "{} is not implemented for {}",
            self.operator,
            input.dtype()
        );
        match_computing!(input.dtype(), T: Integer | Float => {
            self.volumes(input, &out, |volume: &[T], means: &mut [T]| {
                self.places(|place, windows| {
                    let mut sum = T::ZERO;
                    self.cover(windows, |at| sum = sum.plus(volume[at]));
                    means[place] = if sum == T::ZERO { sum } else { sum / self.divisor(divisor, windows).cast::<T>() };
                });
            })?;
        }, else => return Err(unsupported(self.operator, input.dtype())));
        Ok(out)
    }

    /// The gradient of what was averaged.
    fn spread(&self, grad: &Tensor, input: &Tensor, divisor: Divisor) -> Result<Tensor> {
        self.check(grad, input)?;
        let out = like(input, input.sizes(), input.dtype())?;
        match_computing!(input.dtype(), T: Float => {
            self.volumes(grad, &out, |grads: &[T], volume: &mut [T]| {
                self.places(|place, windows| {
                    let grad = grads[place] / self.divisor(divisor, windows).cast::<T>();
                    self.cover(windows, |at| volume[at] = volume[at].plus(grad));
                });
            })?;
        }, else => return Err(unsupported(self.operator, input.dtype())));
        Ok(out)
    }

    /// The gradient of what the largest were taken of.
    fn returned(&self, grad: &Tensor, input: &Tensor, indices: &Tensor) -> Result<Tensor> {
        self.check(grad, input)?;
        self.check(indices, input)?;
        let row_major = |tensor: &Tensor| self.rows(&loops::contiguous(tensor)?);
        let (grads, indices) = (row_major(grad)?, row_major(indices)?);
        let count = self.sizes.iter().product::<usize>() as i64;
        let zeros = Tensor::zeros(&[grads.sizes()[0], count], input.dtype(), input.device())?;
        let sums = aten::scatter_add(&zeros, 1, &indices, &grads);
        let sums = sums.map_err(|error| error.context(self.operator))?;
        let out = like(input, input.sizes(), input.dtype())?;
        let sums = sums.strided_view(input.sizes(), &contiguous_strides(input.sizes()), 0)?;
        match_computing!(input.dtype(), T: Float => loops::map(&out, [&sums], |[x]: [T; 1]| x)?,
            else => return Err(unsupported(self.operator, input.dtype())));
        Ok(out)
    }

    fn check(&self, tensor: &Tensor, input: &Tensor) -> Result<()> {
        let sizes = self.output(input);
        ensure!(
            tensor.sizes() == sizes,
            Shape,
            "{}: a gradient or index of sizes {:?}, expected those of the result, {sizes:?}",
            self.operator,
            tensor.sizes()
        );
        Ok(())
    }

    /// Computes volume by volume, in the computing type, and writes to `out` in whatever layout it has.
    fn volumes<T: Element, R: Element>(
        &self,
        input: &Tensor,
        out: &Tensor,
        f: impl Fn(&[T], &mut [R]) + Sync,
    ) -> Result<()> {
        if !loops::has_elements(out) {
            return Ok(());
        }
        let result = Tensor::zeros(out.sizes(), R::DTYPE, out.device())?;
        let as_planes = |tensor: &Tensor| aten::unsqueeze(&self.rows(tensor)?, 1);
        let from = as_planes(&loops::copy(input, T::DTYPE)?)?;
        planes(&from, &as_planes(&result)?, |_, from: &[T], to: &mut [R]| f(from, to))?;
        torch_library::match_dtype!(out.dtype(), O => loops::map(out, [&result], |[x]: [O; 1]| x))
    }

    /// Each volume of a row-major tensor as a row.
    fn rows(&self, tensor: &Tensor) -> Result<Tensor> {
        let (outer, inner) = tensor.sizes().split_at(tensor.dim() - self.ndim);
        let sizes = [outer.iter().product(), inner.iter().product()];
        tensor.strided_view(&sizes, &[sizes[1], 1], tensor.storage_offset())
    }
}
