//! Ranks, medians, distinct elements, running extremes.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

const NAN: f32 = f32::NAN;

fn longs(values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), &[values.len() as i64])
}

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
fn medians_are_the_smaller_of_two_and_nan_if_there_is_one() -> Result<()> {
    let x = Tensor::from([[3f32, 1.0, 2.0, 1.0], [NAN, 5.0, 4.0, NAN], [NAN; 4]]);
    let (values, places) = aten::median_dim(&x, 1)?;
    let values = values.to_vec::<f32>()?;
    assert!(values[0] == 1.0 && values[1].is_nan() && values[2].is_nan());
    assert_eq!(places.to_vec::<i64>()?, [3, 0, 0]);
    let (values, places) = aten::nanmedian_dim::call(&x, 1, true)?;
    assert_eq!((values.sizes(), places.to_vec::<i64>()?), (&[3, 1][..], vec![3, 2, 2]));
    assert_eq!(values.to_vec::<f32>()?[..2], [1.0, 4.0]);
    assert_eq!(aten::median(&Tensor::from([[2i64, 9], [4, 8]]))?.item()?, Scalar::Int(4));
    assert_eq!(aten::nanmedian(&x)?.item()?, Scalar::Float(2.0));
    assert!(aten::median(&aten::zeros(&[0])?)?.element::<f32>(&[])?.is_nan());
    assert_eq!(aten::median_dim(&Tensor::from(7), 0)?.1.item()?, Scalar::Int(0));
    let error = aten::median_dim(&aten::zeros(&[2, 0])?, 1).unwrap_err();
    let text = "aten::median.dim: there is nothing to choose from in dimension 1 of sizes [2, 0]";
    assert_eq!(error.to_string(), text);
    assert_eq!(aten::median_dim(&aten::zeros(&[0, 2])?, 1)?.0.sizes(), [0]);
    Ok(())
}

#[test]
fn elements_of_a_rank_are_those_of_a_stable_sort() -> Result<()> {
    let numbers: Vec<f32> = (0..700).map(|i| if i % 50 == 7 { NAN } else { (i * 37 % 101) as f32 }).collect();
    let x = Tensor::from_vec(numbers, &[700])?;
    let (sorted, order) = aten::sort(&x)?;
    for k in [1, 2, 350, 686, 687, 700] {
        let (value, place) = aten::kthvalue(&x, k)?;
        let (want, at) = (sorted.element::<f32>(&[k - 1])?, order.element::<i64>(&[k - 1])?);
        let value = value.element::<f32>(&[])?;
        assert!(value == want || value.is_nan() && want.is_nan());
        assert_eq!(place.element::<i64>(&[])?, at);
    }
    assert!(aten::kthvalue(&x, 0).is_err() && aten::kthvalue(&x, 701).is_err());
    Ok(())
}

#[test]
fn the_most_frequent_is_the_smallest_of_several_and_its_last_place() -> Result<()> {
    let (value, place) = aten::mode(&longs(&[5, 3, 5, 3, 9])?)?;
    assert_eq!((value.item()?, place.item()?), (Scalar::Int(3), Scalar::Int(3)));
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
fn a_line_without_numbers_has_the_index_that_pytorch_gives_it() -> Result<()> {
    let places = [0i64, 0, 0, 2, 2, 3, 5, 6, 7, 8, 8, 9, 8, 9, 9, 10, 10];
    for (len, place) in (1..).zip(places) {
        let line = aten::full(&[len], f64::NAN.into())?;
        let (value, found) = aten::nanmedian_dim(&line, 0)?;
        assert!(value.item()?.to::<f64>()?.is_nan());
        assert_eq!(found.item()?, Scalar::Int(place), "{len}");
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

#[test]
fn rows_of_a_sparse_matrix_are_found_from_their_ends_and_back() -> Result<()> {
    let rows = longs(&[0, 0, 2, 2, 2])?;
    let ends = aten::_convert_indices_from_coo_to_csr(&rows, 4)?;
    assert_eq!(ends.to_vec::<i64>()?, [0, 2, 2, 5, 5]);
    let narrow = aten::_convert_indices_from_coo_to_csr::with(&longs(&[])?, 2).out_int32(true).call()?;
    assert_eq!(narrow.to_vec::<i32>()?, [0, 0, 0]);
    // PyTorch corrupts its memory where rows are not in order; here the counts are of no use, but safe.
    assert_eq!(aten::_convert_indices_from_coo_to_csr(&longs(&[2, 0, 1])?, 4)?.numel(), 5);
    assert!(aten::_convert_indices_from_coo_to_csr(&Tensor::from([0.5]), 4).is_err());
    assert!(aten::_convert_indices_from_coo_to_csr(&Tensor::from([[0i64]]), 4).is_err());

    let columns = longs(&[1, 2, 0, 1, 2])?;
    let back = aten::_convert_indices_from_csr_to_coo(&longs(&[0, 2, 2, 5])?, &columns)?;
    assert_eq!(back.to_vec::<i64>()?, [0, 0, 2, 2, 2, 1, 2, 0, 1, 2]);
    let (ends, columns) = (Tensor::from([[0i32, 1, 2], [0, 2, 2]]), Tensor::from([[0i32, 1], [1, 0]]));
    let convert = || aten::_convert_indices_from_csr_to_coo::with(&ends, &columns);
    assert_eq!(convert().call()?.to_vec::<i64>()?, [0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0]);
    let turned = convert().transpose(true).out_int32(true).call()?;
    assert_eq!(turned.to_vec::<i32>()?, [0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0]);
    assert!(aten::_convert_indices_from_csr_to_coo(&ends, &longs(&[0, 1])?).is_err());
    Ok(())
}
