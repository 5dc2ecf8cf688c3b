//! Singular values of matrices, and eigenvalues of symmetric ones.

use torch_library::prelude::*;
use torch_library::{Element, match_dtype};

use super::jacobi::{Singular, complete, decompose};
use super::matrices::{Matrices, column_major, transposed, wide};
use super::square;
use crate::aten;
use crate::cpu::loops;
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
        let least = *rows.min(columns);
        let [outer, inner] = if full_matrices { [*rows, *columns] } else { [least; 2] };
        let vectors = |sizes: [i64; 2]| match compute_uv {
            true => column_major(&[batch, &sizes].concat(), a.dtype(), a.device()),
            false => Tensor::zeros(&[0], a.dtype(), a.device()),
        };
        let (u, vh) = (vectors([*rows, outer])?, vectors([inner, *columns])?);
        let s = Tensor::zeros(&[batch, &[least]].concat(), a.dtype().to_real(), a.device())?;
        match_dtype!(a.dtype(), T: Float | Complex => {
            if [&u, &s, &vh].iter().any(|part| loops::has_elements(part)) {
                singular::<T>(a, [&u, &s, &vh], [outer, inner].map(|count| count as usize))?;
            }
        }, else => return Err(unsupported(OPERATOR, a.dtype())));
        Ok((u, s, vh))
    }

    fn _linalg_eigh(a: &Tensor, uplo: &str, compute_v: bool) -> Result<(Tensor, Tensor)> {
        const OPERATOR: &str = "aten::_linalg_eigh";
        let n = square(OPERATOR, a)?;
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
        match_dtype!(a.dtype(), T: Float | Complex => {
            if loops::has_elements(&values) {
                eigen::<T>(a, is_lower, &values, &vectors)?;
            }
        }, else => return Err(unsupported(OPERATOR, a.dtype())));
        Ok((values, vectors))
    }
}

/// Writes the singular values, and as many vectors as there is room for.
fn singular<T: Element>(a: &Tensor, [u, s, vh]: [&Tensor; 3], [outer, inner]: [usize; 2]) -> Result<()> {
    // The vectors of a wide matrix are those of its adjoint, swapped.
    let is_wide = a.sizes()[a.dim() - 2] < a.sizes()[a.dim() - 1];
    let Matrices { rows, columns, elements } =
        Matrices::<T>::of(&if is_wide { transposed(a)? } else { a.clone() })?;
    let count = a.sizes()[..a.dim() - 2].iter().product::<i64>() as usize;
    let (mut all_u, mut all_s, mut all_v) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..count {
        let elements = elements[at * rows * columns..][..rows * columns].iter();
        let elements = elements.map(|x| if is_wide { wide(*x).conj() } else { wide(*x) }).collect();
        let Singular { mut left, values, right } = decompose(elements, rows, columns);
        complete(&mut left, rows, columns, if is_wide { inner } else { outer });
        let (of_u, of_v) = if is_wide { (right, left) } else { (left, right) };
        all_u.extend(of_u.into_iter().map(|x| x.cast::<T>()));
        all_v.extend(of_v.into_iter().map(|x| x.conj().cast::<T>()));
        all_s.extend(values);
    }
    match_dtype!(s.dtype(), R: Float => {
        s.clone().fill_from::<R>(all_s.into_iter().map(|x| x.cast()))?;
    }, else => return Err(unsupported("aten::_linalg_svd", s.dtype())));
    if u.dim() == 1 {
        return Ok(()); // nobody wants vectors
    }
    let (height, width) = if is_wide { (columns, rows) } else { (rows, columns) };
    Matrices { rows: height, columns: outer, elements: all_u }.write(u)?;
    Matrices { rows: width, columns: inner, elements: all_v }.write(&transposed(vh)?)
}

/// Writes the eigenvalues from the least, and their vectors if there is room for them.
///
/// # How it works
///
/// A matrix with a large enough multiple of one added has no negative eigenvalues; these are its singular values, and have the
/// same vectors. What rounding that adds is taken back by one step: the length of `A v` along `v`.
fn eigen<T: Element>(a: &Tensor, is_lower: bool, values: &Tensor, vectors: &Tensor) -> Result<()> {
    let Matrices { rows: n, elements, .. } = Matrices::<T>::of(a)?;
    let (mut all_values, mut all_vectors) = (Vec::new(), Vec::new());
    for elements in elements.chunks_exact(n * n) {
        let known = |i: usize, j: usize| wide(elements[j * n + i]);
        let element = |at: usize| match (at % n, at / n) {
            (i, j) if i == j => known(i, i).re.into(),
            (i, j) if (i > j) == is_lower => known(i, j),
            (i, j) => known(j, i).conj(),
        };
        let matrix: Vec<Complex64> = (0..n * n).map(element).collect();
        let shift =
            matrix.chunks_exact(n).map(|column| column.iter().map(|x| x.norm()).sum()).fold(0.0, f64::max);
        let mut shifted = matrix.clone();
        (0..n).for_each(|k| shifted[k * n + k] += shift);
        let vectors = decompose(shifted, n, n).right;
        let value = |v: &[Complex64]| {
            let product = |column: &[Complex64], x: &Complex64| {
                column.iter().zip(v).map(|(c, v)| c.conj() * v).sum::<Complex64>() * x.conj()
            };
            matrix.chunks_exact(n).zip(v).map(|(column, x)| product(column, x).re).sum::<f64>()
        };
        let mut pairs: Vec<(f64, &[Complex64])> = vectors.chunks_exact(n).map(|v| (value(v), v)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        all_values.extend(pairs.iter().map(|pair| pair.0));
        all_vectors.extend(pairs.iter().flat_map(|pair| pair.1).map(|x| x.cast::<T>()));
    }
    match_dtype!(values.dtype(), R: Float => {
        values.clone().fill_from::<R>(all_values.into_iter().map(|x| x.cast()))?;
    }, else => return Err(unsupported("aten::_linalg_eigh", values.dtype())));
    if vectors.dim() == 1 {
        return Ok(());
    }
    Matrices { rows: n, columns: n, elements: all_vectors }.write(vectors)
}
