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
use torch_library_gpu::{Arguments, First, KernelBuilder, Tensors, computed, index_of};
use torch_library_kernels::aten;

use crate::call::{Cuda, kernels};
use crate::copy::copy;
use crate::kernel::Kernel;

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
    if !is_drawn(this) || !is_range {
        return Ok(None);
    }
    let (from, to) = (from as f32, to as f32);
    let kernel = Kernel::new("uniform")
        .float("low", from.into())
        .float("high", to.into())
        .float("span", (to - from).into());
    let value = "float drawn = fma(uniform(p, n), (float)p.span, (float)p.low);
    float value = drawn == (float)p.high ? (float)p.low : drawn;";
    fill(this, arguments.generator(3)?, kernel, value).map(|()| Some(First))
}

fn normal(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    let (this, mean, std) = (arguments.tensor(0)?, arguments.float(1)?, arguments.float(2)?);
    if !is_drawn(this) || std.is_nan() || std < 0.0 {
        return Ok(None);
    }
    let kernel = Kernel::new("normal").float("mean", mean).float("deviation", std);
    let value = "float value = fma(normal(p, n), (float)p.deviation, (float)p.mean);";
    fill(this, arguments.generator(3)?, kernel, value).map(|()| Some(First))
}

fn bernoulli(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    let (this, chance) = (arguments.tensor(0)?, arguments.float(1)?);
    if !(0.0..=1.0).contains(&chance) || !Cuda::is_here(this) || this.has_internal_overlap() {
        return Ok(None);
    }
    // Above all uniform numbers where it is certain.
    let limit = if chance >= 1.0 { 2.0 } else { chance };
    let kernel = Kernel::new("bernoulli").float("chance", limit);
    let value = "bool value = uniform(p, n) < (float)p.chance;";
    fill(this, arguments.generator(2)?, kernel, value).map(|()| Some(First))
}

/// Whether numbers of 32 bits are what is drawn for a tensor.
fn is_drawn(this: &Tensor) -> bool {
    Cuda::is_float(this) && computed(this.dtype()) == DType::Float32 && !this.has_internal_overlap()
}

/// Fills a tensor, whatever its strides.
fn fill(this: &Tensor, generator: Option<&Generator>, kernel: Kernel, value: &str) -> Result<()> {
    if this.numel() == 0 {
        return Ok(());
    }
    let is_plain = this.is_contiguous(MemoryFormat::Contiguous);
    let target = match is_plain {
        true => this.clone(),
        false => Cuda::compact(this.sizes(), this.dtype(), index_of(this))?,
    };
    let body = format!("    {value}\n    p.y[n] = as<R>(value);");
    let kernel = kernel.type_named("R", this.dtype());
    drawing(this, generator, kernel)?.result("y", &target).threads(this.numel(), &body)?;
    if !is_plain && !copy(this, &target)? {
        aten::copy_(&mut this.clone(), &target)?; // by way of the host: it has more dimensions than kernels count
    }
    Ok(())
}

/// A kernel with the next numbers of a generator, or of the device's.
fn drawing(this: &Tensor, generator: Option<&Generator>, kernel: Kernel) -> Result<Kernel> {
    let of_device = default_generator(this.device())?;
    let (seed, offset) = generator.unwrap_or(&of_device).take_counters(COUNTERS);
    let counter = offset / COUNTERS;
    let halves = |number: u64| [(number & 0xffff_ffff) as i64, (number >> 32) as i64];
    Ok(kernel.numbers("key", &halves(seed)).numbers("counter", &halves(counter)).with(PHILOX).with(NUMBERS))
}

/// J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
const PHILOX: &str = "struct Words { u32 x, y, z, w; };
__device__ inline Words philox(Words c, u32 key_x, u32 key_y) {
    for (u32 round = 0; round < 10; round++) {
        c = Words{__umulhi(0xcd9e8d57u, c.z) ^ c.y ^ key_x, 0xcd9e8d57u * c.z,
                  __umulhi(0xd2511f53u, c.x) ^ c.w ^ key_y, 0xd2511f53u * c.x};
        key_x += 0x9e3779b9u;
        key_y += 0xbb67ae85u;
    }
    return c;
}";

/// Numbers from words. The sine is of a number of half turns.
const NUMBERS: &str = "__device__ inline Words words_of(const Params &p, i64 i) {
    return philox(Words{(u32)p.counter[0], (u32)p.counter[1], (u32)i, (u32)(i >> 32)}, (u32)p.key[0], (u32)p.key[1]);
}
__device__ inline float unit(u32 word) { return fma((float)word, 2.3283064e-10f, 1.1641532e-10f); }
__device__ inline float uniform(const Params &p, i64 i) { return unit(words_of(p, i).x); }
__device__ inline float normal(const Params &p, i64 i) {
    Words words = words_of(p, i);
    return sinpi(2.0f * unit(words.y)) * sqrt(-2.0f * log(unit(words.x)));
}";
