//! Pairs of vectors, powers, angles, bounded norms, positions in flat tensors and condition numbers.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

fn close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| found == want || (found - want).abs() < 1e-12;
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
    Ok(())
}

#[test]
fn pairs_of_vectors_are_multiplied_by_matrices() -> Result<()> {
    let (left, right) =
        (Tensor::from([[1.0, 2.0], [0.0, 1.0]]), Tensor::from([[1.0, -1.0, 2.0], [3.0, 0.0, 1.0]]));
    let weight = Tensor::from([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]]);
    let bias = Tensor::from([0.5, -0.5]);
    let out = aten::bilinear::with(&left, &right, &weight).bias(Some(&bias)).call()?;
    close(&out, &[-0.5, 9.5, 0.5, 7.5])?;
    let refused = aten::bilinear(&right, &left, &weight).unwrap_err().to_string();
    assert!(refused.contains("expected [.., i], [.., j] and [o, i, j]"), "{refused}");
    Ok(())
}

#[test]
fn angles_are_of_numbers_to_the_positive_ones() -> Result<()> {
    use std::f64::consts::{FRAC_PI_2, PI};
    close(&aten::angle(&Tensor::from([-2.0, -0.0, 3.0]))?, &[PI, 0.0, 0.0])?;
    assert!(aten::angle(&Tensor::from([f64::NAN]))?.to_vec::<f64>()?[0].is_nan());
    close(
        &aten::angle(&Tensor::from([Complex64::new(0.0, 2.0), Complex64::new(-1.0, 0.0)]))?,
        &[FRAC_PI_2, PI],
    )?;
    assert_eq!(aten::angle(&Tensor::from([-1i64, 1]))?.to_vec::<f32>()?, [std::f32::consts::PI, 0.0]);
    Ok(())
}

#[test]
fn powers_of_numbers_stand_in_rows() -> Result<()> {
    let x = Tensor::from([2i64, 3]);
    assert_eq!(aten::vander(&x)?.to_vec::<i64>()?, [2, 1, 3, 1]);
    let three = aten::vander::call(&x, Some(3), true)?;
    assert_eq!(three.to_vec::<i64>()?, [1, 2, 4, 1, 3, 9]);
    assert_eq!(aten::vander::call(&x, Some(0), true)?.sizes(), [2, 0]);
    assert_eq!(aten::vander::call(&x.to_dtype(DType::Int32)?, None, true)?.dtype(), DType::Int64);
    assert!(aten::vander(&Tensor::from(1.0)).is_err());

    let batch = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let powers = aten::linalg_vander::with(&batch).N(Some(3)).call()?;
    close(&powers, &[1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 1.0, 3.0, 9.0, 1.0, 4.0, 16.0])?;
    assert!(aten::linalg_vander::with(&batch).N(Some(1)).call().is_err());
    Ok(())
}

#[test]
fn long_slices_are_scaled_down() -> Result<()> {
    let x = Tensor::from([[3.0, 4.0], [0.3, 0.4]]);
    let bounded = aten::renorm(&x, 2.into(), 0, 1.into())?.to_vec::<f64>()?;
    let want = [3.0 / (5.0 + 1e-7), 4.0 / (5.0 + 1e-7), 0.3, 0.4];
    assert!(
        bounded.len() == 4 && bounded.iter().zip(want).all(|(found, want)| (found - want).abs() < 1e-14),
        "{bounded:?}"
    );
    for (order, largest) in [(0.0, 1.0), (-1.0, 1.0), (2.0, -1.0)] {
        assert!(aten::renorm(&x, order.into(), 0, largest.into()).is_err(), "{order} {largest}");
    }
    assert!(aten::renorm(&x.select(0, 0)?, 2.into(), 0, 1.into()).is_err());
    Ok(())
}

#[test]
fn numbers_are_put_at_flat_places() -> Result<()> {
    let x = Tensor::from([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let (index, source) = (Tensor::from([0i64, -1, 0]), Tensor::from([10.0, 20.0, 30.0]));
    let sums = aten::put::call(&x, &index, &source, true)?;
    close(&sums, &[41.0, 2.0, 3.0, 4.0, 5.0, 26.0])?;
    // Positions count in row-major order, whatever the strides.
    let turned = aten::put(&x.t()?, &Tensor::from([1i64]), &Tensor::from([9.0]))?;
    close(&turned, &[1.0, 9.0, 2.0, 5.0, 3.0, 6.0])?;
    assert_eq!(turned.strides(), [1, 3]);
    let mut written = x.t()?;
    aten::put_(&mut written, &Tensor::from([1i64]), &Tensor::from([9.0]))?;
    close(&x, &[1.0, 2.0, 3.0, 9.0, 5.0, 6.0])?;
    let mut whole = aten::clone(&x)?;
    aten::put_::call(&mut whole, &index, &source, true)?;
    assert_eq!(whole.version(), 1);
    close(&whole, &[41.0, 2.0, 3.0, 9.0, 5.0, 26.0])?;
    for (index, source) in [
        (Tensor::from([6i64]), Tensor::from([0.0])),
        (Tensor::from([0i32]), Tensor::from([0.0])),
        (Tensor::from([0i64]), Tensor::from([0.0f32])),
        (Tensor::from([0i64, 1]), Tensor::from([0.0])),
    ] {
        assert!(aten::put(&x, &index, &source).is_err());
        assert!(aten::put_(&mut written, &index, &source).is_err());
    }
    Ok(())
}

#[test]
fn conditions_are_products_of_norms() -> Result<()> {
    let (matrix, singular) = (Tensor::from([[1.0, 2.0], [3.0, 5.0]]), Tensor::from([[1.0, 2.0], [2.0, 4.0]]));
    let of = |matrix: &Tensor, p: f64| aten::linalg_cond::with(matrix).p(Some(p.into())).call();
    close(&of(&matrix, 1.0)?, &[56.0])?;
    close(&of(&matrix, f64::INFINITY)?, &[56.0])?;
    close(&aten::linalg_cond_p_str(&matrix, "fro")?, &[39.0])?;
    let two = aten::linalg_cond(&matrix)?;
    close(&aten::mul_Tensor(&two, &of(&matrix, -2.0)?)?, &[1.0])?;
    close(&of(&singular, 1.0)?, &[f64::INFINITY])?;
    close(&aten::linalg_cond(&Tensor::zeros(&[2, 0, 3], DType::Float64, Device::CPU)?)?, &[0.0, 0.0])?;
    for p in [3.0, 0.0] {
        assert!(of(&matrix, p).is_err());
    }
    assert!(of(&Tensor::from([[1.0, 2.0]]), 1.0).is_err());
    Ok(())
}

#[test]
fn complex_numbers_lie_as_their_parts_do() -> Result<()> {
    let part = aten::arange(24.into())?.to_dtype(DType::Float32)?.view(&[2, 3, 4])?.permute(&[2, 0, 1])?;
    let numbers = aten::complex(&part, &part.contiguous()?)?;
    assert_eq!((numbers.strides(), numbers.dtype()), (part.strides(), DType::Complex64));
    assert!(aten::equal(&aten::imag(&numbers)?, &part)?);
    let polar = aten::polar(&part, &part.mul_Scalar(1e6.into())?)?; // angles that are not moderate, too
    assert_eq!(polar.strides(), part.strides());
    let (abs, angle) =
        (part.to_dtype(DType::Float64)?, part.mul_Scalar(1e6.into())?.to_dtype(DType::Float64)?);
    let real = aten::mul_Tensor(&abs, &aten::cos(&angle)?)?;
    assert!(aten::allclose::with(&aten::real(&polar)?.to_dtype(DType::Float64)?, &real).atol(1e-4).call()?);
    let halves = part.to_dtype(DType::Float16)?;
    assert_eq!(aten::complex(&halves, &halves)?.dtype(), DType::Complex32);
    assert!(aten::complex(&part, &halves).is_err());
    Ok(())
}

#[test]
fn powers_of_two_scale_without_overflow_on_the_way() -> Result<()> {
    let ldexp = |x: &[f64], dtype, exponents: &[i64]| -> Result<Vec<f64>> {
        let (x, exponents) = (Tensor::from(x.to_vec()).to_dtype(dtype)?, Tensor::from(exponents.to_vec()));
        let product = aten::ldexp_Tensor(&x, &exponents)?;
        assert_eq!(product.dtype(), dtype);
        product.to_dtype(DType::Float64)?.to_vec::<f64>()
    };
    let (half, single) = (DType::Float16, DType::Float32);
    assert_eq!(ldexp(&[1.5, -3.0, 2f64.powi(-24)], half, &[2, 20, 20])?, [6.0, f64::NEG_INFINITY, 0.0625]);
    assert_eq!(ldexp(&[2f64.powi(-100), 0.0, 1.0], single, &[160, 5000, -5000])?, [2f64.powi(60), 0.0, 0.0]);
    let ends = ldexp(&[f64::MIN_POSITIVE, 5e-324], DType::Float64, &[2000, 2000])?;
    assert_eq!(ends, [2f64.powi(978), 2f64.powi(926)]);
    let bools = Tensor::from([true]);
    assert!(aten::ldexp_Tensor(&Tensor::from([1.5]), &bools).is_err());
    Ok(())
}
