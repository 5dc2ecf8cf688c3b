//! Uses of LU factors: unpacking them into separate matrices, and solving linear systems.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::matrices::{column_major, conjugate};
use super::{System, lu};
use crate::aten;
use crate::composite::collected;
use crate::loops;
use crate::loops::pointwise::unsupported;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn lu_unpack(
        factors: &Tensor,
        pivots: &Tensor,
        unpack_data: bool,
        unpack_pivots: bool,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        let _lease = loops::frozen([factors, pivots])?;
        const OPERATOR: &str = aten::lu_unpack::NAME;
        let &[.., rows, columns] = factors.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?} are not those of matrices", factors.sizes())
        };
        let least = rows.min(columns);
        let nothing = || Tensor::zeros(&[0], factors.dtype(), factors.device());
        let p = match unpack_pivots {
            true => {
                check_pivots(OPERATOR, factors, pivots, least)?;
                permutations(factors, pivots, rows)?
            }
            false => nothing()?,
        };
        if !unpack_data {
            return Ok((p, nothing()?, nothing()?));
        }
        let part = |dim: i64| {
            let part = aten::narrow(factors, dim, 0, least)?;
            aten::clone::with(&part).memory_format(MemoryFormat::Contiguous).call()
        };
        let l = aten::tril::with(&part(-1)?).diagonal(-1).call()?;
        aten::fill__Scalar(&mut aten::diagonal::call(&l, 0, -2, -1)?, 1.into())?;
        Ok((p, l, aten::triu(&part(-2)?)?))
    }

    fn linalg_lu_solve(
        factors: &Tensor,
        pivots: &Tensor,
        b: &Tensor,
        left: bool,
        adjoint: bool,
    ) -> Result<Tensor> {
        let _lease = loops::frozen([factors, pivots, b])?;
        const OPERATOR: &str = aten::linalg_lu_solve::NAME;
        let system = System::new(OPERATOR, factors, b, left)?;
        check_pivots(OPERATOR, factors, pivots, system.n)?;
        let mut out = match left {
            true => column_major(&system.sizes, b.dtype(), b.device())?,
            false => Tensor::zeros(&system.sizes, b.dtype(), b.device())?,
        };
        if !loops::has_elements(&out) {
            return Ok(out);
        }
        let right = system.turned(&aten::expand(b, &system.sizes)?)?;
        // Solving with the adjoint is solving with the transpose between conjugations.
        let right = if adjoint { aten::conj_physical(&right)? } else { right };
        let (batch, is_transposed) = (&system.batch[..], left == adjoint);
        let solve = lu::Solve { factors, pivots, batch, is_transposed, is_inverse: false };
        match_dtype!(b.dtype(), T: Float | Complex => {
            let mut solution = solve.all::<T>(&right)?;
            if adjoint {
                solution.elements_mut().iter_mut().for_each(|x| *x = conjugate(*x));
            }
            out = system.turned(&solution.into_tensor()?)?;
        }, else => return Err(unsupported(OPERATOR, b.dtype())));
        Ok(out)
    }
}

/// # Errors
/// Pivots that are not one `int32` for each step.
fn check_pivots(operator: &str, factors: &Tensor, pivots: &Tensor, steps: i64) -> Result<()> {
    let sizes = [&factors.sizes()[..factors.dim() - 2], &[steps]].concat();
    ensure!(
        pivots.dtype() == DType::Int32 && pivots.sizes() == sizes,
        Argument,
        "{operator}: pivots of {} and sizes {:?}, expected int32 and {sizes:?}",
        pivots.dtype(),
        pivots.sizes()
    );
    Ok(())
}

/// The permutation matrices that undo the row swaps.
fn permutations(factors: &Tensor, pivots: &Tensor, rows: i64) -> Result<Tensor> {
    let sizes = [&factors.sizes()[..factors.dim() - 2], &[rows, rows]].concat();
    let mut out = Tensor::zeros(&sizes, factors.dtype(), factors.device())?;
    if !loops::has_elements(&out) {
        return Ok(out);
    }
    let (rows, steps) = (rows as usize, pivots.sizes().last().copied().unwrap_or(0) as usize);
    let (pivots, mut elements) =
        (loops::elements::<i32>(pivots)?, collected(aten::lu_unpack::NAME, out.numel(), |_| 0.0f64)?);
    for (at, matrix) in elements.chunks_exact_mut(rows * rows).enumerate() {
        let mut order: Vec<usize> = (0..rows).collect();
        for (step, pivot) in pivots[at * steps..][..steps].iter().enumerate() {
            let other = usize::try_from(i64::from(*pivot) - 1).ok().filter(|row| *row < rows);
            let Some(other) = other else {
                bail!(
                    Argument,
                    "{}: pivot {pivot} is out of range for {rows} rows, counted from 1",
                    aten::lu_unpack::NAME
                )
            };
            order.swap(step, other);
        }
        order.iter().enumerate().for_each(|(column, row)| matrix[row * rows + column] = 1.0);
    }
    match_dtype!(out.dtype(), T => out.fill_from::<T>(elements.into_iter().map(|x| x.cast()))?);
    Ok(out)
}
