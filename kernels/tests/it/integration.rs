//! Integrals and gradients of samples; the expected numbers are PyTorch's.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

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

#[test]
fn areas_are_sums_of_trapezoids() -> Result<()> {
    let y = Tensor::from([[1f32, 2.0, 4.0], [3.0, 5.0, 9.0]]);
    assert_eq!(aten::trapezoid_dx(&y)?.to_vec::<f32>()?, [4.5, 11.0]);
    assert_eq!(
        aten::trapezoid_dx::with(&y).dx(Scalar::Int(2)).dim(0).call()?.to_vec::<f32>()?,
        [4.0, 7.0, 13.0]
    );
    let x = Tensor::from([0f32, 1.0, 3.0]);
    assert_eq!(aten::trapezoid_x(&y, &x)?.to_vec::<f32>()?, [7.5, 18.0]);
    let whole = aten::trapezoid_dx(&y.to_dtype(DType::Int64)?)?;
    assert_eq!((whole.dtype(), whole.to_vec::<f32>()?), (DType::Float32, vec![4.5, 11.0]));
    // Without points the result is zero, of the points' dtype, as in PyTorch.
    let nothing = aten::trapezoid_dx(&aten::zeros(&[2, 0])?.to_dtype(DType::Int32)?)?;
    assert_eq!((nothing.dtype(), nothing.to_vec::<i32>()?), (DType::Int32, vec![0, 0]));
    assert_eq!(aten::trapezoid_dx(&Tensor::from([5f32]))?.item()?, Scalar::Float(0.0));
    assert!(
        aten::trapezoid_dx(&Tensor::from([true]))
            .unwrap_err()
            .to_string()
            .contains("expected numbers, got bool")
    );
    assert!(aten::trapezoid_x(&x, &Tensor::from([true, false, true])).is_err());
    assert!(aten::trapezoid_dx(&Tensor::from(1f32)).is_err());
    Ok(())
}
