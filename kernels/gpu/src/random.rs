//! Random numbers by Philox 4x32-10: float32, and bools of a probability.
//!
//! # Which numbers
//!
//! The key is the seed of the generator. A call advances the generator's offset by four; element `i`, in row-major order, is
//! computed from the words `x` and `y` of the four that Philox returns for the counter `offset / 4 + i * 2^64`:
//!
//! - uniform: `x / 2^32 + 2^-33`, times `to - from`, plus `from`; a result equal to `to` becomes `from`
//! - normal: `sin(v) * sqrt(-2 * ln(u))` with `u = x / 2^32 + 2^-33`, `v = 2 π (y / 2^32 + 2^-33)`, times the deviation,
//!   plus the mean
//! - with a probability: whether the uniform number, which may be 1, is less than the probability; always if that is 1
//!
//! These are the numbers of PyTorch's CUDA generator for the same seed and the same calls, for contiguous float32 tensors with
//! no more elements than the GPU runs threads of the kernel at once; for larger ones, each of PyTorch's threads uses all four
//! words. Tests compare seed 0 with numbers that PyTorch printed on such GPUs; nothing else was compared. `native_dropout`
//! draws with a probability here, but has a kernel and an order of its own in PyTorch on CUDA.
//!
//! All other draws, such as those of integers and float64, use the CPU's generator algorithm, seeded with the same seed.

use torch_library::backend::default_generator;
use torch_library::prelude::*;
use torch_library_kernels::aten;

use crate::arguments::Arguments;
use crate::backend::{GpuBackend, Tensors, index_of};
use crate::kernel::{KernelBuilder, computed};
use crate::returns::First;

/// The kernels of random numbers: for element `n`, from the words of `key` and `counter`.
#[derive(Clone, Copy, Debug)]
pub struct Random {
    /// Functions for Philox 4x32-10, and for uniform and normal numbers from it.
    pub functions: &'static str,
    /// The `value`, uniform from `low` to `high`, whose difference is `span`.
    pub uniform: &'static str,
    /// The `value`, normal with `mean` and `deviation`.
    pub normal: &'static str,
    /// The `value`, true with probability `chance`.
    pub bernoulli: &'static str,
    /// Writes the value to `y`.
    pub write: &'static str,
    /// Draws bools with probability `chance` and writes four of them as a word; `None` if the language can write single bools.
    pub words_of_bools: Option<&'static str>,
}

/// The number of counters that a call takes: the number of words that Philox returns for one.
const COUNTERS: u64 = 4;

pub fn uniform<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    let (this, from, to) = (arguments.tensor(0)?, arguments.float(1)?, arguments.float(2)?);
    let limit = f64::from(f32::MAX);
    let is_range = from <= to && from >= -limit && to <= limit && to - from <= limit;
    if !is_drawn::<B>(this) || !is_range {
        return Ok(None);
    }
    let (from, to) = (from as f32, to as f32);
    let kernel = B::Builder::new("uniform")
        .float("low", from.into())
        .float("high", to.into())
        .float("span", (to - from).into());
    fill::<B>(this, arguments.generator(3)?, kernel, B::RANDOM.uniform).map(|()| Some(First))
}

pub fn normal<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    let (this, mean, std) = (arguments.tensor(0)?, arguments.float(1)?, arguments.float(2)?);
    if !is_drawn::<B>(this) || std.is_nan() || std < 0.0 {
        return Ok(None);
    }
    let kernel = B::Builder::new("normal").float("mean", mean).float("deviation", std);
    fill::<B>(this, arguments.generator(3)?, kernel, B::RANDOM.normal).map(|()| Some(First))
}

pub fn bernoulli<B: GpuBackend>(operator: OperatorHandle, values: &[Value<'_>]) -> Result<Option<First>> {
    let arguments = Arguments::new(operator, values);
    let (this, chance) = (arguments.tensor(0)?, arguments.float(1)?);
    let is_ours = B::is_here(this) && B::computes(this.dtype()) && !this.has_internal_overlap();
    if !(0.0..=1.0).contains(&chance) || !is_ours {
        return Ok(None);
    }
    // A probability of 1 is above all uniform numbers, which may be 1.
    let limit = if chance >= 1.0 { 2.0 } else { chance };
    let (kernel, generator) = (B::Builder::new("bernoulli").float("chance", limit), arguments.generator(2)?);
    let Some(words_of_bools) = B::RANDOM.words_of_bools.filter(|_| this.dtype() == DType::Bool) else {
        return fill::<B>(this, generator, kernel, B::RANDOM.bernoulli).map(|()| Some(First));
    };
    // Every word must belong to the tensor as a whole.
    let is_whole = this.storage_offset() == 0 && this.storage().nbytes() as i64 == this.numel();
    if !is_whole || !this.is_contiguous(MemoryFormat::Contiguous) {
        return Ok(None);
    }
    let words = this.numel().div_euclid(4) + i64::from(this.numel() % 4 != 0);
    drawing::<B>(this, generator, kernel)?.result_moved("y", this).threads(words, words_of_bools)?;
    Ok(Some(First))
}

/// Whether numbers for a tensor are drawn in 32 bits.
fn is_drawn<B: GpuBackend>(this: &Tensor) -> bool {
    B::is_float(this) && computed(this.dtype()) == DType::Float32 && !this.has_internal_overlap()
}

/// Fills a tensor with any strides.
fn fill<B: GpuBackend>(
    this: &Tensor,
    generator: Option<&Generator>,
    kernel: B::Builder,
    value: &str,
) -> Result<()> {
    if this.numel() == 0 {
        return Ok(());
    }
    let is_plain = this.is_contiguous(MemoryFormat::Contiguous);
    let target = match is_plain {
        true => this.clone(),
        false => B::compact(this.sizes(), this.dtype(), index_of(this))?,
    };
    let kernel = drawing::<B>(this, generator, kernel)?.type_named("R", this.dtype()).result("y", &target);
    kernel.threads(this.numel(), &[value, B::RANDOM.write].concat())?;
    if !is_plain && !B::copy(this, &target)? {
        aten::copy_(&mut this.clone(), &target)?; // by way of the host: it has more dimensions than kernels count
    }
    Ok(())
}

/// A kernel with the next counters of a generator, or of the device's default generator.
fn drawing<B: GpuBackend>(
    this: &Tensor,
    generator: Option<&Generator>,
    kernel: B::Builder,
) -> Result<B::Builder> {
    let of_device = default_generator(this.device())?;
    let (seed, offset) = generator.unwrap_or(&of_device).take_counters(COUNTERS);
    let counter = offset / COUNTERS;
    let halves = |number: u64| [(number & 0xffff_ffff) as i64, (number >> 32) as i64];
    Ok(kernel.numbers("key", &halves(seed)).numbers("counter", &halves(counter)).with(B::RANDOM.functions))
}
