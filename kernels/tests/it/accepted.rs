//! Dtypes and numbers that operators accept or refuse as PyTorch does.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use DType::{BFloat16, Bool, Complex64, Float16, Float32, Float64, Int32, Int64, UInt8};

/// Ones of a dtype.
fn ones(sizes: &[i64], dtype: DType) -> Tensor {
    aten::ones::with(sizes).dtype(Some(dtype)).call().unwrap()
}

/// Checks that an operator accepts these dtypes, and refuses the others.
#[track_caller]
fn accepts(dtypes: &[DType], call: impl Fn(DType) -> Result<Tensor>) {
    for dtype in [Bool, UInt8, Int32, Int64, Float16, BFloat16, Float32, Float64, Complex64] {
        let result = call(dtype);
        assert_eq!(result.is_ok(), dtypes.contains(&dtype), "{dtype}: {result:?}");
    }
}

const FLOATS: [DType; 4] = [Float16, BFloat16, Float32, Float64];
const REALS: [DType; 7] = [UInt8, Int32, Int64, Float16, BFloat16, Float32, Float64];

#[test]
fn dtypes_are_those_of_pytorch() {
    accepts(&FLOATS, |dtype| aten::glu(&ones(&[2, 4], dtype)));
    accepts(&FLOATS, |dtype| aten::prelu(&ones(&[2, 3], dtype), &ones(&[3], dtype)));
    accepts(&FLOATS, |dtype| aten::nanmean(&ones(&[4], dtype)));
    accepts(&FLOATS, |dtype| aten::max_pool1d(&ones(&[1, 2, 8], dtype), &[2]));
    accepts(&FLOATS, |dtype| aten::_euclidean_dist(&ones(&[4, 4], dtype), &ones(&[4, 4], dtype)));
    accepts(&[Float32, Float64], |dtype| aten::cdist(&ones(&[4, 4], dtype), &ones(&[4, 4], dtype)));
    accepts(&REALS, |dtype| Ok(aten::kthvalue(&ones(&[4], dtype), 2)?.0));
    accepts(&REALS, |dtype| aten::searchsorted_Tensor(&ones(&[4], dtype), &ones(&[2], dtype)));
    accepts(&REALS, |dtype| aten::isin_Tensor_Scalar(&ones(&[4], dtype), 1.into()));
    accepts(&REALS, |dtype| aten::randperm::with(4).dtype(Some(dtype)).call());
    accepts(&[&REALS[..], &[Complex64]].concat(), |dtype| aten::trace(&ones(&[4, 4], dtype)));
    accepts(&[Float16, BFloat16, Float32, Float64, Complex64], |dtype| {
        aten::linalg_vecdot(&ones(&[4], dtype), &ones(&[4], dtype))
    });
    accepts(&[UInt8, Int32, Int64, Float32, Float64, Complex64], |dtype| {
        aten::linalg_vander(&ones(&[4], dtype))
    });
    accepts(&[Float16, Float32, Float64], |dtype| aten::view_as_complex(&ones(&[2, 2], dtype)));
    accepts(&[Int64], |dtype| {
        aten::index_fill_int_Scalar(&ones(&[4], Float32), 0, &ones(&[1], dtype), 1.into())
    });
    accepts(&[BFloat16, Float32, Float64], |dtype| {
        let mut noise = ones(&[4], dtype);
        aten::rrelu_with_noise::with(&ones(&[4], dtype), &mut noise).training(true).call()
    });
    accepts(&[Float16, BFloat16, Float32, Float64, Complex64], |dtype| {
        aten::dropout(&ones(&[4], dtype), 0.5, true)
    });
    accepts(&[Bool, Float16, Float32], |dtype| {
        let x = ones(&[1, 2, 4, 8], Float16);
        aten::scaled_dot_product_attention::with(&x, &x, &x).attn_mask(Some(&ones(&[4, 4], dtype))).call()
    });
    accepts(&[Float16, BFloat16, Float32, Float64, Complex64], |dtype| {
        aten::addcdiv(&ones(&[2], Float32), &ones(&[2], Int64), &ones(&[2], dtype))
    });
}

#[test]
fn numbers_that_a_dtype_cannot_hold_are_refused() -> Result<()> {
    for (number, refusing) in [(1e6, &[UInt8, Float16][..]), (300.0, &[UInt8]), (-256.0, &[UInt8])] {
        for dtype in [UInt8, Int32, Float16, BFloat16, Float32] {
            let fill = aten::fill__Scalar(&mut ones(&[2], dtype), number.into()).map(drop);
            assert_eq!(fill.is_err(), refusing.contains(&dtype), "{number} as {dtype}");
            let full = aten::full::with(&[2], number.into()).dtype(Some(dtype)).call();
            assert_eq!(full.is_err(), refusing.contains(&dtype), "{number} as {dtype}");
        }
    }
    // A tensor is converted, as elements are.
    let mut bytes = ones(&[1], UInt8);
    aten::fill__Tensor(&mut bytes, &Tensor::from(300i64))?;
    assert_eq!(bytes.to_vec::<u8>()?, [44]);
    let mut float = ones(&[1], Float32);
    aten::fill__Tensor(&mut float, &Tensor::from(1e40))?;
    assert_eq!(float.to_vec::<f32>()?, [f32::INFINITY]);
    assert!(aten::randperm::with(257).dtype(Some(UInt8)).call().is_err());
    assert!(aten::randperm::with(256).dtype(Some(UInt8)).call().is_ok());
    assert!(aten::randperm::with(2050).dtype(Some(Float16)).call().is_err());
    Ok(())
}

#[test]
fn comparisons_and_medians_are_those_of_pytorch() -> Result<()> {
    assert!(aten::equal(&ones(&[2], Float32), &ones(&[2], Int64))?);
    assert!(!aten::equal(&Tensor::from([0.1f32]), &Tensor::from([0.1f64]))?);
    assert!(!aten::equal(&ones(&[2], Float32), &ones(&[3], Float64))?);
    let median = |dtype| aten::median(&ones(&[0], dtype))?.item();
    assert_eq!((median(Int64)?, median(Int32)?), (Scalar::Int(i64::MIN), Scalar::Int(i32::MIN.into())));
    assert_eq!(median(UInt8)?, Scalar::Int(0));
    assert!(median(Float32)?.to::<f64>()?.is_nan());
    assert_eq!(aten::pow_Tensor_Scalar(&ones(&[2], Bool), true.into())?.to_vec::<bool>()?, [true, true]);
    Ok(())
}

#[test]
fn spaced_numbers_may_be_complex() -> Result<()> {
    let end = Scalar::Complex(torch_library::element::Complex64::new(0.0, 1.0));
    let spaced = aten::linspace(0.into(), end, 3)?;
    assert_eq!(spaced.dtype(), Complex64);
    assert_eq!(aten::imag(&spaced)?.to_vec::<f32>()?, [0.0, 0.5, 1.0]);
    assert!(aten::linspace::with(0.into(), end, 3).dtype(Some(Float32)).call().is_err());
    assert!(aten::linspace::with(0.into(), 1.into(), 3).dtype(Some(Bool)).call().is_err());
    assert!(
        aten::linspace::with(0.into(), 1.into(), 0).dtype(Some(Bool)).call().is_ok(),
        "no numbers are bools, too"
    );
    let powers = aten::logspace(0.into(), end, 2)?;
    assert!((aten::real(&powers)?.to_vec::<f32>()?[1] - 10f32.ln().cos()).abs() < 1e-6);
    Ok(())
}

#[test]
fn lists_of_tensors_have_gradients() -> Result<()> {
    let x = Tensor::from([4.0, 9.0]);
    x.set_requires_grad(true)?;
    aten::_foreach_sqrt(std::slice::from_ref(&x))?[0].sum()?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [0.25, 1.0 / 6.0]);
    x.set_grad(None)?;
    aten::_foreach_norm_Scalar(std::slice::from_ref(&x))?[0].backward()?;
    let norm = 97f64.sqrt();
    assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [4.0 / norm, 9.0 / norm]);
    assert!(aten::_foreach_sqrt(&[]).is_err() && aten::_foreach_norm_Scalar(&[]).is_err());
    Ok(())
}

#[test]
fn the_slope_of_a_loss_without_a_quadratic_part_is_negative_at_zero() -> Result<()> {
    let x = Tensor::from([1.0, -1.0, 0.0, f64::NAN]);
    x.set_requires_grad(true)?;
    let zeros = Tensor::from([0.0; 4]);
    aten::smooth_l1_loss::with(&x, &zeros).reduction(2).beta(0.0).call()?.backward()?;
    let grad = x.grad().unwrap().to_vec::<f64>()?;
    assert!(grad[..3] == [1.0, -1.0, -1.0] && grad[3].is_nan(), "{grad:?}");
    Ok(())
}
