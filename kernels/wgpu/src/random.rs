//! Random numbers by Philox 4x32-10: float32, and bools of a probability.
//!
//! # Which numbers
//!
//! The key is the seed of the generator. A call takes four counters of it, from `offset` on; element `i`, in row-major
//! order, has what Philox gives for the counter `offset / 4 + i * 2^64`, the words `x`, `y` and two more:
//!
//! - uniform: `x / 2^32 + 2^-33`, times `to - from`, plus `from`; what is `to` then is `from`
//! - normal: `sin(v) * sqrt(-2 * ln(u))` with `u = x / 2^32 + 2^-33`, `v = 2 π (y / 2^32 + 2^-33)`, times the deviation,
//!   plus the mean
//! - of a probability: whether the uniform number, which may be 1, is less than that; of 1 always
//!
//! These are the numbers of PyTorch's CUDA generator for the same seed and the same calls, of contiguous float32 tensors
//! that have no more elements than the GPU runs threads of the kernel at once: beyond, a thread there uses all four words.
//! Tests compare seed 0 with numbers that PyTorch printed on such GPUs; nothing else of this was compared. `native_dropout`
//! draws by probability, which on CUDA is another kernel with an order of its own.
//!
//! All other draws, as integers and float64, are of the CPU's kind of stream, which begins from the same seed.

use torch_library::backend::default_generator;
use torch_library::prelude::*;
use torch_library_gpu::{Arguments, First, KernelBuilder, Tensors, index_of};
use torch_library_kernels::aten;

use crate::call::{Wgpu, is_here, is_small, kernels};
use crate::shader::Shader;

kernels! {
    super::uniform: uniform_;
    super::normal: normal_;
    super::bernoulli: bernoulli__float;
}

/// How many counters a call takes: as many as there are words for one.
const COUNTERS: u64 = 4;

fn uniform(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    let (this, from, to) = (arguments.tensor(0)?, arguments.float(1)?, arguments.float(2)?);
    let limit = f64::from(f32::MAX);
    let is_range = from <= to && from >= -limit && to <= limit && to - from <= limit;
    if !Wgpu::is_float(this) || !is_range {
        return Ok(None);
    }
    let (from, to) = (from as f32, to as f32);
    let shader = Shader::new("uniform")
        .float("low", from.into())
        .float("high", to.into())
        .float("span", (to - from).into());
    let value =
        "let drawn = fma(uniform(n), p.span, p.low);\n    let value = select(drawn, p.low, drawn == p.high);";
    fill(this, arguments.generator(3)?, shader, value).map(|()| Some(First))
}

fn normal(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    let (this, mean, std) = (arguments.tensor(0)?, arguments.float(1)?, arguments.float(2)?);
    if !Wgpu::is_float(this) || std.is_nan() || std < 0.0 {
        return Ok(None);
    }
    let shader = Shader::new("normal").float("mean", mean).float("deviation", std);
    let value = "let value = fma(normal(n), p.deviation, p.mean);";
    fill(this, arguments.generator(3)?, shader, value).map(|()| Some(First))
}

fn bernoulli(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    let (this, chance) = (arguments.tensor(0)?, arguments.float(1)?);
    if !(0.0..=1.0).contains(&chance) {
        return Ok(None);
    }
    // Above all uniform numbers where it is certain.
    let limit = if chance >= 1.0 { 2.0 } else { chance };
    let shader = Shader::new("bernoulli").float("chance", limit);
    if Wgpu::is_float(this) {
        let value = "let value = select(0.0, 1.0, uniform(n) < p.chance);";
        return fill(this, arguments.generator(2)?, shader, value).map(|()| Some(First));
    }
    // Four to a word, of which all must be the tensor's.
    let is_whole = this.storage_offset() == 0 && this.storage().nbytes() as i64 == this.numel();
    let is_ours = this.dtype() == DType::Bool && is_here(this) && is_small(this) && is_whole;
    if !is_ours || !this.is_contiguous(MemoryFormat::Contiguous) {
        return Ok(None);
    }
    let words = this.numel().div_euclid(4) + i64::from(this.numel() % 4 != 0);
    drawing(this, arguments.generator(2)?, shader)?.result_bytes("y", this).threads(
        words,
        "    var word = 0u;
    for (var byte = 0u; byte < 4u; byte++) {
        word |= select(0u, 1u, uniform(4u * n + byte) < p.chance) << (8u * byte);
    }
    set_y(n, word);",
    )?;
    Ok(Some(First))
}

/// Fills a tensor of floats, whatever its strides.
fn fill(this: &Tensor, generator: Option<&Generator>, shader: Shader, value: &str) -> Result<()> {
    if this.numel() == 0 {
        return Ok(());
    }
    let is_plain = this.is_contiguous(MemoryFormat::Contiguous);
    let target = match is_plain {
        true => this.clone(),
        false => Wgpu::compact(this.sizes(), this.dtype(), index_of(this))?,
    };
    let body = format!("    {value}\n    set_y(n, value);");
    drawing(this, generator, shader)?.result("y", &target).threads(this.numel(), &body)?;
    if !is_plain {
        aten::copy_(&mut this.clone(), &target)?;
    }
    Ok(())
}

/// A shader with the next numbers of a generator, or of the device's.
fn drawing(this: &Tensor, generator: Option<&Generator>, shader: Shader) -> Result<Shader> {
    let of_device = default_generator(this.device())?;
    let (seed, offset) = generator.unwrap_or(&of_device).take_counters(COUNTERS);
    let counter = offset / COUNTERS;
    let halves = |number: u64| [(number & 0xffff_ffff) as i64, (number >> 32) as i64];
    Ok(shader.numbers("key", &halves(seed)).numbers("counter", &halves(counter)).with(PHILOX).with(NUMBERS))
}

/// J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
const PHILOX: &str = "fn philox(counter: vec4<u32>, first_key: vec2<u32>) -> vec4<u32> {
    var c = counter;
    var key = first_key;
    for (var round = 0u; round < 10u; round++) {
        c = vec4(
            upper(0xcd9e8d57u, c.z) ^ c.y ^ key.x, 0xcd9e8d57u * c.z,
            upper(0xd2511f53u, c.x) ^ c.w ^ key.y, 0xd2511f53u * c.x);
        key += vec2(0x9e3779b9u, 0xbb67ae85u);
    }
    return c;
}";

/// Numbers from words. The sine is of a whole number of parts of a turn, so that it is as good on every device.
const NUMBERS: &str = "fn words_of(i: u32) -> vec4<u32> {
    return philox(vec4(p.counter[0], p.counter[1], i, 0u), vec2(p.key[0], p.key[1]));
}
fn unit(word: u32) -> f32 { return fma(f32(word), 2.3283064e-10, 1.1641532e-10); }
fn uniform(i: u32) -> f32 { return unit(words_of(i).x); }
fn sine_of_turn(word: u32) -> f32 {
    let moved = word + 0x20000000u;
    let x = (f32(i32(moved & 0x3fffffffu) - 0x20000000) + 0.5) * 1.4629181e-9;
    let s = x * x;
    let sine = x * (1.0 + s * (-0.16666667 + s * (0.008333333 + s * (-1.9841270e-4 + s * 2.7557319e-6))));
    let cosine = 1.0 + s * (-0.5 + s * (0.041666668 + s * (-0.0013888889 + s * 2.4801587e-5)));
    let part = select(sine, cosine, (moved >> 30u & 1u) == 1u);
    return select(part, -part, (moved >> 31u) == 1u);
}
fn normal(i: u32) -> f32 {
    let words = words_of(i);
    return sine_of_turn(words.y) * sqrt(-2.0 * log(unit(words.x)));
}";

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that its authors published.
    #[test]
    fn philox_has_the_published_answers() {
        let Ok(device) = "wgpu".parse::<Device>().and_then(torch_library::backend::resolve) else { return };
        let ones = i64::from(u32::MAX);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344, 0xa409_3822, 0x299f_31d0];
        for (numbers, expected) in [
            ([0; 6], [0x6627_e8d5_u32, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([ones; 6], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ] {
            let found = Tensor::zeros(&[4], DType::Int32, device).unwrap();
            let shader = Shader::new("philox").numbers("c", &numbers[..4]).numbers("k", &numbers[4..]);
            shader
                .with(PHILOX)
                .result_moved("y", &found)
                .threads(
                    4,
                    "    let found = philox(vec4(p.c[0], p.c[1], p.c[2], p.c[3]), vec2(p.k[0], p.k[1]));
    set_y(n, found[n]);",
                )
                .unwrap();
            let found = found.to_vec::<i32>().unwrap();
            assert_eq!(found.iter().map(|word| word.cast_unsigned()).collect::<Vec<_>>(), expected);
        }
    }
}
