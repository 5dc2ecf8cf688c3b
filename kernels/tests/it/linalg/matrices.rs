//! Matrices of powers, and condition numbers.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use super::are_close;

fn close(found: &Tensor, want: &[f64]) -> Result<()> {
    let found = found.to_vec::<f64>()?;
    let is_close = |(found, want): (&f64, &f64)| found == want || (found - want).abs() < 1e-12;
    assert!(found.len() == want.len() && found.iter().zip(want).all(is_close), "{found:?}, not {want:?}");
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
fn factors_broadcast_to_right_hand_sides() -> Result<()> {
    let a = aten::randn::with(&[3, 1, 4, 4]).dtype(Some(DType::Float64)).call()?;
    let b = aten::randn::with(&[2, 1, 5, 4, 2]).dtype(Some(DType::Float64)).call()?;
    let x = aten::linalg_solve(&a, &b)?;
    assert_eq!(x.sizes(), [2, 3, 5, 4, 2]);
    assert!(are_close(&a.matmul(&x)?, &b.expand(&[2, 3, 5, 4, 2])?)?);
    let symmetric = a.matmul(&aten::mT(&a)?)?;
    let (factors, pivots) = aten::linalg_ldl_factor(&symmetric)?;
    let x = aten::linalg_ldl_solve(&factors, &pivots, &b)?;
    assert!(are_close(&symmetric.matmul(&x)?, &b.expand(&[2, 3, 5, 4, 2])?)?);
    Ok(())
}

#[test]
fn distances_of_any_order_are_those_of_differences() -> Result<()> {
    let random = |sizes: &[i64]| aten::randn::with(sizes).dtype(Some(DType::Float64)).call();
    let (x, y) = (random(&[2, 1, 5, 19])?, random(&[3, 7, 19])?);
    let difference = x.unsqueeze(-2)?.sub(&y.unsqueeze(-3)?)?;
    for p in [0.0, 0.7, 1.0, 1.5, 2.0, 3.0, f64::INFINITY] {
        let want = aten::linalg_vector_norm::with(&difference).ord(p).dim(Some(&[-1])).call()?;
        let distances = aten::_cdist_forward(&x, &y, p, None)?;
        assert_eq!(distances.sizes(), [2, 3, 5, 7]);
        assert!(are_close(&distances, &want)?, "{p}");
        let (rows, first) = (random(&[9, 11])?, aten::triu_indices::with(9, 9).offset(1).call()?);
        let among = aten::pdist::with(&rows).p(p).call()?;
        let all = aten::_cdist_forward(&rows, &rows, p, None)?;
        let pairs = [Some(first.select_int(0, 0)?), Some(first.select_int(0, 1)?)];
        assert!(are_close(&among, &aten::index_Tensor(&all, &pairs)?)?, "{p}");
        // The gradient of a row is that of its distances to all others, on either side.
        let ones = aten::ones_like(&all)?;
        let once = aten::_cdist_backward(&ones, &rows, &rows, p, &all)?;
        let found = aten::_pdist_backward(&aten::ones_like(&among)?, &rows, p, &among)?;
        assert!(are_close(&found, &once)?, "{p}");
    }
    Ok(())
}
