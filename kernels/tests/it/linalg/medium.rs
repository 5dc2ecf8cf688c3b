//! Matrices of medium size, on both sides of the sizes at which algorithms change.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use super::{DTYPES, near, random};

#[test]
fn any_number_of_right_hand_sides_is_solved_for() -> Result<()> {
    for (n, count) in
        [12, 31, 32, 33, 97].into_iter().flat_map(|n| [1, 3, 4, 17, 70, 130].map(|count| (n, count)))
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
        let diagonal = aten::full(&[20], x.into())?.to_dtype(dtype)?;
        let b = aten::full(&[20, 8], x.into())?.to_dtype(dtype)?;
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
