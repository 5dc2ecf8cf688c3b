//! Gradients that are finite although parts of them overflow, and exact although parts of them cancel.

use torch_library::autograd::{self, GradOptions};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

fn of_type(numbers: &[f64], dtype: DType) -> Result<Tensor> {
    Tensor::from_slice(numbers, &[numbers.len() as i64])?.to_dtype(dtype)
}

fn halves(numbers: &[f64]) -> Result<Tensor> {
    of_type(numbers, DType::Float16)
}

fn singles(numbers: &[f64]) -> Result<Tensor> {
    of_type(numbers, DType::Float32)
}

/// The gradient of `x`, from that of a function of it; for a scalar, one number is enough.
fn back(x: &Tensor, grad: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    x.set_requires_grad(true)?;
    let y = f(x)?;
    let grad = grad.reshape(y.sizes())?;
    let grads = autograd::grad(&[&y], &[x], &[Some(grad)], GradOptions::new())?;
    Ok(grads.into_iter().flatten().next().expect("a gradient"))
}

/// The first and the second derivative of a function of each element.
fn slope_and_bend(x: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<[Tensor; 2]> {
    x.set_requires_grad(true)?;
    let of = |y: &Tensor| {
        let grads = autograd::grad(&[&y.sum()?], &[x], &[], GradOptions::new().create_graph(true))?;
        Ok::<_, Error>(grads.into_iter().flatten().next().expect("a gradient"))
    };
    let slope = of(&f(x)?)?;
    let bend = of(&slope)?;
    Ok([slope, bend])
}

/// Compares numbers up to the rounding of float32; NaN is NaN.
#[track_caller]
fn check(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_dtype(DType::Float64)?.contiguous()?.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| {
        found == want || (found.is_nan() && want.is_nan()) || (found - want).abs() <= 1e-6 * want.abs()
    };
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
    Ok(())
}

#[test]
fn small_gradients_of_running_sums_stay_beside_large_ones() -> Result<()> {
    let of = |grads: &[f64]| back(&singles(&[0.0; 3])?, &singles(grads)?, |x| aten::cumsum(x, 0));
    check(&of(&[1e8, 1.0, 1.0])?, &[1e8, 2.0, 1.0])?;
    check(&of(&[INFINITY, 1.0, 1.0])?, &[INFINITY, 2.0, 1.0])?;
    let number = Tensor::from(0.0);
    assert_eq!(back(&number, &Tensor::from(3.0), |x| aten::cumsum(x, 0))?.to_vec::<f64>()?, [3.0]);
    Ok(())
}
