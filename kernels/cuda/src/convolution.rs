//! Convolutions in one to three directions, and their gradients.
//!
//! There are three products: features from an image and a weight (the convolution), an image from features and a weight
//! (the gradient of the image, or the transposed convolution), and a weight from an image and features (the gradient of
//! the weight). With one group they are matrix products with an explicit im2col matrix; with several, direct sums.

use torch_library::prelude::*;
use torch_library_gpu::{Convolutions, KernelBuilder, Tensors, Window, index_of};
use torch_library_kernels::aten;

use crate::call::Cuda;
use crate::kernel::Kernel;
use crate::matmul::matrices;

/// Sizes as batch, channels, and three directions.
fn five(sizes: &[i64]) -> [i64; 5] {
    let mut five = [1; 5];
    five[..2].copy_from_slice(&sizes[..2]);
    five[7 - sizes.len()..].copy_from_slice(&sizes[2..]);
    five
}

/// The most elements of the im2col matrix that are written out at once.
const MOST_SEEN: i64 = 1 << 24;

/// The parameters of a convolution between an image and features, by a weight.
fn kernel(window: &Window, label: &'static str, [image, features, weight]: [&Tensor; 3]) -> Kernel {
    let Window { stride, padding, dilation, groups } = window;
    let (sizes, found, taps) = (five(image.sizes()), five(features.sizes()), five(weight.sizes()));
    Kernel::new(label)
        .of(image.dtype())
        .numbers("image_sizes", &sizes)
        .numbers("sizes", &found)
        .numbers("taps", &taps[2..])
        .numbers("shares", &[sizes[1] / groups, found[1] / groups])
        .numbers("stride", stride)
        .numbers("padding", padding)
        .numbers("dilation", dilation)
        .with(PLACES)
}

/// The im2col matrix of the images `from..from + count` of a batch, `[taps, count, pixels]`.
fn seen(window: &Window, of: [&Tensor; 3], from: i64, count: i64) -> Result<Tensor> {
    let (sizes, taps) = (five(of[1].sizes()), five(of[2].sizes()));
    let rows = taps[1..].iter().product();
    let pixels = sizes[2..].iter().product();
    let seen = Cuda::compact(&[rows, count, pixels], of[0].dtype(), index_of(of[0]))?;
    kernel(window, "what windows see", of)
        .number("from", from)
        .number("images", count)
        .input("image", of[0])
        .result("seen", &seen)
        .threads(
            seen.numel(),
            "    i64 pixels = p.sizes[2] * p.sizes[3] * p.sizes[4], o = n % pixels, b = n / pixels % p.images;
    Place tap = tap_of(p, n / pixels / p.images);
    p.seen[n] = as<R>(seen_at(p, p.from + b, tap.channel, o, tap));",
        )?;
    Ok(seen)
}

/// Functions that convert a number to a pixel of the features or to a tap of the window, and that find the pixel of the
/// image under a tap.
const PLACES: &str = "struct Place { i64 channel, at[3]; };
__device__ inline Place tap_of(const Params &p, i64 number) {
    Place place;
    for (int d = 2; d >= 0; d--) { place.at[d] = number % p.taps[d]; number /= p.taps[d]; }
    place.channel = number;
    return place;
}
template <class P> __device__ inline T seen_at(const P &p, i64 b, i64 channel, i64 pixel, const Place &tap) {
    i64 at[3];
    for (int d = 2; d >= 0; d--) {
        i64 o = pixel % p.sizes[2 + d];
        pixel /= p.sizes[2 + d];
        at[d] = o * p.stride[d] - p.padding[d] + tap.at[d] * p.dilation[d];
        if (at[d] < 0 || at[d] >= p.image_sizes[2 + d]) return T(0);
    }
    i64 place = ((b * p.image_sizes[1] + channel) * p.image_sizes[2] + at[0]) * p.image_sizes[3] + at[1];
    return as<T>(p.image[place * p.image_sizes[4] + at[2]]);
}
// The number of the pixel of the features whose window has a pixel of the image under a tap; -1 where there is none.
__device__ inline i64 seeing(const Params &p, const i64 *at, const Place &tap) {
    i64 pixel = 0;
    for (int d = 0; d < 3; d++) {
        i64 o = at[d] + p.padding[d] - tap.at[d] * p.dilation[d];
        if (o < 0 || o % p.stride[d] != 0 || o / p.stride[d] >= p.sizes[2 + d]) return -1;
        pixel = pixel * p.sizes[2 + d] + o / p.stride[d];
    }
    return pixel;
}";

/// The number of images that are processed at once.
fn at_once(image: &Tensor, features: &Tensor, weight: &Tensor) -> i64 {
    let taps: i64 = weight.sizes()[1..].iter().product();
    let each = taps * features.sizes()[2..].iter().product::<i64>();
    (MOST_SEEN / each.max(1)).clamp(1, image.sizes()[0].max(1))
}

/// Some images of a batch as matrices, `[count, channels, pixels]`.
fn images(tensor: &Tensor, from: i64, count: i64) -> Result<Tensor> {
    let channels = tensor.sizes()[1];
    let pixels: i64 = tensor.sizes()[2..].iter().product();
    let offset = tensor.storage_offset() + from * channels * pixels;
    tensor.strided_view(&[count, channels, pixels], &[channels * pixels, pixels, 1], offset)
}

/// A weight as a matrix, `[features, taps]`, or transposed, expanded to a batch.
fn weights(weight: &Tensor, count: i64, is_turned: bool) -> Result<Tensor> {
    let (rows, taps) = (weight.sizes()[0], weight.sizes()[1..].iter().product());
    match is_turned {
        false => weight.strided_view(&[count, rows, taps], &[0, taps, 1], weight.storage_offset()),
        true => weight.strided_view(&[count, taps, rows], &[0, 1, taps], weight.storage_offset()),
    }
}

/// Writes a bias to all pixels of its channel, and returns the factor (`beta`) with which the product is to keep them.
fn with_bias(result: &Tensor, bias: Option<&Tensor>) -> Result<f64> {
    let Some(bias) = bias else { return Ok(0.0) };
    let mut sizes = vec![1; result.dim()];
    sizes[1] = bias.numel();
    aten::copy_(&mut result.clone(), &aten::expand(&aten::reshape(bias, &sizes)?, result.sizes())?)?;
    Ok(1.0)
}

/// A body that sums, for a pixel of the image in batch `b` and channel `c`, the terms of all taps under which it lies.
fn gathered(term: &str) -> String {
    format!(
        "    i64 at[3], rest = n;
    for (int d = 2; d >= 0; d--) {{ at[d] = rest % p.image_sizes[2 + d]; rest /= p.image_sizes[2 + d]; }}
    i64 c = rest % p.image_sizes[1], b = rest / p.image_sizes[1];
    i64 pixels = p.sizes[2] * p.sizes[3] * p.sizes[4], taps = p.taps[0] * p.taps[1] * p.taps[2];
    T sum = bias(p, c);
    for (i64 i = 0; i < taps; i++) {{
        i64 pixel = seeing(p, at, tap_of(p, i));
        if (pixel < 0) continue;
        {term}
    }}
    p.y[n] = as<R>(sum);"
    )
}

impl Convolutions for Cuda {
    const DIRECTIONS: usize = 3;

    fn features_of(
        window: &Window,
        [image, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        features: &Tensor,
    ) -> Result<()> {
        let of = [image, features, weight];
        if window.groups == 1 {
            let (batch, step) = (image.sizes()[0], at_once(image, features, weight));
            let beta = with_bias(features, bias)?;
            for from in (0..batch).step_by(step.cast_unsigned() as usize) {
                let count = step.min(batch - from);
                let seen = self::seen(window, of, from, count)?;
                let [rows, _, pixels] = [0, 1, 2].map(|dim| seen.sizes()[dim]);
                let seen = seen.strided_view(&[count, rows, pixels], &[pixels, count * pixels, 1], 0)?;
                matrices(&weights(weight, count, false)?, &seen, &images(features, from, count)?, 1.0, beta)?;
            }
            return Ok(());
        }
        let kernel = self::kernel(window, "convolution", of).input("image", image).input("weight", weight);
        kernel.optional("bias", bias, "0").result("y", features).threads(
            features.numel(),
            "    i64 pixels = p.sizes[2] * p.sizes[3] * p.sizes[4], o = n % pixels, m = n / pixels % p.sizes[1];
    i64 b = n / pixels / p.sizes[1], first = m / p.shares[1] * p.shares[0];
    i64 count = p.shares[0] * p.taps[0] * p.taps[1] * p.taps[2];
    T sum = bias(p, m);
    for (i64 i = 0; i < count; i++) {
        Place tap = tap_of(p, i);
        sum += seen_at(p, b, first + tap.channel, o, tap) * as<T>(p.weight[m * count + i]);
    }
    p.y[n] = as<R>(sum);",
        )
    }

    fn image_of(
        window: &Window,
        [features, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        image: &Tensor,
    ) -> Result<()> {
        let of = [image, features, weight];
        if window.groups > 1 {
            let kernel = self::kernel(window, "transposed convolution", of);
            let kernel = kernel.input("features", features).input("weight", weight);
            let body = gathered(
                "for (i64 m = c / p.shares[0] * p.shares[1]; m < (c / p.shares[0] + 1) * p.shares[1]; m++)
            sum += as<T>(p.features[(b * p.sizes[1] + m) * pixels + pixel]) * as<T>(p.weight[(m * p.shares[0] + c % p.shares[0]) * taps + i]);",
            );
            return kernel.optional("bias", bias, "0").result("y", image).threads(image.numel(), &body);
        }
        let (batch, step) = (image.sizes()[0], at_once(image, features, weight));
        for from in (0..batch).step_by(step.cast_unsigned() as usize) {
            let count = step.min(batch - from);
            let turned = weights(weight, count, true)?;
            let features = images(features, from, count)?;
            let [rows, pixels] = [turned.sizes()[1], features.sizes()[2]];
            let parts = Cuda::compact(&[count, rows, pixels], image.dtype(), index_of(image))?;
            matrices(&turned, &features, &parts, 1.0, 0.0)?;
            let kernel = self::kernel(window, "pixels from windows", of).input("parts", &parts);
            let body =
                gathered("sum += as<T>(p.parts[((b * p.image_sizes[1] + c) * taps + i) * pixels + pixel]);");
            let part = images(image, from, count)?;
            kernel.optional("bias", bias, "0").result("y", &part).threads(part.numel(), &body)?;
        }
        Ok(())
    }

    fn weight_of(window: &Window, [features, image]: [&Tensor; 2], weight: &Tensor) -> Result<()> {
        let of = [image, features, weight];
        if window.groups > 1 {
            let kernel =
                kernel(window, "gradient of a weight", of).input("image", image).input("features", features);
            let pixels: i64 = features.sizes()[2..].iter().product();
            return kernel.number("elements", features.sizes()[0] * pixels).result("y", weight).rows(
                weight.numel(),
                features.sizes()[0] * pixels,
                "    i64 count = p.shares[0] * p.taps[0] * p.taps[1] * p.taps[2], m = row / count;
    i64 pixels = p.sizes[2] * p.sizes[3] * p.sizes[4], first = m / p.shares[1] * p.shares[0];
    Place tap = tap_of(p, row % count);
    T sum = T(0);
    for (i64 i = thread; i < p.elements; i += threads) {
        i64 b = i / pixels, o = i % pixels;
        sum += as<T>(p.features[(b * p.sizes[1] + m) * pixels + o]) * seen_at(p, b, first + tap.channel, o, tap);
    }
    sum = over_sum(sum);",
                "    if (thread == 0) p.y[row] = as<R>(sum);",
            );
        }
        let (batch, step) = (image.sizes()[0], at_once(image, features, weight));
        let (rows, taps) = (weight.sizes()[0], weight.sizes()[1..].iter().product());
        let result = weight.strided_view(&[rows, taps], &[taps, 1], weight.storage_offset())?;
        for from in (0..batch).step_by(step.cast_unsigned() as usize) {
            let count = step.min(batch - from);
            let seen = self::seen(window, of, from, count)?;
            let length = count * seen.sizes()[2];
            let seen = seen.strided_view(&[length, taps], &[1, length], 0)?;
            let lines = Cuda::contiguous(&aten::transpose_int(&images(features, from, count)?, 0, 1)?)?;
            let lines = lines.strided_view(&[rows, length], &[length, 1], lines.storage_offset())?;
            matrices(&lines, &seen, &result, 1.0, if from == 0 { 0.0 } else { 1.0 })?;
        }
        Ok(())
    }
}
