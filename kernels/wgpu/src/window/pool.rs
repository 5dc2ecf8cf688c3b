//! Pooling of images: the largest element or the mean under windows, and the gradients of these. A thread gathers what
//! its element gets, also of a gradient, so nothing depends on the order of threads.

use torch_library::prelude::*;
use torch_library_gpu::{Arguments, KernelBuilder, Tensors, all_on_meta, index_of, on_meta};
use torch_library_kernels::aten;

use crate::call::{Wgpu, kernels};
use crate::shader::Shader;

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
    fn shader(&self, label: &'static str, image: &Tensor, pooled: &Tensor) -> Shader {
        let last_two = |tensor: &Tensor| [-2, -1].map(|dim| tensor.size(dim).unwrap_or(1));
        let shader = Shader::new(label)
            .numbers("image", &last_two(image))
            .numbers("pooled", &last_two(pooled))
            .with(PLACES);
        match self {
            Windows::Sliding { kernel, stride, padding, dilation } => shader
                .numbers("kernel", kernel)
                .numbers("stride", stride)
                .numbers("padding", padding)
                .numbers("dilation", dilation)
                .with(SLIDING),
            Windows::Shares => shader.with(SHARES),
        }
    }

    /// Whether what shares are found by, products of sizes, fits into 32 bits.
    fn fit(&self, image: &Tensor, pooled: &Tensor) -> bool {
        let mut sizes = image.sizes().iter().rev().zip(pooled.sizes().iter().rev()).take(2);
        matches!(self, Windows::Sliding { .. }) || sizes.all(|(image, pooled)| image * pooled < 1 << 31)
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
const PLACES: &str = "struct Place { plane: u32, y: u32, x: u32 }
fn place_in(sizes: array<u32, 2>, n: u32) -> Place {
    return Place(n / sizes[1] / sizes[0], n / sizes[1] % sizes[0], n % sizes[1]);
}
fn covered(d: u32, o: u32) -> u32 { return max(end(d, o), first(d, o)) - first(d, o); }
fn image_at(plane: u32, y: u32, x: u32) -> u32 { return (plane * p.image[0] + y) * p.image[1] + x; }
fn pooled_at(plane: u32, y: u32, x: u32) -> u32 { return (plane * p.pooled[0] + y) * p.pooled[1] + x; }";

const SLIDING: &str = "fn start(d: u32, o: u32) -> i32 { return i32(o * p.stride[d]) - i32(p.padding[d]); }
fn step(d: u32) -> u32 { return p.dilation[d]; }
fn first(d: u32, o: u32) -> u32 {
    let begin = start(d, o);
    if (begin >= 0) { return u32(begin); }
    return (u32(-begin) + step(d) - 1u) / step(d) * step(d) - u32(-begin);
}
fn end(d: u32, o: u32) -> u32 {
    return u32(clamp(start(d, o) + i32((p.kernel[d] - 1u) * step(d) + 1u), 0, i32(p.image[d])));
}
fn seen_from(d: u32, i: u32) -> u32 {
    let reach = (p.kernel[d] - 1u) * step(d);
    let last = i + p.padding[d];
    return select((last - reach + p.stride[d] - 1u) / p.stride[d], 0u, last < reach);
}
fn seen_to(d: u32, i: u32) -> u32 { return min((i + p.padding[d]) / p.stride[d] + 1u, p.pooled[d]); }
// With the padding that a window covers, where it does not hang over that too.
fn padded(d: u32, o: u32) -> u32 {
    let begin = start(d, o);
    return u32(min(begin + i32(p.kernel[d]), i32(p.image[d] + p.padding[d])) - begin);
}";

const SHARES: &str = "fn step(d: u32) -> u32 { return 1u; }
fn first(d: u32, o: u32) -> u32 { return o * p.image[d] / p.pooled[d]; }
fn end(d: u32, o: u32) -> u32 { return ((o + 1u) * p.image[d] + p.pooled[d] - 1u) / p.pooled[d]; }
fn seen_from(d: u32, i: u32) -> u32 { return i * p.pooled[d] / p.image[d]; }
fn seen_to(d: u32, i: u32) -> u32 {
    return min(((i + 1u) * p.pooled[d] + p.image[d] - 1u) / p.image[d], p.pooled[d]);
}";

/// Whether a kernel takes images.
fn are_ours(images: &[&Tensor]) -> bool {
    Wgpu::are_floats(images.iter().copied()) && images.iter().all(|image| image.dim() >= 3)
}

fn largest(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<[Tensor; 2]>> {
    let arguments = Arguments::new(operator, values);
    let this = arguments.tensor(0)?;
    if !are_ours(&[this]) {
        return Ok(None);
    }
    let metas: [Tensor; 2] = all_on_meta(operator, values)?;
    let [values, places] = [
        Wgpu::compact(metas[0].sizes(), metas[0].dtype(), index_of(this))?,
        Wgpu::compact(metas[1].sizes(), metas[1].dtype(), index_of(this))?,
    ];
    Windows::of(&arguments, 1, true)?
        .shader("largest", this, &values)
        .float("least", f64::NEG_INFINITY)
        .input("x_of", &Wgpu::contiguous(this)?)
        .result("y", &values)
        .result("index", &places)
        .threads(
            values.numel(),
            "    let at = place_in(p.pooled, n);
    var best = p.least;
    var index = first(0u, at.y) * p.image[1] + first(1u, at.x);
    for (var y = first(0u, at.y); y < end(0u, at.y); y += step(0u)) {
        for (var x = first(1u, at.x); x < end(1u, at.x); x += step(1u)) {
            let value = x_of(image_at(at.plane, y, x));
            if (value > best || is_nan(value)) { best = value; index = y * p.image[1] + x; }
        }
    }
    set_y(n, best);
    set_index(n, i32(index));",
        )?;
    let [values_meta, places_meta] = &metas;
    Ok(Some([Wgpu::laid_out(values, values_meta)?, Wgpu::laid_out(places, places_meta)?]))
}

fn largest_backward(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<Tensor>> {
    let arguments = Arguments::new(operator, values);
    let [grad, this, places] = [arguments.tensor(0)?, arguments.tensor(1)?, arguments.tensor(7)?];
    let meta = on_meta(operator, values)?;
    if !are_ours(&[grad, this]) || places.dtype() != DType::Int64 || places.device() != this.device() {
        return Ok(None);
    }
    let result = Wgpu::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    Windows::of(&arguments, 2, true)?
        .shader("largest backward", this, grad)
        .input("grad", &Wgpu::contiguous(grad)?)
        .input("index", &Wgpu::contiguous(places)?)
        .result("y", &result)
        .threads(
            result.numel(),
            "    let at = place_in(p.image, n);
    let own = i32(n % (p.image[0] * p.image[1]));
    var sum = 0.0;
    for (var y = seen_from(0u, at.y); y < seen_to(0u, at.y); y++) {
        for (var x = seen_from(1u, at.x); x < seen_to(1u, at.x); x++) {
            let place = pooled_at(at.plane, y, x);
            if (index(place) == own) { sum += grad(place); }
        }
    }
    set_y(n, sum);",
        )?;
    Wgpu::laid_out(result, &meta).map(Some)
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

    /// As `divisor(y, x)` of a shader.
    fn shader(&self, shader: Shader) -> Shader {
        let (shader, value) = match self {
            Divisor::Number(number) => (shader.float("divided_by", *number as f64), "p.divided_by"),
            Divisor::Padded => (shader, "f32(padded(0u, y) * padded(1u, x))"),
            Divisor::Covered => (shader, "f32(max(covered(0u, y) * covered(1u, x), 1u))"),
        };
        shader.with(&format!("fn divisor(y: u32, x: u32) -> f32 {{ return {value}; }}"))
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
    if !windows.fit(this, &meta) {
        return Ok(None);
    }
    let result = Wgpu::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    divisor
        .shader(windows.shader("mean of windows", this, &result))
        .input("x_of", &Wgpu::contiguous(this)?)
        .result("y", &result)
        .threads(
            result.numel(),
            "    let at = place_in(p.pooled, n);
    var sum = 0.0;
    for (var y = first(0u, at.y); y < end(0u, at.y); y++) {
        for (var x = first(1u, at.x); x < end(1u, at.x); x++) { sum += x_of(image_at(at.plane, y, x)); }
    }
    set_y(n, sum / divisor(at.y, at.x));",
        )?;
    Wgpu::laid_out(result, &meta).map(Some)
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
    if !are_ours(&[grad, this]) || !windows.fit(this, grad) {
        return Ok(None);
    }
    let meta = on_meta(operator, values)?;
    let result = Wgpu::compact(meta.sizes(), meta.dtype(), index_of(this))?;
    divisor
        .shader(windows.shader("mean of windows backward", this, grad))
        .input("grad", &Wgpu::contiguous(grad)?)
        .result("y", &result)
        .threads(
            result.numel(),
            "    let at = place_in(p.image, n);
    var sum = 0.0;
    for (var y = seen_from(0u, at.y); y < seen_to(0u, at.y); y++) {
        for (var x = seen_from(1u, at.x); x < seen_to(1u, at.x); x++) {
            sum += grad(pooled_at(at.plane, y, x)) / divisor(y, x);
        }
    }
    set_y(n, sum);",
        )?;
    Wgpu::laid_out(result, &meta).map(Some)
}
