//! Reflections, factors of symmetric matrices, polar forms; the numbers are PyTorch's.

use torch_library::autograd::{gradcheck, gradgradcheck};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use crate::assert_close;

fn matrix() -> Tensor {
    Tensor::from([[2.0, 5.0, 7.0], [1.0, 3.0, 8.0], [0.0, 1.0, 2.0]])
}

fn symmetric() -> Tensor {
    Tensor::from([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
}

#[track_caller]
fn close(a: &Tensor, b: &Tensor) {
    assert!(aten::allclose::with(a, b).atol(1e-4).call().unwrap(), "{a}\n{b}");
}

#[test]
fn reflections_make_the_orthogonal_factor() -> Result<()> {
    let (a, tau) = aten::geqrf(&matrix())?;
    assert_eq!(a.strides(), [1, 3]);
    close(
        &a,
        &Tensor::from([[-2.2361, -5.8138, -9.8387], [0.2361, -1.0954, -3.4689], [0.0, 0.6482, -2.8577]]),
    );
    close(&tau, &Tensor::from([1.8944, 1.4082, 0.0]));
    let q = aten::linalg_householder_product(&a, &tau)?;
    close(&q.matmul(&aten::triu(&a)?)?, &matrix());
    close(&aten::orgqr(&a, &tau)?, &q);
    let other = Tensor::from([[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]]);
    for (is_adjoint, factor) in [(false, q.clone()), (true, q.t()?)] {
        let right = aten::ormqr::call(&a, &tau, &other, false, is_adjoint)?;
        close(&right, &other.matmul(&factor)?);
        let left = aten::ormqr::call(&a, &tau, &other.t()?, true, is_adjoint)?;
        close(&left, &factor.matmul(&other.t()?)?);
    }
    Ok(())
}

#[test]
fn reflections_of_complex_matrices() -> Result<()> {
    let parts = [(1.0, 1.0), (2.0, 0.0), (0.0, -1.0), (0.0, 1.0), (3.0, -2.0), (1.0, 0.5)];
    let numbers = parts.map(|(re, im)| Complex64::new(re, im)).to_vec();
    let x = Tensor::from_vec(numbers, &[3, 2])?;
    let (a, tau) = aten::geqrf(&x)?;
    let q = aten::linalg_householder_product(&a, &tau)?;
    let r = aten::triu(&a.narrow(0, 0, 2)?)?;
    close(&q.matmul(&r)?, &x);
    let whole = aten::ormqr::call(&a, &tau, &x, true, true)?;
    close(&whole.narrow(0, 0, 2)?, &r);
    Ok(())
}

#[test]
fn derivatives_of_reflections() -> Result<()> {
    let vectors = Tensor::from([[0.3, 0.1], [0.5, -0.2], [-0.4, 0.6]]);
    let (tau, other) = (Tensor::from([0.7, 1.2]), Tensor::from([[1.0, 0.5], [0.2, -0.3], [0.4, 0.8]]));
    for x in [&vectors, &tau, &other] {
        x.set_requires_grad(true)?;
    }
    let product = |x: &[Tensor]| Ok(vec![aten::linalg_householder_product(&x[0], &x[1])?]);
    gradcheck(product, &[vectors.clone(), tau.clone()], Default::default())?;
    gradgradcheck(product, &[vectors.clone(), tau.clone()], Default::default())?;
    for (is_left, is_adjoint) in [(true, false), (true, true), (false, false), (false, true)] {
        let product = |x: &[Tensor]| {
            let other = if is_left { x[2].clone() } else { x[2].t()? };
            Ok(vec![aten::ormqr::call(&x[0], &x[1], &other, is_left, is_adjoint)?])
        };
        gradcheck(product, &[vectors.clone(), tau.clone(), other.clone()], Default::default())?;
    }
    let (a, _) = aten::geqrf(&vectors)?;
    assert_eq!(a.grad_fn()?.map(|node| node.name()), Some("GeqrfBackward0"));
    assert!(a.sum()?.backward().is_err());
    Ok(())
}

#[test]
fn symmetric_matrices_have_factors_with_blocks() -> Result<()> {
    let (ld, pivots, info) = aten::linalg_ldl_factor_ex(&symmetric())?;
    close(&ld, &Tensor::from([[2.0, 0.0, 0.0], [0.5, 2.5, 0.0], [0.0, 0.4, 1.6]]));
    assert_eq!((pivots.to_vec::<i32>()?, info.to_vec::<i32>()?), (vec![1, 2, 3], vec![0]));
    let hollow = Tensor::from([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]);
    let (ld, pivots) = aten::linalg_ldl_factor(&hollow)?;
    close(&ld, &Tensor::from([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0], [0.4, 0.2, -0.8]]));
    assert_eq!(pivots.to_vec::<i32>()?, [-3, -3, 3]);
    let right = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]]);
    let solution = aten::linalg_ldl_solve(&ld, &pivots, &right)?;
    close(&hollow.matmul(&solution)?, &right);
    let (_, _, info) = aten::linalg_ldl_factor_ex(&Tensor::from([[0.0, 0.0], [0.0, 0.0]]))?;
    assert_eq!(info.to_vec::<i32>()?, [1]);
    assert!(aten::linalg_ldl_factor(&Tensor::from([[0.0, 0.0], [0.0, 0.0]])).is_err());
    Ok(())
}

#[test]
fn hermitian_matrices_are_solved_with() -> Result<()> {
    let number = Complex64::new;
    let [zero, a, b, c] = [number(0.0, 0.0), number(1.0, 2.0), number(2.0, -1.0), number(0.0, 1.0)];
    let numbers = vec![zero, a.conj(), b.conj(), a, zero, c.conj(), b, c, zero];
    let hermitian = Tensor::from_vec(numbers, &[3, 3])?;
    let (ld, pivots, _) = aten::linalg_ldl_factor_ex::with(&hermitian).hermitian(true).call()?;
    assert_eq!(pivots.to_vec::<i32>()?, [-2, -2, 3]);
    assert_eq!(ld.to_vec::<Complex64>()?[6], number(-0.4, 0.2));
    let right = Tensor::from_vec(vec![a, b, c], &[3, 1])?;
    let solution = aten::linalg_ldl_solve::with(&ld, &pivots, &right).hermitian(true).call()?;
    close(&hermitian.matmul(&solution)?, &right);
    Ok(())
}

#[test]
fn roots_and_polar_forms() -> Result<()> {
    let root = aten::linalg_matrix_sqrth(&symmetric())?;
    close(
        &root,
        &Tensor::from([[1.3738, 0.3333, -0.0404], [0.3333, 1.6667, 0.3333], [-0.0404, 0.3333, 1.3738]]),
    );
    assert_eq!(aten::linalg_matrix_sqrth(&symmetric().neg()?)?.abs()?.sum()?.item()?.to::<f64>()?, 0.0);
    let (u, h) = aten::linalg_polar(&matrix())?;
    close(&h, &Tensor::from([[0.9132, 1.3977, 1.4874], [1.3977, 3.7614, 4.3472], [1.4874, 4.3472, 9.7923]]));
    assert_eq!((u.strides(), h.strides()), (&[3, 1][..], &[3, 1][..]));
    let x = matrix();
    x.set_requires_grad(true)?;
    let polar = |x: &[Tensor]| {
        let (u, h) = aten::linalg_polar(&x[0].narrow(1, 0, 2)?)?;
        Ok(vec![u, h])
    };
    gradcheck(polar, std::slice::from_ref(&x), Default::default())?;
    let square_root = |x: &[Tensor]| Ok(vec![aten::linalg_matrix_sqrth(&x[0].matmul(&x[0].t()?)?)?]);
    gradcheck(square_root, &[x], Default::default())?;
    Ok(())
}

#[test]
fn tensors_are_mappings() -> Result<()> {
    let map = aten::eye(6)?.mul(2.0)?.reshape(&[2, 3, 6])?;
    let inverse = aten::linalg_tensorinv(&map)?;
    assert_eq!((inverse.sizes(), inverse.to_vec::<f32>()?[0]), (&[6, 2, 3][..], 0.5));
    let right = Tensor::from([[2.0f32, 4.0, 6.0], [8.0, 10.0, 12.0]]);
    let solution = aten::linalg_tensorsolve(&map, &right)?;
    assert_eq!(solution.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for ind in [0, 1, 5, -1] {
        assert!(aten::linalg_tensorinv::with(&map).ind(ind).call().is_err(), "{ind}");
    }
    assert!(aten::linalg_tensorsolve(&map, &right.t()?.narrow(0, 0, 2)?).is_err());
    Ok(())
}

#[test]
fn older_names_and_reports() -> Result<()> {
    let (u, s, v) = aten::svd(&matrix())?;
    close(&u.mul(&s)?.matmul(&v.t()?)?, &matrix());
    let (u, s, v) = aten::svd::with(&matrix().narrow(1, 0, 2)?).compute_uv(false).call()?;
    assert_eq!((u.sizes(), s.sizes(), v.sizes()), (&[3, 3][..], &[2][..], &[2, 2][..]));
    let (_, pivots, info) = aten::_lu_with_info(&Tensor::from([[0.0, 0.0], [0.0, 0.0]]))?;
    assert_eq!((pivots.to_vec::<i32>()?, info.to_vec::<i32>()?), (vec![1, 2], vec![1]));
    let (_, info) =
        aten::linalg_solve_ex(&Tensor::from([[0.0, 0.0], [0.0, 0.0]]), &Tensor::from([1.0, 1.0]))?;
    assert_eq!(info.to_vec::<i32>()?, [1]);
    aten::_linalg_check_errors(&Tensor::from([0i32, 0]), "factor", false)?;
    let error =
        aten::_linalg_check_errors(&Tensor::from([0i32, 2]), "factor", false).unwrap_err().to_string();
    assert!(error.contains("factor: the computation failed at step 2 of matrix 1 of the batch"), "{error}");
    Ok(())
}

#[test]
fn sizes_and_types_must_fit() {
    let (a, tau) = aten::geqrf(&matrix()).unwrap();
    let part = |x: &Tensor, dim| x.narrow(dim, 0, 2).unwrap();
    assert!(aten::geqrf(&tau).is_err());
    assert!(aten::linalg_householder_product(&part(&a, 0), &tau).is_err()); // wider than high
    assert!(aten::linalg_householder_product(&part(&a, 1), &tau).is_err()); // more factors than columns
    assert!(aten::linalg_householder_product(&a, &tau.to_dtype(DType::Float32).unwrap()).is_err());
    assert!(aten::ormqr(&a, &tau, &part(&a, 0)).is_err());
    assert!(aten::ormqr(&a, &part(&tau, 0), &a).is_err());
    let (ld, pivots) = aten::linalg_ldl_factor(&symmetric()).unwrap();
    assert!(aten::linalg_ldl_solve(&ld, &part(&pivots, 0), &symmetric()).is_err());
    assert!(aten::linalg_ldl_solve(&ld, &Tensor::from([1i32, 9, 3]), &symmetric()).is_err());
    assert!(aten::linalg_ldl_solve(&ld, &Tensor::from([-2i32, 2, 3]), &symmetric()).is_err());
    assert!(aten::linalg_polar(&part(&matrix(), 0)).is_err());
    let half = matrix().to_dtype(DType::Float16).unwrap();
    assert!(aten::linalg_matrix_sqrth(&half).is_err() && aten::linalg_polar(&half).is_err());
}

#[test]
fn matrices_of_one_batch_are_solved_by_a_cholesky_factor() -> Result<()> {
    let factor = Tensor::from([[2.0, 0.0], [1.0, 3.0]]);
    let solution = aten::_cholesky_solve_helper(&Tensor::from([[1.0, 2.0], [3.0, 4.0]]), &factor, false)?;
    assert_close(
        &solution,
        &[0.11111111111111113, 0.33333333333333337, 0.27777777777777773, 0.3333333333333333],
    )?;
    let batch = aten::unsqueeze(&factor, 0)?;
    assert!(aten::_cholesky_solve_helper(&factor, &batch, false).is_err(), "no batch");
    Ok(())
}
