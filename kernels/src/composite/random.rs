//! Series and random numbers in new tensors.

use torch_library::Element;
use torch_library::prelude::*;

use super::{collected, unseen};
use crate::aten;
use crate::random::default_generator;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod series {
    use super::*;

    fn arange(
        end: Scalar,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        aten::arange_start_step::call(0.into(), end, 1.into(), dtype, layout, device, pin_memory)
    }

    fn arange_start(
        start: Scalar,
        end: Scalar,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        aten::arange_start_step::call(start, end, 1.into(), dtype, layout, device, pin_memory)
    }

    fn arange_start_step(
        start: Scalar,
        end: Scalar,
        step: Scalar,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let is_whole =
            [start, end, step].iter().all(|number| matches!(number, Scalar::Int(_) | Scalar::Bool(_)));
        let dtype = dtype.unwrap_or(if is_whole { DType::Int64 } else { DType::DEFAULT });
        let numbers = match is_whole {
            true => whole_series(start.cast(), end.cast(), step.cast())?,
            false => fractional_series(start.cast(), end.cast(), step.cast())?,
        };
        let mut out =
            aten::empty_memory_format::call(numbers.sizes(), Some(dtype), layout, device, pin_memory, None)?;
        unseen(|| aten::copy_(&mut out, &numbers).map(drop))?;
        Ok(out)
    }

    fn linspace(
        start: Scalar,
        end: Scalar,
        steps: i64,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        ensure!(steps >= 0, Argument, "aten::linspace: {steps} numbers are less than none");
        let is_whole = dtype.is_some_and(|dtype| !dtype.is_floating_point() && !dtype.is_complex());
        let [start, end] =
            [start.to::<f64>()?, end.to::<f64>()?].map(|x| if is_whole { x.trunc() } else { x });
        let step = (end - start) / (steps - 1).max(1) as f64;
        // From the nearer end, so that both are met exactly.
        let number = |i: i64| match i < steps / 2 || steps == 1 {
            true => start + step * i as f64,
            false => end - step * (steps - 1 - i) as f64,
        };
        let numbers = Tensor::from_vec(collected("linspace", steps, number)?, &[steps])?;
        let mut out = aten::empty_memory_format::call(&[steps], dtype, layout, device, pin_memory, None)?;
        unseen(|| aten::copy_(&mut out, &numbers).map(drop))?;
        Ok(out)
    }

    fn eye(
        n: i64,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        aten::eye_m::call(n, n, dtype, layout, device, pin_memory)
    }

    fn eye_m(
        n: i64,
        m: i64,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let out = aten::zeros::call(&[n, m], dtype, layout, device, pin_memory)?;
        unseen(|| aten::fill__Scalar(&mut aten::diagonal(&out)?, 1.into()).map(drop))?;
        Ok(out)
    }
}

fn whole_series(start: i64, end: i64, step: i64) -> Result<Tensor> {
    let distance = i128::from(end) - i128::from(start);
    let count = match step {
        0 => None,
        step => Some((distance + i128::from(step) - i128::from(step.signum())) / i128::from(step)),
    };
    let count = checked_count(count, start, end, step)?;
    Tensor::from_vec(collected("arange", count, |i| start + i * step)?, &[count])
}

fn fractional_series(start: f64, end: f64, step: f64) -> Result<Tensor> {
    let count = ((end - start) / step).ceil();
    let count = checked_count(count.is_finite().then_some(count as i128), start, end, step)?;
    Tensor::from_vec(collected("arange", count, |i| start + i as f64 * step)?, &[count])
}

/// How many numbers a series has.
fn checked_count<T: Element>(count: Option<i128>, start: T, end: T, step: T) -> Result<i64> {
    match count.map(i64::try_from) {
        Some(Ok(count)) if count >= 0 => Ok(count),
        _ => bail!(
            Argument,
            "aten::arange.start_step: steps of {step:?} do not lead from {start:?} to {end:?}"
        ),
    }
}

#[torch_impl(aten, CompositeExplicitAutograd)]
mod random {
    use super::*;

    fn rand(
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        aten::rand_generator::call(size, None, dtype, layout, device, pin_memory)
    }

    fn rand_generator(
        size: &[i64],
        generator: Option<&Generator>,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let mut out = aten::empty_memory_format::call(size, dtype, layout, device, pin_memory, None)?;
        unseen(|| aten::uniform_::with(&mut out).generator(generator).call().map(drop))?;
        Ok(out)
    }

    fn randn(
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        aten::randn_generator::call(size, None, dtype, layout, device, pin_memory)
    }

    fn randn_generator(
        size: &[i64],
        generator: Option<&Generator>,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let mut out = aten::empty_memory_format::call(size, dtype, layout, device, pin_memory, None)?;
        unseen(|| aten::normal_::with(&mut out).generator(generator).call().map(drop))?;
        Ok(out)
    }

    fn randint(
        high: i64,
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        aten::randint_low::call(0, high, size, dtype, layout, device, pin_memory)
    }

    fn randint_low(
        low: i64,
        high: i64,
        size: &[i64],
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        let mut out = aten::empty_memory_format::call(size, dtype, layout, device, pin_memory, None)?;
        unseen(|| aten::random__from(&mut out, low, Some(high)).map(drop))?;
        Ok(out)
    }

    fn randperm(
        n: i64,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        aten::randperm_generator::call(n, None, dtype, layout, device, pin_memory)
    }

    fn randperm_generator(
        n: i64,
        generator: Option<&Generator>,
        dtype: Option<DType>,
        layout: Option<Layout>,
        device: Option<Device>,
        pin_memory: Option<bool>,
    ) -> Result<Tensor> {
        ensure!(n >= 0, Argument, "aten::randperm: {n} numbers are less than none");
        let mut numbers = collected("randperm", n, |i| i)?;
        generator.unwrap_or_else(|| default_generator()).with(|next| {
            for i in 0..numbers.len().saturating_sub(1) {
                numbers.swap(i, i + next() as usize % (n as usize - i));
            }
        });
        let numbers = Tensor::from_vec(numbers, &[n])?;
        let mut out = aten::empty_memory_format::call(&[n], dtype, layout, device, pin_memory, None)?;
        unseen(|| aten::copy_(&mut out, &numbers).map(drop))?;
        Ok(out)
    }

    fn bernoulli(this: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        let mut chance = aten::empty_like(this)?;
        unseen(|| aten::uniform_::with(&mut chance).generator(generator).call().map(drop))?;
        aten::to_dtype(&aten::lt_Tensor(&chance, this)?, this.dtype())
    }
}
