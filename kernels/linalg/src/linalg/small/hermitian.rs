//! Eigenvalues and eigenvectors of a small Hermitian matrix, with the signs of LAPACK's driver `syevd`.

use num_traits::Float;

use super::columns::Columns;
use super::field::Field;
use super::implicit_ql::Iteration;
use super::tridiagonal::{reduce, times};
use super::{root_free, scale};

/// Memory for matrices of one size, which is used again for each of a batch.
pub(in super::super) struct Workspace<T: Field> {
    n: usize,
    matrix: Vec<T>,
    factors: Vec<T>,
    workspace: Vec<T>,
    off_diagonal: Vec<T::Real>,
    vectors: Vec<T::Real>,
}

impl<T: Field> Workspace<T> {
    pub(in super::super) fn new(n: usize) -> Self {
        let line = || vec![T::ZERO; n];
        Workspace {
            n,
            matrix: vec![T::ZERO; n * n],
            factors: line(),
            workspace: line(),
            off_diagonal: vec![T::Real::ZERO; n],
            vectors: vec![T::Real::ZERO; n * n],
        }
    }

    /// Finds the eigenvalues, in ascending order, and the vectors as columns if they are wanted, of a column-major
    /// matrix that is given by one triangle. Returns whether all were found; they are not if an element of the triangle
    /// is not finite.
    pub(in super::super) fn eigen(
        &mut self,
        a: &[T],
        is_lower: bool,
        values: &mut [T::Real],
        vectors: Option<&mut [T]>,
    ) -> bool {
        let n = self.n;
        // The upper triangle is, with the order of rows and columns reversed, a lower one.
        for j in 0..n {
            for i in j..n {
                let from = if is_lower { j * n + i } else { (n - 1 - j) * n + n - 1 - i };
                self.matrix[j * n + i] = if i == j { T::real(a[from].re()) } else { a[from] };
            }
            self.matrix[j * n..][..j].fill(T::ZERO);
        }
        if !self.matrix.iter().all(|x| x.re().is_finite() && x.im().is_finite()) {
            return false;
        }
        let factor =
            if vectors.is_some() { scale::factor(&self.matrix) } else { scale::to_one(&self.matrix) };
        if factor != T::Real::ONE {
            self.matrix.iter_mut().for_each(|x| *x = x.by(factor));
        }
        let mut matrix = Columns::new(&mut self.matrix, n);
        reduce(&mut matrix, [values, &mut self.off_diagonal], &mut self.factors, &mut self.workspace);
        let is_found = match vectors {
            Some(vectors) => self.vectors(is_lower, values, vectors),
            None => {
                let is_found = root_free::eigenvalues(values, &mut self.off_diagonal);
                values.sort_unstable_by(root_free::in_order);
                is_found
            }
        };
        values.iter_mut().for_each(|x| *x = *x / factor);
        is_found
    }

    /// Finds the eigenvalues and the vectors of the tridiagonal matrix, and turns them into those of the matrix.
    fn vectors(&mut self, is_lower: bool, values: &mut [T::Real], vectors: &mut [T]) -> bool {
        let n = self.n;
        if !is_lower {
            values.reverse();
            self.off_diagonal[..n.saturating_sub(1)].reverse();
        }
        let found = Columns::identity(&mut self.vectors, n);
        let is_found =
            Iteration { diagonal: values, off_diagonal: &mut self.off_diagonal, vectors: found }.run();
        for (to, from) in vectors.chunks_exact_mut(n).zip(self.vectors.chunks_exact_mut(n)) {
            if !is_lower {
                from.reverse();
            }
            to.iter_mut().zip(from).for_each(|(to, from)| *to = T::real(*from));
        }
        times(&Columns::new(&mut self.matrix, n), &self.factors, &mut Columns::new(vectors, n));
        if !is_lower {
            vectors.chunks_exact_mut(n).for_each(<[T]>::reverse);
        }
        is_found
    }
}
