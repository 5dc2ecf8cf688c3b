//! Convolutions in one and two directions, and their gradients, by implicit GEMM: matrix products whose elements are
//! looked up in the image.
//!
//! There are three products: features from an image and a weight (the convolution), an image from features and a weight
//! (the gradient of the image, or the transposed convolution), and a weight from an image and features (the gradient of
//! the weight).

use torch_library::prelude::*;
use torch_library_gpu::{Convolutions, KernelBuilder, Window};

use crate::call::Wgpu;
use crate::product::Product;
use crate::shader::Shader;

/// The parameters of a convolution between an image and features, by a weight.
fn shader(window: &Window, image: &[i64; 4], features: &[i64; 4], weight: &[i64; 4]) -> Shader {
    let [stride, padding, dilation] =
        [window.stride, window.padding, window.dilation].map(|[_, high, wide]| [high, wide]);
    Shader::new("convolution")
        .numbers("image", image)
        .numbers("features", features)
        .numbers("shares", &[image[1] / window.groups, features[1] / window.groups])
        .number("top", padding[0])
        .number("side", padding[1])
        // Divisors are constants when the shader is compiled.
        .with(&format!(
            "const KERNEL = vec2<u32>({}u, {}u);
const STRIDE = vec2<u32>({}u, {}u);
const DILATION = vec2<u32>({}u, {}u);
{PLACES}",
            weight[2], weight[3], stride[0], stride[1], dilation[0], dilation[1]
        ))
}

/// Sizes as batch, channels, height and width.
fn four(sizes: &[i64]) -> [i64; 4] {
    match *sizes {
        [batch, channels, wide] => [batch, channels, 1, wide],
        [batch, channels, high, wide] => [batch, channels, high, wide],
        _ => [0; 4],
    }
}

fn area(sizes: &[i64; 4]) -> i64 {
    sizes[0] * sizes[2] * sizes[3]
}

/// Functions that convert numbers of rows and columns to a pixel of the image or of the features, and to an element of
/// the weight.
const PLACES: &str = "// Batch, row and column of the number of a pixel.
fn pixel(number: u32, sizes: array<u32, 4>) -> vec3<u32> {
    let line = number / sizes[3];
    return vec3(line / sizes[2], line % sizes[2], number % sizes[3]);
}
fn place(sizes: array<u32, 4>, at: vec3<u32>, channel: u32) -> u32 {
    return ((at.x * sizes[1] + channel) * sizes[2] + at.y) * sizes[3] + at.z;
}
// Channel, row and column of the number of an element under the window.
fn under(number: u32) -> vec3<u32> {
    let line = number / KERNEL.y;
    return vec3(line / KERNEL.x, line % KERNEL.x, number % KERNEL.y);
}";

/// A function for the pixel of the image under an element of a window.
const SEEN: &str = "fn seen(group: u32, at: vec3<u32>, tap: vec3<u32>) -> f32 {
    let y = at.y * STRIDE.x + tap.y * DILATION.x - p.top;
    let x = at.z * STRIDE.y + tap.z * DILATION.y - p.side;
    if (y >= p.image[2] || x >= p.image[3]) { return 0.0; } // what is negative is large
    return image(place(p.image, vec3(at.x, y, x), group * p.shares[0] + tap.x));
}";

/// Convolutions of volumes are left to the CPU.
impl Convolutions for Wgpu {
    const DIRECTIONS: usize = 2;

    fn features_of(
        window: &Window,
        [image, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        features: &Tensor,
    ) -> Result<()> {
        let [sizes, taps, found] = [image, weight, features].map(|tensor| four(tensor.sizes()));
        let shader = self::shader(window, &sizes, &found, &taps)
            .input("image", image)
            .input("weight", weight)
            .optional("bias", bias, "0.0")
            .result("features", features)
            .with(SEEN)
            .with(
                "struct Along { number: u32, tap: vec3<u32> }
alias Column = vec3<u32>;
fn along_at(number: u32) -> Along { return Along(number, under(number)); }
fn column_at(number: u32) -> Column { return pixel(number, p.features); }
fn left_at(group: u32, row: u32, along: Along) -> f32 {
    return weight((group * p.rows + row) * p.inner + along.number);
}
fn right_at(group: u32, along: Along, column: Column) -> f32 { return seen(group, column, along.tap); }
fn put(group: u32, row: u32, column: Column, sum: f32) {
    let channel = group * p.rows + row;
    set_features(place(p.features, column, channel), sum + bias(channel));
}",
            );
        let inner = taps[1] * taps[2] * taps[3];
        let rows = found[1] / window.groups;
        Product { batch: window.groups, rows, columns: area(&found), inner, is_right_looked_up: true }
            .run(shader)
    }

    fn image_of(
        window: &Window,
        [features, weight]: [&Tensor; 2],
        bias: Option<&Tensor>,
        image: &Tensor,
    ) -> Result<()> {
        let [found, taps, sizes] = [features, weight, image].map(|tensor| four(tensor.sizes()));
        let shader = self::shader(window, &sizes, &found, &taps)
            .input("features", features)
            .input("weight", weight)
            .optional("bias", bias, "0.0")
            .result("image", image)
            .with(
                "alias Along = vec3<u32>;
alias Column = vec3<u32>;
fn along_at(number: u32) -> Along { return under(number); }
fn column_at(number: u32) -> Column { return pixel(number, p.image); }
fn left_at(group: u32, row: u32, tap: Along) -> f32 {
    let channel = group * p.shares[1] + tap.x;
    return weight(((channel * p.rows + row) * KERNEL.x + tap.y) * KERNEL.y + tap.z);
}
fn right_at(group: u32, tap: Along, at: Column) -> f32 {
    let y = at.y + p.top - tap.y * DILATION.x;
    let x = at.z + p.side - tap.z * DILATION.y;
    if (y % STRIDE.x != 0u || x % STRIDE.y != 0u) { return 0.0; }
    let place_seen = vec3(at.x, y / STRIDE.x, x / STRIDE.y);
    if (y >= 0x80000000u || x >= 0x80000000u) { return 0.0; } // negative
    if (place_seen.y >= p.features[2] || place_seen.z >= p.features[3]) { return 0.0; }
    return features(place(p.features, place_seen, group * p.shares[1] + tap.x));
}
fn put(group: u32, row: u32, at: Column, sum: f32) {
    let channel = group * p.rows + row;
    set_image(place(p.image, at, channel), sum + bias(channel));
}",
            );
        let inner = found[1] / window.groups * taps[2] * taps[3];
        let rows = sizes[1] / window.groups;
        Product { batch: window.groups, rows, columns: area(&sizes), inner, is_right_looked_up: true }
            .run(shader)
    }

    fn weight_of(window: &Window, [features, image]: [&Tensor; 2], weight: &Tensor) -> Result<()> {
        let [found, sizes, taps] = [features, image, weight].map(|tensor| four(tensor.sizes()));
        let shader = self::shader(window, &sizes, &found, &taps)
            .input("features", features)
            .input("image", image)
            .result("weight", weight)
            .with(SEEN)
            .with(
                "alias Along = vec3<u32>;
struct Column { number: u32, tap: vec3<u32> }
fn along_at(number: u32) -> Along { return pixel(number, p.features); }
fn column_at(number: u32) -> Column { return Column(number, under(number)); }
fn left_at(group: u32, row: u32, at: Along) -> f32 {
    return features(place(p.features, at, group * p.rows + row));
}
fn right_at(group: u32, at: Along, column: Column) -> f32 { return seen(group, at, column.tap); }
fn put(group: u32, row: u32, column: Column, sum: f32) {
    set_weight((group * p.rows + row) * p.columns + column.number, sum);
}",
            );
        let columns = taps[1] * taps[2] * taps[3];
        let rows = found[1] / window.groups;
        Product { batch: window.groups, rows, columns, inner: area(&found), is_right_looked_up: true }
            .run(shader)
    }
}
