//! Functions of one number.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_4, LN_2, SQRT_2};

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

fn close(got: &Tensor, want: &[f64]) -> Result<()> {
    let got = got.to_dtype(DType::Float64)?.to_vec::<f64>()?;
    let is_close = |(got, want): (&f64, &f64)| (got - want).abs() <= 1e-6 * want.abs().max(1.0);
    assert!(got.len() == want.len() && got.iter().zip(want).all(is_close), "{got:?} instead of {want:?}");
    Ok(())
}

#[test]
fn functions_compute_what_they_say() -> Result<()> {
    let x = Tensor::from([-1.0, 0.5, 2.0]);
    close(&x.neg()?, &[1.0, -0.5, -2.0])?;
    close(&x.abs()?, &[1.0, 0.5, 2.0])?;
    close(&x.exp()?, &[0.36787944, 1.64872127, 7.38905610])?;
    close(&x.tanh()?, &[-0.76159416, 0.46211716, 0.96402758])?;
    close(&x.sigmoid()?, &[0.26894142, 0.62245933, 0.88079708])?;
    close(&x.gelu()?, &[-0.15865525, 0.34573123, 1.95449974])?;
    close(&aten::gelu::with(&x).approximate("tanh").call()?, &[-0.15880801, 0.34571401, 1.95459769])?;
    close(&x.abs()?.log()?, &[0.0, -LN_2, LN_2])?;
    close(&aten::rsqrt(&x.abs()?)?, &[1.0, SQRT_2, FRAC_1_SQRT_2])?;
    Ok(())
}

/// All 16-bit floats, NaN among them: their signs are changed as bits.
#[test]
fn signs_of_halves_are_those_of_their_bits() -> Result<()> {
    for dtype in [DType::Float16, DType::BFloat16] {
        let bits = aten::arange_start((-0x8000).into(), 0x8000.into())?.to_dtype(DType::Int16)?;
        let halves = aten::view_dtype(&bits, dtype)?;
        for (found, want) in [
            (halves.neg()?, aten::bitwise_xor_Scalar(&bits, (-0x8000).into())?),
            (halves.abs()?, aten::bitwise_and_Scalar(&bits, 0x7fff.into())?),
        ] {
            assert!(aten::equal(&aten::view_dtype(&found, DType::Int16)?, &want)?, "{dtype}");
        }
    }
    Ok(())
}

#[test]
fn integers_become_floats_where_the_results_are_not_whole() -> Result<()> {
    let x = Tensor::from([1i8, 2]);
    assert_eq!((x.exp()?.dtype(), x.neg()?.dtype()), (DType::Float32, DType::Int8));
    close(&Tensor::from([true, false]).sigmoid()?, &[0.7310585786, 0.5])?;
    assert!(
        aten::exp_(&mut x.clone()).unwrap_err().to_string().starts_with("aten::exp_: a result of float32")
    );
    Ok(())
}

#[test]
fn in_place_functions_write_to_the_tensor() -> Result<()> {
    let mut x = Tensor::from([[1.0, 4.0], [9.0, 16.0]]).t()?;
    aten::sqrt_(&mut x)?;
    assert_eq!((x.to_vec::<f64>()?, x.version()), (vec![1.0, 3.0, 2.0, 4.0], 1));
    Ok(())
}

#[test]
fn functions_without_meaning_for_a_type_are_refused() -> Result<()> {
    let refused = [Tensor::from([true]).neg(), Tensor::from([1i64]).gelu(), Tensor::from([true]).relu()];
    assert!(
        refused.iter().all(|result| result.as_ref().is_err_and(|error| error.kind() == ErrorKind::DType))
    );
    assert_eq!(Tensor::from([true]).neg().unwrap_err().to_string(), "aten::neg is not implemented for bool");
    Ok(())
}

#[test]
fn relu_keeps_nan_and_negative_zero() -> Result<()> {
    let y = Tensor::from([-1.0, -0.0, f64::NAN, 2.0]).relu()?.to_vec::<f64>()?;
    assert_eq!(y[0].to_bits(), 0);
    assert!(y[1].is_sign_negative() && y[2].is_nan() && y[3] == 2.0);
    assert_eq!(Tensor::from([-3i8, 3]).relu()?.to_vec::<i8>()?, [0, 3]);
    Ok(())
}

#[test]
fn magnitudes_of_complex_numbers_are_real() -> Result<()> {
    let mut x = Tensor::from([Complex64::new(3.0, -4.0)]);
    assert_eq!(x.abs()?.to_vec::<f64>()?, [5.0]);
    assert!(aten::abs_(&mut x).is_err());
    Ok(())
}

#[test]
fn clamp_takes_one_bound_or_two() -> Result<()> {
    let x = Tensor::from([-2.0, 0.5, f64::NAN, 7.0]);
    let y = x.clamp(0, 1)?.to_vec::<f64>()?;
    assert_eq!((y[0], y[1], y[2].is_nan(), y[3]), (0.0, 0.5, true, 1.0));
    assert_eq!(x.clamp(3, 1)?.to_vec::<f64>()?[0], 1.0);
    assert!(x.clamp(None, None).is_err());
    let y = aten::clamp_Tensor::with(&x).min(Some(&Tensor::from([1.0]))).call()?.to_vec::<f64>()?;
    assert_eq!((y[0], y[1], y[3]), (1.0, 1.0, 7.0));
    Ok(())
}

#[test]
fn bounds_take_part_in_promotion() -> Result<()> {
    let mut x = Tensor::from([-2i8, 3]);
    assert_eq!(aten::clamp_min(&x, 0.5.into())?.to_vec::<f32>()?, [0.5, 3.0]);
    assert_eq!(aten::clamp_max(&Tensor::from([true]), 0.into())?.dtype(), DType::Int64);
    let error = aten::clamp_::with(&mut x).min(Some(0.5.into())).call().unwrap_err();
    assert_eq!(error.to_string(), "aten::clamp_: a result of float32 cannot be written to a tensor of int8");
    Ok(())
}

#[test]
fn bounds_that_nothing_reaches_do_not_bind() -> Result<()> {
    let x = Tensor::from([1u8, 9]);
    assert_eq!(x.clamp(-3, 5)?.to_vec::<u8>()?, [1, 5]);
    let error = x.clamp(300, None).unwrap_err();
    assert_eq!(error.to_string(), "aten::clamp: no number of uint8 is within the bound 300");
    Ok(())
}

#[test]
fn gradients_of_bounds_lie_as_what_decides() -> Result<()> {
    let (rows, columns) = (aten::ones(&[3, 2])?, aten::ones(&[2, 3])?.t()?);
    assert_eq!(
        aten::threshold_backward(&rows, &columns, 0.into())?.strides(),
        [1, 3],
        "the input comes first"
    );
    assert_eq!(aten::hardtanh_backward(&rows, &columns, 0.into(), 2.into())?.strides(), [2, 1]);
    let x = Tensor::from([-1.0, 0.5, 1.0, f64::NAN]);
    let slopes = aten::hardtanh_backward(&aten::ones_like(&x)?, &x, (-1).into(), 1.into())?;
    assert_eq!(slopes.to_vec::<f64>()?, [0.0, 1.0, 0.0, 1.0]);
    Ok(())
}

#[test]
fn shrinking_keeps_the_order_of_dimensions() -> Result<()> {
    let x = Tensor::from([[-2i32, 0], [1, 3], [5, 7]]).t()?;
    let kept = aten::threshold(&x, 0.into(), 9.5.into())?;
    assert_eq!((kept.strides(), kept.to_vec::<i32>()?), (&[1, 2][..], vec![9, 1, 5, 9, 3, 7]));
    let far = aten::hardshrink(&x.to_dtype(DType::Float64)?)?;
    assert_eq!((far.strides(), far.to_vec::<f64>()?), (&[1, 2][..], vec![-2.0, 1.0, 5.0, 0.0, 3.0, 7.0]));
    Ok(())
}

#[test]
fn bounds_that_are_not_numbers_leave_none() -> Result<()> {
    let x = Tensor::from([1f32, f32::NAN]);
    for (min, max) in [(Some(f64::NAN), None), (None, Some(f64::NAN)), (Some(0.0), Some(f64::NAN))] {
        let bounded = aten::clamp::call(&x, min.map(Scalar::from), max.map(Scalar::from))?;
        assert!(bounded.to_vec::<f32>()?.iter().all(|x| x.is_nan()));
    }
    assert!(aten::clamp::call(&x, Some(2.into()), Some(3.into()))?.to_vec::<f32>()?[1].is_nan());
    Ok(())
}

#[test]
fn results_lie_as_pytorchs_do_also_where_strides_mean_nothing() -> Result<()> {
    let x = Tensor::from([0.0; 15]).strided_view(&[3, 3, 1], &[3, 1, 7], 0)?;
    let like_a_copy = [aten::hardtanh(&x)?, aten::relu6(&x)?, aten::rad2deg(&x)?, aten::nan_to_num(&x)?];
    assert!(like_a_copy.iter().all(|result| result.strides() == [3, 1, 7]), "{like_a_copy:?}");
    let as_one_tensor = [
        aten::threshold(&x, 0.into(), 1.into())?,
        aten::hardshrink(&x)?,
        aten::softshrink(&x)?,
        aten::isposinf(&x)?,
        aten::pow_Tensor_Scalar(&x, 2.into())?,
    ];
    assert!(as_one_tensor.iter().all(|result| result.strides() == [3, 1, 1]), "{as_one_tensor:?}");
    let columns = Tensor::from([[1.0, 2.0], [3.0, 4.0]]).t()?;
    assert_eq!(aten::pow_Scalar(2.into(), &columns)?.strides(), [2, 1]);
    assert_eq!(aten::log_sigmoid(&columns)?.strides(), [2, 1]);
    Ok(())
}

#[test]
fn bounds_of_whole_numbers_are_whole() -> Result<()> {
    let x = Tensor::from([-2i8, 0, 3]);
    let kept = aten::hardtanh::call(&x, (-1.5).into(), 2.5.into())?;
    assert_eq!(kept.to_vec::<i8>()?, [-1, 0, 2]);
    assert_eq!(aten::threshold(&x, (-0.5).into(), 7.into())?.to_vec::<i8>()?, [7, 7, 3]);
    assert!(aten::threshold(&x, 0.into(), 300.into()).is_err(), "no int8");
    assert_eq!(aten::hardtanh(&Tensor::from([0u8, 1, 200]))?.to_vec::<u8>()?, [0, 1, 1]);
    let below = aten::hardtanh::call(&Tensor::from([1u8]), (-3).into(), (-1).into());
    assert!(below.is_err(), "none is as low as -1");
    assert!(aten::hardshrink(&x).is_err() && aten::softshrink(&x).is_err());
    assert!(aten::threshold(&Tensor::from([true]), 0.into(), 0.into()).is_err());
    Ok(())
}

#[test]
fn whole_numbers_and_truth_values_have_signs_odds_and_sums_of_powers() -> Result<()> {
    assert_eq!(aten::sgn(&Tensor::from([-3i64, 0, 2]))?.to_vec::<i64>()?, [-1, 0, 1]);
    assert_eq!(aten::sgn(&Tensor::from([true, false]))?.to_vec::<bool>()?, [true, false]);
    let odds = aten::logit(&Tensor::from([2u8, 1]))?;
    assert!(odds.to_vec::<f32>()?[0].is_nan(), "{odds:?}");
    close(&aten::logsumexp(&Tensor::from([true, false]), &[0])?, &[1.3132616875])?;
    Ok(())
}

#[test]
fn the_slope_of_silu_is_pytorchs() -> Result<()> {
    let x = Tensor::from([-2.0, -0.5, 0.0, 1.5]);
    let slope = [-0.09078424878489547, 0.5200776253946964, 1.5, 4.165176617196572];
    close(&aten::silu_backward(&Tensor::from([1.0, 2.0, 3.0, 4.0]), &x)?, &slope)?;
    let one = Complex64::new(1.0, 0.0);
    let x = Tensor::from([Complex64::new(0.3, 0.4)]);
    let slope = aten::silu_backward(&Tensor::from([one]), &x)?;
    close(&aten::view_as_real(&slope)?, &[0.6597072952780277, 0.19594149040567038])?;
    let error = aten::silu_backward(&Tensor::from([1i64]), &Tensor::from([1i64])).unwrap_err().to_string();
    assert!(error.contains("aten::silu_backward") && error.contains("int64"), "{error}");
    Ok(())
}

#[test]
fn parts_of_numbers() -> Result<()> {
    let x = Tensor::from([1.5f32, -3.0, 0.0, f32::INFINITY, 1e-45]);
    let (mantissa, exponent) = aten::frexp_Tensor(&x)?;
    assert_eq!(mantissa.to_vec::<f32>()?, [0.75, -0.75, 0.0, f32::INFINITY, 0.5]);
    assert_eq!(exponent.to_vec::<i32>()?, [1, 2, 0, 0, -148]);
    assert!(aten::frexp_Tensor(&Tensor::from([1])).is_err());
    let none = aten::as_strided(&aten::zeros(&[64])?, &[1, 0, 5], &[10, 10, 2])?;
    let (mantissa, exponent) = aten::frexp_Tensor(&none)?;
    assert_eq!((mantissa.strides(), exponent.strides()), (none.strides(), none.strides()));
    let complex = Tensor::from_vec(vec![Complex64::new(1.0, 1.0), Complex64::new(2.0, 0.0)], &[2])?;
    assert_eq!(aten::isreal(&complex)?.to_vec::<bool>()?, [false, true]);
    assert_eq!(aten::_conj_physical(&complex)?.to_vec::<Complex64>()?[0], Complex64::new(1.0, -1.0));
    assert_eq!(aten::chalf(&x)?.dtype(), DType::Complex32);
    Ok(())
}

#[test]
fn angles_are_of_numbers_to_the_positive_ones() -> Result<()> {
    use std::f64::consts::{FRAC_PI_2, PI};
    assert_close(&aten::angle(&Tensor::from([-2.0, -0.0, 3.0]))?, &[PI, 0.0, 0.0])?;
    assert!(aten::angle(&Tensor::from([f64::NAN]))?.to_vec::<f64>()?[0].is_nan());
    assert_close(
        &aten::angle(&Tensor::from([Complex64::new(0.0, 2.0), Complex64::new(-1.0, 0.0)]))?,
        &[FRAC_PI_2, PI],
    )?;
    assert_eq!(aten::angle(&Tensor::from([-1i64, 1]))?.to_vec::<f32>()?, [std::f32::consts::PI, 0.0]);
    Ok(())
}

#[test]
fn complex_functions_neither_cancel_nor_overflow() -> Result<()> {
    let complex = |re: f64, im: f64| Tensor::from([Complex64::new(re, im)]).to_dtype(DType::Complex64);
    let rows: [(Result<Tensor>, Complex64); 11] = [
        (aten::sqrt(&complex(-1.0, 1e-10)?), Complex64::new(5e-11, 1.0)),
        (aten::rsqrt(&complex(-4.0, 1e-10)?), Complex64::new(6.25e-12, -0.5)),
        (aten::log(&complex(3e38, 3e38)?), Complex64::new(88.943_420, FRAC_PI_4)),
        (aten::log1p(&complex(3e38, 3e38)?), Complex64::new(88.943_420, FRAC_PI_4)),
        (aten::exp(&complex(-1e9, 1.0)?), Complex64::ZERO),
        (aten::sinh(&complex(80.0, 0.0)?), Complex64::new(2.770_311e34, 0.0)),
        (aten::cos(&complex(0.0, 80.0)?), Complex64::new(2.770_311e34, 0.0)),
        (aten::asinh(&complex(-5000.0, 0.0)?), Complex64::new(-9.210_34, 0.0)),
        (aten::sigmoid(&complex(-50.0, 0.0)?), Complex64::new(1.928_75e-22, 0.0)),
        (aten::silu(&complex(-50.0, 0.0)?), Complex64::new(-9.643_75e-21, 0.0)),
        (aten::sinc(&complex(1e-25, 0.0)?), Complex64::ONE),
    ];
    for (at, (found, want)) in rows.into_iter().enumerate() {
        let found = found?.to_dtype(DType::Complex128)?.to_vec::<Complex64>()?[0];
        let near = |found: f64, want: f64| (found - want).abs() <= 1e-6 * want.abs();
        assert!(near(found.re, want.re) && near(found.im, want.im), "row {at}: {found}, not {want}");
    }
    Ok(())
}

#[test]
fn angles_of_complex_numbers_are_row_major() -> Result<()> {
    let x = aten::full(&[2, 3], Complex64::I.into())?;
    assert_eq!(x.t()?.angle()?.strides(), [2, 1]);
    assert_eq!(aten::real(&x)?.clone().contiguous()?.t()?.angle()?.strides(), [1, 3]);
    Ok(())
}

#[test]
fn wide_unsigned_numbers_are_whole_finite_and_bounded() -> Result<()> {
    let wide = Tensor::from([3i64, 7, 250]);
    for dtype in [DType::UInt16, DType::UInt32, DType::UInt64] {
        let x = aten::to_dtype(&wide, dtype)?;
        let same = |y: Tensor| -> Result<bool> { Ok(y.dtype() == dtype && aten::equal(&x, &y)?) };
        for whole in [aten::floor, aten::ceil, aten::round, aten::trunc] {
            assert!(same(whole(&x)?)?, "{dtype}");
        }
        assert!(same(aten::nan_to_num(&x)?)?, "{dtype}");
        for never in [aten::signbit, aten::isposinf, aten::isneginf] {
            assert_eq!(never(&x)?.to_vec::<bool>()?, [false; 3], "{dtype}");
        }
        let bound = aten::to_dtype(&Tensor::from([5i64, 5, 5]), dtype)?;
        let numbers = |y: Tensor| aten::to_dtype(&y, DType::Int64)?.to_vec::<i64>();
        assert_eq!(numbers(aten::clamp_min_Tensor(&x, &bound)?)?, [5, 7, 250]);
        assert_eq!(numbers(aten::clamp_max_Tensor(&x, &bound)?)?, [3, 5, 5]);
        assert_eq!(numbers(aten::clamp_Tensor::call(&x, Some(&bound), Some(&bound))?)?, [5, 5, 5]);
        assert_eq!(numbers(aten::relu6(&x)?)?, [3, 6, 6]);
        // Of all powers, PyTorch has these two.
        assert!(same(aten::pow_Tensor_Scalar(&x, 1.into())?)?);
        assert_eq!(numbers(aten::pow_Tensor_Scalar(&x, 0.into())?)?, [1, 1, 1]);
        assert!(aten::pow_Tensor_Scalar(&x, 2.into()).is_err());
    }
    Ok(())
}

#[test]
fn complex_functions_of_nan_are_numbers_where_c_says_so() -> Result<()> {
    const NAN: f64 = f64::NAN;
    type Function = fn(&Tensor) -> Result<Tensor>;
    let cases: [(Function, [f64; 2], [f64; 2]); 14] = [
        (aten::sin, [0.0, NAN], [0.0, NAN]),
        (aten::cos, [NAN, 0.0], [NAN, 0.0]),
        (aten::sinh, [NAN, 0.0], [NAN, 0.0]),
        (aten::cosh, [NAN, 0.0], [NAN, 0.0]),
        (aten::sinh, [f64::INFINITY, NAN], [f64::INFINITY, NAN]),
        (aten::cosh, [f64::INFINITY, NAN], [f64::INFINITY, NAN]),
        (aten::asin, [0.0, NAN], [0.0, NAN]),
        (aten::acos, [0.0, NAN], [std::f64::consts::FRAC_PI_2, NAN]),
        (aten::acosh, [0.0, NAN], [NAN, std::f64::consts::FRAC_PI_2]),
        (aten::asinh, [NAN, 0.0], [NAN, 0.0]),
        (aten::log, [0.0, NAN], [NAN, NAN]),
        (aten::log, [1.0, NAN], [NAN, NAN]),
        (aten::log10, [NAN, 2.5], [NAN, NAN]),
        (aten::log, [NAN, f64::INFINITY], [f64::INFINITY, NAN]),
    ];
    for (index, (function, [re, im], want)) in cases.into_iter().enumerate() {
        let found = function(&Tensor::from(Complex64::new(re, im)))?.to_vec::<Complex64>()?[0];
        let is_equal = |got: f64, want: f64| got == want || got.is_nan() && want.is_nan();
        assert!(is_equal(found.re, want[0]) && is_equal(found.im, want[1]), "case {index}: {found}");
    }
    Ok(())
}
