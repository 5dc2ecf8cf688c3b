//! Singular values of matrices, and eigenvalues of symmetric ones.

use torch_library::Element;
use torch_library::prelude::*;

use super::jacobi::{Singular, complete, decompose};
use super::matrices::{Matrices, column_major, conjugate, transposed, wide};
use super::square;
use super::tridiagonal::eigen;
use crate::aten;
use crate::cpu::loops;
use crate::cpu::number::Divided;
use crate::pointwise::unsupported;

#[torch_impl(aten, CPU, Meta)]
mod kernels {
    use super::*;

    fn _linalg_svd(
        a: &Tensor,
        full_matrices: bool,
        compute_uv: bool,
        _driver: Option<&str>,
    ) -> Result<(Tensor, Tensor, Tensor)> {
        const OPERATOR: &str = "aten::_linalg_svd";
        let [batch @ .., rows, columns] = a.sizes() else {
            bail!(Shape, "{OPERATOR}: sizes {:?} are no matrices", a.sizes())
        };
        check_type(OPERATOR, a.dtype())?;
        let least = *rows.min(columns);
        let [outer, inner] = if full_matrices { [*rows, *columns] } else { [least; 2] };
        let vectors = |sizes: [i64; 2]| match compute_uv {
            true => column_major(&[batch, &sizes].concat(), a.dtype(), a.device()),
            false => Tensor::zeros(&[0], a.dtype(), a.device()),
        };
        let (u, vh) = (vectors([*rows, outer])?, vectors([inner, *columns])?);
        let s = Tensor::zeros(&[batch, &[least]].concat(), a.dtype().to_real(), a.device())?;
        if [&u, &s, &vh].iter().any(|part| loops::has_elements(part)) {
            let (out, counts) = ([&u, &s, &vh], [outer, inner].map(|count| count as usize));
            match a.dtype() {
                DType::Float32 | DType::Float64 => singular::<f64>(a, out, counts)?,
                _ => singular::<Complex64>(a, out, counts)?,
            }
        }
        Ok((u, s, vh))
    }

    fn _linalg_eigh(a: &Tensor, uplo: &str, compute_v: bool) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = "aten::_linalg_eigh";
        let n = square(OPERATOR, a)?;
        check_type(OPERATOR, a.dtype())?;
        let is_lower = match uplo {
            "L" | "l" => true,
            "U" | "u" => false,
            _ => bail!(Argument, "{OPERATOR}: UPLO is {uplo:?}, expected \"L\" or \"U\""),
        };
        let sizes = [&a.sizes()[..a.dim() - 2], &[n]].concat();
        let values = Tensor::zeros(&sizes, a.dtype().to_real(), a.device())?;
        let vectors = match compute_v {
            true => column_major(a.sizes(), a.dtype(), a.device())?,
            false => Tensor::zeros(&[0], a.dtype(), a.device())?,
        };
        if loops::has_elements(&values) {
            match a.dtype() {
                DType::Float32 | DType::Float64 => stretched::<f64>(a, is_lower, &values, &vectors)?,
                _ => stretched::<Complex64>(a, is_lower, &values, &vectors)?,
            }
        }
        Ok((values, vectors))
    }
}

fn check_type(operator: &str, dtype: DType) -> Result<()> {
    match dtype {
        DType::Float32 | DType::Float64 | DType::Complex64 | DType::Complex128 => Ok(()),
        _ => Err(unsupported(operator, dtype)),
    }
}

/// Writes the singular values, and as many vectors as there is room for.
fn singular<T: Divided>(a: &Tensor, [u, s, vh]: [&Tensor; 3], [outer, inner]: [usize; 2]) -> Result<()> {
    // The vectors of a wide matrix are those of its adjoint, swapped.
    let is_wide = a.sizes()[a.dim() - 2] < a.sizes()[a.dim() - 1];
    let Matrices { rows, columns, mut elements } =
        Matrices::<T>::of(&if is_wide { transposed(a)? } else { a.clone() })?;
    ensure!(
        elements.iter().all(|x| wide(*x).is_finite()),
        Argument,
        "aten::_linalg_svd: there are elements that are not finite"
    );
    if is_wide {
        elements.iter_mut().for_each(|x| *x = conjugate(*x));
    }
    let precision = match s.dtype() {
        DType::Float32 => f64::from(f32::EPSILON),
        _ => f64::EPSILON,
    };
    let count = a.sizes()[..a.dim() - 2].iter().product::<i64>() as usize;
    let (mut all_u, mut all_s, mut all_v) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..count {
        let elements = &elements[at * rows * columns..][..rows * columns];
        let Singular { mut left, values, right } = decompose(elements, rows, columns, precision);
        complete(&mut left, rows, columns, if is_wide { inner } else { outer });
        let (of_u, of_v) = if is_wide { (right, left) } else { (left, right) };
        all_u.extend(of_u);
        all_v.extend(of_v.into_iter().map(conjugate));
        all_s.extend(values);
    }
    write(s, all_s, s.sizes())?;
    if u.dim() == 1 {
        return Ok(()); // nobody wants vectors
    }
    let (height, width) = if is_wide { (columns, rows) } else { (rows, columns) };
    write_columns(u, all_u, [height, outer])?;
    write_columns(&transposed(vh)?, all_v, [width, inner])
}

/// Writes the eigenvalues from the least, and their vectors if there is room for them.
fn stretched<T: Divided>(a: &Tensor, is_lower: bool, values: &Tensor, vectors: &Tensor) -> Result<()> {
    let Matrices { rows: n, elements, .. } = Matrices::<T>::of(a)?;
    let (mut all_values, mut all_vectors) = (Vec::new(), Vec::new());
    for (at, elements) in elements.chunks_exact(n * n).enumerate() {
        let known = |i: usize, j: usize| elements[j * n + i];
        let element = |at: usize| match (at % n, at / n) {
            (i, j) if i == j => wide(known(i, i)).re.cast(),
            (i, j) if (i > j) == is_lower => known(i, j),
            (i, j) => conjugate(known(j, i)),
        };
        let Some(eigen) = eigen((0..n * n).map(element).collect(), n, vectors.dim() > 1) else {
            bail!(Argument, "aten::_linalg_eigh: the eigenvalues of matrix {at} of the batch were not found")
        };
        all_values.extend(eigen.values);
        all_vectors.extend(eigen.vectors);
    }
    write(values, all_values, values.sizes())?;
    if vectors.dim() == 1 { Ok(()) } else { write_columns(vectors, all_vectors, [n, n]) }
}

/// Writes elements in row-major order to a tensor of another precision.
fn write<T: Element>(out: &Tensor, elements: Vec<T>, sizes: &[i64]) -> Result<()> {
    loops::assign(out, &Tensor::from_vec(elements, sizes)?)
}

/// As [`write`], of matrices that lie column by column.
fn write_columns<T: Element>(out: &Tensor, elements: Vec<T>, [rows, columns]: [usize; 2]) -> Result<()> {
    let sizes = [&out.sizes()[..out.dim() - 2], &[columns as i64, rows as i64]].concat();
    write(&transposed(out)?, elements, &sizes)
}
