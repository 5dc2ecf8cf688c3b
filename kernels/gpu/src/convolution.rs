//! Convolutions in one to three directions, and their gradients: the calls that kernels support, in terms of three products.
//!
//! A convolution computes features from an image and a weight. Its gradients compute an image from features and a weight, and a
//! weight from an image and features. A transposed convolution is the second product. How the three are computed is up to the
//! backend: by a matrix library from an im2col matrix, or by tiles whose elements are looked up in the image while they are
//! multiplied (implicit GEMM).

use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::arguments::{Arguments, all_on_meta, on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};

/// How a window moves over an image, in three directions; an image with fewer uses the last ones.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The distance from one place of the window to the next.
    pub stride: [i64; 3],
    /// The padding on each side.
    pub padding: [i64; 3],
    /// The distance from one tap of the window to the next.
    pub dilation: [i64; 3],
    /// The number of groups that channels are divided into, each with its own features.
    pub groups: i64,
}

/// The three products of a convolution, of contiguous floats of one type: images `[batch, channels, …]`, features `[batch, features,
/// …]`, weights `[features, channels / groups, …]`.
pub trait Convolutions: GpuBackend {
    /// The number of directions that there are kernels for.
    const DIRECTIONS: usize;

    /// Writes features from an image.
    ///
    /// # Errors
    /// Those of the device.
    fn features_of(window: &Window, of: [&Tensor; 2], bias: Option<&Tensor>, features: &Tensor)
    -> Result<()>;

    /// Writes an image from features: the transposed convolution, or the gradient of the image.
    ///
    /// # Errors
    /// Those of the device.
    fn image_of(window: &Window, of: [&Tensor; 2], bias: Option<&Tensor>, image: &Tensor) -> Result<()>;

    /// Writes a weight from an image and features: the gradient of the weight.
    ///
    /// # Errors
    /// Those of the device.
    fn weight_of(window: &Window, of: [&Tensor; 2], weight: &Tensor) -> Result<()>;
}

/// A list as one number for each of three directions, which are the last ones of a tensor with `dim` dimensions.
fn directions(numbers: &[i64], dim: usize, missing: i64) -> Option<[i64; 3]> {
    let count = dim.checked_sub(2).filter(|count| (1..=3).contains(count))?;
    let mut three = [missing; 3];
    for (at, slot) in three[3 - count..].iter_mut().enumerate() {
        *slot = match numbers {
            [one] => *one,
            _ => *numbers.get(at)?,
        };
    }
    Some(three)
}

impl Window {
    /// The window, from the arguments from `first` on; `None` for a number of directions that there are no kernels for.
    fn of<B: Convolutions>(
        arguments: &Arguments<'_, '_>,
        first: usize,
        dim: usize,
        groups: i64,
    ) -> Result<Option<Window>> {
        if dim > 2 + B::DIRECTIONS {
            return Ok(None);
        }
        let stride = directions(arguments.ints(first)?, dim, 1);
        let padding = directions(arguments.ints(first + 1)?, dim, 0);
        let dilation = directions(arguments.ints(first + 2)?, dim, 1);
        let (Some(stride), Some(padding), Some(dilation)) = (stride, padding, dilation) else {
            return Ok(None);
        };
        Ok(Some(Window { stride, padding, dilation, groups }))
    }
}

pub fn convolution<B: Convolutions>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (input, weight, bias) = (arguments.tensor(0)?, arguments.tensor(1)?, arguments.optional(2));
    if !B::are_floats([input, weight].into_iter().chain(bias)) || input.dim() != weight.dim() {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let Some(window) = Window::of::<B>(&arguments, 3, input.dim(), arguments.int(8)?)? else {
        return Ok(None);
    };
    if meta.dtype() != input.dtype() || meta.numel() == 0 || !B::reaches(&meta) {
        return Ok(None);
    }
    let result = B::compact(meta.sizes(), meta.dtype(), index_of(input))?;
    let (input, weight, bias) =
        (B::contiguous(input)?, B::contiguous(weight)?, bias.map(B::contiguous).transpose()?);
    match arguments.bool(6)? {
        false => B::features_of(&window, [&input, &weight], bias.as_ref(), &result)?,
        true => B::image_of(&window, [&input, &weight], bias.as_ref(), &result)?,
    }
    B::laid_out(result, &meta).map(Some)
}

pub fn convolution_backward<B: Convolutions>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<[Tensor; 3]>> {
    let arguments = Arguments::new(operator, values);
    let [grad, input, weight] = [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(2)?];
    if !B::are_floats([grad, input, weight]) || input.dim() != weight.dim() || grad.dim() != input.dim() {
        return Ok(None);
    }
    let metas: [Tensor; 3] = all_on_meta(operator, values)?;
    let (is_transposed, groups) = (arguments.bool(7)?, arguments.int(9)?);
    let Some(window) = Window::of::<B>(&arguments, 4, input.dim(), groups)? else { return Ok(None) };
    let index = index_of(input);
    let [grad, input, weight] = [B::contiguous(grad)?, B::contiguous(input)?, B::contiguous(weight)?];
    let mut results = [const { None }; 3];
    for (at, meta) in metas.iter().enumerate().filter(|(_, meta)| meta.is_defined()) {
        let result = match at {
            2 => sums_of_channels(&grad)?,
            _ => {
                let result = B::compact(meta.sizes(), meta.dtype(), index)?;
                match (at, is_transposed) {
                    (0, false) => B::image_of(&window, [&grad, &weight], None, &result)?,
                    (0, true) => B::features_of(&window, [&grad, &weight], None, &result)?,
                    (_, false) => B::weight_of(&window, [&grad, &input], &result)?,
                    (_, true) => B::weight_of(&window, [&input, &grad], &result)?,
                }
                result
            }
        };
        results[at] = Some(B::laid_out(result, meta)?);
    }
    Ok(Some(results.map(|result| result.unwrap_or_else(Tensor::undefined))))
}

/// The gradient of the bias.
fn sums_of_channels(grad: &Tensor) -> Result<Tensor> {
    let dims: Vec<i64> = (0..grad.dim() as i64).filter(|dim| *dim != 1).collect();
    aten::sum_dim_IntList(grad, Some(&dims))
}
