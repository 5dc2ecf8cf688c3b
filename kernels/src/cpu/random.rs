//! Series, triangles and random numbers.
#![expect(unsafe_code, reason = "shares lines of tensors among threads")]

use std::ops::Range;

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

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
        draw(this, generator, |count, next| {
            (0..count).map(|_| uniform(this.dtype(), next) * (to - from) + from).collect()
        })?;
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
        let dtype = this.dtype();
        draw(this, generator, |count, next| {
            match count {
                0..16 => few_normal(count, next),
                _ if dtype == DType::Float64 => many_normal::<f64>(count, || uniform(dtype, next)),
                _ => many_normal::<f32>(count, || uniform(DType::Float32, next)),
            }
            .into_iter()
            .map(|x| x * std + mean)
            .collect()
        })?;
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
        let number = |next: &mut dyn FnMut() -> u32| {
            let drawn = if range >= 1 << 28 { wide(next) } else { next().into() };
            (i128::from(from) + i128::from(drawn) % range) as i64
        };
        draw(this, generator, |count, next| (0..count).map(|_| number(next)).collect())?;
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
        draw(this, generator, |count, next| {
            (0..count).map(|_| -(-uniform(DType::Float64, next)).ln_1p() / lambd).collect()
        })?;
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
        draw(&out, generator, |_, next| {
            let pick = |sums: &Vec<f64>, next: &mut dyn FnMut() -> u32| {
                let chance = uniform(DType::Float64, next);
                sums[..sums.len() - 1].partition_point(|sum| *sum < chance) as i64
            };
            rows.iter()
                .flat_map(|sums| (0..num_samples).map(|_| pick(sums, next)).collect::<Vec<_>>())
                .collect()
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
        draw(this, generator, |count, next| {
            (0..count).map(|_| i64::from(uniform(DType::Float64, next) < p)).collect()
        })?;
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

/// Fills a tensor, in logical order, with what a closure makes of random words.
fn draw<T: Element>(
    this: &Tensor,
    generator: Option<&Generator>,
    numbers: impl FnOnce(usize, &mut dyn FnMut() -> u32) -> Vec<T>,
) -> Result<()> {
    this.check_no_internal_overlap()?;
    if !loops::has_elements(this) {
        return Ok(());
    }
    let generator = generator.unwrap_or_else(|| default_generator());
    let numbers = generator.with(|next| numbers(this.numel() as usize, next));
    let numbers = Tensor::from_vec(numbers, this.sizes())?;
    match_dtype!(this.dtype(), O => loops::map(this, [&numbers], |[x]: [O; 1]| x))
}

/// 64 random bits: the first word drawn is the upper one.
fn wide(next: &mut dyn FnMut() -> u32) -> u64 {
    let upper = u64::from(next());
    upper << 32 | u64::from(next())
}

/// A number from 0 to 1: with all bits of a double, or those of a float.
///
/// PyTorch: `at::uniform_real_distribution`.
fn uniform(dtype: DType, next: &mut dyn FnMut() -> u32) -> f64 {
    match dtype {
        DType::Float64 => (wide(next) & ((1 << 53) - 1)) as f64 / (1u64 << 53) as f64,
        _ => f64::from(next() & ((1 << 24) - 1)) / f64::from(1 << 24),
    }
}

/// Pairs by Box and Muller; of the last pair one may be left.
fn few_normal(count: usize, next: &mut dyn FnMut() -> u32) -> Vec<f64> {
    let mut numbers = Vec::with_capacity(count + 1);
    while numbers.len() < count {
        let (angle, chance) = (uniform(DType::Float64, next), uniform(DType::Float64, next));
        let radius = (-2.0 * (-chance).ln_1p()).sqrt();
        let angle = 2.0 * std::f64::consts::PI * angle;
        numbers.extend([radius * angle.cos(), radius * angle.sin()]);
    }
    numbers.truncate(count);
    numbers
}

/// Blocks of sixteen: the first eight numbers give the radius, the others the angle. The last block is drawn anew and
/// overlaps the one before.
///
/// PyTorch: `normal_fill`.
fn many_normal<T: num_traits::Float + Element>(count: usize, mut next: impl FnMut() -> f64) -> Vec<f64> {
    let mut numbers: Vec<f64> = (0..count).map(|_| next()).collect();
    let last = count - 16;
    let starts = (0..count / 16).map(|block| block * 16).collect::<Vec<_>>();
    starts.into_iter().for_each(|start| pair_up::<T>(&mut numbers[start..start + 16]));
    if !count.is_multiple_of(16) {
        numbers[last..].iter_mut().for_each(|number| *number = next());
        pair_up::<T>(&mut numbers[last..]);
    }
    numbers
}

fn pair_up<T: num_traits::Float + Element>(block: &mut [f64]) {
    let (two, turn): (T, T) = (2.0.cast(), (2.0 * std::f64::consts::PI).cast());
    for i in 0..8 {
        let (chance, angle): (T, T) = ((1.0 - block[i]).cast(), block[i + 8].cast());
        let (radius, angle) = ((-two * chance.ln()).sqrt(), turn * angle);
        block[i] = (radius * angle.cos()).cast();
        block[i + 8] = (radius * angle.sin()).cast();
    }
}
