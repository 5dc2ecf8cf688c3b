//! Comparison of two results.

use num_complex::Complex64;

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

/// Describes where two tensors differ, not counting strides.
pub(super) fn tensors(found: &Tensor, expected: &Tensor) -> Option<String> {
    if found.dtype() != expected.dtype() {
        return Some(format!("{} instead of {}", found.dtype(), expected.dtype()));
    }
    if found.sizes() != expected.sizes() {
        return Some(format!("sizes {:?} instead of {:?}", found.sizes(), expected.sizes()));
    }
    let (Some(left), Some(right)) = (values(found), values(expected)) else {
        return Some("values that cannot be read".to_owned());
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

/// All elements, widened. Integers beyond 2^53 are rounded.
pub(super) fn values(tensor: &Tensor) -> Option<Vec<Complex64>> {
    match_dtype!(tensor.dtype(), T => {
        let values = tensor.to_vec::<T>().ok()?;
        Some(values.into_iter().map(|value| value.cast::<Complex64>()).collect())
    })
}

/// The relative error that another order of summation may cause.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::Float64 | DType::Complex128 => 1e-10,
        DType::Float32 | DType::Complex64 => 1e-4,
        _ if dtype.is_floating_point() || dtype.is_complex() => 2e-2,
        _ => 0.0,
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
}
