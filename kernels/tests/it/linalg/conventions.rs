//! Signs, phases and the order of vectors: any are right, but those of PyTorch are expected.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

/// A matrix of quarters.
fn matrix(rows: i64, columns: i64, seed: i64, is_complex: bool) -> Result<Tensor> {
    let quarters = |k: i64, [a, b, c, p]: [i64; 4]| ((k * k * a + k * b + c) % p - p / 2) as f64 / 4.0;
    let re = |k| quarters(k, [7, 3 + seed, 1, 17]);
    let im = |k| if is_complex { quarters(k, [5, 11, 2, 13]) } else { 0.0 };
    let elements: Vec<_> = (0..rows * columns).map(|k| Complex64::new(re(k), im(k))).collect();
    let matrix = Tensor::from_vec(elements, &[rows, columns])?;
    if is_complex { Ok(matrix) } else { aten::real(&matrix)?.contiguous() }
}

/// The matrix in both precisions.
fn precisions(matrix: &Tensor) -> Result<[Tensor; 2]> {
    let single = if matrix.dtype().is_complex() { DType::Complex64 } else { DType::Float32 };
    Ok([matrix.clone(), matrix.to_dtype(single)?])
}

/// Compares the first elements of some vectors with numbers that PyTorch computed; complex ones are pairs.
#[track_caller]
fn check(found: &Tensor, want: &[f64], what: &str) -> Result<()> {
    let is_complex = found.dtype().is_complex();
    let found = found.to_dtype(DType::Complex128)?.contiguous()?.to_vec::<Complex64>()?;
    let found: Vec<f64> = match is_complex {
        true => found.iter().flat_map(|x| [x.re, x.im]).collect(),
        false => found.iter().map(|x| x.re).collect(),
    };
    let is_near = |(found, want): (&f64, &f64)| (found - want).abs() < 2e-3;
    assert!(
        found.len() == want.len() && found.iter().zip(want).all(is_near),
        "{what}: {found:?}, not {want:?}"
    );
    Ok(())
}

/// The size, the seed, whether the matrix is complex, and the first row of U and the first column of Vᴴ.
type Singular = ([i64; 2], i64, bool, &'static [f64], &'static [f64]);

#[rustfmt::skip]
const SINGULAR: &[Singular] = &[
    ([1, 3], 0, false, &[1.000], &[-0.677]),
    ([3, 3], 0, false, &[-0.678, 0.608, 0.413], &[0.737, 0.036, 0.675]),
    ([4, 3], 0, false, &[-0.626, -0.315, -0.436], &[0.847, -0.363, 0.389]),
    ([8, 6], 1, false, &[-0.488, -0.021, 0.046, 0.545, 0.306, 0.261], &[0.721, -0.223, 0.013, 0.069, -0.648, 0.069]),
    ([3, 4], 0, false, &[0.123, -0.815, -0.566], &[-0.485, 0.392, 0.712]),
    ([3, 8], 0, false, &[0.497, -0.465, 0.732], &[-0.490, 0.015, -0.289]),
    ([7, 2], 0, false, &[-0.413, -0.127], &[0.825, 0.566]),
    ([1, 3], 0, true, &[1.000, 0.000], &[-0.626, -0.358]),
    ([3, 3], 0, true, &[-0.580, -0.188, 0.133, -0.217, 0.258, -0.705], &[0.741, 0.000, 0.220, 0.000, 0.635, 0.000]),
    ([4, 3], 0, true, &[-0.389, -0.257, -0.251, 0.329, 0.016, -0.320], &[0.851, 0.000, 0.169, 0.000, 0.497, 0.000]),
    ([8, 6], 1, true, &[-0.279, -0.210, 0.465, -0.069, 0.052, 0.081, 0.078, -0.137, 0.077, -0.045, -0.098, 0.226],
        &[0.585, 0.000, -0.349, 0.000, -0.343, 0.000, 0.416, 0.000, 0.451, 0.000, 0.203, 0.000]),
    ([3, 4], 0, true, &[0.325, 0.000, -0.939, 0.000, -0.116, 0.000], &[-0.056, -0.344, 0.675, 0.142, -0.007, 0.183]),
    ([3, 8], 0, true, &[-0.582, 0.000, 0.267, 0.000, 0.768, 0.000], &[0.244, 0.238, 0.162, -0.223, -0.399, 0.033]),
    ([7, 2], 0, true, &[-0.262, -0.179, 0.317, 0.119], &[0.690, 0.000, -0.724, 0.000]),
];

#[test]
fn singular_vectors_have_the_signs_of_pytorch() -> Result<()> {
    for (sizes, seed, is_complex, left, right) in SINGULAR {
        for a in precisions(&matrix(sizes[0], sizes[1], *seed, *is_complex)?)? {
            let (u, _, vh) = aten::linalg_svd::with(&a).full_matrices(false).call()?;
            let what = format!("{sizes:?} of {}", a.dtype());
            check(&aten::select_int(&u, 0, 0)?, left, &what)?;
            check(&aten::select_int(&vh, 1, 0)?, right, &what)?;
            let (all_u, _, all_vh) = aten::linalg_svd(&a)?;
            let least = u.sizes()[1];
            check(&aten::narrow(&aten::select_int(&all_u, 0, 0)?, 0, 0, least)?, left, &what)?;
            check(&aten::narrow(&aten::select_int(&all_vh, 1, 0)?, 0, 0, least)?, right, &what)?;
        }
    }
    Ok(())
}

#[test]
fn eigenvectors_of_symmetric_matrices_have_the_signs_of_pytorch() -> Result<()> {
    let rows: [(i64, i64, bool, &str, &[f64]); 12] = [
        (2, 0, false, "L", &[-0.924, 0.383]),
        (2, 0, false, "U", &[-0.924, 0.383]),
        (3, 0, false, "L", &[-0.999, -0.025, 0.036]),
        (3, 0, false, "U", &[-0.999, 0.025, 0.036]),
        (5, 0, false, "L", &[0.786, -0.273, 0.284, -0.454, 0.146]),
        (5, 1, false, "U", &[-0.632, 0.754, 0.053, -0.087, 0.145]),
        (2, 0, true, "L", &[-0.924, 0.000, 0.383, 0.000]),
        (2, 0, true, "U", &[-0.924, 0.000, 0.383, 0.000]),
        (3, 0, true, "L", &[-0.848, 0.000, 0.518, 0.000, -0.114, 0.000]),
        (3, 0, true, "U", &[0.300, -0.793, -0.363, 0.369, 0.067, 0.092]),
        (5, 1, true, "L", &[-0.221, 0.000, -0.902, 0.000, -0.233, 0.000, 0.236, 0.000, -0.168, 0.000]),
        (5, 4, true, "U", &[0.297, 0.002, -0.597, -0.474, 0.313, 0.228, 0.417, 0.055, 0.047, 0.043]),
    ];
    for (n, seed, is_complex, uplo, want) in rows {
        let a = matrix(n, n, seed, is_complex)?;
        for a in precisions(&a.add(&aten::mH(&a)?)?)? {
            let (_, vectors) = aten::linalg_eigh::with(&a).UPLO(uplo).call()?;
            check(&aten::select_int(&vectors, 0, 0)?, want, &format!("{n}, {uplo} of {}", a.dtype()))?;
        }
    }
    Ok(())
}

/// The size, the seed, whether the matrix is complex, the eigenvalues, and the first row of the eigenvectors.
type General = (i64, i64, bool, &'static [f64], &'static [f64]);

#[rustfmt::skip]
const GENERAL: &[General] = &[
    (2, 39, false, &[-2.750, 0.000, -0.250, 0.000], &[-0.894, 0.000, -0.800, 0.000]),
    (3, 5, false, &[-1.254, 0.871, -1.254, -0.871, -0.241, 0.000], &[0.112, 0.540, 0.112, -0.540, 0.662, 0.000]),
    (4, 10, false, &[-1.192, 1.270, -1.192, -1.270, -1.895, 0.000, 1.779, 0.000],
        &[0.780, 0.000, 0.780, 0.000, 0.258, 0.000, -0.234, 0.000]),
    (6, 3, false, &[3.924, 0.000, -2.356, 0.000, -0.177, 2.122, -0.177, -2.122, 0.019, 0.535, 0.019, -0.535],
        &[0.120, 0.000, -0.545, 0.000, -0.386, 0.207, -0.386, -0.207, -0.244, -0.170, -0.244, 0.170]),
    (2, 0, true, &[-1.367, -2.067, -1.133, 0.067], &[0.354, 0.450, 0.109, -0.529]),
    (3, 0, true, &[-0.778, -1.837, 1.364, 0.889, -1.336, 0.948], &[0.801, 0.000, -0.437, 0.121, 0.143, -0.238]),
    (4, 0, true, &[-3.362, -4.128, -2.000, -0.123, -0.186, -1.270, 0.298, 1.521],
        &[0.007, -0.379, 0.851, 0.000, -0.434, -0.261, 0.076, 0.081]),
    (6, 0, true, &[-3.113, 2.108, -2.398, -1.495, -1.382, -1.397, 3.629, -0.995, 0.355, 2.024, 1.910, 1.506],
        &[0.589, 0.000, 0.695, 0.000, 0.696, 0.000, 0.150, -0.239, 0.203, -0.144, -0.248, -0.061]),
];

#[test]
fn eigenvalues_have_the_order_and_their_vectors_the_signs_of_pytorch() -> Result<()> {
    for (n, seed, is_complex, values, want) in GENERAL {
        for a in precisions(&matrix(*n, *n, *seed, *is_complex)?)? {
            let (found, vectors) = aten::linalg_eig(&a)?;
            let what = format!("{n} of {}", a.dtype());
            check(&found, values, &what)?;
            check(&aten::linalg_eigvals(&a)?, values, &what)?;
            check(&aten::select_int(&vectors, 0, 0)?, want, &what)?;
        }
    }
    Ok(())
}

/// Batches of matrices of all kinds that iterations have to cope with.
fn batches(sizes: [i64; 2], dtype: DType) -> Result<Vec<Tensor>> {
    let sizes = [&[3][..], &sizes].concat();
    let real = |sizes: &[i64]| aten::randn::with(sizes).dtype(Some(DType::Float64)).call();
    let random = match dtype.is_complex() {
        true => aten::view_as_complex(&real(&[&sizes, &[2][..]].concat())?)?,
        false => real(&sizes)?,
    };
    let random = random.to_dtype(dtype)?;
    let powers =
        aten::arange(sizes[2].into())?.to_dtype(DType::Float64)?.mul(-0.7)?.exp()?.to_dtype(dtype)?;
    Ok(vec![
        random.clone(),
        random.mul(1e-36)?,
        random.mul(1e35)?,
        aten::mul_Tensor(&random, &powers)?,
        aten::triu::with(&random).diagonal(1).call()?,
        aten::narrow(&random, 2, 0, 1)?.expand(&sizes)?.contiguous()?,
        aten::ones_like(&random)?,
        aten::zeros_like(&random)?,
    ])
}

/// Checks that two tensors are equal, up to rounding errors relative to the largest element of a third one.
#[track_caller]
fn near(a: &Tensor, b: &Tensor, like: &Tensor) -> Result<()> {
    let largest = |x: &Tensor| -> Result<f64> {
        let x = if x.dtype().is_complex() { aten::view_as_real(x)? } else { x.clone() };
        aten::max(&aten::abs(&x.to_dtype(DType::Float64)?)?)?.item()?.to::<f64>()
    };
    let precision = if like.dtype().to_real() == DType::Float32 { 2e-5 } else { 2e-14 };
    let (off, size) = (largest(&a.sub(b)?)?, largest(like)?);
    assert!(off <= precision * size, "{off:e} is too much for {size:e} of sizes {:?}", like.sizes());
    Ok(())
}

#[test]
fn small_matrices_of_all_kinds_are_the_product_of_their_parts() -> Result<()> {
    let dtypes = [DType::Float32, DType::Float64, DType::Complex64, DType::Complex128];
    for dtype in dtypes {
        for sizes in [[1, 1], [2, 2], [3, 3], [7, 7], [12, 12], [5, 2], [2, 5], [9, 7], [7, 9], [20, 23]] {
            for a in batches(sizes, dtype)? {
                let (u, s, vh) = aten::linalg_svd::with(&a).full_matrices(false).call()?;
                near(&u.mul(&s.unsqueeze(-2)?)?.matmul(&vh)?, &a, &a)?;
                near(&aten::linalg_svdvals(&a)?, &s, &a)?;
                let (u, _, vh) = aten::linalg_svd(&a)?;
                for unitary in [u, vh] {
                    let ones = aten::eye(unitary.sizes()[1])?.to_dtype(dtype)?.expand(unitary.sizes())?;
                    near(&aten::mH(&unitary)?.matmul(&unitary)?, &ones, &ones)?;
                }
                if sizes[0] == sizes[1] {
                    let (values, vectors) = aten::linalg_eig(&a)?;
                    let wide = a.to_dtype(values.dtype())?;
                    near(&wide.matmul(&vectors)?, &vectors.mul(&values.unsqueeze(-2)?)?, &a)?;
                    let a = a.add(&aten::mH(&a)?)?;
                    let (values, vectors) = aten::linalg_eigh(&a)?;
                    near(&a.matmul(&vectors)?, &vectors.mul(&values.unsqueeze(-2)?)?, &a)?;
                    near(&aten::linalg_eigvalsh(&a)?, &values, &a)?;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn qr_factors_of_numbers_whose_squares_are_out_of_range() {
    // LAPACK's: the same matrix in other units has the same Q.
    for unit in [1e-300, 1e-200, 1.0, 1e200] {
        let a = aten::mul_Scalar(&Tensor::from([[1.0, 2.0], [3.0, 4.0]]), unit.into()).unwrap();
        for dtype in [DType::Float64, DType::Complex128] {
            let a = aten::to_dtype(&a, dtype).unwrap();
            let (q, r) = aten::linalg_qr(&a).unwrap();
            let expected = Tensor::from([[-0.1f64.sqrt(), -0.9f64.sqrt()], [-0.9f64.sqrt(), 0.1f64.sqrt()]]);
            assert!(aten::allclose(&q, &aten::to_dtype(&expected, dtype).unwrap()).unwrap(), "{unit:e}: {q}");
            let r = aten::div_Scalar(&r, unit.into()).unwrap();
            let expected = Tensor::from([[-10f64.sqrt(), -14.0 / 10f64.sqrt()], [0.0, -2.0 / 10f64.sqrt()]]);
            assert!(aten::allclose(&r, &aten::to_dtype(&expected, dtype).unwrap()).unwrap(), "{unit:e}: {r}");
        }
    }
    // The square of the element below the diagonal is zero, but it is eliminated, which LAPACK's signs show.
    let (q, r) = aten::linalg_qr(&Tensor::from([[1.0, 0.0], [1e-200, 1.0]])).unwrap();
    assert_eq!(q.to_vec::<f64>().unwrap(), [-1.0, -1e-200, -1e-200, 1.0]);
    assert_eq!(r.to_vec::<f64>().unwrap(), [-1.0, -1e-200, 0.0, 1.0]);
    for other in [0.0, 1.0, f64::INFINITY] {
        let (_, r) = aten::linalg_qr(&Tensor::from([[f64::NAN], [other]])).unwrap();
        assert!(r.to_vec::<f64>().unwrap()[0].is_nan());
    }
}

#[test]
fn cholesky_factors_that_do_not_exist_are_triangles() {
    // What LAPACK leaves from the failing step on; the other triangle is zero.
    let a = Tensor::from([[-1.0, 2.0], [3.0, 4.0]]);
    let c = aten::complex(&Tensor::from([[4.0, 2.0], [2.0, 0.5]]), &Tensor::from([[0.0, 0.0], [0.0, 1.0]]));
    for (a, lower, upper, step) in [
        (a, Tensor::from([[-1.0, 0.0], [3.0, 4.0]]), Tensor::from([[-1.0, 2.0], [0.0, 4.0]]), 1),
        (c.unwrap(), Tensor::from([[2.0, 0.0], [1.0, -0.5]]), Tensor::from([[2.0, 1.0], [0.0, -0.5]]), 2),
    ] {
        for (is_upper, expected) in [(false, lower), (true, upper)] {
            let (factor, info) = aten::linalg_cholesky_ex::with(&a).upper(is_upper).call().unwrap();
            let expected = aten::to_dtype(&expected, a.dtype()).unwrap();
            assert!(aten::equal(&factor, &expected).unwrap(), "{factor} {expected}");
            assert_eq!(info.to_vec::<i32>().unwrap(), [step]);
        }
    }
}

#[test]
fn singular_values_of_any_magnitude_are_found() {
    // Larger matrices take another path than small ones.
    for dtype in [DType::Float64, DType::Complex128] {
        let a = aten::to_dtype(&matrix(70, 66, 1, false).unwrap(), dtype).unwrap();
        let (_, values, _) = aten::linalg_svd(&a).unwrap();
        for unit in [1e-200, 1e200] {
            let scaled = aten::mul_Scalar(&a, unit.into()).unwrap();
            let (u, s, vh) = aten::linalg_svd(&scaled).unwrap();
            let s = aten::div_Scalar(&s, unit.into()).unwrap();
            assert!(aten::allclose(&s, &values).unwrap(), "{unit:e}");
            let of_values = aten::linalg_svdvals(&scaled).unwrap();
            assert!(aten::allclose(&aten::div_Scalar(&of_values, unit.into()).unwrap(), &values).unwrap());
            let u = aten::narrow(&u, 1, 0, 66).unwrap();
            let product = aten::mul_Tensor(&u, &s).unwrap().matmul(&vh).unwrap();
            assert!(aten::allclose(&product, &a).unwrap(), "{unit:e}");
        }
    }
}
