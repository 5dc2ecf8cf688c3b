//! Large batches, whose matrices threads share.

use torch_library::prelude::*;
use torch_library_kernels::aten;
use torch_library_kernels::prelude::*;

use super::random;

/// Everything that is computed matrix by matrix.
fn decompositions(a: &Tensor) -> Result<Vec<Tensor>> {
    let adjoint = a.transpose(-2, -1)?;
    let definite = aten::add_Tensor(&a.matmul(&adjoint)?, &aten::eye(a.sizes()[a.dim() - 1])?)?;
    let (lu, pivots, _) = aten::linalg_lu_factor_ex(a)?;
    let (ldl, blocks, _) = aten::linalg_ldl_factor_ex(&definite)?;
    let (q, r) = aten::linalg_qr(a)?;
    let (reflections, factors) = aten::geqrf(a)?;
    let (u, s, vh) = aten::linalg_svd::with(a).full_matrices(false).call()?;
    let (values, vectors) = aten::linalg_eigh(&definite)?;
    Ok(vec![
        aten::linalg_lu_solve(&lu, &pivots, a)?,
        aten::linalg_ldl_solve(&ldl, &blocks, a)?,
        aten::linalg_solve_triangular(&definite, a, false)?,
        aten::linalg_cholesky(&definite)?,
        aten::linalg_eigvals(a)?,
        aten::linalg_det(a)?,
        lu,
        ldl,
        q,
        r,
        reflections,
        factors,
        u,
        s,
        vh,
        values,
        vectors,
    ])
}

#[test]
fn a_matrix_of_a_batch_is_decomposed_like_a_single_one() -> Result<()> {
    for (count, n) in [(5000, 3), (60, 20)] {
        let batch = random(&[count, n, n], DType::Float64)?;
        let all = decompositions(&batch)?;
        for at in (0..count).step_by(count as usize / 13).chain([count - 1]) {
            for (which, (one, all)) in decompositions(&batch.select(0, at)?)?.iter().zip(&all).enumerate() {
                assert!(aten::equal(one, &all.select(0, at)?)?, "result {which} of matrix {at} of {count}");
            }
        }
    }
    Ok(())
}

#[test]
fn the_first_matrix_without_a_factor_is_named() -> Result<()> {
    let mut batch = random(&[4000, 4, 4], DType::Float64)?;
    batch = aten::add_Tensor(&batch.matmul(&batch.transpose(-2, -1)?)?, &aten::eye(4)?)?;
    for at in [3001, 777] {
        batch.select(0, at)?.fill_(-1.0)?;
    }
    let error = aten::linalg_cholesky(&batch).unwrap_err().to_string();
    assert!(error.contains("found at step 1 of matrix 777 of the batch"), "{error}");
    batch.select(0, 777)?.fill_(f64::NAN)?;
    assert!(aten::linalg_eigh(&batch).is_err());
    Ok(())
}
