//! Kernels of `clamp`.

use torch_library::prelude::*;
use torch_library::{Operand, match_dtype, result_type};

use crate::aten;
use crate::loops::match_opmath;
use crate::loops::pointwise::Pointwise;
use crate::number::Number;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn clamp(output: Output<'_>, this: &Tensor, min: Option<Scalar>, max: Option<Scalar>) -> Result<Tensor> {
        by_numbers(output, this, min, max)
    }

    fn clamp_min(output: Output<'_>, this: &Tensor, min: Scalar) -> Result<Tensor> {
        by_numbers(output, this, Some(min), None)
    }

    fn clamp_max(output: Output<'_>, this: &Tensor, max: Scalar) -> Result<Tensor> {
        by_numbers(output, this, None, Some(max))
    }

    fn clamp_min_Tensor(output: Output<'_>, this: &Tensor, min: &Tensor) -> Result<Tensor> {
        from_below(output, this, min)
    }

    fn clamp_max_Tensor(output: Output<'_>, this: &Tensor, max: &Tensor) -> Result<Tensor> {
        from_above(output, this, max)
    }

    fn clamp_Tensor(
        output: Output<'_>,
        this: &Tensor,
        min: Option<&Tensor>,
        max: Option<&Tensor>,
    ) -> Result<Tensor> {
        let operator = output.operator();
        match (min, max) {
            (None, None) => Err(no_bound(operator)),
            (Some(min), None) => from_below(output, this, min),
            (None, Some(max)) => from_above(output, this, max),
            (Some(min), Some(max)) => {
                let call = Pointwise::promoting(output, [this, min, max])?;
                match_opmath!(call.dtype, T: Integer | Unsigned | Float => {
                    call.compute(None, call.dtype, |[x, min, max]: [T; 3]| lowered(raised(x, min), max))
                }, else => Err(call.unsupported()))
            }
        }
    }
}

fn from_below(output: Output<'_>, this: &Tensor, min: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting(output, [this, min])?;
    match_opmath!(call.dtype, T: Bool | Integer | Unsigned | Float => {
        call.compute(None, call.dtype, |[x, min]: [T; 2]| raised(x, min))
    }, else => Err(call.unsupported()))
}

fn from_above(output: Output<'_>, this: &Tensor, max: &Tensor) -> Result<Tensor> {
    let call = Pointwise::promoting(output, [this, max])?;
    match_opmath!(call.dtype, T: Bool | Integer | Unsigned | Float => {
        call.compute(None, call.dtype, |[x, max]: [T; 2]| lowered(x, max))
    }, else => Err(call.unsupported()))
}

/// Clamps by scalars, which count in type promotion only by their kind, like other scalar operands.
fn by_numbers(output: Output<'_>, this: &Tensor, min: Option<Scalar>, max: Option<Scalar>) -> Result<Tensor> {
    let operator = output.operator();
    let bounds = [min, max].into_iter().flatten().map(|bound| Operand::Number(bound.dtype()));
    let dtype = result_type([this.promotion_operand()].into_iter().chain(bounds));
    let dtype = dtype.map_err(|error| error.context(operator))?;
    if min.is_none() && max.is_none() {
        return Err(no_bound(operator));
    }
    ensure!(
        !output.is_in_place() || dtype == this.dtype(),
        DType,
        "{operator}: a result of {dtype} cannot be written to a tensor of {}",
        this.dtype()
    );
    let call = Pointwise::with_dtype(output, [this], dtype)?.exactly();
    let (min, max) = (binding(operator, min, dtype, Bound::Min)?, binding(operator, max, dtype, Bound::Max)?);
    match_opmath!(dtype, T: Integer | Unsigned | Float => {
        between::<T>(&call, min.map(Scalar::cast), max.map(Scalar::cast))
    }, else => Err(call.unsupported()))
}

/// Clamps by bounds of the opmath type.
pub(crate) fn between<T: Number + PartialOrd>(
    call: &Pointwise<'_, 1>,
    min: Option<T>,
    max: Option<T>,
) -> Result<Tensor> {
    // NaN is checked once, not for each element.
    if let Some(unordered) = [min, max].into_iter().flatten().find(|bound| bound.is_unordered()) {
        return call.compute(None, call.dtype, move |[_]: [T; 1]| unordered);
    }
    let raised = |x: T, min: T| if x < min { min } else { x };
    let lowered = |x: T, max: T| if x > max { max } else { x };
    match (min, max) {
        (Some(min), Some(max)) => {
            call.compute(None, call.dtype, move |[x]: [T; 1]| lowered(raised(x, min), max))
        }
        (Some(min), None) => call.compute(None, call.dtype, move |[x]: [T; 1]| raised(x, min)),
        (None, Some(max)) => call.compute(None, call.dtype, move |[x]: [T; 1]| lowered(x, max)),
        (None, None) => call.compute(None, call.dtype, |[x]: [T; 1]| x),
    }
}

/// The end that a number bounds.
#[derive(Clone, Copy, PartialEq)]
enum Bound {
    Min,
    Max,
}

/// The bound, or `None` if every number of the dtype satisfies it.
///
/// # Errors
/// A bound that no number of the dtype satisfies.
fn binding(operator: &str, bound: Option<Scalar>, dtype: DType, end: Bound) -> Result<Option<Scalar>> {
    let Some(bound) = bound else { return Ok(None) };
    let of_type = || {
        match_dtype!(dtype, T => bound.to::<T>().map(|_| Some(bound)))
            .map_err(|error| error.context(operator))
    };
    let Scalar::Int(number) = bound else { return of_type() };
    match_dtype!(dtype, T: Integer | Unsigned => {
        let beyond = match i128::from(number) {
            number if number < T::MIN as i128 => Bound::Min,
            number if number > T::MAX as i128 => Bound::Max,
            _ => return Ok(Some(bound)),
        };
        ensure!(beyond == end, Argument, "{operator}: no number of {dtype} is within the bound {number}");
        Ok(None)
    }, else => of_type())
}

#[cold]
fn no_bound(operator: &str) -> Error {
    Error::new(
        ErrorKind::Argument,
        format!("{operator}: neither min nor max is given, at least one is needed"),
    )
}

/// The larger number; NaN if either is NaN.
#[inline(always)]
pub(crate) fn raised<T: Number + PartialOrd>(x: T, min: T) -> T {
    if x < min || min.is_unordered() { min } else { x }
}

/// The smaller number; NaN if either is NaN.
#[inline(always)]
pub(crate) fn lowered<T: Number + PartialOrd>(x: T, max: T) -> T {
    if x > max || max.is_unordered() { max } else { x }
}
