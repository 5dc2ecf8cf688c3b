//! Max and average pooling of images, and their gradients. Each thread gathers the contributions to its element, also for gradients,
//! so nothing depends on the order of threads.

use torch_library::prelude::*;

use crate::arguments::{Arguments, all_on_meta, on_meta};
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::KernelBuilder;

/// The kernels of pooling. `image` and `pooled` are the last two sizes of each; in a direction `d`, the window of a pooled element
/// `o` goes from `first(d, o)` to before `end(d, o)`, in steps, and the windows that may cover a pixel `i` are those from
/// `seen_from(d, i)` to before `seen_to(d, i)`.
#[derive(Clone, Copy, Debug)]
pub struct Pooling {
    /// These functions for sliding windows with `kernel`, `stride`, `padding` and `dilation`; and a function for the number of
    /// elements of a window, padding included.
    pub sliding: &'static str,
    /// These functions for adaptive pooling, where windows divide the image among the results.
    pub shares: &'static str,
    /// Functions that convert the number of a thread to plane, row and column, and these to a position.
    pub places: &'static str,
    /// A function for the divisor of a mean: the number of a window's elements that are in the image.
    pub by_covered: &'static str,
    /// As `by_covered`: the number of a window's elements, padding included.
    pub by_padded: &'static str,
    /// As `by_covered`: the number `divided_by`.
    pub by_number: &'static str,
    /// One thread for each pooled element: writes the largest `pixel` of its window, not less than `least`, to `y`, and its position
    /// in the image to `index`.
    pub largest: &'static str,
    /// One thread for each pixel: the sum of the elements of `grad` whose `index` is this pixel.
    pub largest_backward: &'static str,
    /// One thread for each pooled element: the mean of its window.
    pub mean: &'static str,
    /// One thread for each pixel: the sum of its shares of `grad`.
    pub mean_backward: &'static str,
}

/// The windows of pooled elements: in a direction `d`, from `first(d, o)` to before `end(d, o)`, in steps; and the pooled elements
/// whose windows may cover a pixel: from `seen_from(d, i)` to before `seen_to(d, i)`.
enum Windows {
    Sliding {
        kernel: [i64; 2],
        stride: [i64; 2],
        padding: [i64; 2],
        dilation: [i64; 2],
    },
    /// Adaptive pooling: windows divide the image among the results.
    Shares,
}

impl Windows {
    fn kernel<B: GpuBackend>(&self, label: &'static str, image: &Tensor, pooled: &Tensor) -> B::Builder {
        let last_two = |tensor: &Tensor| [-2, -1].map(|dim| tensor.size(dim).unwrap_or(1));
        let kernel = B::Builder::new(label)
            .of(image.dtype())
            .numbers("image", &last_two(image))
            .numbers("pooled", &last_two(pooled));
        let kernel = match self {
            Windows::Sliding { kernel: size, stride, padding, dilation } => kernel
                .numbers("kernel", size)
                .numbers("stride", stride)
                .numbers("padding", padding)
                .numbers("dilation", dilation)
                .with(B::POOLING.sliding),
            Windows::Shares => kernel.with(B::POOLING.shares),
        };
        kernel.with(B::POOLING.places)
    }

    /// Whether the products of sizes by which adaptive windows are found fit into the integers of kernels.
    fn fit<B: GpuBackend>(&self, image: &Tensor, pooled: &Tensor) -> bool {
        let mut sizes = image.sizes().iter().rev().zip(pooled.sizes().iter().rev()).take(2);
        let fits = |(a, b): (&i64, &i64)| a.checked_mul(*b).is_some_and(|product| product <= B::LARGEST);
        matches!(self, Windows::Sliding { .. }) || sizes.all(fits)
    }

    /// The windows, from the arguments after the tensors: kernel, stride, padding and, if there is one, dilation.
    fn of(arguments: &Arguments<'_, '_>, first: usize, has_dilation: bool) -> Result<Windows> {
        let kernel = arguments.pair(first, [1; 2])?;
        let dilation = if has_dilation { arguments.pair(first + 3, [1; 2])? } else { [1; 2] };
        let (stride, padding) = (arguments.pair(first + 1, kernel)?, arguments.pair(first + 2, [0; 2])?);
        Ok(Windows::Sliding { kernel, stride, padding, dilation })
    }
}

/// Whether kernels support these images.
fn are_ours<B: GpuBackend>(images: &[&Tensor]) -> bool {
    B::are_floats(images.iter().copied()) && images.iter().all(|image| image.dim() >= 3)
}

pub fn largest<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !are_ours::<B>(&[this]) {
        return Ok(None);
    }
    let metas: [Tensor; 2] = all_on_meta(operator, values)?;
    let [values, places] = [
        B::compact(metas[0].sizes(), metas[0].dtype(), index_of(this))?,
        B::compact(metas[1].sizes(), metas[1].dtype(), index_of(this))?,
    ];
    Windows::of(&arguments, 1, true)?
        .kernel::<B>("largest", this, &values)
        .float("least", f64::NEG_INFINITY)
        .input("pixel", &B::contiguous(this)?)
        .result("y", &values)
        .result("index", &places)
        .threads(values.numel(), B::POOLING.largest)?;
    let [values_meta, places_meta] = &metas;
    Ok(Some([B::laid_out(values, values_meta)?, B::laid_out(places, places_meta)?]))
}

pub fn largest_backward<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let [grad, this, places] = [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(7)?];
    let meta = on_meta(operator, values)?;
    if !are_ours::<B>(&[grad, this]) || places.dtype() != DType::Int64 || places.device() != this.device() {
        return Ok(None);
    }
    let result = B::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    Windows::of(&arguments, 2, true)?
        .kernel::<B>("largest backward", this, grad)
        .input("grad", &B::contiguous(grad)?)
        .input("index", &B::contiguous(places)?)
        .result("y", &result)
        .threads(result.numel(), B::POOLING.largest_backward)?;
    B::laid_out(result, &meta).map(Some)
}

/// The divisor of a mean.
enum Divisor {
    /// The number of a window's elements that are in the image.
    Covered,
    /// The number of a window's elements, padding included.
    Padded,
    Number(i64),
}

impl Divisor {
    fn of(arguments: &Arguments<'_, '_>, first: usize) -> Result<Divisor> {
        Ok(match (arguments.optional_int(first + 1), arguments.bool(first)?) {
            (Some(number), _) => Divisor::Number(number),
            (None, true) => Divisor::Padded,
            (None, false) => Divisor::Covered,
        })
    }

    fn declare<B: GpuBackend>(&self, kernel: B::Builder) -> B::Builder {
        match self {
            Divisor::Number(number) => kernel.float("divided_by", *number as f64).with(B::POOLING.by_number),
            Divisor::Padded => kernel.with(B::POOLING.by_padded),
            Divisor::Covered => kernel.with(B::POOLING.by_covered),
        }
    }
}

pub fn mean<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let divisor = Divisor::of(&arguments, 5)?;
    let Ok(windows) = Windows::of(&arguments, 1, false) else { return Ok(None) }; // the CPU's error says why
    means::<B>(operator, values, &windows, &divisor)
}

pub fn mean_of_shares<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    means::<B>(operator, values, &Windows::Shares, &Divisor::Covered)
}

fn means<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
    windows: &Windows,
    divisor: &Divisor,
) -> Result<Option<Tensor>> {
    let this = Arguments::new(operator, values).tensor(0)?;
    if !are_ours::<B>(&[this]) {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    if !windows.fit::<B>(this, &meta) {
        return Ok(None);
    }
    let result = B::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    divisor
        .declare::<B>(windows.kernel::<B>("mean of windows", this, &result))
        .input("pixel", &B::contiguous(this)?)
        .result("y", &result)
        .threads(result.numel(), B::POOLING.mean)?;
    B::laid_out(result, &meta).map(Some)
}

pub fn mean_backward<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let divisor = Divisor::of(&arguments, 6)?;
    let Ok(windows) = Windows::of(&arguments, 2, false) else { return Ok(None) }; // the CPU's error says why
    spread::<B>(operator, values, &windows, &divisor)
}

pub fn mean_of_shares_backward<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
) -> Result<Option<Tensor>> {
    spread::<B>(operator, values, &Windows::Shares, &Divisor::Covered)
}

/// The gradient of average pooling.
fn spread<B: GpuBackend>(
    operator: OperatorHandle,
    values: &[Value<'_>],
    windows: &Windows,
    divisor: &Divisor,
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (grad, this) = (arguments.tensor(0)?, arguments.tensor(1)?);
    if !are_ours::<B>(&[grad, this]) || !windows.fit::<B>(this, grad) {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let result = B::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    divisor
        .declare::<B>(windows.kernel::<B>("mean of windows backward", this, grad))
        .input("grad", &B::contiguous(grad)?)
        .result("y", &result)
        .threads(result.numel(), B::POOLING.mean_backward)?;
    B::laid_out(result, &meta).map(Some)
}
