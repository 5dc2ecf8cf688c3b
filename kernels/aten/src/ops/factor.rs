//! Factors of matrices in LAPACK's own form, what is solved with them, and what is made of spectra.

use torch_library::torch_library;

torch_library! {
    /// Factors, on top of what was declared before.
    #[kernels_in(torch_library_linalg)]
    pub mod aten extends super::polynomial::aten {
        /// QR factors as reflections: R on and above the diagonal, the vectors below it, and their factors.
        ///
        /// # Errors
        /// No matrix, or one of integers or halves.
        ///
        /// PyTorch: `torch.geqrf`.
        geqrf(Tensor self) -> (Tensor a, Tensor tau);
        /// The first columns of the product of reflections, of which [`geqrf`](fn@geqrf) makes vectors and factors.
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
        /// Matrices wider than high, more factors than columns, other batches or types.
        ///
        /// PyTorch: `torch.linalg.householder_product`.
        linalg_householder_product(Tensor input, Tensor tau) -> Tensor;
        /// [`linalg_householder_product`](fn@linalg_householder_product) under another name.
        ///
        /// PyTorch: `torch.orgqr`.
        orgqr(Tensor self, Tensor input2) -> Tensor;
        /// The product of a matrix and the orthogonal one that [`geqrf`](fn@geqrf) describes: from the left or the
        /// right, as it is or as its adjoint.
        ///
        /// # Errors
        /// Sizes that do not fit, other batches or types.
        ///
        /// PyTorch: `torch.ormqr`.
        ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor;
        /// Factors `L D Lᵀ` of symmetric matrices, or of Hermitian ones, whose lower halves are read. Pivots are
        /// LAPACK's: two negative ones stand for a block of D.
        ///
        /// # Errors
        /// Matrices that are not square, a block of zeros in D.
        ///
        /// PyTorch: `torch.linalg.ldl_factor`.
        linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots);
        /// As [`linalg_ldl_factor`](fn@linalg_ldl_factor), where a block of zeros in D is told by `info`, its place
        /// from 1.
        ///
        /// # Errors
        /// Matrices that are not square, a block of zeros where errors are asked for.
        ///
        /// PyTorch: `torch.linalg.ldl_factor_ex`.
        linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD,
            Tensor pivots, Tensor info);
        /// Solves equations whose matrix [`linalg_ldl_factor`](fn@linalg_ldl_factor) has factored.
        ///
        /// # Errors
        /// Sizes, types or pivots that do not fit.
        ///
        /// PyTorch: `torch.linalg.ldl_solve`.
        linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor;
        /// The square root of positive semidefinite matrices, whose lower halves are read; negative eigenvalues
        /// count as zero.
        ///
        /// # Errors
        /// Matrices that are not square.
        ///
        /// PyTorch: `torch.linalg.matrix_sqrth`.
        linalg_matrix_sqrth(Tensor self) -> Tensor;
        /// The polar form `A = U H`: orthonormal columns, and a positive semidefinite matrix.
        ///
        /// # Errors
        /// Matrices with fewer rows than columns.
        ///
        /// PyTorch: `torch.linalg.polar`.
        linalg_polar(Tensor A) -> (Tensor U, Tensor H);
        /// Solves equations, and says by `info` at which step a matrix was found singular.
        ///
        /// # Errors
        /// Sizes or types that do not fit, a singular matrix where errors are asked for.
        ///
        /// PyTorch: `torch.linalg.solve_ex`.
        linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info);
        /// The inverse of a tensor as a mapping: the last dimensions to the first `ind`.
        ///
        /// # Errors
        /// First and last dimensions of different numbers of elements, a mapping that has no inverse.
        ///
        /// PyTorch: `torch.linalg.tensorinv`.
        linalg_tensorinv(Tensor self, int ind=2) -> Tensor;
        /// What a tensor as a mapping makes `other` of; `dims` are moved to the end first.
        ///
        /// # Errors
        /// Sizes that do not fit, a mapping that has no inverse.
        ///
        /// PyTorch: `torch.linalg.tensorsolve`.
        linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor;
        /// Singular values with vectors as columns; `some=False` makes both bases whole, `compute_uv=False` zeros
        /// of them.
        ///
        /// # Errors
        /// No matrix, or one of integers or halves.
        ///
        /// PyTorch: `torch.svd`.
        svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V);
        /// LU factors, as [`linalg_lu_factor_ex`](fn@linalg_lu_factor_ex) makes them; it never fails for a singular
        /// matrix.
        ///
        /// PyTorch: `aten::_lu_with_info`.
        _lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info);
        /// Turns what LAPACK reports in `info` into an error of the function that is named.
        ///
        /// # Errors
        /// A number other than zero.
        ///
        /// PyTorch: `aten::_linalg_check_errors`.
        _linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ();
    }
}
