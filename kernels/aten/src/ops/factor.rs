//! Matrix factorisations in LAPACK's format, solvers that use them, and functions of eigenvalues and singular values.

use torch_library::torch_library;

torch_library! {
    /// Matrix factorisations.
    #[kernels_in(torch_library_linalg)]
    pub mod aten extends "aten" {
        /// The QR factorisation as Householder reflectors: R on and above the diagonal of `a`, the reflectors below it,
        /// and their scalar factors in `tau`.
        ///
        /// # Errors
        /// An input that is not a matrix, or one of an integer or half-precision dtype.
        ///
        /// PyTorch: `torch.geqrf`.
        geqrf(Tensor self) -> (Tensor a, Tensor tau);
        /// The first columns of the product of Householder reflectors, in the format of [`geqrf`](fn@geqrf).
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let (a, tau) = aten::geqrf(&Tensor::from([[3.0, 1.0], [4.0, 2.0]]))?;
        /// let q = aten::linalg_householder_product(&a, &tau)?;
        /// assert!(aten::allclose(&q, &Tensor::from([[-0.6, -0.8], [-0.8, 0.6]]))?);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Matrices with more columns than rows, more factors than columns, batches or dtypes that do not match.
        ///
        /// PyTorch: `torch.linalg.householder_product`.
        linalg_householder_product(Tensor input, Tensor tau) -> Tensor;
        /// Alias for [`linalg_householder_product`](fn@linalg_householder_product).
        ///
        /// PyTorch: `torch.orgqr`.
        orgqr(Tensor self, Tensor input2) -> Tensor;
        /// The product of a matrix and the orthogonal matrix of [`geqrf`](fn@geqrf), which is multiplied from the left
        /// or the right, and transposed (conjugated, if complex) if `transpose` is true.
        ///
        /// # Errors
        /// Sizes, batches or dtypes that do not match.
        ///
        /// PyTorch: `torch.ormqr`.
        ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor;
        /// The factorisation `L D Lᵀ` of symmetric or Hermitian matrices, of which the lower triangle is read. The
        /// pivots are LAPACK's: two negative ones mark a 2×2 block of D.
        ///
        /// # Errors
        /// Matrices that are not square, a zero block in D.
        ///
        /// PyTorch: `torch.linalg.ldl_factor`.
        linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots);
        /// Like [`linalg_ldl_factor`](fn@linalg_ldl_factor), but `info` reports a zero block in D, by its 1-based
        /// position.
        ///
        /// # Errors
        /// Matrices that are not square, a zero block if `check_errors` is true.
        ///
        /// PyTorch: `torch.linalg.ldl_factor_ex`.
        linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD,
            Tensor pivots, Tensor info);
        /// Solves linear systems with the factors of [`linalg_ldl_factor`](fn@linalg_ldl_factor).
        ///
        /// # Errors
        /// Sizes, dtypes or pivots that do not match.
        ///
        /// PyTorch: `torch.linalg.ldl_solve`.
        linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor;
        /// The square root of positive semidefinite matrices, of which the lower triangle is read; negative eigenvalues
        /// count as zero.
        ///
        /// # Errors
        /// Matrices that are not square.
        ///
        /// PyTorch: `torch.linalg.matrix_sqrth`.
        linalg_matrix_sqrth(Tensor self) -> Tensor;
        /// The polar decomposition `A = U H`: U has orthonormal columns, H is positive semidefinite.
        ///
        /// # Errors
        /// Matrices with fewer rows than columns.
        ///
        /// PyTorch: `torch.linalg.polar`.
        linalg_polar(Tensor A) -> (Tensor U, Tensor H);
        /// Solves linear systems; `info` says at which step a matrix was found to be singular.
        ///
        /// # Errors
        /// Sizes or dtypes that do not match, a singular matrix if `check_errors` is true.
        ///
        /// PyTorch: `torch.linalg.solve_ex`.
        linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info);
        /// The inverse of a tensor as a linear map from its last dimensions to its first `ind`.
        ///
        /// # Errors
        /// First and last dimensions with different numbers of elements, a singular map.
        ///
        /// PyTorch: `torch.linalg.tensorinv`.
        linalg_tensorinv(Tensor self, int ind=2) -> Tensor;
        /// The solution of a linear system whose map is the tensor `self`, with `dims` moved to the end, and whose
        /// right-hand side is `other`.
        ///
        /// # Errors
        /// Sizes that do not match, a singular map.
        ///
        /// PyTorch: `torch.linalg.tensorsolve`.
        linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor;
        /// The singular value decomposition, with the singular vectors as columns. `some=False` completes both bases;
        /// `compute_uv=False` gives zeros in their place.
        ///
        /// # Errors
        /// An input that is not a matrix, or one of an integer or half-precision dtype.
        ///
        /// PyTorch: `torch.svd`.
        svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V);
        /// The LU factorisation of [`linalg_lu_factor_ex`](fn@crate::aten::linalg_lu_factor_ex), which does not fail
        /// for a singular matrix.
        ///
        /// PyTorch: `aten::_lu_with_info`.
        _lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info);
        /// Turns a nonzero `info` of LAPACK into an error that names the function `api_name`.
        ///
        /// # Errors
        /// An `info` other than zero.
        ///
        /// PyTorch: `aten::_linalg_check_errors`.
        _linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ();
    }
}
