//! Matrices of medium size, on both sides of the sizes at which algorithms change.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use super::{DTYPES, near, random};

#[test]
fn singular_vectors_of_medium_matrices_make_the_matrix() -> Result<()> {
    for dtype in [DType::Float32, DType::Float64] {
        for (rows, columns) in
            [(17, 17), (33, 33), (40, 35), (35, 64), (65, 65), (128, 129), (256, 256), (70, 200)]
        {
            let a = random(&[rows, columns], dtype)?.to_dtype(dtype)?;
            let least = rows.min(columns);
            let flat = a.narrow(1, 0, 1)?.matmul(&a.narrow(0, 0, 1)?)?;
            let ones = aten::eye(least)?.to_dtype(dtype)?;
            for a in [a.mul(1e-18)?, flat, a.mul(0)?, a] {
                let largest = aten::max(&aten::abs(&a)?)?.item()?.to::<f64>()?;
                let scale = if largest == 0.0 { 1.0 } else { largest };
                let (u, s, vh) = aten::linalg_svd::with(&a).full_matrices(false).call()?;
                near(&u.mul(&s)?.matmul(&vh)?.div(scale)?, &a.div(scale)?, least as f64);
                near(&u.t()?.matmul(&u)?, &ones, least as f64);
                near(&vh.matmul(&vh.t()?)?, &ones, least as f64);
                near(&aten::linalg_svdvals(&a)?.div(scale)?, &s.div(scale)?, least as f64);
                let (sorted, _) = aten::sort::call(&s, 0, true)?;
                assert!(aten::equal(&s, &sorted)?, "{rows} × {columns}");
            }
        }
    }
    Ok(())
}

#[test]
fn batches_of_medium_matrices_are_decomposed_one_by_one() -> Result<()> {
    let a = random(&[5, 40, 40], DType::Float32)?.to_dtype(DType::Float32)?;
    let (u, s, vh) = aten::linalg_svd(&a)?;
    let values = aten::linalg_svdvals(&a)?;
    for at in 0..5 {
        let one = aten::linalg_svd(&a.select(0, at)?)?;
        assert!(aten::equal(&u.select(0, at)?, &one.0)? && aten::equal(&s.select(0, at)?, &one.1)?);
        assert!(aten::equal(&vh.select(0, at)?, &one.2)?);
        assert!(aten::equal(&values.select(0, at)?, &aten::linalg_svdvals(&a.select(0, at)?)?)?);
    }
    Ok(())
}

#[test]
fn any_number_of_right_hand_sides_is_solved_for() -> Result<()> {
    for (n, count) in [12, 32, 33, 97].into_iter().flat_map(|n| [1, 15, 17, 70, 130].map(|count| (n, count)))
    {
        for dtype in DTYPES {
            let ones = aten::eye(n)?.to_dtype(dtype)?;
            let a = random(&[2, n, n], dtype)?.to_dtype(dtype)?.div(n)?.add(&ones.mul(2)?)?;
            let b = random(&[2, n, count], dtype)?.to_dtype(dtype)?;
            near(&a.matmul(&aten::linalg_solve(&a, &b)?)?, &b, n as f64);
            for upper in [false, true] {
                let half = if upper { aten::triu(&a)? } else { aten::tril(&a)? };
                let x = aten::linalg_solve_triangular(&a, &b, upper)?;
                near(&half.matmul(&x)?, &b, n as f64);
            }
            let turned = aten::transpose_int(&a, 1, 2)?;
            near(&turned.matmul(&aten::linalg_inv(&turned)?)?, &ones.expand(&[2, n, n])?, n as f64);
        }
    }
    Ok(())
}

/// Where reciprocals of the diagonal would overflow or lose digits, rows are divided by it.
#[test]
fn diagonals_of_any_magnitude_are_divided_by() -> Result<()> {
    for (x, dtype) in [(1e-40, DType::Float32), (3e38, DType::Float32), (1e-310, DType::Float64)] {
        let diagonal = aten::full::with(&[20], x.into()).dtype(dtype).call()?;
        let b = aten::full::with(&[20, 24], x.into()).dtype(dtype).call()?;
        let x = aten::linalg_solve_triangular(&aten::diag_embed(&diagonal)?, &b, true)?;
        assert!(aten::equal(&x, &aten::ones_like(&b)?)?, "{dtype}: {x}");
    }
    Ok(())
}

/// Infinity in a row above must not reach the rows that are done.
#[test]
fn infinity_stays_in_its_column() -> Result<()> {
    let a = random(&[40, 40], DType::Float64)?.to_dtype(DType::Float32)?;
    let known = aten::linalg_lu_factor_ex(&a)?.0;
    aten::fill__Scalar(&mut a.select(1, 39)?, f64::INFINITY.into())?;
    let found = aten::linalg_lu_factor_ex(&a)?.0;
    assert!(aten::equal(&found.narrow(1, 0, 39)?, &known.narrow(1, 0, 39)?)?);
    assert_eq!(found.select(0, 0)?.select(0, 39)?.item()?.to::<f64>()?, f64::INFINITY);
    Ok(())
}
