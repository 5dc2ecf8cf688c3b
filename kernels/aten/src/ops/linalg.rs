//! Linear algebra: equations, inverses, determinants and factors of matrices.

use torch_library::torch_library;

torch_library! {
    /// Linear algebra, on top of what was declared before.
    #[methods(LinalgMethods)]
    #[kernels_in(torch_library_linalg)]
    pub mod aten extends super::linear::aten {
        /// The LU factors of matrices `[.., n, m]` with partial pivoting: both in one matrix, without the ones of
        /// L's diagonal; the row, from 1, that each step swapped with its own, as `int32`; the first step without a
        /// pivot, from 1, or 0.
        ///
        /// # Errors
        /// `pivot=False`; with `check_errors`, a step without a pivot.
        ///
        /// PyTorch: `torch.linalg.lu_factor_ex`.
        linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots,
            Tensor info);
        /// As [`linalg_lu_factor_ex`](fn@linalg_lu_factor_ex), and an error where a step has no pivot.
        ///
        /// PyTorch: `torch.linalg.lu_factor`.
        linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots);
        /// The factors of [`linalg_lu_factor`](fn@linalg_lu_factor) as matrices `P L U` of their own; of sizes
        /// `[0]` what is not asked for.
        ///
        /// # Errors
        /// Pivots that are not `int32`, or not one for each step.
        ///
        /// PyTorch: `torch.lu_unpack`.
        lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True,
            bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U);
        /// The factors of `A = P L U`: rows in another order, a lower triangle with ones on its diagonal, an upper
        /// triangle.
        ///
        /// PyTorch: `torch.linalg.lu`.
        linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U);
        /// The `X` of `A X = B`, or of `X A = B` without `left`, from the factors of `A`; with `adjoint`, of those
        /// equations with the adjoint matrix. Batches broadcast.
        ///
        /// # Errors
        /// Sizes that make no equations.
        ///
        /// PyTorch: `torch.linalg.lu_solve`.
        linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor;
        /// As [`linalg_lu_solve`](fn@linalg_lu_solve), right sides first.
        ///
        /// PyTorch: `torch.lu_solve`.
        lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor;

        /// The solution of [`linalg_solve`](fn@linalg_solve), with the factors that it was found with.
        ///
        /// PyTorch: `aten::_linalg_solve_ex`.
        _linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result,
            Tensor LU, Tensor pivots, Tensor info);
        /// The `X` of `A X = B`, or of `X A = B` without `left`; of `A x = b` for vectors `[.., n]`. Batches broadcast.
        ///
        /// # Errors
        /// A singular matrix, sizes that make no equations.
        ///
        /// PyTorch: `torch.linalg.solve`.
        linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor;
        /// The `X` of `A X = B`, or of `X A = B`, for a triangular matrix, of which the other half is not read; with
        /// `unitriangular` neither is its diagonal, which is of ones. Batches broadcast.
        ///
        /// # Errors
        /// Sizes that make no equations.
        ///
        /// PyTorch: `torch.linalg.solve_triangular`.
        linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True,
            bool unitriangular=False) -> Tensor;
        /// The solutions of triangular equations, and a copy of the matrices; see
        /// [`linalg_solve_triangular`](fn@linalg_solve_triangular).
        ///
        /// PyTorch: `torch.triangular_solve`.
        triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False,
            bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient);

        /// The inverses of square matrices, and for each 0, or the step that found it singular.
        ///
        /// # Errors
        /// With `check_errors`, a singular matrix.
        ///
        /// PyTorch: `torch.linalg.inv_ex`.
        linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info);
        /// The inverses of square matrices.
        ///
        /// # Errors
        /// A singular matrix.
        ///
        /// PyTorch: `torch.linalg.inv`.
        linalg_inv(Tensor A) -> Tensor;
        /// As [`linalg_inv`](fn@linalg_inv).
        ///
        /// PyTorch: `torch.inverse`.
        inverse(Tensor self) -> Tensor;

        /// Determinants with the factors that they were found with: of the transposed matrices, if these are real
        /// and row-major.
        ///
        /// PyTorch: `aten::_linalg_det`.
        _linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots);
        /// The determinants of square matrices; that of a matrix without elements is 1.
        ///
        /// PyTorch: `torch.linalg.det`.
        linalg_det(Tensor A) -> Tensor;
        /// As [`linalg_det`](fn@linalg_det).
        ///
        /// PyTorch: `torch.det`.
        det(Tensor self) -> Tensor;
        /// What [`linalg_slogdet`](fn@linalg_slogdet) gives, with the factors that it was found with.
        ///
        /// PyTorch: `aten::_linalg_slogdet`.
        _linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots);
        /// The signs of determinants, and the logarithms of their absolute values.
        ///
        /// PyTorch: `torch.linalg.slogdet`.
        linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet);
        /// As [`linalg_slogdet`](fn@linalg_slogdet).
        ///
        /// PyTorch: `torch.slogdet`.
        slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet);
        /// The logarithms of determinants: NaN of negative ones.
        ///
        /// PyTorch: `torch.logdet`.
        logdet(Tensor self) -> Tensor;

        /// The Cholesky factors L of `A = L Lᴴ`, of which only the lower halves are read, or U of `A = Uᴴ U`; and
        /// for each 0, or the step that found the matrix not positive definite.
        ///
        /// # Errors
        /// With `check_errors`, a matrix that is not positive definite.
        ///
        /// PyTorch: `torch.linalg.cholesky_ex`.
        linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info);
        /// As [`linalg_cholesky_ex`](fn@linalg_cholesky_ex), and an error where a matrix is not positive definite.
        ///
        /// PyTorch: `torch.linalg.cholesky`.
        linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor;
        /// The solution of `A X = self`, from the Cholesky factor of `A`.
        ///
        /// PyTorch: `torch.cholesky_solve`.
        cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor;
        /// The inverse of a matrix, from its Cholesky factor.
        ///
        /// PyTorch: `torch.cholesky_inverse`.
        cholesky_inverse(Tensor self, bool upper=False) -> Tensor;

        /// The factors Q, whose columns are orthonormal, and R, which is upper triangular: as many columns of Q as
        /// R has rows, the fewest that serve; all with mode `"complete"`; none with `"r"`.
        ///
        /// # Errors
        /// Another mode.
        ///
        /// PyTorch: `torch.linalg.qr`.
        linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R);

        /// What [`linalg_svd`](fn@linalg_svd) gives, without vectors if nobody wants them; `driver` is not looked at.
        ///
        /// PyTorch: `aten::_linalg_svd`.
        _linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U,
            Tensor S, Tensor Vh);
        /// The factors of `A = U S Vh`: singular values from the largest, and vectors, with `full_matrices` those
        /// beyond too.
        ///
        /// PyTorch: `torch.linalg.svd`.
        linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh);
        /// Singular values, from the largest.
        ///
        /// PyTorch: `torch.linalg.svdvals`.
        linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor;
        /// What [`linalg_eigh`](fn@linalg_eigh) gives, without vectors if nobody wants them.
        ///
        /// PyTorch: `aten::_linalg_eigh`.
        _linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors);
        /// The eigenvalues of Hermitian matrices, from the least, and their vectors in columns. Only one half is
        /// read: the lower one, or the upper one with `UPLO="U"`.
        ///
        /// # Errors
        /// Another `UPLO`, matrices that are not square.
        ///
        /// PyTorch: `torch.linalg.eigh`.
        linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors);
        /// The eigenvalues of Hermitian matrices, from the least.
        ///
        /// PyTorch: `torch.linalg.eigvalsh`.
        linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor;
        /// The eigenvalues of square matrices, as complex numbers in no order, and their vectors in columns, each
        /// of length 1.
        ///
        /// # Errors
        /// Matrices that are not square, numbers that are not finite.
        ///
        /// PyTorch: `torch.linalg.eig`.
        linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors);
        /// What [`linalg_eigvals`](fn@linalg_eigvals) is made of where nobody asks for a gradient, which takes vectors.
        ///
        /// PyTorch: `torch._linalg_eigvals`.
        _linalg_eigvals(Tensor self) -> Tensor;
        /// The eigenvalues of [`linalg_eig`](fn@linalg_eig).
        ///
        /// PyTorch: `torch.linalg.eigvals`.
        linalg_eigvals(Tensor self) -> Tensor;

        /// The pseudoinverses of matrices `[.., n, m]`, of sizes `[.., m, n]`: singular values up to `atol`, or
        /// `rtol` of the largest one, count as zero. If neither is given, `rtol` is what rounding leaves.
        /// Tolerances have a number for each matrix; with `hermitian`, only the lower halves are read.
        ///
        /// PyTorch: `torch.linalg.pinv`.
        linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None,
            bool hermitian=False) -> Tensor;
        /// As [`linalg_pinv_atol_rtol_tensor`](fn@linalg_pinv_atol_rtol_tensor), with the same tolerances for all
        /// matrices.
        ///
        /// PyTorch: `torch.linalg.pinv`.
        linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor;
        /// As [`linalg_pinv_atol_rtol_float`](fn@linalg_pinv_atol_rtol_float), with `rtol` only.
        ///
        /// PyTorch: `torch.linalg.pinv`.
        linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor;
        /// As [`linalg_pinv_atol_rtol_tensor`](fn@linalg_pinv_atol_rtol_tensor), with `rtol` only.
        ///
        /// PyTorch: `torch.linalg.pinv`.
        linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor;
        /// As [`linalg_pinv`](fn@linalg_pinv).
        ///
        /// PyTorch: `torch.pinverse`.
        pinverse(Tensor self, float rcond=1e-15) -> Tensor;
        /// How many singular values are none of zero, by the tolerances of
        /// [`linalg_pinv_atol_rtol_tensor`](fn@linalg_pinv_atol_rtol_tensor), as `int64`.
        ///
        /// PyTorch: `torch.linalg.matrix_rank`.
        linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None,
            bool hermitian=False) -> Tensor;
        /// As [`linalg_matrix_rank_atol_rtol_tensor`](fn@linalg_matrix_rank_atol_rtol_tensor), with the same
        /// tolerances for all.
        ///
        /// PyTorch: `torch.linalg.matrix_rank`.
        linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None,
            bool hermitian=False) -> Tensor;
        /// As [`linalg_matrix_rank_atol_rtol_float`](fn@linalg_matrix_rank_atol_rtol_float), with `atol` only.
        ///
        /// PyTorch: `torch.linalg.matrix_rank`.
        linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor;
        /// As [`linalg_matrix_rank_atol_rtol_tensor`](fn@linalg_matrix_rank_atol_rtol_tensor), with `atol` only.
        ///
        /// PyTorch: `torch.linalg.matrix_rank`.
        linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor;
        /// The shortest `X` that brings `A X` nearest to `B`, or `x` of vectors. Beside it, of sizes `[0]` where
        /// they are not there: the squares of what is left of each column, for tall matrices of full rank and
        /// another driver than `"gelsy"`; ranks, for another than `"gels"`; singular values, for `"gelsd"` and
        /// `"gelss"`. All drivers find the same solution; without one it is `"gelsy"`. `rcond` is the `rtol` of
        /// [`linalg_pinv`](fn@linalg_pinv).
        ///
        /// # Errors
        /// Another driver, sizes that make no equations.
        ///
        /// PyTorch: `torch.linalg.lstsq`.
        linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution,
            Tensor residuals, Tensor rank, Tensor singular_values);

        /// The norm of all elements as a vector; with an order that of a vector or a matrix, or of those in one or
        /// two dimensions.
        ///
        /// # Errors
        /// An order for other than one or two dimensions, an order that is none.
        ///
        /// PyTorch: `torch.linalg.norm`.
        linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The Frobenius (`"fro"`) or nuclear norm (`"nuc"`) of matrices.
        ///
        /// # Errors
        /// As [`linalg_matrix_norm_str_ord`].
        ///
        /// PyTorch: `torch.linalg.norm`.
        linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The norm of matrices in two dimensions: the largest (`1`) or smallest (`-1`) sum of a column's
        /// magnitudes, that of a row's (infinite orders), or the largest or smallest singular value (`2`, `-2`).
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
        /// Other orders, fewer than two dimensions, the same dimension twice, other types than floating-point and
        /// complex ones.
        ///
        /// PyTorch: `torch.linalg.matrix_norm`.
        linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// The Frobenius (`"fro"`) or nuclear norm (`"nuc"`) of matrices in two dimensions.
        ///
        /// # Errors
        /// Other words, fewer than two dimensions, the same dimension twice, other types than floating-point and
        /// complex ones.
        ///
        /// PyTorch: `torch.linalg.matrix_norm`.
        linalg_matrix_norm.str_ord(Tensor self, str ord="fro", int[] dim=[-2, -1], bool keepdim=False, *,
            ScalarType? dtype=None) -> Tensor;
        /// How much solving with matrices can enlarge errors: the product of the norms, of order 1, 2 (if there is
        /// none) or infinity, or one of these negated, of a matrix and its inverse; infinite where there is none.
        ///
        /// # Errors
        /// Other orders, fewer than two dimensions, with another order than `2` or `-2` matrices that are not square.
        ///
        /// PyTorch: `torch.linalg.cond`.
        linalg_cond(Tensor self, Scalar? p=None) -> Tensor;
        /// As [`linalg_cond`](fn@linalg_cond), by the Frobenius (`"fro"`) or nuclear norm (`"nuc"`).
        ///
        /// # Errors
        /// Other words, matrices that are not square.
        ///
        /// PyTorch: `torch.linalg.cond`.
        linalg_cond.p_str(Tensor self, str p) -> Tensor;
        /// The powers of each number along a new dimension at the end, from that with exponent 0 on: as many as
        /// there are numbers in the last dimension, or `N`.
        ///
        /// # Errors
        /// Booleans, fewer than two powers.
        ///
        /// PyTorch: `torch.linalg.vander`.
        linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor;
        /// The powers of the numbers of a vector in rows, the highest first unless they are to increase; integers
        /// give `int64`.
        ///
        /// # Errors
        /// What is no vector, fewer than no powers.
        ///
        /// PyTorch: `torch.vander`.
        #[variants(function)]
        vander(Tensor x, int? N=None, bool increasing=False) -> Tensor;
        /// The exponentials of matrices `[.., n, n]`: the sum of their powers, each over the factorial of its exponent.
        ///
        /// # Errors
        /// Matrices that are not square, integers and booleans.
        ///
        /// PyTorch: `torch.linalg.matrix_exp`.
        linalg_matrix_exp(Tensor self) -> Tensor;
        /// [`linalg_matrix_exp`](fn@linalg_matrix_exp) under another name.
        ///
        /// # Errors
        /// Matrices that are not square, integers and booleans.
        ///
        /// PyTorch: `torch.matrix_exp`.
        matrix_exp(Tensor self) -> Tensor;
        /// The gradient of matrices `self` whose exponentials have the gradient `grad`.
        ///
        /// # Errors
        /// Matrices that are not square, a gradient of other sizes.
        ///
        /// PyTorch: `aten::matrix_exp_backward`.
        #[variants(function)]
        matrix_exp_backward(Tensor self, Tensor grad) -> Tensor;
        /// [`matrix_power`].
        ///
        /// PyTorch: `torch.linalg.matrix_power`.
        linalg_matrix_power(Tensor self, int n) -> Tensor;
        /// [`matmul`](fn@matmul).
        ///
        /// PyTorch: `torch.linalg.matmul`.
        linalg_matmul(Tensor self, Tensor other) -> Tensor;
        /// A diagonal of the matrices in two dimensions, as a view.
        ///
        /// PyTorch: `torch.linalg.diagonal`.
        linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a);
        /// The product of several matrices, in the order that needs the fewest multiplications; the first and the
        /// last may be vectors.
        ///
        /// # Errors
        /// Fewer than two tensors, sizes without a product.
        ///
        /// PyTorch: `torch.linalg.multi_dot`.
        linalg_multi_dot(Tensor[] tensors) -> Tensor;
        /// The products of vectors along a dimension, the first conjugated.
        ///
        /// PyTorch: `torch.linalg.vecdot`.
        linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor;
    }
}
