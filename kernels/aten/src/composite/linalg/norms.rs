//! Norms of vectors and matrices.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::arguments::square;
use crate::aten;
use crate::loops::reduction::type_of_norm;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn nuclear_norm(this: &Tensor, keepdim: bool) -> Result<Tensor> {
        aten::nuclear_norm_dim::call(this, &[-2, -1], keepdim)
    }

    fn nuclear_norm_dim(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        aten::linalg_matrix_norm_str_ord::call(this, "nuc", dim, keepdim, None)
            .map_err(|error| error.context(aten::nuclear_norm_dim::NAME))
    }

    fn frobenius_norm_dim(this: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
        const OPERATOR: &str = aten::frobenius_norm_dim::NAME;
        ensure!(dim.len() <= 2, Argument, "{OPERATOR}: dimensions {dim:?}, expected two at most");
        aten::linalg_vector_norm::call(this, 2.into(), Some(dim), keepdim, None)
            .map_err(|error| error.context(OPERATOR))
    }

    fn linalg_norm(
        this: &Tensor,
        ord: Option<Scalar>,
        dim: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let vector = |ord: Scalar| aten::linalg_vector_norm::call(this, ord, dim, keepdim, dtype);
        let Some(ord) = ord else { return vector(2.into()) };
        match dims(aten::linalg_norm::NAME, this, dim)?.as_slice() {
            [_] => vector(ord),
            both => aten::linalg_matrix_norm::call(this, ord, both, keepdim, dtype),
        }
    }

    fn linalg_norm_ord_str(
        this: &Tensor,
        ord: &str,
        dim: Option<&[i64]>,
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let dims = dims(aten::linalg_norm_ord_str::NAME, this, dim)?;
        aten::linalg_matrix_norm_str_ord::call(this, ord, &dims, keepdim, dtype)
    }

    fn linalg_matrix_norm(
        this: &Tensor,
        ord: Scalar,
        dim: &[i64],
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let matrices = Matrices::new(aten::linalg_matrix_norm::NAME, this, dim, keepdim, dtype)?;
        let order = ord.to::<f64>().map_err(|error| error.context(matrices.operator))?;
        let extreme = |values: &Tensor, dim: i64, keepdim: bool| match order > 0.0 {
            // The maximum over an empty dimension is zero.
            true if values.size(dim)? == 0 => {
                aten::sum_dim_IntList::call(values, Some(&[dim]), keepdim, None)
            }
            true => aten::amax::call(values, &[dim], keepdim),
            false => aten::amin::call(values, &[dim], keepdim),
        };
        let [rows, columns] = matrices.places;
        let of_sums = |summed: usize, other: usize| {
            let sums = aten::linalg_vector_norm::call(
                &matrices.all,
                1.into(),
                Some(&[summed as i64]),
                keepdim,
                None,
            )?;
            let is_moved = !keepdim && summed < other;
            extreme(&sums, other as i64 - i64::from(is_moved), keepdim)
        };
        match order.abs() {
            2.0 => matrices.of_singular_values(|values| extreme(values, -1, keepdim)),
            1.0 => of_sums(rows, columns),
            order if order.is_infinite() => of_sums(columns, rows),
            _ => bail!(
                Argument,
                "{}: there is no norm of order {order}, expected 1, 2, infinity, or one of these negated",
                matrices.operator
            ),
        }
    }

    fn linalg_matrix_norm_str_ord(
        this: &Tensor,
        ord: &str,
        dim: &[i64],
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let matrices = Matrices::new(aten::linalg_matrix_norm_str_ord::NAME, this, dim, keepdim, dtype)?;
        match ord {
            "fro" => aten::linalg_vector_norm::call(this, 2.into(), Some(dim), keepdim, dtype),
            "nuc" => matrices
                .of_singular_values(|values| aten::sum_dim_IntList::call(values, Some(&[-1]), keepdim, None)),
            _ => bail!(
                Argument,
                "{}: there is no norm {ord:?}, expected \"fro\" or \"nuc\"",
                matrices.operator
            ),
        }
    }
}

/// The condition numbers of matrices.
#[torch_impl(aten, CompositeImplicitAutograd)]
mod conditions {
    use super::*;

    fn linalg_cond(this: &Tensor, p: Option<Scalar>) -> Result<Tensor> {
        const OPERATOR: &str = aten::linalg_cond::NAME;
        let p = p.unwrap_or(Scalar::Int(2));
        let order = p.to::<f64>().map_err(|error| error.context(OPERATOR))?;
        ensure!(
            [1.0, 2.0, f64::INFINITY].contains(&order.abs()),
            Argument,
            "{OPERATOR}: there is no norm of order {order}, expected 1, 2, infinity, or one of these negated"
        );
        if let Some(nothing) = condition_of_nothing(OPERATOR, this)? {
            return Ok(nothing);
        }
        if order.abs() != 2.0 {
            return with_inverse(OPERATOR, this, |matrices| {
                aten::linalg_matrix_norm::call(matrices, p, &[-2, -1], false, None)
            });
        }
        let values = aten::linalg_svdvals(this)?;
        let [largest, smallest] = [aten::select_int(&values, -1, 0)?, aten::select_int(&values, -1, -1)?];
        if order < 0.0 {
            aten::div_Tensor(&smallest, &largest)
        } else {
            aten::div_Tensor(&largest, &smallest)
        }
    }

    fn linalg_cond_p_str(this: &Tensor, p: &str) -> Result<Tensor> {
        const OPERATOR: &str = aten::linalg_cond_p_str::NAME;
        ensure!(
            ["fro", "nuc"].contains(&p),
            Argument,
            "{OPERATOR}: there is no norm {p:?}, expected \"fro\" or \"nuc\""
        );
        if let Some(nothing) = condition_of_nothing(OPERATOR, this)? {
            return Ok(nothing);
        }
        if p == "fro" {
            return with_inverse(OPERATOR, this, |matrices| {
                aten::linalg_matrix_norm_str_ord::call(matrices, p, &[-2, -1], false, None)
            });
        }
        square(OPERATOR, this)?;
        let values = aten::linalg_svdvals(this)?;
        let sum = |values: &Tensor| aten::sum_dim_IntList(values, Some(&[-1]));
        aten::mul_Tensor(&sum(&values)?, &sum(&aten::reciprocal(&values)?)?)
    }
}

/// The norm of matrices times that of their inverses; infinite where a matrix is singular or a product is NaN, as in
/// PyTorch and NumPy.
fn with_inverse(operator: &str, this: &Tensor, norm: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    square(operator, this)?;
    let of_matrices = norm(this)?;
    let (inverse, info) = aten::linalg_inv_ex(this)?;
    let is_singular = aten::gt_Scalar(&aten::unsqueeze(&aten::unsqueeze(&info, -1)?, -1)?, 0.into())?;
    let inverse = aten::masked_fill_Scalar(&inverse, &is_singular, f64::INFINITY.into())?;
    let product = aten::mul_Tensor(&of_matrices, &norm(&inverse)?)?;
    aten::nan_to_num::call(&product, Some(f64::INFINITY), Some(f64::INFINITY), Some(f64::NEG_INFINITY))
}

/// Zeros, if the matrices have no elements.
///
/// # Errors
/// A tensor of fewer than two dimensions.
fn condition_of_nothing(operator: &str, this: &Tensor) -> Result<Option<Tensor>> {
    let [batch @ .., _, _] = this.sizes() else {
        bail!(Shape, "{operator}: sizes {:?} are not those of matrices", this.sizes())
    };
    if this.numel() > 0 {
        return Ok(None);
    }
    aten::new_zeros::with(this, batch).dtype(this.dtype().to_real()).call().map(Some)
}

/// The matrices in two dimensions of a tensor.
struct Matrices {
    operator: &'static str,
    all: Tensor,
    /// The dimensions of rows and columns.
    places: [usize; 2],
    keepdim: bool,
}

impl Matrices {
    fn new(
        operator: &'static str,
        this: &Tensor,
        dim: &[i64],
        keepdim: bool,
        dtype: Option<DType>,
    ) -> Result<Self> {
        let wanted = type_of_norm(operator, this, dtype)?;
        let [rows, columns] = *dim else {
            bail!(Argument, "{operator}: a matrix has two dimensions, not {dim:?}")
        };
        let wrap = |dim| wrap_dim(dim, this.dim()).map_err(|error| error.context(operator));
        let places = [wrap(rows)?, wrap(columns)?];
        ensure!(
            this.dim() >= 2 && places[0] != places[1],
            Argument,
            "{operator}: dimensions {dim:?} of sizes {:?} do not make matrices",
            this.sizes()
        );
        Ok(Matrices { operator, all: aten::to_dtype(this, wanted)?, places, keepdim })
    }

    /// The result of a closure on the singular values, which are in the last dimension.
    fn of_singular_values(&self, f: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        let places = self.places.map(|dim| dim as i64);
        let last = aten::movedim_intlist(&self.all, &places, &[-2, -1])?;
        let norms = f(&aten::linalg_svdvals(&last)?)?;
        match self.keepdim {
            true => aten::movedim_intlist(&aten::unsqueeze(&norms, -1)?, &[-2, -1], &places),
            false => Ok(norms),
        }
    }
}

/// The one or two dimensions of a norm with an order.
fn dims(operator: &str, this: &Tensor, dim: Option<&[i64]>) -> Result<Vec<i64>> {
    let dims = dim.map_or_else(|| (0..this.dim() as i64).collect(), <[i64]>::to_vec);
    ensure!(
        matches!(dims.len(), 1 | 2),
        Argument,
        "{operator}: ord is for one dimension or two, not for {} of sizes {:?}",
        dims.len(),
        this.sizes()
    );
    Ok(dims)
}
