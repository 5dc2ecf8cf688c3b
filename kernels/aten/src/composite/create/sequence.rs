//! Sequences of numbers, identity matrices, and the indices of triangles.

use torch_library::element::Complex64;
use torch_library::match_dtype;
use torch_library::prelude::*;

use super::series::{closed_series, series};
use super::triangle::Triangle;
use super::{Options, creating};
use crate::aten;
use crate::below_autograd::below_autograd;
use crate::composite::collected;
use crate::functions::Functions;
use crate::loops;

creating! { CompositeExplicitAutograd, creation;
    arange(end: Scalar), options => series(0.into(), end, 1.into(), options);
    arange_start(start: Scalar, end: Scalar), options => series(start, end, 1.into(), options);
    arange_start_step(start: Scalar, end: Scalar, step: Scalar), options => series(start, end, step, options);
    range(start: Scalar, end: Scalar), options => closed_series(start, end, 1.into(), options);
    range_step(start: Scalar, end: Scalar, step: Scalar), options => closed_series(start, end, step, options);
    linspace(start: Scalar, end: Scalar, steps: i64), options => evenly_spaced(start, end, steps, options);
    eye(n: i64), options => identity(n, n, options);
    eye_m(n: i64, m: i64), options => identity(n, m, options);
    logspace(start: Scalar, end: Scalar, steps: i64, base: f64), options => powers(start, end, steps, base, options);
    linspace_Tensor_Tensor(start: &Tensor, end: &Tensor, steps: i64), options =>
        evenly_spaced(
            the_end(aten::linspace_Tensor_Tensor::NAME, start, options)?,
            the_end(aten::linspace_Tensor_Tensor::NAME, end, options)?,
            steps,
            options,
        );
    linspace_Tensor_Scalar(start: &Tensor, end: Scalar, steps: i64), options =>
        evenly_spaced(the_end(aten::linspace_Tensor_Scalar::NAME, start, options)?, end, steps, options);
    linspace_Scalar_Tensor(start: Scalar, end: &Tensor, steps: i64), options =>
        evenly_spaced(start, the_end(aten::linspace_Scalar_Tensor::NAME, end, options)?, steps, options);
    logspace_Tensor_Tensor(start: &Tensor, end: &Tensor, steps: i64, base: f64), options =>
        powers(
            the_end(aten::logspace_Tensor_Tensor::NAME, start, options)?,
            the_end(aten::logspace_Tensor_Tensor::NAME, end, options)?,
            steps,
            base,
            options,
        );
    logspace_Tensor_Scalar(start: &Tensor, end: Scalar, steps: i64, base: f64), options =>
        powers(the_end(aten::logspace_Tensor_Scalar::NAME, start, options)?, end, steps, base, options);
    logspace_Scalar_Tensor(start: Scalar, end: &Tensor, steps: i64, base: f64), options =>
        powers(start, the_end(aten::logspace_Scalar_Tensor::NAME, end, options)?, steps, base, options);
    tril_indices(row: i64, col: i64, offset: i64), options =>
        triangle(aten::tril_indices::NAME, [row, col], offset, true, options);
    triu_indices(row: i64, col: i64, offset: i64), options =>
        triangle(aten::triu_indices::NAME, [row, col], offset, false, options);
    scalar_tensor(s: Scalar), options => options.filled(&[], |out| aten::fill__Scalar(out, s).map(drop));
}

/// The start or end of a sequence, from a tensor without dimensions.
fn the_end(operator: &str, end: &Tensor, options: Options) -> Result<Scalar> {
    ensure!(
        end.dim() == 0,
        Shape,
        "{operator}: an end of sizes {:?}, expected a tensor without dimensions",
        end.sizes()
    );
    if end.device() == Device::META && options.device == Some(Device::META) {
        return Ok(if end.dtype().is_complex() { Complex64::default().into() } else { 0.into() });
    }
    end.item().map_err(|error| error.context(operator))
}

pub(crate) fn evenly_spaced(start: Scalar, end: Scalar, steps: i64, options: Options) -> Result<Tensor> {
    if let Some((options, number)) = spaced_complex(aten::linspace::NAME, start, end, steps, options)? {
        return options.series(aten::linspace::NAME, steps, number);
    }
    let number = spaced(aten::linspace::NAME, start, end, steps, options)?;
    match start {
        // A single number is the start itself, which `f64` would round beyond 2^53.
        Scalar::Int(start) if steps == 1 => options.series(aten::linspace::NAME, steps, |_| start),
        _ => options.series(aten::linspace::NAME, steps, number),
    }
}

fn powers(start: Scalar, end: Scalar, steps: i64, base: f64, options: Options) -> Result<Tensor> {
    if let Some((options, exponent)) = spaced_complex(aten::logspace::NAME, start, end, steps, options)? {
        return options.series(aten::logspace::NAME, steps, |i| Complex64::from(base).powc(exponent(i)));
    }
    let exponent = spaced(aten::logspace::NAME, start, end, steps, options)?;
    if steps == 1 {
        let start: f64 = start.to()?; // not rounded to an integer, as the exponents of several numbers are
        return options.series(aten::logspace::NAME, steps, |_| base.powf(start));
    }
    let narrow = [DType::Float32, DType::Float16, DType::BFloat16];
    if narrow.contains(&options.dtype.unwrap_or(DType::DEFAULT)) && base > 0.0 && base.is_finite() {
        // In `f64`, which is precise enough for these types.
        let logarithm = base.ln();
        return options.series(aten::logspace::NAME, steps, |i| (exponent(i) * logarithm).exponential());
    }
    options.series(aten::logspace::NAME, steps, |i| base.powf(exponent(i)))
}

/// Whether a number lies in the range of a dtype; always true for complex ones and for floats of eight bits.
pub(crate) fn is_in_range(dtype: DType, number: f64) -> bool {
    let (least, largest) = match dtype {
        DType::UInt8 => (0.0, f64::from(u8::MAX)),
        DType::Int8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        DType::Int16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        DType::Int32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        DType::Int64 => (i64::MIN as f64, i64::MAX as f64),
        DType::Float16 | DType::BFloat16 | DType::Float32 => {
            return match_dtype!(dtype, T => Scalar::Float(number).to::<T>().is_ok());
        }
        _ => return true,
    };
    (least..=largest).contains(&number)
}

/// The numbers of an evenly spaced sequence, by index, if one of its ends is complex, and the options with the dtype of
/// the sequence.
fn spaced_complex(
    operator: &str,
    start: Scalar,
    end: Scalar,
    steps: i64,
    options: Options,
) -> Result<Option<(Options, impl Fn(i64) -> Complex64 + Sync)>> {
    if ![start, end].iter().any(|end| matches!(end, Scalar::Complex(_))) {
        return Ok(None);
    }
    let dtype = options.dtype.unwrap_or(DType::Complex64);
    ensure!(
        dtype.is_complex(),
        DType,
        "{operator}: numbers from {start} to {end} cannot be of {dtype}, expected a complex type"
    );
    let options = Options { dtype: Some(dtype), ..options };
    let ends = [start.to::<Complex64>()?, end.to::<Complex64>()?];
    let part = |part: fn(Complex64) -> f64| {
        let [start, end] = ends.map(|end| Scalar::Float(part(end)));
        spaced(operator, start, end, steps, options)
    };
    let (re, im) = (part(|end| end.re)?, part(|end| end.im)?);
    Ok(Some((options, move |i| Complex64::new(re(i), im(i)))))
}

/// The numbers of an evenly spaced sequence between real ends, by index.
fn spaced(
    operator: &str,
    start: Scalar,
    end: Scalar,
    steps: i64,
    options: Options,
) -> Result<impl Fn(i64) -> f64 + Sync> {
    ensure!(steps >= 0, Argument, "{operator}: steps is {steps}, expected zero or more");
    ensure!(
        options.dtype != Some(DType::Bool) || steps == 0,
        DType,
        "{operator}: bool is not supported, expected numbers"
    );
    let is_whole = options.dtype.is_some_and(|dtype| !dtype.is_floating_point() && !dtype.is_complex());
    // As everywhere in PyTorch, a negative integer stands for the `uint8` with its last eight bits.
    let wrapped = |end: Scalar| match (options.dtype, end) {
        (Some(DType::UInt8), Scalar::Int(number @ -255..0)) => Scalar::Int(number & 255),
        _ => end,
    };
    let ends = [wrapped(start).to::<f64>()?, wrapped(end).to::<f64>()?];
    let dtype = options.dtype.unwrap_or(DType::DEFAULT);
    if steps > 0
        && let Some(end) = ends.iter().find(|end| !is_in_range(dtype, **end))
    {
        bail!(Argument, "{operator}: {end} is out of range for {dtype}");
    }
    let [start, end] = ends.map(|x| if is_whole { x.trunc() } else { x });
    let step = if steps == 1 { 0.0 } else { (end - start) / (steps - 1) as f64 };
    // From the nearer end, so that both ends are exact. Both numbers are computed, as vectors select among numbers
    // faster than among the places where the ends are.
    Ok(move |i: i64| {
        let from_start = start + step * i as u64 as f64;
        let from_end = end - step * (steps - 1 - i) as u64 as f64;
        if i < steps / 2 || steps == 1 { from_start } else { from_end }
    })
}

/// The indices of the lower or upper triangle of a matrix: row indices, then column indices.
fn triangle(
    operator: &str,
    sizes: [i64; 2],
    offset: i64,
    is_lower: bool,
    options: Options,
) -> Result<Tensor> {
    let triangle = Triangle::new(operator, sizes, offset, is_lower, options.dtype)?;
    let options = Options { dtype: Some(triangle.dtype), ..options };
    options.filled(&[2, triangle.count], |out| {
        if loops::has_elements(out) {
            let mut places = collected(operator, 2 * triangle.count, |_| 0)?;
            triangle.write(&mut places, |place| place);
            aten::copy_(out, &Tensor::from_vec(places, &[2, triangle.count])?)?;
        }
        Ok(())
    })
}

fn identity(n: i64, m: i64, options: Options) -> Result<Tensor> {
    let Options { dtype, layout, device, pin_memory, .. } = options;
    let out = aten::zeros::call(&[n, m], dtype, layout, device, pin_memory)?;
    below_autograd(|| aten::fill__Scalar(&mut aten::diagonal(&out)?, 1.into()).map(drop))?;
    Ok(out)
}
