//! Kernels of random numbers.
#![expect(unsafe_code, reason = "shares lines of tensors among threads")]

use std::f64::consts::{PI, SQRT_2};
use std::mem::MaybeUninit;

use num_traits::Float;
use torch_library::element::{bf16, f16};
use torch_library::geometry::Dims;
use torch_library::prelude::*;
use torch_library::{Element, Words};

use crate::arguments::dense_order;
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::functions::{Circular, Functions};
use crate::inlined::zip;
use crate::loops::lines::{self, Line};
use crate::loops::parts::PartsMut;
use crate::loops::{self, match_opmath};
use crate::random::default_generator;

mod counts;
mod gamma;
pub mod integers;
mod pairs;
mod philox;
mod reparameterized;
mod sobol;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn uniform_<'a>(
        this: &'a mut Tensor,
        from: f64,
        to: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::uniform_::NAME;
        ensure!(from <= to, Argument, "{OPERATOR}: the range from {from} to {to} is empty");
        if this.dtype().is_complex() {
            below_autograd(|| {
                let mut parts = aten::view_as_real(this)?;
                aten::uniform_::call(&mut parts, from, to, generator).map(drop)
            })?;
            return Ok(this);
        }
        floating(OPERATOR, this)?;
        check_bounds(OPERATOR, this.dtype(), from, to)?;
        if this.dtype() == DType::Float64 {
            draw(this, generator, |words| below(double(words) * (to - from) + from, from, to))?;
            return Ok(this);
        }
        let rounded = match this.dtype() {
            DType::Float16 => |x| f16::from_f32(x).to_f32(),
            DType::BFloat16 => |x| bf16::from_f32(x).to_f32(),
            _ => |x| x,
        };
        let (start, span) = (from as f32, to as f32 - from as f32);
        draw(this, generator, |[word]| below(rounded(single(word) * span + start), start, to as f32))?;
        Ok(this)
    }

    fn normal_<'a>(
        this: &'a mut Tensor,
        mean: f64,
        std: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::normal_::NAME;
        ensure!(std >= 0.0, Argument, "{OPERATOR}: a standard deviation of {std} is negative");
        if this.dtype().is_complex() {
            below_autograd(|| {
                let mut parts = aten::view_as_real(this)?;
                aten::normal_::call(&mut parts, mean, std / SQRT_2, generator).map(drop)
            })?;
            return Ok(this);
        }
        floating_or_none(OPERATOR, this)?;
        match this.dtype() {
            _ if this.numel() < 16 || !this.is_contiguous(MemoryFormat::Contiguous) => {
                normal_pairs(this, generator, |x| x * std + mean)?;
            }
            DType::Float64 => {
                let normal = Normal { mean, std, drops: true };
                drawn(this, generator, |out: &mut [f64], next| normal.fill(out, next, double))?;
            }
            _ => {
                let drops = this.dtype() == DType::Float32;
                let normal = Normal { mean: mean as f32, std: std as f32, drops };
                drawn(this, generator, |out: &mut [f32], next| {
                    normal.fill(out, next, |[word]| single(word))
                })?;
            }
        }
        Ok(this)
    }

    fn log_normal_<'a>(
        this: &'a mut Tensor,
        mean: f64,
        std: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::log_normal_::NAME;
        ensure!(std > 0.0, Argument, "{OPERATOR}: a standard deviation of {std} is not positive");
        floating_or_none(OPERATOR, this)?;
        match this.dtype() {
            DType::Float64 => normal_pairs(this, generator, |x| (x * std + mean).exp())?,
            _ => normal_pairs(this, generator, |x| (x * std + mean).exponential())?,
        }
        Ok(this)
    }

    fn cauchy_<'a>(
        this: &'a mut Tensor,
        median: f64,
        sigma: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::cauchy_::NAME;
        ensure!(sigma > 0.0, Argument, "{OPERATOR}: a sigma of {sigma} is not positive");
        floating(OPERATOR, this)?;
        draw(this, generator, |words| median + sigma * (PI * (double(words) - 0.5)).tan())?;
        Ok(this)
    }

    fn geometric_<'a>(this: &'a mut Tensor, p: f64, generator: Option<&Generator>) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::geometric_::NAME;
        ensure!(p > 0.0 && p < 1.0, Argument, "{OPERATOR}: the probability {p} is not between 0 and 1");
        let dtype = this.dtype();
        ensure!(
            this.numel() == 0
                || dtype.is_integer() && dtype.is_signed()
                || dtype == DType::UInt8
                || dtype.is_floating_point(),
            DType,
            "{OPERATOR}: {dtype} cannot count trials"
        );
        draw(this, generator, |words| (double(words).ln() / (-p).ln_1p()).ceil())?;
        Ok(this)
    }

    fn bernoulli__Tensor<'a>(
        this: &'a mut Tensor,
        p: &Tensor,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::bernoulli__Tensor::NAME;
        let p = aten::expand(p, this.sizes()).map_err(|error| error.context(OPERATOR))?;
        if !loops::has_elements(this) {
            return Ok(this);
        }
        floating(OPERATOR, &p)?;
        check_chances(OPERATOR, this)?;
        let places = dense_order(this);
        match_opmath!(p.dtype(), T: Float => {
            let chances = loops::elements::<T>(&in_order(&p, &places)?)?;
            ensure!(
                chances.iter().all(|p| (0.0..=1.0).contains(p)),
                Argument,
                "{OPERATOR}: not all probabilities are between 0 and 1"
            );
            let mut chances = chances.into_iter();
            let mut is_drawn = |drawn: T| u8::from(chances.next().is_some_and(|p| drawn < p));
            match T::DTYPE {
                DType::Float64 => draw(this, generator, |words| is_drawn(double(words).cast()))?,
                _ => draw(this, generator, |[word]| is_drawn(single(word).cast()))?,
            }
        }, else => bail!(Internal, "probabilities are floating-point numbers"));
        Ok(this)
    }

    fn exponential_<'a>(
        this: &'a mut Tensor,
        lambd: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = aten::exponential_::NAME;
        ensure!(lambd > 0.0, Argument, "{OPERATOR}: a rate of {lambd} is not positive");
        floating_or_none(OPERATOR, this)?;
        draw(this, generator, |words| -(-double(words)).ln_1p() / lambd)?;
        Ok(this)
    }

    fn multinomial(
        this: &Tensor,
        num_samples: i64,
        replacement: bool,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::multinomial::NAME;
        floating(OPERATOR, this)?;
        let [rows @ .., categories] = this.sizes() else {
            bail!(Shape, "{OPERATOR}: a tensor without dimensions has no weights to choose by")
        };
        ensure!(
            rows.len() < 2 && num_samples > 0 && (replacement || num_samples <= *categories),
            Argument,
            "{OPERATOR}: cannot draw {num_samples} indices by weights of sizes {:?}, with replacement={replacement}",
            this.sizes()
        );
        let out = Tensor::empty(&[rows, &[num_samples]].concat(), DType::Int64, this.device())?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        ensure!(*categories > 0, Shape, "{OPERATOR}: sizes {:?} have no categories to draw", this.sizes());
        if !replacement || num_samples == 1 {
            return below_autograd(|| raced(this, num_samples, generator));
        }
        let weights = loops::elements::<f64>(this)?;
        let rows = weights.chunks_exact((*categories).max(1) as usize).map(sums_up_to);
        let rows = rows.collect::<Result<Vec<_>>>()?;
        drawn(&out, generator, |out: &mut [i64], next| {
            for (sums, out) in rows.iter().zip(out.chunks_exact_mut(num_samples as usize)) {
                let pick = |words| sums[..sums.len() - 1].partition_point(|sum| *sum < double(words)) as i64;
                each(out, next, pick);
            }
        })?;
        Ok(out)
    }

    fn bernoulli__float<'a>(
        this: &'a mut Tensor,
        p: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        ensure!(
            (0.0..=1.0).contains(&p),
            Argument,
            "{}: the probability {p} is not between 0 and 1",
            aten::bernoulli__float::NAME
        );
        check_chances(aten::bernoulli__float::NAME, this)?;
        draw(this, generator, |words| u8::from(double(words) < p))?;
        Ok(this)
    }
}

fn floating(operator: &str, this: &Tensor) -> Result<()> {
    ensure!(
        this.dtype().is_floating_point(),
        DType,
        "{operator}: {} cannot hold fractions, expected a floating-point type",
        this.dtype()
    );
    Ok(())
}

/// Like [`floating`], but an empty tensor may have any dtype.
fn floating_or_none(operator: &str, this: &Tensor) -> Result<()> {
    if this.numel() == 0 { Ok(()) } else { floating(operator, this) }
}

/// # Errors
/// A complex dtype.
fn check_chances(operator: &str, this: &Tensor) -> Result<()> {
    let dtype = this.dtype();
    ensure!(this.numel() == 0 || !dtype.is_complex(), DType, "{operator} is not implemented for {dtype}");
    Ok(())
}

/// # Errors
/// Bounds, or a difference between them, that the dtype cannot hold.
fn check_bounds(operator: &str, dtype: DType, from: f64, to: f64) -> Result<()> {
    let largest = match dtype {
        DType::Float16 => 65_504.0,
        DType::Float64 => f64::MAX,
        _ => f32::MAX.into(),
    };
    let is_held = from.abs() <= largest && to.abs() <= largest && to - from <= largest;
    ensure!(is_held, Argument, "{operator}: {dtype} cannot hold the range from {from} to {to}");
    Ok(())
}

/// A drawn number, which is replaced by `from` if rounding has moved it to `to`, which is excluded.
#[inline(always)]
fn below<T: Float>(drawn: T, from: T, to: T) -> T {
    if drawn == to { from } else { drawn }
}

/// The cumulative weights, divided by their sum.
fn sums_up_to(weights: &[f64]) -> Result<Vec<f64>> {
    let mut sum = 0.0;
    let mut sums: Vec<f64> = weights.iter().map(|weight| (sum += weight, sum).1).collect();
    // Two conditions that hold for all weights, before each is examined.
    let is_any_negative = weights.iter().fold(false, |is_any, weight| is_any | (*weight < 0.0));
    if (is_any_negative || !sum.is_finite())
        && let Some(bad) = weights.iter().find(|weight| !(0.0..f64::INFINITY).contains(*weight))
    {
        bail!(Argument, "{}: a weight is {bad}, expected a number from 0 up", aten::multinomial::NAME);
    }
    ensure!(sum > 0.0, Argument, "{}: all weights are zero", aten::multinomial::NAME);
    sums.iter_mut().for_each(|part| *part /= sum);
    Ok(sums)
}

/// Draws indices without replacement by an exponential race: each index gets an exponentially distributed time, divided
/// by its weight, and those with the shortest times are drawn.
fn raced(weights: &Tensor, count: i64, generator: Option<&Generator>) -> Result<Tensor> {
    let elements = loops::elements::<f64>(weights)?;
    let categories = weights.sizes()[weights.dim() - 1].max(1) as usize;
    elements.chunks_exact(categories).try_for_each(|row| sums_up_to(row).map(drop))?;
    let mut speeds = aten::empty_like(weights)?;
    aten::exponential_::with(&mut speeds).generator(generator).call()?;
    let speeds = aten::div_Tensor(weights, &speeds)?;
    match count {
        1 => aten::argmax::call(&speeds, Some(-1), true),
        _ => Ok(aten::topk(&speeds, count)?.1),
    }
}

fn in_order(tensor: &Tensor, order: &[i64]) -> Result<Tensor> {
    let geometry = tensor.geometry();
    ensure!(
        geometry.dim() == order.len(),
        Busy,
        "a tensor was resized to {:?} while random numbers were drawn for it",
        geometry.sizes()
    );
    let pick = |values: &[i64]| order.iter().map(|dim| values[*dim as usize]).collect::<Dims>();
    tensor.strided_view(&pick(geometry.sizes()), &pick(geometry.strides()), geometry.offset())
}

/// A function that writes the next words of a random stream.
type Source<'a> = dyn FnMut(&mut [u32]) + 'a;

/// Fills a tensor, in the order of memory, with the results of a function of `W` random words each.
fn draw<T: Element, const W: usize>(
    this: &Tensor,
    generator: Option<&Generator>,
    number: impl FnMut([u32; W]) -> T,
) -> Result<()> {
    drawn(this, generator, |out, next| each(out, next, number))
}

/// Like [`draw`], with the results of a function of normally distributed numbers, which are drawn in pairs.
fn normal_pairs(this: &Tensor, generator: Option<&Generator>, number: impl Fn(f64) -> f64) -> Result<()> {
    // In double precision the last digit shows, so that must be the standard library's.
    let transform = if this.dtype() == DType::Float64 { pairs::transform_exactly } else { pairs::transform };
    drawn_with_spare(this, generator, |out, next, spare| pairs::fill(out, next, spare, transform, number))
}

/// Like [`draw`], but `fill` writes all elements itself, and draws as many words as it needs.
fn drawn<T: Element>(
    this: &Tensor,
    generator: Option<&Generator>,
    fill: impl FnOnce(&mut [T], &mut Source<'_>),
) -> Result<()> {
    drawn_with_spare(this, generator, |out, next, _| fill(out, next))
}

/// Like [`drawn`]; `fill` also gets the spare normal number that the generator keeps from the last pair.
fn drawn_with_spare<T: Element>(
    this: &Tensor,
    generator: Option<&Generator>,
    fill: impl FnOnce(&mut [T], &mut Source<'_>, &mut Option<f64>),
) -> Result<()> {
    filled(this, generator, |out, generator| generator.with_spare(|next, spare| fill(out, next, spare)))
}

/// Like [`drawn_with_spare`], word by word, for numbers that take a few words each, and some of them more than others.
fn drawn_by_word<T: Element>(
    this: &Tensor,
    generator: Option<&Generator>,
    fill: impl FnOnce(&mut [T], &mut Words<'_>, &mut Option<f64>),
) -> Result<()> {
    filled(this, generator, |out, generator| generator.with_words(|words, spare| fill(out, words, spare)))
}

/// Fills a tensor, in the order of memory, with what a function writes by a generator.
fn filled<T: Element>(
    this: &Tensor,
    generator: Option<&Generator>,
    fill: impl FnOnce(&mut [T], &Generator),
) -> Result<()> {
    this.check_no_internal_overlap()?;
    if !loops::has_elements(this) {
        return Ok(());
    }
    let this = &in_order(this, &dense_order(this))?;
    let is_plain = this.dtype() == T::DTYPE && this.is_contiguous(MemoryFormat::Contiguous);
    let out = if is_plain { this.clone() } else { Tensor::empty(this.sizes(), T::DTYPE, this.device())? };
    let parts = PartsMut::<T>::of(&out, out.numel() as usize)?;
    // SAFETY: this is the only slice, and it is used on this thread; the elements were initialised before, by
    // `Tensor::empty` or by the user, and `T` is a number.
    fill(unsafe { parts.get_mut(0) }, generator.unwrap_or_else(|| default_generator()));
    drop(parts);
    if is_plain { Ok(()) } else { loops::assign(this, &out) }
}

/// The next number from 0 to 1 of a random stream.
#[inline(always)]
fn uniform(words: &mut Words<'_>) -> f64 {
    let upper = words.word();
    double([upper, words.word()])
}

/// The number of elements that are computed from words at a time.
const BLOCK: usize = 256;

fn each<T, const W: usize>(out: &mut [T], next: &mut Source<'_>, mut number: impl FnMut([u32; W]) -> T) {
    let mut words = [[0; W]; BLOCK];
    for out in out.chunks_mut(BLOCK) {
        next(words[..out.len()].as_flattened_mut());
        for (out, words) in zip(out, &words) {
            *out = number(*words);
        }
    }
}

/// 64 random bits: the first word drawn is the upper one.
#[inline(always)]
fn wide([upper, lower]: [u32; 2]) -> u64 {
    u64::from(upper) << 32 | u64::from(lower)
}

/// A number from 0 to 1 with the 53 bits of a double.
///
/// PyTorch: `at::uniform_real_distribution`.
#[inline(always)]
fn double(words: [u32; 2]) -> f64 {
    (wide(words) & ((1 << 53) - 1)) as f64 / (1u64 << 53) as f64
}

/// A number from 0 to 1 with the 24 bits of a float.
#[inline(always)]
fn single(word: u32) -> f32 {
    (word & ((1 << 24) - 1)) as i32 as f32 / (1 << 24) as f32
}

/// Normally distributed numbers, by the Box–Muller transform of blocks of sixteen uniform numbers: the first eight give
/// the radius, the others the angle. If the last block is incomplete, the last sixteen elements are drawn again, so
/// that it overlaps the one before.
///
/// PyTorch: `normal_fill`.
struct Normal<T> {
    mean: T,
    std: T,
    /// Whether numbers for the incomplete last block are drawn and discarded first. For half precision they are not.
    drops: bool,
}

impl<T: Float + Element + Functions + Circular> Normal<T> {
    fn fill<const W: usize>(
        &self,
        out: &mut [T],
        next: &mut Source<'_>,
        uniform: impl Fn([u32; W]) -> T + Copy,
    ) {
        let mut chances = [T::zero(); BLOCK];
        let (whole, last) = (out.len() - out.len() % 16, out.len().saturating_sub(16));
        for out in out[..whole].chunks_mut(BLOCK) {
            each(&mut chances[..out.len()], next, uniform);
            self.bend(&chances[..out.len()], out);
        }
        if whole < out.len() {
            if self.drops {
                each(&mut chances[..out.len() - whole], next, uniform);
            }
            each(&mut chances[..16], next, uniform);
            self.bend(&chances[..16], &mut out[last..]);
        }
    }

    fn bend(&self, chances: &[T], out: &mut [T]) {
        // SAFETY: `MaybeUninit<T>` has the layout of `T`; `out` stays borrowed, and the `line` of `Normal` writes only
        // initialised values.
        let out =
            unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<MaybeUninit<T>>(), out.len()) };
        lines::run(self, chances, out);
    }
}

impl<T: Float + Element + Functions + Circular> Line<T, 0> for Normal<T> {
    #[inline(always)]
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; 0] {
        let turn: T = (2.0 * PI).cast();
        for (from, to) in zip(input.as_chunks::<16>().0, out.as_chunks_mut::<16>().0) {
            for i in 0..8 {
                let radius = (-(T::one() + T::one()) * (T::one() - from[i]).natural_logarithm()).sqrt();
                let angle = turn * from[i + 8];
                to[i].write(radius * angle.cosine() * self.std + self.mean);
                to[i + 8].write(radius * angle.sine() * self.std + self.mean);
            }
        }
        []
    }
}
