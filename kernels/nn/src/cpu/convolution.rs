//! Convolution in one to three dimensions, plain and transposed, and its gradients.
//!
//! # How it works
//!
//! A convolution maps an *image* to the *places* of a window on it, its output pixels: each place is a sum, over the
//! channels and the taps of the window, of pixels times weights. So it is the product of the im2col matrix, which has a
//! row for each place and a column for each step of the sum (a channel and a tap), and the weight. That matrix is never
//! stored (implicit GEMM): the pixel of a row and a step is at the sum of two offsets, one for the row and one for the
//! step ([`input_tile`]). A transposed convolution maps places to an image, and is a product of the
//! same kind for the pixels of each phase of the stride; each of the two is the gradient of the other with respect to
//! its input. For the gradient of the weight, rows and steps change roles. Convolutions of `bfloat16` multiply
//! pairs of elements where the processor has instructions for that. [`depthwise`] convolutions are no products: vectors
//! run along the channels of each pixel in channels-last images, and along rows of pixels in some row-major ones.

use torch_library::can_cast;
use torch_library::geometry::{Dims, strides_for};
use torch_library::prelude::*;

use super::axis::{Axis, of_direction};
use crate::aten;
use crate::cpu::folds::Sum;
use crate::cpu::output_mask;
use crate::inlined::from_fn;
use crate::loops::pointwise::{common_device, unsupported};
use crate::loops::reduce::fold;
use crate::loops::{self, match_opmath};
use crate::number::Number;

mod depthwise;
mod input_tile;
mod plan;
mod planes;
mod pointwise;
mod products;
mod receptive_field;
#[cfg(target_arch = "x86_64")]
mod tiled;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn convolution(
        input: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        transposed: bool,
        output_padding: &[i64],
        groups: i64,
    ) -> Result<Tensor> {
        let _lease = loops::all_frozen([input, weight].into_iter().chain(bias))?;
        const OPERATOR: &str = aten::convolution::NAME;
        let steps = [stride, padding, dilation, output_padding];
        let convolution = Convolution::new(OPERATOR, input, weight, steps, transposed, groups)?;
        let bias = convolution.bias(bias)?;
        let bias = bias.as_ref();
        let sizes = convolution.output_sizes();
        match_opmath!(input.dtype(), T: Integer | Float | Complex => {
            if convolution.has_no_channels() {
                return Tensor::empty(&sizes, input.dtype(), input.device());
            }
            if !loops::has_elements(input) || sizes.contains(&0) {
                return convolution.like_operands(&sizes, input.dtype());
            }
            ensure!(
                !transposed && dilation.iter().all(|dilation| *dilation == 1) || !input.dtype().is_integer()
                    || input.dtype() == DType::Int64,
                DType,
                "{OPERATOR} is not implemented for {}, transposed or with a dilation, except for int64",
                input.dtype()
            );
            let products = match transposed {
                false => convolution.convolve::<T>(input, weight, bias)?,
                true => convolution.spread::<T>(input, weight, bias)?,
            };
            convolution.finished::<T>(products, input.dtype())
        }, else => Err(unsupported(OPERATOR, input.dtype())))
    }

    fn convolution_backward(
        grad_output: &Tensor,
        input: &Tensor,
        weight: &Tensor,
        bias_sizes: Option<&[i64]>,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        transposed: bool,
        output_padding: &[i64],
        groups: i64,
        output_mask: &[bool],
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([grad_output, input, weight])?;
        const OPERATOR: &str = aten::convolution_backward::NAME;
        let steps = [stride, padding, dilation, output_padding];
        let convolution = Convolution::new(OPERATOR, input, weight, steps, transposed, groups)?;
        convolution.check_gradient(grad_output)?;
        let [of_input, of_weight, of_bias] = output_mask::output_mask(OPERATOR, output_mask)?;
        let dtype = input.dtype();
        let is_empty = !loops::has_elements(grad_output) || !loops::has_elements(input);
        match_opmath!(dtype, T: Integer | Float | Complex => {
            let grad_input = match (of_input, transposed) {
                (false, _) => Tensor::undefined(),
                _ if is_empty => convolution.like_operands(input.sizes(), dtype)?,
                (true, false) => convolution.finished::<T>(convolution.spread::<T>(grad_output, weight, None)?, dtype)?,
                (true, true) =>
                    convolution.finished::<T>(convolution.convolve::<T>(grad_output, weight, None)?, dtype)?,
            };
            let (image, places) = if transposed { (grad_output, input) } else { (input, grad_output) };
            let grad_weight = match of_weight {
                false => Tensor::undefined(),
                true if is_empty => convolution.like_operands(weight.sizes(), dtype)?,
                true => convolution.finished::<T>(convolution.weight_gradient::<T>(image, places)?, dtype)?,
            };
            let grad_bias = match of_bias {
                false => Tensor::undefined(),
                true if convolution.has_no_channels() => {
                    Tensor::zeros(bias_sizes.unwrap_or(&[convolution.channels[1]]), dtype, input.device())?
                }
                true => {
                    let channels = grad_output.sizes()[1];
                    let sums = Tensor::empty(bias_sizes.unwrap_or(&[channels]), dtype, input.device())?;
                    let is_reduced: Vec<bool> = (0..input.dim()).map(|dim| dim != 1).collect();
                    fold([&sums], grad_output, &is_reduced, &Sum, |sum: T| [sum])?;
                    sums
                }
            };
            Ok((grad_input, grad_weight, grad_bias))
        }, else => Err(unsupported(OPERATOR, dtype)))
    }
}

/// # Errors
/// A number of groups that does not divide the channels, channels that do not fit the weight or that are none.
fn check_channels(
    operator: &str,
    input: &Tensor,
    weight: &Tensor,
    transposed: bool,
    groups: i64,
) -> Result<()> {
    let (channels, outer, inner) = (input.sizes()[1], weight.sizes()[0], weight.sizes()[1]);
    ensure!(groups > 0, Argument, "{operator}: groups is {groups}, must be positive");
    ensure!(
        outer % groups == 0 && channels == if transposed { outer } else { inner.saturating_mul(groups) },
        Shape,
        "{operator}: {channels} channels in {groups} groups do not fit a weight of sizes {:?}",
        weight.sizes()
    );
    ensure!(
        outer >= groups && (!transposed || inner > 0 || !loops::has_elements(input)),
        Shape,
        "{operator}: a weight of sizes {:?} for {groups} groups, expected channels in each group",
        weight.sizes()
    );
    Ok(())
}

/// The parameters of a convolution, checked against its operands.
struct Convolution<'a> {
    operator: &'static str,
    input: &'a Tensor,
    weight: &'a Tensor,
    groups: i64,
    batch: i64,
    /// The channels of the image and of the places.
    channels: [i64; 2],
    /// The sizes of the image in three spatial dimensions, of which the first may be missing.
    image: [i64; 3],
    places: [i64; 3],
    axes: [Axis; 3],
    /// The first spatial dimension that exists.
    lead: usize,
    transposed: bool,
}

impl<'a> Convolution<'a> {
    fn new(
        operator: &'static str,
        input: &'a Tensor,
        weight: &'a Tensor,
        [stride, padding, dilation, output_padding]: [&[i64]; 4],
        transposed: bool,
        groups: i64,
    ) -> Result<Self> {
        let (&[batch, _, ref pixels @ ..], &[outer, inner, ref kernel @ ..]) =
            (input.sizes(), weight.sizes())
        else {
            bail!(Shape, "{operator}: sizes {:?} with a weight of {:?}", input.sizes(), weight.sizes())
        };
        ensure!(
            pixels.len() == kernel.len() && (1..=3).contains(&pixels.len()),
            Shape,
            "{operator}: sizes {:?} with a weight of {:?}, expected one to three dimensions after the channels of \
             both",
            input.sizes(),
            weight.sizes()
        );
        check_dtype(operator, input, "weight", weight)?;
        check_channels(operator, input, weight, transposed, groups)?;
        let lead = 3 - kernel.len();
        let (axes, extra) = axes(operator, kernel, [stride, padding, dilation, output_padding])?;
        let mut given = [1; 3];
        given[lead..].copy_from_slice(pixels);
        let size = |dim: usize| match transposed {
            false => axes[dim].places(given[dim]),
            true => axes[dim].spread(given[dim]).saturating_add(extra[dim]),
        };
        let found = from_fn(size);
        let [image, places] = if transposed { [found, given] } else { [given, found] };
        ensure!(
            image.iter().chain(&places).all(|size| *size > 0),
            Shape,
            "{operator}: a window of {kernel:?} does not fit images of {:?} with padding {padding:?}",
            &image[lead..]
        );
        let is_small = |(axis, extra): (&Axis, &i64)| (0..axis.stride.max(axis.dilation)).contains(extra);
        ensure!(
            !transposed || axes.iter().zip(&extra).all(is_small),
            Argument,
            "{operator}: output_padding {output_padding:?} must be less than the stride {stride:?} or dilation {dilation:?}"
        );
        let channels = [inner.saturating_mul(groups), outer];
        Ok(Convolution {
            operator,
            input,
            weight,
            groups,
            batch,
            channels,
            image,
            places,
            axes,
            lead,
            transposed,
        })
    }

    /// The bias, converted to the type of the input. PyTorch's own loops accept a bias of any type, those of oneDNN do
    /// not.
    fn bias(&self, bias: Option<&Tensor>) -> Result<Option<Tensor>> {
        let Some(bias) = bias else { return Ok(None) };
        let [of_image, of_places] = self.channels;
        let (channels, dtype) = (if self.transposed { of_image } else { of_places }, self.input.dtype());
        let is_own = matches!(dtype, DType::Float64 | DType::Float16) || dtype.is_integer();
        if !is_own || self.transposed && !can_cast(bias.dtype(), dtype) {
            check_dtype(self.operator, self.input, "bias", bias)?;
        }
        ensure!(
            bias.sizes() == [channels],
            Shape,
            "{}: the bias must be a vector of {channels} elements, it has sizes {:?}",
            self.operator,
            bias.sizes()
        );
        common_device(self.operator, &[self.input, self.weight, bias])?;
        aten::to_dtype(bias, dtype).map(Some)
    }

    /// An error unless the converted bias still has an element for each channel: a kernel of another key may have
    /// converted it.
    fn check_converted_bias(&self, is_whole: bool, channels: i64) -> Result<()> {
        ensure!(
            is_whole,
            Shape,
            "{}: the bias no longer has {channels} elements after its conversion",
            self.operator
        );
        Ok(())
    }

    fn check_gradient(&self, grad_output: &Tensor) -> Result<()> {
        ensure!(
            *grad_output.sizes() == self.output_sizes()[..],
            Shape,
            "{}: a gradient of sizes {:?} for a result of {:?}",
            self.operator,
            grad_output.sizes(),
            self.output_sizes()
        );
        common_device(self.operator, &[self.input, self.weight, grad_output])?;
        Ok(())
    }

    fn image_sizes(&self) -> Dims {
        [self.batch, self.channels[0]].into_iter().chain(self.image[self.lead..].iter().copied()).collect()
    }

    fn places_sizes(&self) -> Dims {
        [self.batch, self.channels[1]].into_iter().chain(self.places[self.lead..].iter().copied()).collect()
    }

    fn output_sizes(&self) -> Dims {
        let mut sizes = if self.transposed { self.image_sizes() } else { self.places_sizes() };
        if self.has_no_channels() {
            sizes[1] = 0;
        }
        sizes
    }

    /// Whether the input has no channels, for which PyTorch returns a result without any.
    fn has_no_channels(&self) -> bool {
        !self.transposed && self.channels[0] == 0
    }

    /// A new tensor, which is channels-last if one of the operands is.
    fn like_operands(&self, sizes: &[i64], dtype: DType) -> Result<Tensor> {
        let device = common_device(self.operator, &[self.input, self.weight])?;
        Tensor::empty_strided(sizes, &self.strides_like_operands(sizes, dtype)?, dtype, device)
    }

    fn strides_like_operands(&self, sizes: &[i64], dtype: DType) -> Result<Dims> {
        let operands = match self.lead {
            _ if self.input.numel() == 0 => [self.input; 2],
            2 => [self.weight; 2], // for a sequence only the weight's memory format counts
            _ => [self.input, self.weight],
        };
        let format = operands.map(suggest_memory_format).into_iter().find(|format| match format {
            MemoryFormat::Contiguous => false,
            // PyTorch has two implementations for volumes, one of which ignores memory formats.
            MemoryFormat::ChannelsLast3d => dtype.is_floating_point() && dtype != DType::Float64,
            _ => true,
        });
        let format = format.unwrap_or_default();
        match *sizes {
            // A sequence is an image of one row.
            [n, channels, length] => {
                let mut strides = strides_for(&[n, channels, 1, length], format)?;
                strides.remove(2);
                Ok(strides)
            }
            _ => strides_for(sizes, format),
        }
    }

    /// The computed tensor, converted to the type and memory format in which it is returned.
    fn finished<T: Number>(&self, computed: Tensor, dtype: DType) -> Result<Tensor> {
        let strides = self.strides_like_operands(computed.sizes(), dtype)?;
        if dtype == computed.dtype() && strides.as_slice() == computed.strides() {
            return Ok(computed);
        }
        let out = self.like_operands(computed.sizes(), dtype)?;
        loops::map(&out, [&computed], |[x]: [T; 1]| x)?;
        Ok(out)
    }
}

/// The memory format of images and volumes, and of sequences as images of one row.
fn suggest_memory_format(tensor: &Tensor) -> MemoryFormat {
    match (tensor.sizes(), tensor.strides()) {
        (&[n, channels, length], &[a, b, c]) => {
            let strides = [a, b, length.saturating_mul(c), c];
            let image = tensor.strided_view(&[n, channels, 1, length], &strides, tensor.storage_offset());
            image.map_or(MemoryFormat::Contiguous, |image| image.suggest_memory_format())
        }
        _ => tensor.suggest_memory_format(),
    }
}

fn check_dtype(operator: &str, input: &Tensor, name: &str, other: &Tensor) -> Result<()> {
    ensure!(
        other.dtype() == input.dtype(),
        DType,
        "{operator}: the input is of {}, the {name} of {}; convert one to the other by `aten::to_dtype`",
        input.dtype(),
        other.dtype()
    );
    Ok(())
}

/// The windows of three spatial dimensions, of which the first may be missing, and the output padding of a transposed
/// convolution.
fn axes(
    operator: &str,
    kernel: &[i64],
    [stride, padding, dilation, output_padding]: [&[i64]; 4],
) -> Result<([Axis; 3], [i64; 3])> {
    let (mut axes, mut extra, count) = ([Axis::NONE; 3], [0; 3], kernel.len());
    for (i, kernel) in kernel.iter().enumerate() {
        let of_direction = |name, values| of_direction(operator, name, values, i, count);
        let (stride, padding) = (of_direction("stride", stride)?, of_direction("padding", padding)?);
        let dilation = of_direction("dilation", dilation)?;
        axes[3 - count + i] = Axis { kernel: *kernel, stride, padding, dilation }.checked(operator)?;
        extra[3 - count + i] = of_direction("output_padding", output_padding)?;
    }
    Ok((axes, extra))
}
