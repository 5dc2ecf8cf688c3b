//! Convolution: the pixels under each place of the window as a column, then one matrix product for an image.

use rayon::prelude::*;
use torch_library::geometry::strides_for;
use torch_library::prelude::*;

use super::{Axis, Images, pair};
use crate::aten;
use crate::cpu::loops::{self, match_computing};
use crate::cpu::matmul::multiply;
use crate::cpu::number::Number;
use crate::pointwise::{common_device, unsupported};

const OPERATOR: &str = "aten::convolution";

#[torch_impl(aten, CPU, Meta)]
fn convolution(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    _output_padding: &[i64],
    groups: i64,
) -> Result<Tensor> {
    ensure!(!transposed, NotSupported, "{OPERATOR}: transposed convolutions are not carried");
    let convolution = Convolution::new(input, weight, bias, [stride, padding, dilation], groups)?;
    let out = convolution.output()?;
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    match_computing!(input.dtype(), T: Integer | Float | Complex => {
        let products = convolution.products::<T>()?;
        match bias {
            None => loops::map(&out, [&products], |[x]: [T; 1]| x)?,
            Some(bias) => {
                let bias = bias.strided_view(&[bias.numel(), 1, 1], &[bias.strides()[0], 0, 0], bias.storage_offset())?;
                loops::map(&out, [&products, &bias], |[x, bias]: [T; 2]| x.plus(bias))?;
            }
        }
    }, else => return Err(unsupported(OPERATOR, input.dtype())));
    Ok(out)
}

struct Convolution<'a> {
    input: &'a Tensor,
    weight: &'a Tensor,
    axes: [Axis; 2],
    groups: i64,
    /// Of the result: images, channels, height and width.
    sizes: [i64; 4],
}

impl<'a> Convolution<'a> {
    fn new(
        input: &'a Tensor,
        weight: &'a Tensor,
        bias: Option<&Tensor>,
        [stride, padding, dilation]: [&[i64]; 3],
        groups: i64,
    ) -> Result<Self> {
        let (&[n, channels, height, width], &[out_channels, per_group, kernel_height, kernel_width]) =
            (input.sizes(), weight.sizes())
        else {
            bail!(
                Shape,
                "{OPERATOR}: sizes {:?} with a weight of {:?}, expected four dimensions each",
                input.sizes(),
                weight.sizes()
            )
        };
        ensure!(
            weight.dtype() == input.dtype() && bias.is_none_or(|bias| bias.dtype() == input.dtype()),
            DType,
            "{OPERATOR}: the input is of {}, the weight of {}{}; convert one to the other",
            input.dtype(),
            weight.dtype(),
            bias.map_or_else(String::new, |bias| format!(", the bias of {}", bias.dtype()))
        );
        ensure!(groups > 0, Argument, "{OPERATOR}: groups is {groups}, must be positive");
        ensure!(
            channels == per_group * groups && out_channels % groups == 0,
            Shape,
            "{OPERATOR}: {channels} channels in {groups} groups do not fit a weight of sizes {:?}",
            weight.sizes()
        );
        ensure!(
            bias.is_none_or(|bias| bias.sizes() == [out_channels]),
            Shape,
            "{OPERATOR}: the bias must be a vector of {out_channels} elements, it has sizes {:?}",
            bias.map_or(&[][..], Tensor::sizes)
        );
        pair(OPERATOR, "stride", stride)?;
        let axes = Axis::both(OPERATOR, &[kernel_height, kernel_width], stride, padding, dilation)?;
        let (rows, columns) = (axes[0].places(height), axes[1].places(width));
        ensure!(
            rows > 0 && columns > 0,
            Shape,
            "{OPERATOR}: a window of {:?} does not fit images of {:?} with padding {padding:?}",
            [axes[0].extent(), axes[1].extent()],
            [height, width]
        );
        Ok(Convolution { input, weight, axes, groups, sizes: [n, out_channels, rows, columns] })
    }

    /// Channels-last if one of the factors is.
    fn output(&self) -> Result<Tensor> {
        let is_channels_last = |tensor: &Tensor| tensor.suggest_memory_format() == MemoryFormat::ChannelsLast;
        let format = match is_channels_last(self.input) || is_channels_last(self.weight) {
            true => MemoryFormat::ChannelsLast,
            false => MemoryFormat::Contiguous,
        };
        let device = common_device(OPERATOR, &[self.input, self.weight])?;
        let strides = strides_for(&self.sizes, format)?;
        Tensor::empty_strided(&self.sizes, &strides, self.input.dtype(), device)
    }

    /// The result without bias, row-major, in the computing type.
    fn products<T: Number>(&self) -> Result<Tensor> {
        let [n, out_channels, rows, columns] = self.sizes;
        let (places, per_group) = (rows * columns, out_channels / self.groups);
        let out = Tensor::empty(&self.sizes, T::DTYPE, self.input.device())?;
        let weight = loops::copy(self.weight, T::DTYPE)?;
        let length = weight.numel() / out_channels.max(1);
        let input = loops::elements::<T>(self.input)?;
        (0..n * self.groups).into_par_iter().try_for_each(|item| {
            let group = item % self.groups;
            let patches = Tensor::from_vec(self.patches(&input, item)?, &[length, places])?;
            let kernels =
                weight.strided_view(&[per_group, length], &[length, 1], group * per_group * length)?;
            let part = out.strided_view(&[per_group, places], &[places, 1], item * per_group * places)?;
            multiply(OPERATOR, &part, &kernels, &patches)
        })?;
        Ok(out)
    }

    /// A row for each channel of a group and pixel of the window: what lies there at every place; zero is padding.
    fn patches<T: Number>(&self, input: &[T], item: i64) -> Result<Vec<T>> {
        let images = Images::of(OPERATOR, self.input)?;
        let (channels, [_, _, rows, columns]) = (self.weight.sizes()[1], self.sizes);
        let [vertical, horizontal] = self.axes;
        let plane = (images.height * images.width) as usize;
        let mut patches =
            Vec::with_capacity((channels * vertical.kernel * horizontal.kernel * rows * columns) as usize);
        for channel in 0..channels {
            let source = &input[(item * channels + channel) as usize * plane..][..plane];
            for (ky, kx) in (0..vertical.kernel).flat_map(|y| (0..horizontal.kernel).map(move |x| (y, x))) {
                for row in 0..rows {
                    let y = row * vertical.stride - vertical.padding + ky * vertical.dilation;
                    let line =
                        (0..images.height).contains(&y).then(|| &source[(y * images.width) as usize..]);
                    patches.extend((0..columns).map(|column| {
                        let x = column * horizontal.stride - horizontal.padding + kx * horizontal.dilation;
                        match line {
                            Some(line) if (0..images.width).contains(&x) => line[x as usize],
                            _ => T::ZERO,
                        }
                    }));
                }
            }
        }
        Ok(patches)
    }
}
