//! Histograms and counts; the expected numbers are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn numbers() -> Tensor {
    Tensor::from([1.0, 2.0, 1.0, 5.0, 3.0, 3.5])
}

fn longs(values: &[i64]) -> Result<Tensor> {
    Tensor::from_vec(values.to_vec(), &[values.len() as i64])
}

#[test]
fn bins_have_their_left_end_and_the_last_both() -> Result<()> {
    let x = numbers();
    let (counts, ends) = aten::histogram_bin_ct::with(&x).bins(4).call()?;
    assert_eq!(
        (counts.to_vec::<f64>()?, ends.to_vec::<f64>()?),
        (vec![2., 1., 2., 1.], vec![1., 2., 3., 4., 5.])
    );
    let (counts, _) = aten::histogram_bin_ct::with(&x).bins(4).range(Some(&[0.0, 4.0])).call()?;
    assert_eq!(counts.to_vec::<f64>()?, [0.0, 2.0, 1.0, 2.0]);
    let (counts, _) = aten::histogram_bins_tensor(&x, &Tensor::from([0.0, 1.0, 2.0, 5.0]))?;
    assert_eq!(counts.to_vec::<f64>()?, [0.0, 2.0, 4.0]);
    let density = aten::histogram_bin_ct::with(&x).bins(4).weight(Some(&x)).density(true).call()?.0;
    let expected = Tensor::from([2.0 / 15.5, 2.0 / 15.5, 6.5 / 15.5, 5.0 / 15.5]);
    assert!(aten::allclose(&density, &expected)?, "{density}");
    let (counts, ends) = aten::histogram_bin_ct::with(&Tensor::from([1.0; 3])).bins(2).call()?;
    assert_eq!((counts.to_vec::<f64>()?, ends.to_vec::<f64>()?), (vec![0.0, 3.0], vec![0.5, 1.0, 1.5]));
    let (counts, ends) = aten::histogram_bin_ct::with(&aten::zeros(&[0])?).bins(2).call()?;
    assert_eq!((counts.to_vec::<f32>()?, ends.to_vec::<f32>()?), (vec![0.0; 2], vec![0.0, 0.5, 1.0]));
    let (counts, _) = aten::histogram_bin_ct::with(&Tensor::from([1.0, f64::NAN, f64::INFINITY]))
        .bins(2)
        .range(Some(&[0.0, 2.0]))
        .call()?;
    assert_eq!(counts.to_vec::<f64>()?, [0.0, 1.0]);
    Ok(())
}

#[test]
fn points_have_bins_of_several_dimensions() -> Result<()> {
    let points = Tensor::from([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]);
    let weights = Tensor::from([1.0, 2.0, 4.0, 8.0]);
    let (counts, ends) = aten::histogramdd::with(&points, &[3, 3]).weight(Some(&weights)).call()?;
    assert_eq!(counts.to_vec::<f64>()?, [0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 4.0, 0.0, 8.0]);
    assert_eq!((counts.strides(), ends.len()), (&[3, 1][..], 2));
    let (density, _) = aten::histogramdd_int_bins::with(&points, 2).density(true).call()?;
    assert_eq!(density.to_vec::<f64>()?, [0.0, 0.25, 0.5, 0.25]);
    let bins = [Tensor::from([0.0, 1.0, 2.0]), Tensor::from([0.0, 2.0])];
    assert_eq!(aten::histogramdd_TensorList_bins(&points, &bins)?.0.to_vec::<f64>()?, [1.0, 3.0]);
    assert!(aten::histogramdd(&points, &[2]).is_err());
    let nowhere = Tensor::from([0f32; 0]).strided_view(&[1 << 50, 0], &[0, 0], 0)?;
    assert_eq!(aten::histogramdd(&nowhere, &[])?.0.to_vec::<f32>()?, [0.0]);
    assert!(aten::histogramdd(&weights, &[2]).is_err());
    assert!(aten::histogramdd::with(&points, &[2, 2]).range(Some(&[0.0, 1.0])).call().is_err());
    Ok(())
}

#[test]
fn bins_that_are_none_are_refused() {
    let x = numbers();
    let count = |x: &Tensor, bins| aten::histogram_bin_ct::with(x).bins(bins).call();
    assert!(count(&x, 0).is_err() && count(&x, i64::MAX).is_err());
    assert!(count(&Tensor::from([1.0, f64::NAN]), 2).is_err());
    assert!(count(&Tensor::from([1i64, 2]), 2).is_err());
    assert!(count(&x.to_dtype(DType::Float16).unwrap(), 2).is_err());
    for range in [&[3.0, 1.0][..], &[3.0], &[3.0, f64::NAN]] {
        assert!(aten::histogram_bin_ct::with(&x).range(Some(range)).call().is_err(), "{range:?}");
    }
    let weights = Tensor::from([1.0, 2.0]);
    assert!(aten::histogram_bin_ct::with(&x).weight(Some(&weights)).call().is_err());
    assert!(aten::histogram_bins_tensor(&x, &Tensor::from([1.0])).is_err());
    assert!(aten::histogram_bins_tensor(&x, &Tensor::from([0.0f32, 1.0])).is_err());
}

#[test]
fn whole_numbers_are_counted() -> Result<()> {
    let x = longs(&[3, 1, 3])?;
    assert_eq!(aten::bincount(&x)?.to_vec::<i64>()?, [0, 1, 0, 2]);
    assert_eq!(aten::bincount::with(&longs(&[])?).minlength(2).call()?.to_vec::<i64>()?, [0, 0]);
    assert_eq!(aten::bincount(&Tensor::from([2u8, 2]))?.to_vec::<i64>()?, [0, 0, 2]);
    for (len, below) in [(1000, 7), (4099, 1000), (5000, 3000), (3, 90)] {
        let numbers: Vec<i64> = (0..len).map(|i| i * i % below).collect();
        let mut want = vec![0; *numbers.iter().max().unwrap() as usize + 1];
        numbers.iter().for_each(|number| want[*number as usize] += 1);
        for dtype in [DType::Int64, DType::Int32, DType::UInt8, DType::UInt16] {
            if dtype != DType::UInt8 || below < 256 {
                let x = longs(&numbers)?.to_dtype(dtype)?;
                assert_eq!(aten::bincount(&x)?.to_vec::<i64>()?, want, "{len} below {below}, {dtype}");
            }
        }
    }
    let error = aten::bincount(&longs(&[1, -4, -2])?).unwrap_err();
    assert_eq!(error.to_string(), "aten::bincount: -4 is negative, expected zero or more");
    Ok(())
}

#[test]
fn numbers_are_counted_in_the_bins_of_their_own_precision() -> Result<()> {
    let x = Tensor::from([0f32, 0.1, 0.3, 0.6, 0.7, 0.9, 1.0, 2.0, -1.0, f32::NAN]);
    let counts = aten::histc::with(&x).bins(10).min(0).max(1).call()?;
    assert_eq!(counts.to_vec::<f32>()?, [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 2.0]);
    assert!(aten::histc(&x).is_err(), "the ends would be NaN");
    assert_eq!(aten::histc::with(&Tensor::from([3f64; 5])).bins(3).call()?.to_vec::<f64>()?, [0.0, 5.0, 0.0]);
    Ok(())
}

#[test]
fn products_of_bins_that_overflow_are_counted() -> Result<()> {
    let count = |x: Tensor, max: f64| aten::histc::with(&x).bins(4).min(0).max(max).call()?.to_vec::<f64>();
    assert_eq!(count(Tensor::from([1.7e308, 1.0, 5e307]), 1.7e308)?, [3.0, 0.0, 0.0, 0.0]);
    let single = aten::histc::with(&Tensor::from([2e38_f32])).bins(4).min(0).max(3e38).call()?;
    assert_eq!(single.to_vec::<f32>()?, [1.0, 0.0, 0.0, 0.0]);
    let beyond = aten::histc::with(&Tensor::from([1.0_f32])).bins(4).min(-1e40).max(1.0).call();
    assert!(beyond.unwrap_err().to_string().contains("does not convert to float32: it is out of range"));
    Ok(())
}

#[test]
fn counts_do_not_require_a_gradient() -> Result<()> {
    let x = numbers();
    x.set_requires_grad(true)?;
    let counts = aten::histc(&x)?;
    assert!(!counts.requires_grad());
    x.mul(2.0)?.sum()?.add(&counts.sum()?)?.backward()?;
    assert_eq!(x.grad().expect("a gradient").to_vec::<f64>()?, [2.0; 6]);
    Ok(())
}

#[test]
fn without_numbers_weights_do_not_determine_the_type_of_counts() -> Result<()> {
    let (none, weights) = (longs(&[])?, Tensor::from_vec(Vec::<f32>::new(), &[0])?);
    let counts = aten::bincount::with(&none).weights(Some(&weights)).minlength(2).call()?;
    assert_eq!(counts.to_vec::<i64>()?, [0, 0]);
    assert_eq!(counts.dtype(), DType::Int64);
    Ok(())
}
