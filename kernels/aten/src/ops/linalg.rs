//! Linear algebra: linear systems, inverses, determinants and factorisations of matrices.

use torch_library::torch_library;

torch_library! {
    /// Linear algebra.
    #[methods(LinalgMethods)]
    #[kernels_in(torch_library_linalg)]
    pub mod aten extends "aten" {
        /// The LU factorisation of matrices `[.., n, m]` with partial pivoting. L and U share one matrix, which leaves
        /// out the ones on the diagonal of L; `pivots` has the row, counted from 1, that each step swapped with its
        /// own, as `int32`; `info` is the first step without a pivot, counted from 1, or 0.
        ///
        /// # Errors
        /// `pivot=False`; a step without a pivot if `check_errors` is true.
        ///
        /// PyTorch: `torch.linalg.lu_factor_ex`.
        linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots,
            Tensor info);
        /// [`linalg_lu_factor_ex`](fn@linalg_lu_factor_ex), which fails where a step has no pivot.
        ///
        /// # Errors
        /// `pivot=False`, a step without a pivot.
        ///
        /// PyTorch: `torch.linalg.lu_factor`.
        linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots);
        /// Unpacks the factors of [`linalg_lu_factor`](fn@linalg_lu_factor) into separate matrices `P L U`; a result
        /// that is not asked for has sizes `[0]`.
        ///
        /// # Errors
        /// Pivots that are not `int32`, not rows, or not one for each step.
        ///
        /// PyTorch: `torch.lu_unpack`.
        lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True,
            bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U);
        /// The factorisation `A = P L U`: a permutation of the rows, a lower triangular matrix with ones on its
        /// diagonal, an upper triangular matrix.
        ///
        /// # Errors
        /// `pivot=False`.
        ///
        /// PyTorch: `torch.linalg.lu`.
        linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U);
        /// Solves `A X = B`, or `X A = B` if `left` is false, from the LU factors of `A`; with `adjoint`, the same
        /// systems with the conjugate transpose of `A`. Batches broadcast.
        ///
        /// # Errors
        /// Sizes or dtypes that do not match, pivots that are not `int32` or not rows.
        ///
        /// PyTorch: `torch.linalg.lu_solve`.
        linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor;
        /// [`linalg_lu_solve`](fn@linalg_lu_solve) with the right-hand side as its first argument.
        ///
        /// PyTorch: `torch.lu_solve`.
        lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor;

        /// The solution of [`linalg_solve`](fn@linalg_solve), with the LU factors that it was computed from.
        ///
        /// # Errors
        /// Sizes or dtypes that do not match, a singular matrix if `check_errors` is true.
        ///
        /// PyTorch: `aten::_linalg_solve_ex`.
        _linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result,
            Tensor LU, Tensor pivots, Tensor info);
        /// Solves `A X = B`, or `X A = B` if `left` is false, or `A x = b` for vectors `[.., n]`. Batches broadcast.
        ///
        /// # Errors
        /// A singular matrix, sizes or dtypes that do not match.
        ///
        /// PyTorch: `torch.linalg.solve`.
        linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor;
        /// Solves `A X = B`, or `X A = B` if `left` is false, for a triangular matrix, whose other triangle is not
        /// read. With `unitriangular`, its diagonal is taken to be ones, and not read either. Batches broadcast.
        ///
        /// # Errors
        /// Sizes that do not match.
        ///
        /// PyTorch: `torch.linalg.solve_triangular`.
        linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True,
            bool unitriangular=False) -> Tensor;
        /// The solutions of triangular systems, and a copy of the matrices; see
        /// [`linalg_solve_triangular`](fn@linalg_solve_triangular).
        ///
        /// PyTorch: `torch.triangular_solve`.
        triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False,
            bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient);

        /// The inverses of square matrices, and for each matrix 0, or the step at which it was found to be singular.
        ///
        /// # Errors
        /// Matrices that are not square, a singular one if `check_errors` is true.
        ///
        /// PyTorch: `torch.linalg.inv_ex`.
        linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info);
        /// The inverses of square matrices.
        ///
        /// # Errors
        /// A matrix that is not square or is singular.
        ///
        /// PyTorch: `torch.linalg.inv`.
        linalg_inv(Tensor A) -> Tensor;
        /// Alias for [`linalg_inv`](fn@linalg_inv).
        ///
        /// PyTorch: `torch.inverse`.
        inverse(Tensor self) -> Tensor;

        /// Determinants, with the LU factors that they were computed from: those of the transposed matrices, if the
        /// matrices are real and row-major.
        ///
        /// PyTorch: `aten::_linalg_det`.
        _linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots);
        /// The determinants of square matrices; that of a matrix without elements is 1.
        ///
        /// # Errors
        /// Matrices that are not square.
        ///
        /// PyTorch: `torch.linalg.det`.
        linalg_det(Tensor A) -> Tensor;
        /// Alias for [`linalg_det`](fn@linalg_det).
        ///
        /// PyTorch: `torch.det`.
        det(Tensor self) -> Tensor;
        /// The results of [`linalg_slogdet`](fn@linalg_slogdet), with the LU factors that they were computed from.
        ///
        /// PyTorch: `aten::_linalg_slogdet`.
        _linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots);
        /// The signs of determinants, and the logarithms of their absolute values.
        ///
        /// # Errors
        /// Matrices that are not square.
        ///
        /// PyTorch: `torch.linalg.slogdet`.
        linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet);
        /// Alias for [`linalg_slogdet`](fn@linalg_slogdet).
        ///
        /// PyTorch: `torch.slogdet`.
        slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet);
        /// The logarithms of determinants: NaN for negative ones.
        ///
        /// PyTorch: `torch.logdet`.
        logdet(Tensor self) -> Tensor;

        /// The Cholesky factors L of `A = L Lᴴ`, of which only the lower triangle is read, or U of `A = Uᴴ U`; and for
        /// each matrix 0, or the step at which it was found not to be positive definite.
        ///
        /// # Errors
        /// Matrices that are not square; one that is not positive definite, if `check_errors` is true.
        ///
        /// PyTorch: `torch.linalg.cholesky_ex`.
        linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info);
        /// [`linalg_cholesky_ex`](fn@linalg_cholesky_ex), which fails where a matrix is not positive definite.
        ///
        /// # Errors
        /// A matrix that is not square or not positive definite.
        ///
        /// PyTorch: `torch.linalg.cholesky`.
        linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor;
        /// The solution of `A X = self`, from the Cholesky factor of `A`.
        ///
        /// PyTorch: `torch.cholesky_solve`.
        cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor;
        /// [`cholesky_solve`](fn@cholesky_solve) for matrices of one batch.
        ///
        /// # Errors
        /// Different batch sizes; the errors of [`cholesky_solve`](fn@cholesky_solve).
        ///
        /// PyTorch: `torch._cholesky_solve_helper`.
        #[variants(function)]
        _cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor;
        /// The inverse of a matrix, from its Cholesky factor.
        ///
        /// PyTorch: `torch.cholesky_inverse`.
        cholesky_inverse(Tensor self, bool upper=False) -> Tensor;

        /// The QR factorisation: Q has orthonormal columns, R is upper triangular. In mode `"reduced"`, Q has the
        /// fewest columns that suffice; in `"complete"` it is square; in `"r"` it is not computed.
        ///
        /// # Errors
        /// Another mode.
        ///
        /// PyTorch: `torch.linalg.qr`.
        linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R);

        /// The results of [`linalg_svd`](fn@linalg_svd), without singular vectors unless `compute_uv`; `driver` is
        /// ignored.
        ///
        /// PyTorch: `aten::_linalg_svd`.
        _linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U,
            Tensor S, Tensor Vh);
        /// The singular value decomposition `A = U S Vh`: singular values in descending order, and singular vectors;
        /// with `full_matrices`, both bases are complete.
        ///
        /// # Errors
        /// An input that is not a matrix, or has NaN.
        ///
        /// PyTorch: `torch.linalg.svd`.
        linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh);
        /// The singular values, in descending order.
        ///
        /// PyTorch: `torch.linalg.svdvals`.
        linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor;
        /// The results of [`linalg_eigh`](fn@linalg_eigh), without eigenvectors unless `compute_v`.
        ///
        /// PyTorch: `aten::_linalg_eigh`.
        _linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors);
        /// The eigenvalues of Hermitian matrices, in ascending order, and the eigenvectors as columns. Only one
        /// triangle is read: the lower one, or the upper one with `UPLO="U"`.
        ///
        /// # Errors
        /// Another `UPLO`, matrices that are not square, NaN.
        ///
        /// PyTorch: `torch.linalg.eigh`.
        linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors);
        /// The eigenvalues of Hermitian matrices, in ascending order.
        ///
        /// PyTorch: `torch.linalg.eigvalsh`.
        linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor;
        /// The eigenvalues of square matrices, complex and in no particular order, and the eigenvectors as columns of
        /// length 1.
        ///
        /// # Errors
        /// Matrices that are not square, elements that are not finite.
        ///
        /// PyTorch: `torch.linalg.eig`.
        linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors);
        /// The form of [`linalg_eigvals`](fn@linalg_eigvals) for inputs that require no gradient: a gradient would need
        /// the eigenvectors.
        ///
        /// PyTorch: `torch._linalg_eigvals`.
        _linalg_eigvals(Tensor self) -> Tensor;
        /// The eigenvalues of [`linalg_eig`](fn@linalg_eig), without the eigenvectors.
        ///
        /// PyTorch: `torch.linalg.eigvals`.
        linalg_eigvals(Tensor self) -> Tensor;

        /// The pseudoinverses `[.., m, n]` of matrices `[.., n, m]`: singular values up to `atol`, or up to `rtol`
        /// times the largest one, count as zero. If neither is given, `rtol` is the larger of `n` and `m` times the
        /// machine epsilon. The tolerances have an element for each matrix; with `hermitian`, only the lower triangles
        /// are read.
        ///
        /// PyTorch: `torch.linalg.pinv`.
        linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None,
            bool hermitian=False) -> Tensor;
        /// [`linalg_pinv_atol_rtol_tensor`](fn@linalg_pinv_atol_rtol_tensor) with the same tolerances for all matrices.
        ///
        /// PyTorch: `torch.linalg.pinv`.
        linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor;
        /// [`linalg_pinv_atol_rtol_float`](fn@linalg_pinv_atol_rtol_float) with `rtol` only.
        ///
        /// PyTorch: `torch.linalg.pinv`.
        linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor;
        /// [`linalg_pinv_atol_rtol_tensor`](fn@linalg_pinv_atol_rtol_tensor) with `rtol` only.
        ///
        /// PyTorch: `torch.linalg.pinv`.
        linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor;
        /// Alias for [`linalg_pinv`](fn@linalg_pinv), with a default for `rcond`.
        ///
        /// PyTorch: `torch.pinverse`.
        pinverse(Tensor self, float rcond=1e-15) -> Tensor;
        /// The rank of matrices: the number of singular values that are not zero by the tolerances of
        /// [`linalg_pinv_atol_rtol_tensor`](fn@linalg_pinv_atol_rtol_tensor), as `int64`.
        ///
        /// PyTorch: `torch.linalg.matrix_rank`.
        linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None,
            bool hermitian=False) -> Tensor;
        /// [`linalg_matrix_rank_atol_rtol_tensor`](fn@linalg_matrix_rank_atol_rtol_tensor) with the same tolerances for
        /// all matrices.
        ///
        /// PyTorch: `torch.linalg.matrix_rank`.
        linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None,
            bool hermitian=False) -> Tensor;
        /// [`linalg_matrix_rank_atol_rtol_float`](fn@linalg_matrix_rank_atol_rtol_float) with `atol` only.
        ///
        /// PyTorch: `torch.linalg.matrix_rank`.
        linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor;
        /// [`linalg_matrix_rank_atol_rtol_tensor`](fn@linalg_matrix_rank_atol_rtol_tensor) with `atol` only.
        ///
        /// PyTorch: `torch.linalg.matrix_rank`.
        linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor;
        /// The least-squares solution `X` of `A X = B`, or `x` for vectors: the one of least norm. The other results
        /// have sizes `[0]` where they are not computed: `residuals`, the squared residual of each column, for tall
        /// matrices of full rank and drivers other than `"gelsy"`; `rank`, for drivers other than `"gels"`;
        /// `singular_values`, for `"gelsd"` and `"gelss"`. All drivers find the same solution; the default is
        /// `"gelsy"`. `rcond` is the `rtol` of [`linalg_pinv`](fn@linalg_pinv).
        ///
        /// # Errors
        /// Another driver, sizes that do not match.
        ///
        /// PyTorch: `torch.linalg.lstsq`.
        linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution,
            Tensor residuals, Tensor rank, Tensor singular_values);

        /// A norm. Without `ord`, it is the Euclidean norm of all elements; with `ord`, it is a vector norm over one
        /// dimension or a matrix norm over two.
        ///
        /// # Errors
        /// An `ord` for other than one or two dimensions, an unknown `ord`, integer and boolean dtypes.
        ///
        /// PyTorch: `torch.linalg.norm`.
        linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The Frobenius norm (`"fro"`) or nuclear norm (`"nuc"`) of matrices.
        ///
        /// # Errors
        /// The errors of [`linalg_matrix_norm_str_ord`].
        ///
        /// PyTorch: `torch.linalg.norm`.
        linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The norm of matrices in two dimensions: for `1` and `-1` the largest and smallest absolute column sum, for
        /// infinity and its negative the same of rows, for `2` and `-2` the largest and smallest singular value.
        ///
        /// ```
        /// use torch_library::prelude::*;
        /// use torch_library_kernels::aten;
        ///
        /// let a = Tensor::from([[1.0, -2.0], [3.0, 4.0]]);
        /// assert_eq!(aten::linalg_matrix_norm(&a, 1.into())?.item()?.to::<f64>()?, 6.0);
        /// assert_eq!(aten::linalg_matrix_norm(&a, f64::INFINITY.into())?.item()?.to::<f64>()?, 7.0);
        /// # Ok::<(), Error>(())
        /// ```
        ///
        /// # Errors
        /// Another `ord`, fewer than two dimensions, the same dimension twice, dtypes that are neither floating-point
        /// nor complex.
        ///
        /// PyTorch: `torch.linalg.matrix_norm`.
        linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The Frobenius norm (`"fro"`) or nuclear norm (`"nuc"`) of matrices in two dimensions.
        ///
        /// # Errors
        /// Another `ord`, fewer than two dimensions, the same dimension twice, dtypes that are neither floating-point
        /// nor complex.
        ///
        /// PyTorch: `torch.linalg.matrix_norm`.
        linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The condition number of matrices: the norm of a matrix times that of its inverse, of order 1, 2 (the
        /// default), infinity or one of these negated; infinite for a singular matrix.
        ///
        /// # Errors
        /// Another `p`, fewer than two dimensions, matrices that are not square for a `p` other than `2` and `-2`.
        ///
        /// PyTorch: `torch.linalg.cond`.
        linalg_cond(Tensor self, Scalar? p=None) -> Tensor;
        /// [`linalg_cond`](fn@linalg_cond) by the Frobenius norm (`"fro"`) or nuclear norm (`"nuc"`).
        ///
        /// # Errors
        /// Another `p`, matrices that are not square.
        ///
        /// PyTorch: `torch.linalg.cond`.
        linalg_cond.p_str(Tensor self, str p) -> Tensor;
        /// The Vandermonde matrix of each vector in the last dimension: the powers of each element, from exponent 0 on,
        /// along a new last dimension of size `N`, by default the length of the vector.
        ///
        /// # Errors
        /// Booleans and 16-bit floats, a tensor without dimensions, fewer than two powers.
        ///
        /// PyTorch: `torch.linalg.vander`.
        linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor;
        /// The Vandermonde matrix of a vector: a row of powers for each element, the highest first unless `increasing`;
        /// integers give `int64`.
        ///
        /// # Errors
        /// An input that is not a vector, a negative `N`.
        ///
        /// PyTorch: `torch.vander`.
        #[variants(function)]
        vander(Tensor x, int? N=None, bool increasing=False) -> Tensor;
        /// The matrix exponentials of matrices `[.., n, n]`: the sum of their powers, each divided by the factorial of
        /// its exponent.
        ///
        /// # Errors
        /// Matrices that are not square, integer and boolean dtypes.
        ///
        /// PyTorch: `torch.linalg.matrix_exp`.
        linalg_matrix_exp(Tensor self) -> Tensor;
        /// Alias for [`linalg_matrix_exp`](fn@linalg_matrix_exp).
        ///
        /// # Errors
        /// Matrices that are not square, integer and boolean dtypes.
        ///
        /// PyTorch: `torch.matrix_exp`.
        matrix_exp(Tensor self) -> Tensor;
        /// The gradient of matrices `self` whose matrix exponentials have the gradient `grad`.
        ///
        /// # Errors
        /// Matrices that are not square, a gradient of other sizes.
        ///
        /// PyTorch: `aten::matrix_exp_backward`.
        #[variants(function)]
        matrix_exp_backward(Tensor self, Tensor grad) -> Tensor;
        /// Alias for [`matrix_power`].
        ///
        /// PyTorch: `torch.linalg.matrix_power`.
        linalg_matrix_power(Tensor self, int n) -> Tensor;
        /// Alias for [`matmul`](fn@crate::aten::matmul).
        ///
        /// PyTorch: `torch.linalg.matmul`.
        linalg_matmul(Tensor self, Tensor other) -> Tensor;
        /// A view of a diagonal of the matrices in two dimensions.
        ///
        /// PyTorch: `torch.linalg.diagonal`.
        linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a);
        /// The product of several matrices, in the order that needs the fewest multiplications; the first and the last
        /// may be vectors.
        ///
        /// # Errors
        /// Fewer than two tensors, sizes that cannot be multiplied, different dtypes.
        ///
        /// PyTorch: `torch.linalg.multi_dot`.
        linalg_multi_dot(Tensor[] tensors) -> Tensor;
        /// The product of matrices in the order that needs the fewest multiplications; of a single one, a copy.
        ///
        /// # Errors
        /// No tensors, a tensor that is not a matrix, sizes that cannot be multiplied, different dtypes.
        ///
        /// PyTorch: `torch.chain_matmul`, which is deprecated for [`linalg_multi_dot`](fn@linalg_multi_dot).
        chain_matmul(Tensor[] matrices) -> Tensor;
        /// The nuclear norms of matrices in the last two dimensions: the sums of their singular values.
        ///
        /// # Errors
        /// Those of [`linalg_matrix_norm`](fn@linalg_matrix_norm).
        ///
        /// PyTorch: `torch.nuclear_norm`.
        nuclear_norm(Tensor self, bool keepdim=False) -> Tensor;
        /// The nuclear norms of matrices in two dimensions.
        ///
        /// # Errors
        /// Those of [`linalg_matrix_norm`](fn@linalg_matrix_norm).
        ///
        /// PyTorch: `torch.nuclear_norm`.
        nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor;
        /// The Frobenius norms over one or two dimensions, or all if none is given: the square roots of the sums of
        /// squares.
        ///
        /// # Errors
        /// More than two dimensions, dtypes that are neither floating-point nor complex.
        ///
        /// PyTorch: `torch.frobenius_norm`.
        frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor;
        /// The dot products of vectors along a dimension, with `x` conjugated.
        ///
        /// # Errors
        /// Sizes that do not broadcast, different dtypes, integers and booleans.
        ///
        /// PyTorch: `torch.linalg.vecdot`.
        linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor;
    }
}
