//! Householder reflections: QR factors in LAPACK's form, the orthogonal matrices that they describe, and products with
//! these.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::matrices::{Given, Matrices, column_major, conjugate, transposed, work_of_factors, write_columns};
use super::qr;
use crate::aten;
use crate::composite::collected;
use crate::loops;
use crate::loops::pointwise::{common_device, unsupported};
use crate::number::{Divided, Number};

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn geqrf(this: &Tensor) -> Result<(Tensor, Tensor)> {
        let _lease = loops::frozen([this])?;
        const OPERATOR: &str = aten::geqrf::NAME;
        let [batch, rows, columns] = matrix(OPERATOR, this)?;
        let steps = rows[0].min(columns[0]);
        let mut tau = Tensor::zeros(&[batch, &[steps]].concat(), this.dtype(), this.device())?;
        let factors = match_dtype!(this.dtype(), T: Float | Complex => {
            if loops::has_elements(this) {
                let mut matrices = Matrices::<T>::of(this)?;
                let [rows, columns] = [matrices.rows, matrices.columns];
                let mut factors = collected(OPERATOR, tau.numel(), |_| T::ZERO)?;
                let mut done = vec![(); factors.len() / steps as usize];
                let work = work_of_factors(rows, columns);
                matrices.each(work, &mut factors, &mut done, |a, factors, ()| {
                    qr::factor(a, rows, columns, factors)
                });
                tau.copy_from_slice(&factors)?;
                matrices.into_tensor()?
            } else {
                column_major(this.sizes(), this.dtype(), this.device())?
            }
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok((factors, tau))
    }

    fn linalg_householder_product(input: &Tensor, tau: &Tensor) -> Result<Tensor> {
        let _lease = loops::frozen([input, tau])?;
        const OPERATOR: &str = aten::linalg_householder_product::NAME;
        let [batch, rows, columns] = matrix(OPERATOR, input)?;
        let (rows, columns) = (rows[0], columns[0]);
        ensure!(
            rows >= columns,
            Shape,
            "{OPERATOR}: sizes {:?}, expected matrices with no more columns than rows",
            input.sizes()
        );
        let steps = check_factors(OPERATOR, input, tau, batch)?;
        ensure!(
            steps <= columns,
            Shape,
            "{OPERATOR}: {steps} factors of reflections for matrices of {columns} columns"
        );
        let out = column_major(input.sizes(), input.dtype(), input.device())?;
        match_dtype!(input.dtype(), T: Float | Complex => {
            if loops::has_elements(&out) {
                let (matrices, factors) = (Given::<T>::of(input)?, loops::elements::<T>(tau)?);
                let (rows, columns, steps) = (rows as usize, columns as usize, steps as usize);
                let mut all = collected(OPERATOR, out.numel(), |_| T::ZERO)?;
                for (at, (a, q)) in matrices.iter().zip(all.chunks_exact_mut(rows * columns)).enumerate() {
                    qr::unitary(a, rows, &factors[at * steps..][..steps], q);
                }
                write_columns(&out, all, [rows, columns])?;
            }
        }, else => return Err(unsupported(OPERATOR, input.dtype())));
        Ok(out)
    }

    fn ormqr(this: &Tensor, tau: &Tensor, other: &Tensor, left: bool, transpose: bool) -> Result<Tensor> {
        let _lease = loops::frozen([this, tau, other])?;
        const OPERATOR: &str = aten::ormqr::NAME;
        let [batch, rows, columns] = matrix(OPERATOR, this)?;
        let [other_batch, other_rows, other_columns] = matrix(OPERATOR, other)?;
        let (rows, inner) = (rows[0], if left { other_rows[0] } else { other_columns[0] });
        let steps = check_factors(OPERATOR, this, tau, batch)?;
        ensure!(
            this.dtype() == other.dtype() && batch == other_batch && inner == rows,
            Shape,
            "{OPERATOR}: reflections of sizes {:?} and {} cannot multiply sizes {:?} of {} from the {}",
            this.sizes(),
            this.dtype(),
            other.sizes(),
            other.dtype(),
            if left { "left" } else { "right" }
        );
        ensure!(
            steps == inner.min(columns[0]),
            Shape,
            "{OPERATOR}: {steps} factors of reflections, expected {}",
            inner.min(columns[0])
        );
        let out = column_major(other.sizes(), other.dtype(), other.device())?;
        match_dtype!(this.dtype(), T: Float | Complex => {
            if loops::has_elements(&out) {
                multiplied::<T>(&out, [this, tau, other], left, transpose)?;
            }
        }, else => return Err(unsupported(OPERATOR, this.dtype())));
        Ok(out)
    }
}

/// Writes the product of reflections and a matrix, which is not empty.
fn multiplied<T: Divided + Element>(
    out: &Tensor,
    [vectors, tau, other]: [&Tensor; 3],
    is_left: bool,
    is_adjoint: bool,
) -> Result<()> {
    // `C Q` is the adjoint of `Qᴴ Cᴴ`.
    let mut matrices = Matrices::<T>::of(&if is_left { other.clone() } else { transposed(other)? })?;
    let (rows, columns) = (matrices.rows, matrices.columns);
    let (vectors, factors) = (Given::<T>::of(vectors)?, loops::elements::<T>(tau)?);
    let steps = tau.sizes().last().map_or(0, |steps| *steps as usize);
    let is_forward = is_left == is_adjoint;
    let mut workspace = vec![T::ZERO; rows];
    if !is_left {
        matrices.elements_mut().iter_mut().for_each(|x| *x = conjugate(*x));
    }
    for (at, x) in matrices.iter_mut().enumerate() {
        let a = if steps == 0 { &[][..] } else { vectors.get(at) };
        for step in 0..steps {
            let k = if is_forward { step } else { steps - 1 - step };
            let factor = factors[at * steps + k];
            let factor = if is_forward { conjugate(factor) } else { factor };
            qr::reflect_by(x, a, k, factor, &mut workspace);
        }
    }
    let elements = matrices.elements().iter().map(|x| if is_left { *x } else { conjugate(*x) }).collect();
    write_columns(&if is_left { out.clone() } else { transposed(out)? }, elements, [rows, columns])
}

/// The batch, the rows and the columns of matrices.
fn matrix<'a>(operator: &str, tensor: &'a Tensor) -> Result<[&'a [i64]; 3]> {
    match tensor.dim() {
        ndim @ 2.. => {
            let (batch, sizes) = tensor.sizes().split_at(ndim - 2);
            Ok([batch, &sizes[..1], &sizes[1..]])
        }
        _ => bail!(Shape, "{operator}: sizes {:?} are not those of matrices", tensor.sizes()),
    }
}

/// Checks that `tau` has the batch and the type of the matrices, and returns the number of reflections.
fn check_factors(operator: &'static str, input: &Tensor, tau: &Tensor, batch: &[i64]) -> Result<i64> {
    common_device(operator, &[input, tau])?;
    ensure!(
        input.dtype() == tau.dtype(),
        DType,
        "{operator}: vectors of {} and factors of {}, expected one type",
        input.dtype(),
        tau.dtype()
    );
    match tau.sizes() {
        [of_factors @ .., steps] if of_factors == batch => Ok(*steps),
        sizes => bail!(
            Shape,
            "{operator}: factors of sizes {sizes:?} for vectors of sizes {:?}, expected one dimension less and the same batch",
            input.sizes()
        ),
    }
}
