//! Compares tensors with those that PyTorch returned.

use serde_json::Value as Json;
use torch_library::element::Complex64;
use torch_library::{DType, Element, Tensor, fake, functionalize, match_dtype};

use crate::report::{Check, Unmet, equal};
use crate::rows::Row;
use crate::values;

/// Compares dtype, geometry and elements. `summands` is the number of terms that each element sums.
pub(crate) fn tensor(got: &Tensor, want: &Json, summands: usize) -> Check {
    equal("dtype", got.dtype().to_string().as_str(), want.text("dtype")?)?;
    let geometry = got.geometry();
    equal("sizes", Some(geometry.sizes().to_vec()), values::integers(want.field("sizes")?))?;
    if want.has("strides") {
        equal("strides", Some(geometry.strides().to_vec()), values::integers(want.field("strides")?))?;
    }
    if want.has("offset") {
        equal("offset", geometry.offset(), want.integer("offset")?)?;
    }
    elements(got, want.list("values")?, tolerance(got.dtype(), summands))
}

/// The tolerance for numbers around 1.
pub(crate) fn tolerance(dtype: DType, summands: usize) -> f64 {
    let root = (summands.max(1) as f64).sqrt();
    match dtype.to_real() {
        DType::Float64 => 1e-12,
        DType::Float32 => 2e-5 * root,
        DType::Float16 => 2e-3 * root,
        DType::BFloat16 => 2e-2 * root,
        _ => 0.0,
    }
}

/// Compares the elements in logical order.
pub(crate) fn elements(got: &Tensor, want: &[Json], tolerance: f64) -> Check {
    equal("number of elements", got.numel(), want.len() as i64)?;
    if fake::is_fake(got) {
        return Ok(());
    }
    let got = &functionalize::from_functional(got)?;
    match_dtype!(got.dtype(), T => {
        for (index, (got, want)) in got.to_vec::<T>()?.into_iter().zip(want).enumerate() {
            let want: T = values::number(want)?.cast();
            if !is_close(got, want, tolerance) {
                let (want, got) = (format!("{want:?}"), format!("{got:?}"));
                return Err(Unmet::failed(want, got).at(format!("element {index}")));
            }
        }
    });
    Ok(())
}

fn is_close<T: Element>(got: T, want: T, tolerance: f64) -> bool {
    let (a, b): (Complex64, Complex64) = (got.cast(), want.cast());
    if T::DTYPE.is_complex() && [a.re, a.im, b.re, b.im].iter().all(|part| part.is_finite()) {
        // Complex numbers are compared by absolute value: a part that nearly cancels has few significant digits.
        return (a - b).norm() <= tolerance * b.norm().max(1.0);
    }
    got == want || (is_part_close(a.re, b.re, tolerance) && is_part_close(a.im, b.im, tolerance))
}

fn is_part_close(got: f64, want: f64, tolerance: f64) -> bool {
    if got.is_finite() && want.is_finite() {
        (got - want).abs() <= tolerance * want.abs().max(1.0)
    } else {
        got == want || (got.is_nan() && want.is_nan())
    }
}
