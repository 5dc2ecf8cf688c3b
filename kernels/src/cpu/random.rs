//! Triangles and random numbers.
#![expect(unsafe_code, reason = "shares lines of tensors among threads")]

use std::mem::MaybeUninit;
use std::ops::Range;

use num_traits::Float;
use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::functions::{Circular, Functions};
use super::loops::lines::{self, Line};
use super::loops::parts::Parts;
use super::loops::{self, parallel};
use crate::aten;
use crate::composite::unseen;
use crate::random::default_generator;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn tril(this: &Tensor, diagonal: i64) -> Result<Tensor> {
        triangle("aten::tril", this, |row| 0..row.saturating_add(diagonal).saturating_add(1))
    }

    fn triu(this: &Tensor, diagonal: i64) -> Result<Tensor> {
        triangle("aten::triu", this, |row| row.saturating_add(diagonal)..i64::MAX)
    }

    fn uniform_<'a>(
        this: &'a mut Tensor,
        from: f64,
        to: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = "aten::uniform_";
        ensure!(from <= to, Argument, "{OPERATOR}: there is nothing from {from} to {to}");
        floating(OPERATOR, this)?;
        if this.dtype() == DType::Float64 {
            draw(this, generator, |words| double(words) * (to - from) + from)?;
        } else {
            let (from, span) = (from as f32, to as f32 - from as f32);
            draw(this, generator, |[word]| single(word) * span + from)?;
        }
        Ok(this)
    }

    fn normal_<'a>(
        this: &'a mut Tensor,
        mean: f64,
        std: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = "aten::normal_";
        ensure!(std >= 0.0, Argument, "{OPERATOR}: a deviation of {std} is negative");
        floating(OPERATOR, this)?;
        match this.dtype() {
            _ if this.numel() < 16 => {
                let numbers = |count, next: &mut Source<'_>| few_normal(count, next, mean, std);
                drawn(this, generator, |out: &mut [f64], next| {
                    out.copy_from_slice(&numbers(out.len(), next))
                })?;
            }
            DType::Float64 => {
                let bell = Bell { mean, std };
                drawn(this, generator, |out: &mut [f64], next| bell.fill(out, next, double))?;
            }
            _ => {
                let bell = Bell { mean: mean as f32, std: std as f32 };
                drawn(this, generator, |out: &mut [f32], next| bell.fill(out, next, |[word]| single(word)))?;
            }
        }
        Ok(this)
    }

    fn random__from<'a>(
        this: &'a mut Tensor,
        from: i64,
        to: Option<i64>,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = "aten::random_.from";
        let to = i128::from(to.unwrap_or(i64::MAX)) + i128::from(to.is_none());
        let range = to - i128::from(from);
        ensure!(range > 0, Argument, "{OPERATOR}: there is no integer from {from} up to {to}");
        match u64::try_from(range) {
            Ok(range @ 0..0x1000_0000) => {
                let rest = remainder(range as u32);
                draw(this, generator, |[word]| from.wrapping_add(rest(word).into()))?;
            }
            Ok(range) => draw(this, generator, |words| from.wrapping_add((wide(words) % range) as i64))?,
            Err(_) => draw(this, generator, |words| from.wrapping_add(wide(words) as i64))?, // all integers
        }
        Ok(this)
    }

    fn exponential_<'a>(
        this: &'a mut Tensor,
        lambd: f64,
        generator: Option<&Generator>,
    ) -> Result<&'a mut Tensor> {
        const OPERATOR: &str = "aten::exponential_";
        ensure!(lambd > 0.0, Argument, "{OPERATOR}: a rate of {lambd} is not positive");
        floating(OPERATOR, this)?;
        draw(this, generator, |words| -(-double(words)).ln_1p() / lambd)?;
        Ok(this)
    }

    fn multinomial(
        this: &Tensor,
        num_samples: i64,
        replacement: bool,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        const OPERATOR: &str = "aten::multinomial";
        floating(OPERATOR, this)?;
        let [rows @ .., categories] = this.sizes() else {
            bail!(Shape, "{OPERATOR}: a tensor without dimensions has no weights to choose by")
        };
        ensure!(
            rows.len() < 2 && num_samples > 0 && (replacement || num_samples <= *categories),
            Argument,
            "{OPERATOR}: {num_samples} indices by weights of sizes {:?}, with replacement={replacement}",
            this.sizes()
        );
        let out = Tensor::empty(&[rows, &[num_samples]].concat(), DType::Int64, this.device())?;
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        if !replacement || num_samples == 1 {
            return unseen(|| raced(this, num_samples, generator));
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
            "aten::bernoulli_.float: the probability {p} is not between 0 and 1"
        );
        draw(this, generator, |words| u8::from(double(words) < p))?;
        Ok(this)
    }
}

/// The matrices with zeros where a row has columns outside of a range.
fn triangle(operator: &str, this: &Tensor, kept: impl Fn(i64) -> Range<i64> + Sync) -> Result<Tensor> {
    let &[.., rows, columns] = this.sizes() else {
        bail!(Shape, "{operator}: sizes {:?}, expected matrices", this.sizes())
    };
    let out = Tensor::empty(this.sizes(), this.dtype(), this.device())?;
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    match_dtype!(this.dtype(), T => {
        let (from, to) = (Parts::<T>::row_major(this, columns as usize)?, Parts::<T>::of(&out, columns as usize)?);
        parallel::shares(to.count(), (parallel::GRAIN / columns as usize).max(1), |lines| {
            for line in lines {
                let Range { start, end } = kept(line as i64 % rows);
                let (start, end) = (start.clamp(0, columns) as usize, end.clamp(0, columns) as usize);
                // SAFETY: nobody writes to the first, and each line of the second is one thread's.
                let (from, to) = unsafe { (from.get(line), to.get_mut(line)) };
                to[start..end.max(start)].copy_from_slice(&from[start..end.max(start)]);
            }
        });
    });
    Ok(out)
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

/// The shares of the weights up to each.
fn sums_up_to(weights: &[f64]) -> Result<Vec<f64>> {
    let mut sum = 0.0;
    let mut sums = Vec::with_capacity(weights.len());
    for weight in weights {
        ensure!(
            (0.0..f64::INFINITY).contains(weight),
            Argument,
            "aten::multinomial: a weight is {weight}, expected a number from 0 up"
        );
        sum += weight;
        sums.push(sum);
    }
    ensure!(sum > 0.0, Argument, "aten::multinomial: the weights are zero");
    sums.iter_mut().for_each(|part| *part /= sum);
    Ok(sums)
}

/// The indices that win a race in which each takes an exponentially distributed time over its weight.
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

/// What writes the next words of a stream.
type Source<'a> = dyn FnMut(&mut [u32]) + 'a;

/// Fills a tensor, in logical order, with what a function makes of so many random words each.
fn draw<T: Element, const W: usize>(
    this: &Tensor,
    generator: Option<&Generator>,
    number: impl Fn([u32; W]) -> T,
) -> Result<()> {
    drawn(this, generator, |out, next| each(out, next, number))
}

/// As [`draw`], with what a function writes, all of it, drawing as many words as it likes.
fn drawn<T: Element>(
    this: &Tensor,
    generator: Option<&Generator>,
    fill: impl FnOnce(&mut [T], &mut Source<'_>),
) -> Result<()> {
    this.check_no_internal_overlap()?;
    if !loops::has_elements(this) {
        return Ok(());
    }
    let generator = generator.unwrap_or_else(|| default_generator());
    let is_plain = this.dtype() == T::DTYPE && this.is_contiguous(MemoryFormat::Contiguous);
    let out = if is_plain { this.clone() } else { Tensor::empty(this.sizes(), T::DTYPE, this.device())? };
    let parts = Parts::<T>::of(&out, out.numel() as usize)?;
    // SAFETY: new memory, or that of a tensor that this operator writes to; `Tensor::empty` and its user have written it before.
    generator.with(|next| fill(unsafe { parts.get_mut(0) }, next));
    if is_plain { Ok(()) } else { loops::assign(this, &out) }
}

/// How many numbers are made of words at a time.
const BLOCK: usize = 256;

fn each<T, const W: usize>(out: &mut [T], next: &mut Source<'_>, number: impl Fn([u32; W]) -> T) {
    let mut words = [[0; W]; BLOCK];
    for out in out.chunks_mut(BLOCK) {
        next(words[..out.len()].as_flattened_mut());
        out.iter_mut().zip(words).for_each(|(out, words)| *out = number(words));
    }
}

/// 64 random bits: the first word drawn is the upper one.
#[inline(always)]
fn wide([upper, lower]: [u32; 2]) -> u64 {
    u64::from(upper) << 32 | u64::from(lower)
}

/// A number from 0 to 1 with all bits of a double.
///
/// PyTorch: `at::uniform_real_distribution`.
#[inline(always)]
fn double(words: [u32; 2]) -> f64 {
    (wide(words) & ((1 << 53) - 1)) as f64 / (1u64 << 53) as f64
}

/// A number from 0 to 1 with all bits of a float.
#[inline(always)]
fn single(word: u32) -> f32 {
    (word & ((1 << 24) - 1)) as i32 as f32 / (1 << 24) as f32
}

/// What is left when a word is divided by a number, which is not 0, by two multiplications (Lemire, Kaser and Kurz 2019).
fn remainder(divisor: u32) -> impl Fn(u32) -> u32 {
    let inverse = (u64::MAX / u64::from(divisor)).wrapping_add(1);
    move |word| {
        let fraction = inverse.wrapping_mul(word.into());
        ((u128::from(fraction) * u128::from(divisor)) >> 64) as u32
    }
}

/// Pairs by Box and Muller; of the last pair one may be left.
fn few_normal(count: usize, next: &mut Source<'_>, mean: f64, std: f64) -> Vec<f64> {
    let mut numbers = Vec::with_capacity(count + 1);
    while numbers.len() < count {
        let mut pair = [0.0; 2];
        each(&mut pair, next, double);
        let radius = (-2.0 * (-pair[1]).ln_1p()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * pair[0];
        numbers.extend([radius * angle.cos(), radius * angle.sin()].map(|x| x * std + mean));
    }
    numbers.truncate(count);
    numbers
}

/// Numbers around a mean. In blocks of sixteen: the first eight of even chance give the radius, the others the angle. The last
/// block is drawn anew and overlaps the one before.
///
/// PyTorch: `normal_fill`.
struct Bell<T> {
    mean: T,
    std: T,
}

impl<T: Float + Element + Functions + Circular> Bell<T> {
    fn fill<const W: usize>(&self, out: &mut [T], next: &mut Source<'_>, uniform: impl Fn([u32; W]) -> T) {
        let mut chances = [T::zero(); BLOCK];
        let (whole, last) = (out.len() - out.len() % 16, out.len() - 16);
        for out in out[..whole].chunks_mut(BLOCK) {
            each(&mut chances[..out.len()], next, &uniform);
            self.bend(&chances[..out.len()], out);
        }
        if whole < out.len() {
            each(&mut chances[..out.len() - whole], next, &uniform); // they count as drawn
            each(&mut chances[..16], next, &uniform);
            self.bend(&chances[..16], &mut out[last..]);
        }
    }

    fn bend(&self, chances: &[T], out: &mut [T]) {
        // SAFETY: `MaybeUninit<T>` lies in memory as `T` does, and the line writes all elements.
        let out =
            unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<MaybeUninit<T>>(), out.len()) };
        lines::run(self, chances, out);
    }
}

impl<T: Float + Element + Functions + Circular> Line<T, 0> for Bell<T> {
    #[inline(always)]
    fn line(&self, input: &[T], out: &mut [MaybeUninit<T>]) -> [T; 0] {
        let turn: T = (2.0 * std::f64::consts::PI).cast();
        for (from, to) in input.chunks_exact(16).zip(out.chunks_exact_mut(16)) {
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

#[cfg(test)]
mod tests {
    use super::remainder;

    #[test]
    fn remainders_are_those_of_division() {
        for divisor in [1, 2, 3, 7, 100, 65_537, (1 << 28) - 1, u32::MAX] {
            let rest = remainder(divisor);
            for word in [0, 1, 99, 100, 65_536, 1 << 31, u32::MAX - 1, u32::MAX] {
                assert_eq!(rest(word), word % divisor, "{word} % {divisor}");
            }
        }
    }
}
