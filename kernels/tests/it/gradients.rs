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

#[test]
fn exponential_units_are_straight_where_the_exponential_overflows() -> Result<()> {
    let input = || singles(&[100.0, 1000.0, -1.0]);
    let [slope, bend] = slope_and_bend(&input()?, aten::elu)?;
    check(&slope, &[1.0, 1.0, 0.36787944])?;
    check(&bend, &[0.0, 0.0, 0.36787944])?;
    let [slope, bend] = slope_and_bend(&input()?, |x| aten::celu::with(x).alpha(2.0).call())?;
    check(&slope, &[1.0, 1.0, 0.60653066])?;
    check(&bend, &[0.0, 0.0, 0.30326533])?;
    let [slope, bend] = slope_and_bend(&input()?, aten::selu)?;
    check(&slope, &[1.05070099, 1.05070099, 0.64676860])?;
    check(&bend, &[0.0, 0.0, 0.64676860])
}

#[test]
fn gradients_of_short_halves_do_not_overflow() -> Result<()> {
    let length = |x: &Tensor| aten::linalg_vector_norm(x);
    check(&back(&halves(&[1e-6])?, &halves(&[1.0])?, length)?, &[1.0])?;
    check(&back(&halves(&[0.006, 0.008])?, &halves(&[1000.0])?, length)?, &[600.0, 800.5])?;
    check(&back(&halves(&[0.0, 0.0])?, &halves(&[1000.0])?, length)?, &[0.0, 0.0])
}

#[test]
fn gradients_of_mean_squares_do_not_overflow_in_halves() -> Result<()> {
    let (x, zeros) = (halves(&[200.0; 1000])?, halves(&[0.0; 1000])?);
    let of_x = back(&x, &halves(&[1000.0])?, |x| aten::mse_loss(x, &zeros))?;
    check(&of_x, &[400.0; 1000])?;
    let of_target = back(&x, &halves(&[1000.0])?, |x| aten::mse_loss(&zeros, x))?;
    check(&of_target, &[400.0; 1000])?;
    let [slope, bend] = slope_and_bend(&singles(&[1.0, 3.0])?, |x| aten::mse_loss(x, &singles(&[0.0; 2])?))?;
    check(&slope, &[1.0, 3.0])?;
    check(&bend, &[1.0, 1.0])
}

#[test]
fn little_of_the_start_is_not_nothing() -> Result<()> {
    let bf16 = |numbers: &[f64]| of_type(numbers, DType::BFloat16);
    let grad = back(&bf16(&[1.0])?, &bf16(&[1.0])?, |x| aten::lerp_Scalar(x, &bf16(&[0.0])?, 0.999.into()))?;
    assert_eq!(grad.to_dtype(DType::Float64)?.to_vec::<f64>()?, [0.00099945068359375]);
    let one = || Tensor::from([Complex64::new(1.0, 0.0)]);
    let weight = Scalar::from(Complex64::new(0.5, 0.25));
    let grad = back(&one(), &one(), |x| aten::lerp_Scalar(x, &one(), weight))?;
    assert_eq!(grad.to_vec::<Complex64>()?, [Complex64::new(0.5, 0.25)]);
    Ok(())
}

/// The numbers are PyTorch's, which tells the two cases apart.
#[test]
fn variances_without_degrees_of_freedom_have_no_finite_gradient() -> Result<()> {
    let ones = singles(&[1.0])?;
    for correction in [3, 5] {
        let correction = Some(Scalar::from(correction));
        let input = || singles(&[1.0, 2.0, 3.0]);
        let of_all = |x: &Tensor| aten::var_correction::with(x).correction(correction).call();
        check(&back(&input()?, &ones, of_all)?, &[INFINITY, NAN, INFINITY])?;
        let beside_mean =
            |x: &Tensor| Ok(aten::var_mean_correction::with(x).correction(correction).call()?.0);
        check(&back(&input()?, &ones, beside_mean)?, &[INFINITY, NAN, INFINITY])?;
        let root = |x: &Tensor| aten::std_correction::with(x).correction(correction).call();
        check(&back(&input()?, &ones, root)?, &[NAN; 3])?;
    }
    let along = |x: &Tensor| aten::var_correction::with(x).dim(Some(&[0])).correction(Some(5.into())).call();
    check(&back(&singles(&[1.0, 2.0, 3.0])?, &ones, along)?, &[1.0, 0.0, -1.0])
}

#[test]
fn a_short_vector_turns_as_a_long_one_does() -> Result<()> {
    let other = singles(&[1.0, 0.0])?;
    let cosine = |x: &Tensor| aten::cosine_similarity::with(x, &other).dim(0).eps(1e-8).call();
    check(&back(&singles(&[1e-9, 0.0])?, &singles(&[1.0])?, cosine)?, &[9e7, 0.0])?;
    check(&cosine(&singles(&[1e-9, 0.0])?)?, &[0.1])?;
    check(&cosine(&singles(&[INFINITY, 0.0])?.add(&singles(&[0.0, 1.0])?)?)?, &[NAN])
}

#[test]
fn zero_to_a_complex_power_is_flat_only_for_real_exponents() -> Result<()> {
    let exponents = [(1.0, 1.0), (-1.0, 0.0), (2.0, 0.0)].map(|(re, im)| Complex64::new(re, im));
    let (exponents, zero) = (Tensor::from(exponents), Tensor::from([Complex64::default(); 3]));
    let grad = back(&exponents, &aten::ones_like(&zero)?, |x| aten::pow_Tensor_Tensor(&zero, x))?;
    let grad = grad.to_vec::<Complex64>()?;
    assert!(grad[..2].iter().all(|grad| grad.re.is_nan()), "{grad:?}");
    assert_eq!(grad[2], Complex64::default());
    Ok(())
}

#[test]
fn windows_give_gradients_back_whatever_the_strides() -> Result<()> {
    let rows = singles(&[0.0; 4])?.reshape(&[1, 4])?.expand(&[2, 4])?.detach()?;
    let first = |x: &Tensor| x.unfold(1, 2, 2)?.select(0, 0)?.sum();
    check(&back(&rows, &singles(&[1.0])?, first)?, &[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])?;
    let overlapping = |x: &Tensor| x.unfold(0, 3, 1)?.sum();
    check(&back(&singles(&[0.0; 5])?, &singles(&[1.0])?, overlapping)?, &[1.0, 2.0, 3.0, 2.0, 1.0])?;
    check(&back(&Tensor::from(1.0), &Tensor::from(2.0), |x| x.unfold(0, 1, 1))?, &[2.0])
}

#[test]
fn kernels_of_gradients_agree_with_formulas() -> Result<()> {
    let numbers = [-20.0, -1.0, 0.0, 1.0, 100.0];
    let ones = of_type(&[1.0; 5], DType::Float64)?;
    let input = || of_type(&numbers, DType::Float64);
    let mish = [-3.91619187e-8, 0.0592167559, 0.6, 1.04903622, 1.0];
    check(&back(&input()?, &ones, aten::mish)?, &mish)?;
    check(&slope_and_bend(&input()?, aten::mish)?[0], &mish)?;
    let leaky = |x: &Tensor| aten::leaky_relu::with(x).negative_slope(0.5).call();
    check(&back(&input()?, &ones, leaky)?, &[0.5, 0.5, 0.5, 1.0, 1.0])?;
    let mask = Tensor::from([[true, false, true, false, true], [false, false, true, true, false]]);
    let selected = |x: &Tensor| aten::masked_select(x, &mask);
    check(&back(&input()?, &ones, selected)?, &[1.0, 0.0, 2.0, 1.0, 1.0])
}
