//! Sequences of numbers in equal steps.

use torch_library::Element;
use torch_library::prelude::*;

use super::Options;
use crate::aten;

/// The numbers from `start` up to but not including `end`.
pub(crate) fn series(start: Scalar, end: Scalar, step: Scalar, mut options: Options) -> Result<Tensor> {
    let is_whole = [start, end, step].iter().all(|number| matches!(number, Scalar::Int(_) | Scalar::Bool(_)));
    let dtype = options.dtype.unwrap_or(if is_whole { DType::Int64 } else { DType::DEFAULT });
    options.dtype = Some(dtype);
    ensure!(
        dtype.is_integer() || dtype.is_floating_point(),
        DType,
        "{}: a sequence of {dtype}, expected an integer or floating-point type",
        aten::arange_start_step::NAME
    );
    match is_whole {
        true => whole_series(start.cast(), end.cast(), step.cast(), options),
        false => fractional_series(start, end, step, options),
    }
}

/// Like [`series`], with its end.
pub(crate) fn closed_series(start: Scalar, end: Scalar, step: Scalar, options: Options) -> Result<Tensor> {
    const OPERATOR: &str = aten::range_step::NAME;
    let dtype = options.dtype.unwrap_or(DType::DEFAULT);
    ensure!(
        dtype.is_integer() || dtype.is_floating_point(),
        DType,
        "{OPERATOR}: a sequence of {dtype}, expected an integer or floating-point type"
    );
    let options = Options { dtype: Some(dtype), ..options };
    if dtype.is_integer() {
        return closed_whole_series([start, end, step].map(|number| number.cast()), options);
    }
    let [start, end, step]: [f64; 3] = [start, end, step].map(|number| number.cast());
    let leads = (end - start) / step >= 0.0 || start == end;
    ensure!(
        leads && step != 0.0 && [start, end, step].iter().all(|number| number.is_finite()),
        Argument,
        "{OPERATOR}: steps of {step} do not lead from {start} to {end}"
    );
    let count = ((end - start) / step + 1.0) as i64;
    options.series(OPERATOR, count, |i| start + i as u64 as f64 * step)
}

/// An integer sequence with its end. A fractional argument counts without its fraction.
fn closed_whole_series([start, end, step]: [i64; 3], options: Options) -> Result<Tensor> {
    const OPERATOR: &str = aten::range_step::NAME;
    let distance = i128::from(end) - i128::from(start);
    let steps = distance.checked_div(step.into()).filter(|_| distance.signum() != -i128::from(step.signum()));
    let count = steps.and_then(|steps| i64::try_from(steps + 1).ok());
    let Some(count) = count else {
        bail!(Argument, "{OPERATOR}: steps of {step} do not lead from {start} to {end}")
    };
    options.series(OPERATOR, count, |i| start.wrapping_add(i.wrapping_mul(step)))
}

fn whole_series(start: i64, end: i64, step: i64, options: Options) -> Result<Tensor> {
    let distance = i128::from(end) - i128::from(start);
    let count = match step {
        0 => None,
        step if distance.signum() == -i128::from(step.signum()) => None, // in the wrong direction
        step => Some((distance + i128::from(step) - i128::from(step.signum())) / i128::from(step)),
    };
    let count = checked_count(count, start, end, step)?;
    options.series(aten::arange::NAME, count, |i| start.wrapping_add(i.wrapping_mul(step)))
}

fn fractional_series(first: Scalar, end: Scalar, step: Scalar, options: Options) -> Result<Tensor> {
    let wholes: [i64; 2] = [first, step].map(|number| number.cast());
    let [start, end, step]: [f64; 3] = [first, end, step].map(|number| number.cast());
    let steps = (end - start) / step;
    let leads = steps >= 0.0 && [start, end, step].iter().all(|number| number.is_finite()) && step != 0.0;
    let count = checked_count(leads.then_some(steps.ceil() as i128), start, end, step)?;
    // Integer sequences have integer steps, which `f64` would round beyond 2^53.
    if options.dtype.is_some_and(DType::is_integer) {
        let [start, step] = wholes;
        return options.series(aten::arange::NAME, count, |i| start.wrapping_add(i.wrapping_mul(step)));
    }
    // Through `u64`, as conversions from signed integers are not vectorised.
    options.series(aten::arange::NAME, count, |i| start + i as u64 as f64 * step)
}

/// The number of elements of a sequence.
fn checked_count<T: Element>(count: Option<i128>, start: T, end: T, step: T) -> Result<i64> {
    match count.map(i64::try_from) {
        Some(Ok(count)) if count >= 0 => Ok(count),
        _ => bail!(
            Argument,
            "{}: steps of {step:?} do not lead from {start:?} to {end:?}",
            aten::arange_start_step::NAME
        ),
    }
}
