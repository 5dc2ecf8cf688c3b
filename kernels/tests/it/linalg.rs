//! Equations, inverses and factors of matrices.

use torch_library::autograd::{gradcheck, gradgradcheck};
use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

mod batches;
mod conventions;
mod gradients;
mod matrices;
mod medium;

/// A batch of matrices with unordered numbers and a dominant diagonal.
fn matrices(sizes: &[i64]) -> Tensor {
    let count = sizes.iter().product::<i64>();
    let numbers = (0..count).map(|at| 0.25 * (at * 7 % 11) as f64 - 1.0).collect();
    let matrices = Tensor::from_vec(numbers, sizes).unwrap();
    let mut diagonal = aten::diagonal::call(&matrices, 0, -2, -1).unwrap();
    diagonal.add_(4.0).unwrap();
    matrices
}

#[track_caller]
fn close(a: &Tensor, b: &Tensor) {
    assert!(aten::allclose(a, b).unwrap(), "{a}\n{b}");
}

#[test]
fn solutions_solve_the_equations() {
    let (a, b) = (matrices(&[2, 3, 3]), matrices(&[3, 2]));
    let x = aten::linalg_solve(&a, &b).unwrap();
    assert_eq!((x.sizes(), x.strides()), (&[2, 3, 2][..], &[6, 1, 3][..]));
    close(&a.matmul(&x).unwrap(), &b.expand(&[2, 3, 2]).unwrap());
    let vectors = aten::linalg_solve(&a, &matrices(&[2, 3])).unwrap();
    assert_eq!((vectors.sizes(), vectors.strides()), (&[2, 3][..], &[1, 2][..])); // as PyTorch's
    let b = matrices(&[2, 2, 3]);
    let x = aten::linalg_solve::with(&a, &b).left(false).call().unwrap();
    assert_eq!(x.strides(), [6, 3, 1]);
    close(&x.matmul(&a).unwrap(), &b);
    let upper = aten::triu(&a).unwrap();
    let x = aten::linalg_solve_triangular::call(&upper, &b, true, false, true).unwrap();
    let ones = aten::triu::with(&a).diagonal(1).call().unwrap().add(&aten::eye(3).unwrap()).unwrap();
    close(&x.matmul(&ones).unwrap(), &b);
}

#[test]
fn factors_make_the_matrix() {
    for sizes in [[4, 2], [2, 4], [3, 3]] {
        let a = matrices(&sizes);
        for mode in ["reduced", "complete"] {
            let (q, r) = aten::linalg_qr::with(&a).mode(mode).call().unwrap();
            close(&q.matmul(&r).unwrap(), &a);
            let n = q.sizes()[1];
            let ones = aten::eye::with(n).dtype(Some(DType::Float64)).call().unwrap();
            close(&q.t().unwrap().matmul(&q).unwrap(), &ones);
        }
    }
    let a = matrices(&[3, 3]);
    let a = a.matmul(&a.t().unwrap()).unwrap();
    let u = aten::linalg_cholesky::with(&a).upper(true).call().unwrap();
    close(&u.t().unwrap().matmul(&u).unwrap(), &a);
    close(&aten::cholesky_inverse::with(&u).upper(true).call().unwrap(), &aten::inverse(&a).unwrap());
}

#[test]
fn singular_matrices_are_errors_or_noted() {
    let a = Tensor::from([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]]]);
    let error = aten::linalg_inv(&a).unwrap_err().to_string();
    assert_eq!(
        error,
        "aten::linalg_inv: aten::linalg_inv_ex: the matrix is singular, found at step 2 of matrix 1 of the batch"
    );
    assert_eq!(aten::linalg_inv_ex(&a).unwrap().1.to_vec::<i32>().unwrap(), [0, 2]);
    assert_eq!(aten::linalg_det(&a).unwrap().to_vec::<f64>().unwrap(), [1.0, 0.0]);
    let (sign, logarithm) = aten::linalg_slogdet(&a).unwrap();
    assert_eq!(sign.to_vec::<f64>().unwrap(), [1.0, 0.0]);
    assert_eq!(logarithm.to_vec::<f64>().unwrap(), [0.0, f64::NEG_INFINITY]);
    assert!(aten::linalg_cholesky(&a.neg().unwrap()).is_err());
    assert_eq!(
        aten::linalg_det(&aten::zeros(&[2, 0, 0]).unwrap()).unwrap().to_vec::<f32>().unwrap(),
        [1.0; 2]
    );
}

#[test]
fn a_cholesky_factor_has_the_derivatives_of_symmetric_matrices() {
    let x = matrices(&[2, 2]);
    x.set_requires_grad(true).unwrap();
    for upper in [false, true] {
        let factor = |x: &[Tensor]| {
            let a = x[0].matmul(&x[0].t()?)?;
            Ok(vec![aten::linalg_cholesky::with(&a).upper(upper).call()?])
        };
        gradcheck(factor, std::slice::from_ref(&x), Default::default()).unwrap();
        gradgradcheck(factor, std::slice::from_ref(&x), Default::default()).unwrap();
    }
}

/// A matrix with singular values on the diagonal.
fn diagonal(values: &Tensor) -> Tensor {
    aten::diag_embed(values).unwrap()
}

#[test]
fn singular_values_and_vectors_make_the_matrix() {
    for sizes in [[4, 2], [2, 4], [3, 3]] {
        let a = matrices(&sizes);
        let (u, s, vh) = aten::linalg_svd::with(&a).full_matrices(false).call().unwrap();
        close(&u.matmul(&diagonal(&s)).unwrap().matmul(&vh).unwrap(), &a);
        let (u, _, vh) = aten::linalg_svd(&a).unwrap();
        for whole in [u, vh] {
            let one = aten::eye::with(whole.sizes()[0]).dtype(Some(DType::Float64)).call().unwrap();
            close(&whole.matmul(&whole.t().unwrap()).unwrap(), &one);
        }
    }
    let (u, s, _) = aten::linalg_svd(&aten::zeros(&[3, 2]).unwrap()).unwrap();
    assert_eq!(s.to_vec::<f32>().unwrap(), [0.0; 2]);
    close(&u, &aten::eye(3).unwrap());
}

#[test]
fn eigenvectors_are_stretched() {
    let a = matrices(&[2, 3, 3]);
    let a = a.add(&aten::mT(&a).unwrap()).unwrap();
    let (values, vectors) = aten::linalg_eigh(&a).unwrap();
    close(&a.matmul(&vectors).unwrap(), &vectors.mul(&values.unsqueeze(-2).unwrap()).unwrap());
    let (upper, _) = aten::linalg_eigh::with(&aten::triu(&a).unwrap()).UPLO("U").call().unwrap();
    close(&upper, &values);
}

/// Sizes on both sides of the block sizes.
const SIZES: [i64; 9] = [1, 2, 7, 16, 17, 33, 64, 65, 130];
const DTYPES: [DType; 4] = [DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];

/// Checks results up to a tolerance.
#[track_caller]
fn near(a: &Tensor, b: &Tensor, scale: f64) {
    let is_single = matches!(a.dtype(), DType::Float32 | DType::Complex64);
    let bound = if is_single { 1e-4 } else { 1e-12 } * scale;
    let apart = aten::max(&aten::abs(&a.sub(b).unwrap()).unwrap()).unwrap().item().unwrap();
    assert!(apart.to::<f64>().unwrap() <= bound, "{:?} {}: {apart:?}", a.sizes(), a.dtype());
}

#[test]
fn factors_of_any_size_make_the_matrix() -> Result<()> {
    for (n, dtype) in SIZES.into_iter().flat_map(|n| DTYPES.map(|dtype| (n, dtype))) {
        for sizes in [[2, n, n], [2, n + 3, n], [2, n, n + 3]] {
            let a = random(&sizes, dtype)?.to_dtype(dtype)?;
            let (p, l, u) = aten::linalg_lu(&a)?;
            near(&p.matmul(&l.matmul(&u)?)?, &a, n as f64);
            let largest = aten::max(&aten::abs(&l)?)?.item()?.to::<f64>()?;
            assert!(largest <= 1.5, "{largest}"); // LAPACK compares the sum of the parts of complex numbers
        }
        let a = random(&[2, n, n], dtype)?.to_dtype(dtype)?;
        let a = a.matmul(&aten::mH(&a)?)?.add(&aten::eye(n)?.to_dtype(dtype)?)?;
        for upper in [false, true] {
            let factor = aten::linalg_cholesky::with(&a).upper(upper).call()?;
            let other = aten::mH(&factor)?;
            let product = if upper { other.matmul(&factor)? } else { factor.matmul(&other)? };
            near(&product, &a, n as f64);
        }
    }
    Ok(())
}

#[test]
fn equations_with_triangles_of_any_size_are_solved() -> Result<()> {
    for (n, dtype) in SIZES.into_iter().flat_map(|n| DTYPES.map(|dtype| (n, dtype))) {
        let ones = aten::eye(n)?.to_dtype(dtype)?;
        let a = random(&[n, n], dtype)?.to_dtype(dtype)?.div(n)?;
        let a = aten::sub_Tensor(&a, &a.mul(&ones)?)?.add(&ones.mul(2)?)?;
        for (upper, left, unit) in (0..8).map(|bits| (bits & 1 == 0, bits & 2 == 0, bits & 4 == 0)) {
            let half = if upper { aten::triu(&a)? } else { aten::tril(&a)? };
            let half = if unit { half.sub(&ones)? } else { half };
            let b = random(&if left { [n, 11] } else { [11, n] }, dtype)?.to_dtype(dtype)?;
            let solve = aten::linalg_solve_triangular::with(&a, &b, upper).left(left);
            let x = solve.unitriangular(unit).call()?;
            near(&if left { half.matmul(&x)? } else { x.matmul(&half)? }, &b, n as f64);
        }
    }
    Ok(())
}

#[test]
fn eigenvalues_of_any_size_and_kind_are_found() -> Result<()> {
    for (n, dtype) in SIZES.into_iter().flat_map(|n| DTYPES.map(|dtype| (n, dtype))) {
        let a = random(&[n, n], dtype)?.to_dtype(dtype)?;
        let a = a.add(&aten::mH(&a)?)?;
        let ones = aten::ones::with(&[n, n]).dtype(Some(dtype)).call()?;
        let identity = aten::eye(n)?.to_dtype(dtype)?;
        for a in [a.clone(), a.mul(1e-20)?, a.mul(1e18)?, ones, identity.clone(), aten::zeros_like(&a)?] {
            let (values, vectors) = aten::linalg_eigh(&a)?;
            let largest = aten::max(&aten::abs(&a)?)?.item()?.to::<f64>()?;
            let scale = if largest == 0.0 { 1.0 } else { largest };
            let stretched = vectors.mul(&values.unsqueeze(-2)?)?;
            near(&a.matmul(&vectors)?.div(scale)?, &stretched.div(scale)?, n as f64);
            near(&aten::mH(&vectors)?.matmul(&vectors)?, &identity, n as f64);
            near(&aten::linalg_eigvalsh(&a)?.div(scale)?, &values.div(scale)?, n as f64);
        }
    }
    assert!(aten::linalg_eigh(&aten::full(&[2, 2], f64::NAN.into())?).is_err());
    Ok(())
}

#[test]
fn spectra_have_the_derivatives_of_what_does_not_depend_on_signs() {
    let check = |x: &Tensor, f: &dyn Fn(&[Tensor]) -> Result<Vec<Tensor>>| {
        x.set_requires_grad(true).unwrap();
        gradcheck(f, std::slice::from_ref(x), Default::default()).unwrap();
        gradgradcheck(f, std::slice::from_ref(x), Default::default()).unwrap();
    };
    check(&matrices(&[3, 3]), &|x| {
        let (values, vectors) = aten::linalg_eigh(&x[0].add(&x[0].t()?)?)?;
        Ok(vec![values, vectors.mul(&vectors)?])
    });
    for sizes in [[3, 2], [2, 3]] {
        check(&matrices(&sizes), &|x| {
            let (u, s, vh) = aten::linalg_svd::with(&x[0]).full_matrices(false).call()?;
            Ok(vec![s, u.mul(&u)?, vh.mul(&vh)?])
        });
    }
}

fn random(sizes: &[i64], dtype: DType) -> Result<Tensor> {
    let random = |sizes: &[i64]| aten::randn::with(sizes).dtype(Some(DType::Float64)).call();
    match dtype.is_complex() {
        true => aten::view_as_complex(&random(&[sizes, &[2]].concat())?),
        false => random(sizes),
    }
}

fn are_close(a: &Tensor, b: &Tensor) -> Result<bool> {
    aten::allclose::call(a, b, 1e-9, 1e-9, false)
}

#[test]
fn spectra_of_larger_matrices_are_found() -> Result<()> {
    for dtype in [DType::Float64, DType::Complex128] {
        let a = random(&[2, 30, 17], dtype)?;
        for a in [a.clone(), aten::mH(&a)?, a.mul(0)?] {
            let (u, s, vh) = aten::linalg_svd::with(&a).full_matrices(false).call()?;
            assert!(are_close(&u.mul(&s.unsqueeze(-2)?)?.matmul(&vh)?, &a)?, "{dtype}");
            let ones = aten::eye::with(17).dtype(Some(dtype)).call()?.expand(&[2, 17, 17])?;
            assert!(
                are_close(&aten::mH(&u)?.matmul(&u)?, &ones)?
                    && are_close(&vh.matmul(&aten::mH(&vh)?)?, &ones)?
            );
        }
        let a = random(&[2, 30, 30], dtype)?;
        for a in [
            a.add(&aten::mH(&a)?)?,
            aten::mul_Scalar(&a, 0.into())?,
            aten::diag_embed(&aten::diagonal::call(&a, 0, -2, -1)?)?,
        ] {
            let a = aten::add_Tensor(&a, &aten::mH(&a)?)?;
            let (values, vectors) = aten::linalg_eigh(&a)?;
            assert!(are_close(&a.matmul(&vectors)?, &vectors.mul(&values.unsqueeze(-2)?)?)?, "{dtype}");
            let ones = aten::eye::with(30).dtype(Some(dtype)).call()?.expand(&[2, 30, 30])?;
            assert!(are_close(&aten::mH(&vectors)?.matmul(&vectors)?, &ones)?);
        }
    }
    let nan = Tensor::from([[1.0, f64::NAN], [f64::NAN, 1.0]]);
    assert!(aten::linalg_svd(&nan).is_err() && aten::linalg_eigh(&nan).is_err());
    Ok(())
}

#[test]
fn lu_factors_come_apart_and_solve() -> Result<()> {
    for (rows, columns) in [(3, 3), (4, 2), (2, 4)] {
        let a = random(&[2, rows, columns], DType::Float64)?;
        let (p, l, u) = aten::linalg_lu(&a)?;
        assert!(are_close(&p.matmul(&l)?.matmul(&u)?, &a)?, "{rows} × {columns}");
    }
    let a = random(&[2, 3, 3], DType::Complex128)?;
    let (factors, pivots) = aten::linalg_lu_factor(&a)?;
    let b = random(&[3, 3], DType::Complex128)?;
    let solve = |left, adjoint| aten::linalg_lu_solve::call(&factors, &pivots, &b, left, adjoint);
    let b = b.expand(&[2, 3, 3])?;
    assert!(are_close(&a.matmul(&solve(true, false)?)?, &b)?);
    assert!(are_close(&solve(false, false)?.matmul(&a)?, &b)?);
    assert!(are_close(&aten::mH(&a)?.matmul(&solve(true, true)?)?, &b)?);
    assert!(are_close(&solve(false, true)?.matmul(&aten::mH(&a)?)?, &b)?);
    let error = aten::linalg_lu_solve(&factors, &pivots.to_dtype(DType::Int64)?, &b).unwrap_err().to_string();
    assert_eq!(error, "aten::linalg_lu_solve: pivots of int64 and sizes [2, 3], expected int32 and [2, 3]");
    Ok(())
}

#[test]
fn matrices_without_an_inverse_have_a_pseudoinverse() -> Result<()> {
    let a = Tensor::from([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]);
    let inverse = aten::linalg_pinv_atol_rtol_float(&a)?;
    assert!(
        are_close(&a.matmul(&inverse)?.matmul(&a)?, &a)?
            && are_close(&inverse.matmul(&a)?.matmul(&inverse)?, &inverse)?
    );
    let rank = |a: &Tensor, tol| aten::linalg_matrix_rank(a, tol)?.item()?.to::<i64>();
    assert_eq!((rank(&a, 1e-9)?, rank(&a, 100.0)?, rank(&aten::linalg_pinv(&a, 1e-9)?, 1e-9)?), (1, 0, 1));
    let by_vectors = aten::linalg_pinv_atol_rtol_float::with(&a.t()?.matmul(&a)?).hermitian(true).call()?;
    assert!(are_close(&by_vectors.matmul(&a.t()?)?, &inverse)?);
    for driver in ["gels", "gelsy", "gelsd", "gelss"] {
        let b = Tensor::from([1.0, 1.0, 1.0]);
        let lstsq = |a: &Tensor| aten::linalg_lstsq::call(a, &b, None, Some(driver));
        assert!(are_close(&lstsq(&a)?.0, &inverse.matmul(&b)?)?, "{driver}");
        let full = Tensor::from([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]);
        let (_, residuals, rank, values) = lstsq(&full)?;
        let sizes = [residuals.sizes(), rank.sizes(), values.sizes()];
        let expected: [&[i64]; 3] = match driver {
            "gels" => [&[1], &[0], &[0]],
            "gelsy" => [&[0], &[], &[0]],
            _ => [&[1], &[], &[2]],
        };
        assert_eq!(sizes, expected, "{driver}");
    }
    assert!(aten::linalg_lstsq::call(&a, &a, None, Some("qr")).is_err());
    Ok(())
}

#[test]
fn general_matrices_have_complex_eigenvalues() -> Result<()> {
    for n in [1, 2, 3, 6, 20] {
        for dtype in [DType::Float64, DType::Complex128] {
            let a = random(&[3, n, n], dtype)?;
            let (values, vectors) = aten::linalg_eig(&a)?;
            let left = a.to_dtype(DType::Complex128)?.matmul(&vectors)?;
            assert!(are_close(&left, &vectors.mul(&values.unsqueeze(-2)?)?)?, "{dtype} {n}");
            let lengths = aten::linalg_vector_norm::with(&vectors).dim(Some(&[-2])).call()?;
            assert!(are_close(&lengths, &aten::ones_like(&lengths)?)?);
        }
    }
    let values = aten::linalg_eigvals(&Tensor::from([[0.0, -1.0], [1.0, 0.0]]))?.to_vec::<Complex64>()?;
    assert!(values[0] == values[1].conj() && values[0].re == 0.0, "{values:?}");
    let jordan = aten::linalg_eigvals(&Tensor::from([[2.0, 1.0], [0.0, 2.0]]))?;
    assert_eq!(jordan.to_vec::<Complex64>()?, [Complex64::new(2.0, 0.0); 2]);
    let (values, _) = aten::linalg_eig(&random(&[5, 5], DType::Float64)?.to_dtype(DType::Float32)?)?;
    assert_eq!(values.dtype(), DType::Complex64);
    assert_eq!(aten::linalg_eigvals(&aten::zeros(&[2, 0, 0])?)?.sizes(), [2, 0]);
    assert!(
        aten::linalg_eig(&Tensor::from([[f64::NAN]])).is_err()
            && aten::linalg_eig(&aten::ones(&[2, 3])?).is_err()
    );
    assert_eq!(aten::linalg_eig(&aten::zeros(&[0, 3, 3])?)?.1.sizes(), [0, 3, 3]);
    Ok(())
}

#[test]
fn matrices_with_fewer_directions_than_eigenvalues_have_vectors() -> Result<()> {
    let cell = |n: i64, f: &dyn Fn(i64, i64) -> f64| {
        Tensor::from_vec((0..n * n).map(|at| f(at / n, at % n)).collect(), &[n, n])
    };
    for n in [2, 3, 10, 40] {
        let jordan = cell(n, &|i, j| f64::from(2 * u8::from(i == j) + u8::from(j == i + 1)))?;
        let lower = cell(n, &|i, j| f64::from(i >= j))?;
        let shift = cell(n, &|i, j| f64::from(j == i + 1))?;
        let a = random(&[n, n], DType::Float64)?;
        let unbalanced = cell(n, &|i, j| 10f64.powi(((i - j) * 100 / n) as i32))?.mul(&a)?;
        let others = [a.mul(1e300)?, a.mul(1e-300)?, aten::zeros_like(&a)?];
        for a in [jordan, lower, shift, unbalanced].into_iter().chain(others) {
            let (values, vectors) = aten::linalg_eig(&a)?;
            let scale = aten::linalg_vector_norm::with(&a).ord(f64::INFINITY).call()?;
            let scale = aten::clamp::with(&scale).min(Some(f64::MIN_POSITIVE.into())).call()?;
            let [a, values] = [a.div(&scale)?, values.div(&scale)?];
            let left = a.to_dtype(DType::Complex128)?.matmul(&vectors)?;
            assert!(are_close(&left, &vectors.mul(&values)?)?, "{a}");
            let lengths = aten::linalg_vector_norm::with(&vectors).dim(Some(&[0])).call()?;
            assert!(are_close(&lengths, &aten::ones_like(&lengths)?)?, "{a}");
        }
    }
    Ok(())
}

#[test]
fn values_that_nobody_differentiates_take_no_vectors() -> Result<()> {
    let a = random(&[6, 6], DType::Float64)?;
    let symmetric = a.add(&a.t()?)?;
    let sum = |values: &Tensor| values.abs()?.sum()?.item()?.to::<f64>();
    let alone = [aten::linalg_eigvals(&a)?, aten::linalg_eigvalsh(&symmetric)?, aten::linalg_svdvals(&a)?];
    a.set_requires_grad(true)?;
    symmetric.set_requires_grad(true)?;
    let both = [aten::linalg_eigvals(&a)?, aten::linalg_eigvalsh(&symmetric)?, aten::linalg_svdvals(&a)?];
    for (alone, both) in alone.iter().zip(&both) {
        assert!((sum(alone)? - sum(both)?).abs() < 1e-9);
        both.abs()?.sum()?.backward()?;
    }
    Ok(())
}

#[test]
fn least_squares_are_those_of_pseudoinverses() -> Result<()> {
    for dtype in [DType::Float64, DType::Complex128] {
        let (a, b) = (random(&[2, 7, 4], dtype)?, random(&[2, 7, 3], dtype)?);
        let lame = aten::cat::with(&[a.clone(), a.narrow(-1, 0, 1)?]).dim(-1).call()?;
        for (a, full) in [(a.clone(), 4), (lame, 4), (aten::mH(&a)?, 4), (a.mul(0)?, 0)] {
            let b = b.narrow(-2, 0, a.size(-2)?)?;
            let (x, _, rank, _) = aten::linalg_lstsq(&a, &b)?;
            assert!(are_close(&x, &aten::linalg_pinv(&a, 1e-12)?.matmul(&b)?)?, "{dtype} {:?}", a.sizes());
            assert_eq!(rank.to_vec::<i64>()?, [full; 2]);
        }
    }
    let strict = aten::linalg_lstsq::call(&aten::eye(2)?, &aten::ones(&[2, 1])?, Some(2.0), None)?;
    assert_eq!((strict.0.to_vec::<f32>()?, strict.2.item()?.to::<i64>()?), (vec![0.0; 2], 0));
    Ok(())
}

#[test]
fn matrices_without_elements_have_factors_and_types() -> Result<()> {
    for (sizes, outer) in [([2, 0], 2), ([0, 2], 0), ([0, 0], 0)] {
        let (u, s, vh) = aten::linalg_svd(&aten::zeros(&sizes)?)?;
        assert_eq!((u.sizes(), s.sizes(), vh.sizes()), (&[outer, outer][..], &[0][..], &[sizes[1]; 2][..]));
        assert_eq!(u.to_vec::<f32>()?, aten::eye(outer)?.to_vec::<f32>()?);
        assert_eq!(vh.to_vec::<f32>()?, aten::eye(sizes[1])?.to_vec::<f32>()?);
    }
    let (values, vectors) = aten::linalg_eigh(&aten::zeros(&[3, 0, 0])?)?;
    assert_eq!((values.sizes(), vectors.sizes()), (&[3, 0][..], &[3, 0, 0][..]));
    // For a tensor without elements, PyTorch does not check that there is a kernel for its dtype.
    let empty = |dtype| Tensor::empty(&[0, 0], dtype, Device::CPU);
    let (halves, longs) = (empty(DType::Float16)?, empty(DType::Int64)?);
    assert_eq!(aten::linalg_svd(&halves)?.1.dtype(), DType::Float16);
    assert_eq!(aten::linalg_eigh(&longs)?.0.dtype(), DType::Int64);
    assert!(aten::linalg_svd(&longs).is_err() && aten::linalg_det(&longs).is_err());
    Ok(())
}

#[test]
fn large_matrices_are_factored_by_halves() -> Result<()> {
    let close = |a: &Tensor, b: &Tensor| assert!(are_close(a, b).unwrap(), "sizes {:?}", a.sizes());
    for dtype in [DType::Float64, DType::Complex128] {
        let a = random(&[2, 90, 90], dtype)?;
        for part in [a.clone(), a.narrow(-1, 0, 50)?, a.narrow(-2, 0, 50)?] {
            let (p, l, u) = aten::linalg_lu(&part)?;
            close(&p.matmul(&l)?.matmul(&u)?, &part);
            let (q, r) = aten::linalg_qr(&part)?;
            close(&q.matmul(&r)?, &part);
            close(&aten::mH(&q)?.matmul(&q)?, &aten::eye::with(q.size(-1)?).dtype(Some(dtype)).call()?);
            assert!(aten::equal(&aten::triu(&r)?, &r)?);
        }
        let ones = aten::eye::with(90).dtype(Some(dtype)).call()?;
        let positive = a.matmul(&aten::mH(&a)?)?.add(&ones)?;
        let l = aten::linalg_cholesky(&positive)?;
        close(&l.matmul(&aten::mH(&l)?)?, &positive);
        assert!(aten::equal(&aten::tril(&l)?, &l)?);
        let b = random(&[2, 70, 90], dtype)?;
        close(&aten::linalg_solve::with(&a, &b).left(false).call()?.matmul(&a)?, &b);
        close(&aten::linalg_inv(&positive)?.matmul(&positive)?, &ones.expand(&[2, 90, 90])?);
    }
    Ok(())
}

#[test]
fn where_large_matrices_have_no_factors_is_noted() -> Result<()> {
    let a = random(&[90, 90], DType::Float64)?;
    let positive = a.matmul(&a.t()?)?.add(&aten::eye(90)?)?;
    aten::fill__Scalar(&mut positive.select(0, 70)?.select(0, 70)?, (-1).into())?;
    assert_eq!(aten::linalg_cholesky_ex(&positive)?.1.item()?.to::<i64>()?, 71);
    aten::fill__Scalar(&mut a.select(1, 40)?, 0.into())?;
    let (factors, _, info) = aten::linalg_lu_factor_ex(&a)?;
    assert_eq!(info.item()?.to::<i64>()?, 41);
    assert!(aten::all(&aten::isfinite(&factors)?)?.item()?.to::<bool>()?);
    Ok(())
}

#[test]
fn what_is_not_finite_is_factored_or_refused() -> Result<()> {
    for n in [2, 3, 40, 100] {
        for bad in [f64::NAN, f64::INFINITY] {
            for at in [0, n * n - 1] {
                let mut values: Vec<f64> = (0..n * n).map(|i| (i % 7) as f64 + 0.5).collect();
                values[at] = bad;
                let a = Tensor::from_vec(values, &[n as i64, n as i64])?;
                assert!(aten::linalg_eigh(&a).is_err());
                // The only requirement is that these calls return.
                let _ = (aten::linalg_svd(&a), aten::linalg_svdvals(&a), aten::linalg_qr(&a));
                let _ = (aten::linalg_lu_factor(&a), aten::linalg_cholesky(&a), aten::linalg_inv(&a));
            }
        }
    }
    Ok(())
}

#[test]
fn triangular_systems_have_one_node() -> Result<()> {
    let (a, b) = (Tensor::from([[2.0, 1.0], [0.5, 4.0]]), Tensor::from([[1.0, 2.0], [3.0, -1.0]]));
    a.set_requires_grad(true)?;
    b.set_requires_grad(true)?;
    for upper in [false, true] {
        for transpose in [false, true] {
            for unit in [false, true] {
                let solve = |inputs: &[Tensor]| {
                    let (x, copy) =
                        aten::triangular_solve::call(&inputs[0], &inputs[1], upper, transpose, unit)?;
                    let name = x.grad_fn()?.map(|node| node.name());
                    assert!(name.is_none_or(|name| name == "TriangularSolveBackward0"));
                    Ok(vec![x, copy])
                };
                gradcheck(solve, &[b.clone(), a.clone()], Default::default())?;
            }
        }
    }
    Ok(())
}

#[test]
fn norms_of_matrices_are_those_of_their_columns_rows_and_singular_values() -> Result<()> {
    let a = Tensor::from([[1.0, -2.0], [3.0, 4.0]]);
    let norm = |order: f64| aten::linalg_matrix_norm(&a, order.into())?.item()?.to::<f64>();
    assert_eq!([norm(1.0)?, norm(-1.0)?], [6.0, 4.0]);
    assert_eq!([norm(f64::INFINITY)?, norm(f64::NEG_INFINITY)?], [7.0, 3.0]);
    assert!(
        (norm(2.0)? - 5.116672736016927).abs() < 1e-12 && (norm(-2.0)? - 1.9543950758485487).abs() < 1e-12
    );
    let nuclear = aten::linalg_norm_ord_str(&a, "nuc")?.item()?.to::<f64>()?;
    assert!((nuclear - 7.0710678118654755).abs() < 1e-12);
    let columns = aten::linalg_norm::with(&a).ord(Some(1.into())).dim(Some(&[0])).keepdim(true).call()?;
    assert_eq!((columns.sizes(), columns.to_vec::<f64>()?), (&[1, 2][..], vec![4.0, 6.0]));
    for (error, says) in [
        (norm(3.0).map(drop), "there is no norm of order 3"),
        (aten::linalg_norm_ord_str(&a, "max").map(drop), "there is no norm \"max\""),
        (aten::linalg_matrix_norm::with(&a, 1.into()).dim(&[0, 0]).call().map(drop), "do not make matrices"),
        (
            aten::linalg_norm::with(&matrices(&[2, 2, 2])).ord(Some(1.into())).call().map(drop),
            "not for 3 of sizes",
        ),
    ] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let nuclear = |x: &[Tensor]| Ok(vec![aten::linalg_norm_ord_str(&x[0], "nuc")?]);
    let x = matrices(&[3, 3]);
    x.set_requires_grad(true)?;
    gradcheck(nuclear, &[x], Default::default())
}

#[test]
fn negative_powers_are_those_of_the_inverse() -> Result<()> {
    let a = Tensor::from([[1.0, -2.0], [3.0, 4.0]]);
    let power = aten::linalg_matrix_power(&a, -2)?.to_vec::<f64>()?;
    let want = [0.1, 0.1, -0.15, -0.05];
    assert!(
        power.len() == 4 && power.iter().zip(want).all(|(x, want)| (x - want).abs() < 1e-12),
        "{power:?}"
    );
    Ok(())
}

#[test]
fn triples_are_crossed_wherever_they_lie() -> Result<()> {
    let (x, y) = (Tensor::from([[1i64, 2, 3], [4, 5, 7]]), Tensor::from([[-1i64, 5, 2], [8, 0, 3]]));
    let want = [-11, -5, 7, 15, 44, -40];
    for dtype in [DType::Int64, DType::Int8, DType::Float16, DType::Float32, DType::Float64, DType::Complex64]
    {
        let (x, y) = (x.to_dtype(dtype)?, y.to_dtype(dtype)?);
        let crossed = aten::linalg_cross(&x, &y)?;
        assert_eq!(
            (crossed.dtype(), crossed.real()?.to_dtype(DType::Int64)?.to_vec::<i64>()?),
            (dtype, want.to_vec())
        );
        let down = aten::linalg_cross::with(&x.t()?, &y.t()?).dim(0).call()?;
        assert!(aten::equal(&down.t()?, &crossed)?, "{dtype}");
        let mixed = aten::linalg_cross(&x.t()?.contiguous()?.t()?, &y)?;
        assert!(aten::equal(&mixed, &crossed)?, "{dtype}");
    }
    let many = aten::linalg_cross(&x.repeat(&[20_000, 1])?, &y.repeat(&[20_000, 1])?)?;
    assert_eq!(many.narrow(0, 39_998, 2)?.to_vec::<i64>()?, want);
    assert!(
        aten::linalg_cross(&x, &y.narrow(1, 0, 2)?).is_err()
            && aten::linalg_cross(&x, &Tensor::from(1)).is_err()
    );
    Ok(())
}

#[test]
fn singular_values_have_a_gradient_also_beside_all_vectors() -> Result<()> {
    // The gradient is PyTorch's gradient of `svdvals`.
    let want = [
        1.5292677144182147,
        -0.9144308067591362,
        0.7031250462278679,
        0.11347743499511548,
        -0.12301762196247723,
        1.1413856767493658,
    ];
    let weights = Tensor::from([1.0, -2.0]);
    for full_matrices in [false, true] {
        let a = Tensor::from([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        a.set_requires_grad(true)?;
        let (_, values, _) = aten::_linalg_svd::call(&a, full_matrices, true, None)?;
        values.mul(&weights)?.sum()?.backward()?;
        let found = a.grad().unwrap().to_vec::<f64>()?;
        assert!(found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }
    Ok(())
}
