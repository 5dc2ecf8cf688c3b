//! Bins, segments, hashes, integrals and gradients of samples; the expected numbers are PyTorch's.

use torch_library::autograd::gradcheck;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn numbers() -> Tensor {
    Tensor::from([1.0, 2.0, 1.0, 5.0, 3.0, 3.5])
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
fn segments_are_reduced() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0]);
    let lengths = Tensor::from([2i64, 0, 3, 1]);
    let reduced = |reduce: &str, initial: Option<Scalar>| -> Result<String> {
        let out = aten::segment_reduce::with(&x, reduce).lengths(Some(&lengths)).initial(initial).call()?;
        Ok(format!("{:?}", out.to_vec::<f64>()?))
    };
    assert_eq!(reduced("max", None)?, "[2.0, -inf, NaN, 6.0]");
    assert_eq!(reduced("min", Some(2.5.into()))?, "[1.0, 2.5, NaN, 2.5]");
    assert_eq!(reduced("mean", None)?, "[1.5, NaN, NaN, 6.0]");
    assert_eq!(reduced("mean", Some(2.5.into()))?, "[2.75, 2.5, NaN, 8.5]");
    assert_eq!(reduced("sum", None)?, "[3.0, 0.0, NaN, 6.0]");
    assert_eq!(reduced("prod", Some(2.5.into()))?, "[5.0, 2.5, NaN, 15.0]");
    let rows = Tensor::from([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
    let lengths = Tensor::from([[1i64, 2], [2, 1]]);
    let sums = aten::segment_reduce::with(&rows, "sum").lengths(Some(&lengths)).axis(-1).call()?;
    assert_eq!(sums.to_vec::<f64>()?, [0.0, 3.0, 7.0, 5.0]);
    let offsets = Tensor::from([0i64, 2, 2, 3]);
    let columns = aten::segment_reduce::with(&rows.t()?, "sum").offsets(Some(&offsets)).call()?;
    assert_eq!(columns.to_vec::<f64>()?, [1.0, 7.0, 0.0, 0.0, 2.0, 5.0]);
    Ok(())
}

#[test]
fn gradients_of_segments() -> Result<()> {
    let x = Tensor::from([1.0, 2.0, 3.0, 3.0, 0.0, 6.0]);
    let lengths = Tensor::from([2i64, 0, 3, 1]);
    let grad = Tensor::from([1.0, 10.0, 100.0, 1000.0]);
    let back = |reduce: &str, initial: Option<Scalar>| -> Result<Vec<f64>> {
        let out = aten::segment_reduce::with(&x, reduce).lengths(Some(&lengths)).initial(initial).call()?;
        let back = aten::_segment_reduce_backward::with(&grad, &out, &x, reduce);
        back.lengths(Some(&lengths)).initial(initial).call()?.to_vec()
    };
    assert_eq!(back("max", None)?, [0.0, 1.0, 50.0, 50.0, 0.0, 1000.0]);
    assert_eq!(back("max", Some(3.0.into()))?, [0.0, 0.0, 50.0, 50.0, 0.0, 1000.0]);
    assert_eq!(back("prod", None)?, [2.0, 1.0, 0.0, 0.0, 900.0, 1000.0]);
    assert_eq!(back("prod", Some(3.0.into()))?, [6.0, 3.0, 0.0, 0.0, 2700.0, 3000.0]);
    let x = numbers();
    x.set_requires_grad(true)?;
    let lengths = Tensor::from([2i64, 3, 1]);
    for reduce in ["sum", "mean", "prod", "max", "min"] {
        let reduce = |x: &[Tensor]| {
            Ok(vec![aten::segment_reduce::with(&x[0], reduce).lengths(Some(&lengths)).call()?])
        };
        gradcheck(reduce, std::slice::from_ref(&x), Default::default())?;
    }
    Ok(())
}

#[test]
fn segments_must_make_up_the_dimension() {
    let x = numbers();
    let of = |lengths: &Tensor| aten::segment_reduce::with(&x, "sum").lengths(Some(lengths)).call();
    assert!(of(&Tensor::from([1i64, 2])).is_err());
    let short = Tensor::from([1i64, 2]);
    let loose = aten::segment_reduce::with(&x, "sum").lengths(Some(&short)).r#unsafe(true).call();
    assert_eq!(loose.unwrap().to_vec::<f64>().unwrap(), [1.0, 3.0]);
    assert!(of(&Tensor::from([-1i64, 7])).is_err() && of(&Tensor::from([i64::MAX, 7])).is_err());
    assert!(of(&Tensor::from([6.0])).is_err());
    assert!(aten::segment_reduce(&x, "sum").is_err());
    let whole = Tensor::from([6i64]);
    assert!(aten::segment_reduce::with(&x, "median").lengths(Some(&whole)).call().is_err());
    assert!(aten::segment_reduce::with(&x, "sum").lengths(Some(&whole)).axis(1).call().is_err());
    assert!(aten::segment_reduce::with(&x, "sum").indices(Some(&whole)).call().is_err());
    let offsets = Tensor::from([0i64, 3, 2, 6]);
    assert!(aten::segment_reduce::with(&x, "sum").offsets(Some(&offsets)).call().is_err());
}

#[test]
fn hashes_join_bits() -> Result<()> {
    let hash = |x: &Tensor| aten::hash_tensor(x)?.to_vec::<u64>();
    assert_eq!(hash(&Tensor::from([1.0f32, 2.0, 5.0]))?, [4_603_804_719_079_489_536]);
    assert_eq!(hash(&Tensor::from([-3i8]))?, [18_446_744_073_709_551_613]);
    assert_eq!(hash(&Tensor::from([true, true, true]))?, [1]);
    let x = Tensor::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let columns = aten::hash_tensor::with(&x).dim(&[0]).call()?;
    let expected = [9_214_364_837_600_034_816, 5_629_499_534_213_120, 4_503_599_627_370_496];
    assert_eq!(columns.to_vec::<u64>()?, expected);
    assert!(aten::hash_tensor(&aten::zeros(&[0])?).is_err());
    assert!(aten::hash_tensor::with(&x).mode(1).call().is_err());
    assert!(hash(&Tensor::zeros(&[1], DType::Complex64, Device::CPU)?).is_err());
    Ok(())
}

#[test]
fn integrals_of_samples() -> Result<()> {
    let y = Tensor::from([[1.0, 4.0, 9.0], [2.0, 3.0, 7.0]]);
    assert_eq!(aten::trapz_dx::with(&y).dx(0.5).call()?.to_vec::<f64>()?, [4.5, 3.75]);
    let x = Tensor::from([0.0, 1.0, 3.0]);
    assert_eq!(aten::trapz_x(&y, &x)?.to_vec::<f64>()?, [15.5, 12.5]);
    assert_eq!(aten::cumulative_trapezoid_x(&y, &x)?.to_vec::<f64>()?, [2.5, 15.5, 2.5, 12.5]);
    let steps = aten::cumulative_trapezoid_dx::with(&y).dx(Scalar::from(3)).call()?;
    assert_eq!(steps.to_vec::<f64>()?, [7.5, 27.0, 7.5, 22.5]);
    assert!(aten::trapezoid_x(&y, &Tensor::from([0.0, 1.0])).is_err());
    assert!(aten::cumulative_trapezoid_dx(&Tensor::from(1.0)).is_err());
    assert!(aten::trapezoid_dx::with(&y).dx(Scalar::from(Complex64::new(0.0, 1.0))).call().is_err());
    Ok(())
}

#[test]
fn slopes_of_samples() -> Result<()> {
    let z = Tensor::from([[1.0, 4.0, 9.0, 3.0], [2.0, 3.0, 7.0, 1.0], [0.0, 5.0, 1.0, 8.0]]);
    let slopes = aten::gradient_scalarint(&z)?;
    let expected = [1.0, -1.0, -2.0, -2.0, -0.5, 0.5, -4.0, 2.5, -2.0, 2.0, -6.0, 7.0];
    assert_eq!((slopes.len(), slopes[0].to_vec::<f64>()?), (2, expected.to_vec()));
    let sharp = aten::gradient_scalarint::with(&z).dim(Some(1)).edge_order(2).call()?;
    let expected = [2.0, 4.0, -0.5, -11.5, -0.5, 2.5, -1.0, -11.0, 9.5, 0.5, 1.5, 12.5];
    assert_eq!(sharp[0].to_vec::<f64>()?, expected);
    let places = [Tensor::from([0.0, 1.0, 4.0]), Tensor::from([0.0, 1.0, 3.0, 4.0])];
    let slopes = aten::gradient_tensorarrayint::with(&z, &places).edge_order(2).call()?;
    let expected = Tensor::from([
        [19.0 / 6.0, 17.0 / 6.0, -19.0 / 6.0, -53.0 / 6.0],
        [2.0 / 3.0, 4.0 / 3.0, -10.0 / 3.0, -26.0 / 3.0],
        [22.0 / 3.0, 8.0 / 3.0, 4.0, 10.0],
    ]);
    assert!(aten::allclose(&slopes[1], &expected)?, "{}", slopes[1]);
    let whole = aten::gradient_scalarint(&Tensor::from([0i64, 1, 4, 9]))?;
    assert_eq!(whole[0].to_vec::<f32>()?, [1.0, 2.0, 4.0, 5.0]);
    assert!(aten::gradient_array(&z, &[0, -2]).is_err());
    assert!(aten::gradient_scalarint::with(&z).edge_order(3).call().is_err());
    assert!(aten::gradient_scalarint(&z.narrow(0, 0, 1)?).is_err());
    assert!(aten::gradient_scalarrayint(&z, &[2.0.into()]).is_err());
    // Three places give two distances, which are used for all samples; otherwise there must be a place for each sample.
    assert!(aten::gradient_tensorarray(&z, &places[..1], &[1]).is_ok());
    assert!(aten::gradient_tensorarray(&z, &places[1..], &[0]).is_err());
    Ok(())
}
