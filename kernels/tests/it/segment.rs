//! Reductions of segments; the expected numbers are PyTorch's.

use torch_library::autograd::gradcheck;
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn numbers() -> Tensor {
    Tensor::from([1.0, 2.0, 1.0, 5.0, 3.0, 3.5])
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
