//! Pooling of images: the largest element or the mean under windows, and the gradients of these. A thread gathers what
//! its element gets, also of a gradient, so nothing depends on the order of threads.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, all_on_meta, computed, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::kernel::Kernel;

kernels! {
    super::largest: max_pool2d_with_indices;
    super::largest_backward: max_pool2d_with_indices_backward;
    super::mean: avg_pool2d;
    super::mean_backward: avg_pool2d_backward;
    super::mean_of_shares: _adaptive_avg_pool2d;
    super::mean_of_shares_backward: _adaptive_avg_pool2d_backward;
}

/// Where a pooled element looks, in one direction `d`: from `first(d, o)` up to `end(d, o)`, in steps. And which pooled
/// elements look at a pixel at most: from `seen_from(d, i)` up to `seen_to(d, i)`.
enum Windows {
    Sliding {
        kernel: [i64; 2],
        stride: [i64; 2],
        padding: [i64; 2],
        dilation: [i64; 2],
    },
    /// As many as there are results share the image.
    Shares,
}

impl Windows {
    fn kernel(&self, label: &'static str, image: &Tensor, pooled: &Tensor) -> Kernel {
        let last_two = |tensor: &Tensor| [-2, -1].map(|dim| tensor.size(dim).unwrap_or(1));
        let kernel = Kernel::new(label)
            .type_named("T", computed(image.dtype()))
            .type_named("R", image.dtype())
            .numbers("image", &last_two(image))
            .numbers("pooled", &last_two(pooled));
        let kernel = match self {
            Windows::Sliding { kernel: size, stride, padding, dilation } => kernel
                .numbers("kernel", size)
                .numbers("stride", stride)
                .numbers("padding", padding)
                .numbers("dilation", dilation)
                .with(SLIDING),
            Windows::Shares => kernel.with(SHARES),
        };
        kernel.with(PLACES)
    }

    /// Those of the arguments after the tensors: kernel, stride, padding and, where there is one, dilation.
    fn of(arguments: &Arguments<'_, '_>, first: usize, has_dilation: bool) -> Result<Windows> {
        let kernel = arguments.pair(first, [1; 2])?;
        let dilation = if has_dilation { arguments.pair(first + 3, [1; 2])? } else { [1; 2] };
        let (stride, padding) = (arguments.pair(first + 1, kernel)?, arguments.pair(first + 2, [0; 2])?);
        Ok(Windows::Sliding { kernel, stride, padding, dilation })
    }
}

/// The number of a thread as plane, row and column; rows and columns that a window covers.
const PLACES: &str = "struct Place { i64 plane, y, x; };
__device__ inline Place place_in(const i64 *sizes, i64 n) {
    return Place{n / sizes[1] / sizes[0], n / sizes[1] % sizes[0], n % sizes[1]};
}
__device__ inline i64 covered(const Params &p, int d, i64 o) { return max(end(p, d, o), first(p, d, o)) - first(p, d, o); }
__device__ inline i64 image_at(const Params &p, i64 plane, i64 y, i64 x) { return (plane * p.image[0] + y) * p.image[1] + x; }
__device__ inline i64 pooled_at(const Params &p, i64 plane, i64 y, i64 x) {
    return (plane * p.pooled[0] + y) * p.pooled[1] + x;
}";

const SLIDING: &str =
    "__device__ inline i64 start(const Params &p, int d, i64 o) { return o * p.stride[d] - p.padding[d]; }
__device__ inline i64 step(const Params &p, int d) { return p.dilation[d]; }
__device__ inline i64 first(const Params &p, int d, i64 o) {
    i64 begin = start(p, d, o);
    return begin >= 0 ? begin : begin + (-begin + step(p, d) - 1) / step(p, d) * step(p, d);
}
__device__ inline i64 end(const Params &p, int d, i64 o) {
    return max((i64)0, min(start(p, d, o) + (p.kernel[d] - 1) * step(p, d) + 1, p.image[d]));
}
__device__ inline i64 seen_from(const Params &p, int d, i64 i) {
    i64 reach = (p.kernel[d] - 1) * step(p, d), last = i + p.padding[d];
    return last < reach ? 0 : (last - reach + p.stride[d] - 1) / p.stride[d];
}
__device__ inline i64 seen_to(const Params &p, int d, i64 i) {
    return min((i + p.padding[d]) / p.stride[d] + 1, p.pooled[d]);
}
// With the padding that a window covers, where it does not hang over that too.
__device__ inline i64 padded(const Params &p, int d, i64 o) {
    i64 begin = start(p, d, o);
    return min(begin + p.kernel[d], p.image[d] + p.padding[d]) - begin;
}";

const SHARES: &str = "__device__ inline i64 step(const Params &, int) { return 1; }
__device__ inline i64 first(const Params &p, int d, i64 o) { return o * p.image[d] / p.pooled[d]; }
__device__ inline i64 end(const Params &p, int d, i64 o) {
    return ((o + 1) * p.image[d] + p.pooled[d] - 1) / p.pooled[d];
}
__device__ inline i64 seen_from(const Params &p, int d, i64 i) { return i * p.pooled[d] / p.image[d]; }
__device__ inline i64 seen_to(const Params &p, int d, i64 i) {
    return min(((i + 1) * p.pooled[d] + p.image[d] - 1) / p.image[d], p.pooled[d]);
}";

/// Whether a kernel takes images.
fn are_ours(images: &[&Tensor]) -> bool {
    Cuda::are_floats(images.iter().copied()) && images.iter().all(|image| image.dim() >= 3)
}

fn largest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !are_ours(&[this]) {
        return Ok(None);
    }
    let metas: [Tensor; 2] = all_on_meta(operator, values)?;
    let [values, places] = [
        Cuda::compact(metas[0].sizes(), metas[0].dtype(), index_of(this))?,
        Cuda::compact(metas[1].sizes(), metas[1].dtype(), index_of(this))?,
    ];
    Windows::of(&arguments, 1, true)?
        .kernel("largest", this, &values)
        .float("least", f64::NEG_INFINITY)
        .input("x", &Cuda::contiguous(this)?)
        .result("y", &values)
        .result("index", &places)
        .threads(
            values.numel(),
            "    Place at = place_in(p.pooled, n);
    T best = T(p.least);
    i64 index = first(p, 0, at.y) * p.image[1] + first(p, 1, at.x);
    for (i64 y = first(p, 0, at.y); y < end(p, 0, at.y); y += step(p, 0))
        for (i64 x = first(p, 1, at.x); x < end(p, 1, at.x); x += step(p, 1)) {
            T value = as<T>(p.x[image_at(p, at.plane, y, x)]);
            if (value > best || is_nan(value)) { best = value; index = y * p.image[1] + x; }
        }
    p.y[n] = as<R>(best);
    p.index[n] = index;",
        )?;
    let [values_meta, places_meta] = &metas;
    Ok(Some([Cuda::laid_out(values, values_meta)?, Cuda::laid_out(places, places_meta)?]))
}

fn largest_backward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let [grad, this, places] = [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(7)?];
    let meta = on_meta(operator, values)?;
    if !are_ours(&[grad, this]) || places.dtype() != DType::Int64 || places.device() != this.device() {
        return Ok(None);
    }
    let result = Cuda::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    Windows::of(&arguments, 2, true)?
        .kernel("largest backward", this, grad)
        .input("grad", &Cuda::contiguous(grad)?)
        .input("index", &Cuda::contiguous(places)?)
        .result("y", &result)
        .threads(
            result.numel(),
            "    Place at = place_in(p.image, n);
    i64 own = n % (p.image[0] * p.image[1]);
    T sum = T(0);
    for (i64 y = seen_from(p, 0, at.y); y < seen_to(p, 0, at.y); y++)
        for (i64 x = seen_from(p, 1, at.x); x < seen_to(p, 1, at.x); x++) {
            i64 place = pooled_at(p, at.plane, y, x);
            if (p.index[place] == own) sum += as<T>(p.grad[place]);
        }
    p.y[n] = as<R>(sum);",
        )?;
    Cuda::laid_out(result, &meta).map(Some)
}

/// By what sums are divided.
enum Divisor {
    /// The elements of a window that are there.
    Covered,
    /// These and those of the padding.
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

    /// As `divisor(p, y, x)` of a kernel.
    fn declare(&self, kernel: Kernel) -> Kernel {
        let (kernel, value) = match self {
            Divisor::Number(number) => (kernel.float("divided_by", *number as f64), "T(p.divided_by)"),
            Divisor::Padded => (kernel, "T(padded(p, 0, y) * padded(p, 1, x))"),
            Divisor::Covered => (kernel, "T(max(covered(p, 0, y) * covered(p, 1, x), (i64)1))"),
        };
        let head = "__device__ inline T divisor(const Params &p, i64 y, i64 x)";
        kernel.with(&format!("{head} {{ return {value}; }}"))
    }
}

fn mean(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let divisor = Divisor::of(&arguments, 5)?;
    let Ok(windows) = Windows::of(&arguments, 1, false) else { return Ok(None) }; // the CPU's error says why
    means(operator, values, &windows, &divisor)
}

fn mean_of_shares(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    means(operator, values, &Windows::Shares, &Divisor::Covered)
}

fn means(
    operator: OperatorHandle,
    values: &[Value<'_>],
    windows: &Windows,
    divisor: &Divisor,
) -> Result<Option<Tensor>> {
    let this = Arguments::new(operator, values).tensor(0)?;
    if !are_ours(&[this]) {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let result = Cuda::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    divisor
        .declare(windows.kernel("mean of windows", this, &result))
        .input("x", &Cuda::contiguous(this)?)
        .result("y", &result)
        .threads(
            result.numel(),
            "    Place at = place_in(p.pooled, n);
    T sum = T(0);
    for (i64 y = first(p, 0, at.y); y < end(p, 0, at.y); y++)
        for (i64 x = first(p, 1, at.x); x < end(p, 1, at.x); x++) sum += as<T>(p.x[image_at(p, at.plane, y, x)]);
    p.y[n] = as<R>(T(sum / divisor(p, at.y, at.x)));",
        )?;
    Cuda::laid_out(result, &meta).map(Some)
}

fn mean_backward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let divisor = Divisor::of(&arguments, 6)?;
    let Ok(windows) = Windows::of(&arguments, 2, false) else { return Ok(None) }; // the CPU's error says why
    spread(operator, values, &windows, &divisor)
}

fn mean_of_shares_backward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    spread(operator, values, &Windows::Shares, &Divisor::Covered)
}

/// The gradient of means.
fn spread(
    operator: OperatorHandle,
    values: &[Value<'_>],
    windows: &Windows,
    divisor: &Divisor,
) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let (grad, this) = (arguments.tensor(0)?, arguments.tensor(1)?);
    if !are_ours(&[grad, this]) {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let result = Cuda::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    divisor
        .declare(windows.kernel("mean of windows backward", this, grad))
        .input("grad", &Cuda::contiguous(grad)?)
        .result("y", &result)
        .threads(
            result.numel(),
            "    Place at = place_in(p.image, n);
    T sum = T(0);
    for (i64 y = seen_from(p, 0, at.y); y < seen_to(p, 0, at.y); y++)
        for (i64 x = seen_from(p, 1, at.x); x < seen_to(p, 1, at.x); x++)
            sum += as<T>(p.grad[pooled_at(p, at.plane, y, x)]) / divisor(p, y, x);
    p.y[n] = as<R>(sum);",
        )?;
    Cuda::laid_out(result, &meta).map(Some)
}
