//! Cumulative sums and extremes.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

const NAN: f32 = f32::NAN;

/// Sums of whole numbers are exact, in whatever order they are added.
#[test]
fn cumulative_sums_of_lines_of_every_length_are_exact() -> Result<()> {
    for len in (0..40).chain([1023]) {
        let numbers: Vec<i64> = (0..3 * len).map(|i| i * 37 % 23 - 11).collect();
        let whole = Tensor::from_vec(numbers, &[3, len])?;
        let want = aten::cumsum(&whole, 1)?;
        for dtype in [DType::Float32, DType::Float64] {
            let sums = aten::cumsum(&whole.to_dtype(dtype)?, 1)?;
            assert!(aten::equal(&sums.to_dtype(DType::Int64)?, &want)?, "{dtype}, {len} numbers");
        }
    }
    Ok(())
}

#[test]
fn running_extremes_are_the_last_of_equals_and_nan_stays() -> Result<()> {
    let x = Tensor::from([1f32, 3.0, 3.0, 2.0, NAN, 4.0, NAN]);
    let (values, places) = aten::cummax(&x, 0)?;
    assert_eq!(places.to_vec::<i64>()?, [0, 1, 2, 2, 4, 4, 6]);
    assert_eq!(values.to_vec::<f32>()?[..4], [1.0, 3.0, 3.0, 3.0]);
    assert_eq!(aten::cummin(&x, 0)?.1.to_vec::<i64>()?, [0, 0, 0, 0, 4, 4, 6]);
    assert_eq!(aten::cummax(&aten::zeros(&[2, 0])?, 1)?.0.sizes(), [2, 0]);
    Ok(())
}

#[test]
fn running_extremes_go_along_any_dimension() -> Result<()> {
    let x = aten::randint(9, &[3, 70, 600])?;
    for dtype in [DType::Float32, DType::Int64, DType::UInt8, DType::Bool, DType::BFloat16] {
        for (x, dim) in (0..3).map(|dim| (x.to_dtype(dtype).unwrap(), dim)) {
            let (values, places) = aten::cummax(&x, dim)?;
            assert!(aten::equal(&aten::gather(&x, dim, &places)?, &values)?, "{dtype} {dim}");
            let last = x.size(dim)? - 1;
            let (largest, end) = (aten::amax::with(&x).dim(&[dim]).call()?, values.select(dim, last)?);
            assert!(aten::equal(&largest, &end)?, "{dtype} {dim}");
            // Of equal elements the last one counts: the index is that of the last occurrence of the largest so far.
            let here = aten::eq_Tensor(&x, &values)?;
            let numbers = aten::arange((last + 1).into())?;
            let sizes: Vec<i64> = (0..3).map(|at| if at == dim { last + 1 } else { 1 }).collect();
            let expected = aten::where_self(&here, &numbers.view(&sizes)?, &places)?;
            assert!(aten::equal(&expected, &places)?, "{dtype} {dim}");
        }
    }
    Ok(())
}

#[test]
fn running_log_sums_are_those_of_one_element_after_the_other() -> Result<()> {
    let spread =
        |factor: f64| (0..100).map(|i| factor * f64::from((i * 37) % 100 - 50)).collect::<Vec<f64>>();
    let mut ends = spread(0.1);
    (ends[3], ends[40], ends[70]) = (f64::NEG_INFINITY, 300.0, f64::INFINITY);
    let mut unknown = spread(0.1);
    unknown[50] = f64::NAN;
    let far: Vec<f64> = (0..100).map(|i| f64::from(i) * 5.0).collect();
    for line in [spread(0.1), spread(3.0), spread(-20.0), far, ends, unknown] {
        let mut sum = f64::NEG_INFINITY;
        let want: Vec<f64> = line
            .iter()
            .map(|x| {
                let (larger, smaller) = if *x > sum { (*x, sum) } else { (sum, *x) };
                let is_one = larger.is_infinite() && larger == smaller;
                sum = if is_one { larger } else { larger + (smaller - larger).exp().ln_1p() };
                sum
            })
            .collect();
        let x = Tensor::from(line);
        for (dtype, tolerance) in [(DType::Float64, 1e-14), (DType::Float32, 1e-6)] {
            let found =
                aten::logcumsumexp(&x.to_dtype(dtype)?, 0)?.to_dtype(DType::Float64)?.to_vec::<f64>()?;
            for (i, (found, want)) in found.iter().zip(&want).enumerate() {
                let is_close = (found - want).abs() <= tolerance * (1.0 + want.abs());
                let is_alike = found == want || found.is_nan() && want.is_nan();
                assert!(is_close || is_alike, "element {i} of {dtype}: {found}, expected {want}");
            }
        }
    }
    Ok(())
}

#[test]
fn running_extremes_are_written_where_the_caller_says() -> Result<()> {
    let x = Tensor::from([1.0, 3.0, 2.0]);
    let (mut values, mut places) = (Tensor::from([0.0; 3]), Tensor::from([0i64; 3]));
    aten::_cummax_helper(&x, &mut values, &mut places, 0)?;
    assert_eq!((values.to_vec::<f64>()?, places.to_vec::<i64>()?), (vec![1.0, 3.0, 3.0], vec![0, 1, 1]));
    aten::_cummin_helper(&x, &mut values, &mut places, 0)?;
    assert_eq!((values.to_vec::<f64>()?, places.to_vec::<i64>()?), (vec![1.0; 3], vec![0; 3]));
    let mut shorter = Tensor::from([0.0; 2]);
    assert!(aten::_cummin_helper(&x, &mut shorter, &mut places, 0).is_err());
    assert!(aten::_cummin_helper(&x, &mut values, &mut Tensor::from([0i32; 3]), 0).is_err());
    assert_close(
        &aten::_logcumsumexp(&Tensor::from([1.0, 2.0, 0.5]), 0)?,
        &[1.0, 2.313261687518223, 2.464368784107945],
    )
}
