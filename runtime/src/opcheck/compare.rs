//! Comparison of two results.

use num_complex::Complex64;

use super::arguments::TensorArgument;
use crate::dtype::{DType, Element};
use crate::match_dtype;
use crate::tensor::Tensor;
use crate::value::Value;

/// Describes where two lists of returns differ.
pub(super) fn difference(found: &[Value<'_>], expected: &[Value<'_>]) -> Option<String> {
    if found.len() != expected.len() {
        return Some(format!("{} returns instead of {}", found.len(), expected.len()));
    }
    let pairs = found.iter().zip(expected).enumerate();
    pairs.into_iter().find_map(|(index, (found, expected))| {
        let what = match (found.tensors(), expected.tensors()) {
            ([], []) => {
                let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
                (found != expected).then(|| format!("{found} instead of {expected}"))
            }
            (found, expected) if found.len() != expected.len() => {
                Some(format!("{} tensors instead of {}", found.len(), expected.len()))
            }
            (found, expected) => {
                found.iter().zip(expected).find_map(|(found, expected)| tensors(found, expected))
            }
        };
        what.map(|what| format!("return {index}: {what}"))
    })
}

/// Describes where arguments differ after two calls.
pub(super) fn after_call(found: &[TensorArgument], expected: &[TensorArgument]) -> Option<String> {
    found.iter().zip(expected).find_map(|(found, expected)| {
        let what = tensors(&found.tensor, &expected.tensor)?;
        Some(format!("`{}` after the call: {what}", found.name))
    })
}

/// Describes where two tensors differ, not counting strides.
pub(super) fn tensors(found: &Tensor, expected: &Tensor) -> Option<String> {
    if found.dtype() != expected.dtype() {
        return Some(format!("{} instead of {}", found.dtype(), expected.dtype()));
    }
    if found.sizes() != expected.sizes() {
        return Some(format!("sizes {:?} instead of {:?}", found.sizes(), expected.sizes()));
    }
    if !is_rounded(found.dtype()) {
        return exactly(found, expected);
    }
    let (Some(left), Some(right)) = (values(found), values(expected)) else {
        return Some(UNREADABLE.to_owned());
    };
    let tolerance = tolerance(found.dtype());
    let differ = |(left, right): &(&Complex64, &Complex64)| {
        let close = |a: f64, b: f64| match a.is_finite() && b.is_finite() {
            true => (a - b).abs() <= tolerance * b.abs().max(1.0),
            false => a == b || (a.is_nan() && b.is_nan()), // a relative tolerance of infinity would accept anything
        };
        !close(left.re, right.re) || !close(left.im, right.im)
    };
    let at = left.iter().zip(&right).position(|pair| differ(&pair))?;
    let show = |value: Complex64| match found.dtype().is_complex() {
        true => value.to_string(),
        false => value.re.to_string(),
    };
    Some(format!("element {at} is {} instead of {}", show(left[at]), show(right[at])))
}

/// Whether two tensors of the same sizes have the same strides, where a stride leads to another element.
pub(super) fn has_same_strides(left: &Tensor, right: &Tensor) -> bool {
    let strides = left.strides().iter().zip(right.strides());
    left.numel() == 0 || strides.zip(left.sizes()).all(|((left, right), size)| *size == 1 || left == right)
}

const UNREADABLE: &str = "values that cannot be read";

/// Whether the order of a computation may change its result.
fn is_rounded(dtype: DType) -> bool {
    dtype.is_floating_point() || dtype.is_complex()
}

/// Describes where two tensors of integers differ. In double precision, 2^53 and 2^53 + 1 would be the same number.
fn exactly(found: &Tensor, expected: &Tensor) -> Option<String> {
    match_dtype!(found.dtype(), T => {
        let (Ok(left), Ok(right)) = (found.to_vec::<T>(), expected.to_vec::<T>()) else {
            return Some(UNREADABLE.to_owned());
        };
        let at = left.iter().zip(&right).position(|(left, right)| left != right)?;
        Some(format!("element {at} is {:?} instead of {:?}", left[at], right[at]))
    })
}

/// All elements, widened; integers beyond 2^53 are rounded.
fn values(tensor: &Tensor) -> Option<Vec<Complex64>> {
    match_dtype!(tensor.dtype(), T => {
        let values = tensor.to_vec::<T>().ok()?;
        Some(values.into_iter().map(|value| value.cast::<Complex64>()).collect())
    })
}

/// All elements, bit by bit, so that NaN equals NaN.
pub(super) fn bits(tensor: &Tensor) -> Option<Vec<(u64, u64)>> {
    if is_rounded(tensor.dtype()) {
        return Some(values(tensor)?.iter().map(|value| (value.re.to_bits(), value.im.to_bits())).collect());
    }
    match_dtype!(tensor.dtype(), T => {
        let values = tensor.to_vec::<T>().ok()?;
        Some(values.into_iter().map(|value| (value.cast::<i64>().cast_unsigned(), 0)).collect())
    })
}

/// The relative error that another order of summation may cause.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::Float64 | DType::Complex128 => 1e-10,
        DType::Float32 | DType::Complex64 => 1e-4,
        _ => 2e-2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_are_near_themselves_alone() {
        let special = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.0, 1e300];
        for (i, a) in special.into_iter().enumerate() {
            for (j, b) in special.into_iter().enumerate() {
                let difference = tensors(&Tensor::from([a]), &Tensor::from([b]));
                assert_eq!(difference.is_none(), i == j, "{a} and {b}: {difference:?}");
            }
        }
        assert_eq!(tensors(&Tensor::from([1.0 + 1e-11]), &Tensor::from([1.0])), None);
    }

    #[test]
    fn integers_that_are_one_double_differ() {
        let (even, odd) = (Tensor::from([1i64 << 53]), Tensor::from([(1i64 << 53) + 1]));
        let difference = "element 0 is 9007199254740993 instead of 9007199254740992";
        assert_eq!(tensors(&odd, &even).as_deref(), Some(difference));
        assert_eq!(tensors(&odd, &odd), None);
        assert_ne!(bits(&odd), bits(&even));
        assert_ne!(bits(&Tensor::from([u64::MAX])), bits(&Tensor::from([u64::MAX - 1])));
    }
}
