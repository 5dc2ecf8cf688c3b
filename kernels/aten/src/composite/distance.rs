//! Distances of vectors, as compositions of other operators.

use torch_library::geometry::infer_size;
use torch_library::guard::no_grad;
use torch_library::prelude::*;
use torch_library::result_type;

use crate::aten;

pub(crate) mod pairs;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod implicit {
    use super::*;

    fn cdist(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor> {
        const OPERATOR: &str = aten::cdist::NAME;
        ensure!(
            x1.dim() >= 2 && x2.dim() >= 2 && x1.sizes().last() == x2.sizes().last(),
            Shape,
            "{OPERATOR}: sizes {:?} and {:?}, expected rows of one length",
            x1.sizes(),
            x2.sizes()
        );
        ensure!(
            x1.dtype().is_floating_point() && x2.dtype().is_floating_point() && p >= 0.0,
            Argument,
            "{OPERATOR}: {} and {} by the norm of order {p}, expected floating-point types and no negative order",
            x1.dtype(),
            x2.dtype()
        );
        check_mode(OPERATOR, compute_mode)?;
        let are_many = [x1, x2].iter().any(|x| x.sizes()[x.dim() - 2] > 25);
        let by_product = match compute_mode {
            None | Some(0) => are_many,
            mode => mode == Some(1),
        };
        if p == 2.0 && by_product && x1.numel() > 0 && x2.numel() > 0 {
            return aten::_euclidean_dist(x1, x2);
        }
        aten::_cdist_forward(x1, x2, p, compute_mode)
    }

    fn pairwise_distance(x1: &Tensor, x2: &Tensor, p: f64, eps: f64, keepdim: bool) -> Result<Tensor> {
        let difference = aten::add_Scalar(&aten::sub_Tensor(x1, x2)?, eps.into())?;
        aten::linalg_vector_norm::call(&difference, p.into(), Some(&[-1]), keepdim, None)
    }

    fn cosine_similarity(x1: &Tensor, x2: &Tensor, dim: i64, eps: f64) -> Result<Tensor> {
        const OPERATOR: &str = aten::cosine_similarity::NAME;
        let dtype = result_type([x1, x2].map(Tensor::promotion_operand))?;
        ensure!(
            dtype.is_floating_point(),
            DType,
            "{OPERATOR}: {} and {}, expected a floating-point type",
            x1.dtype(),
            x2.dtype()
        );
        ensure!(eps >= 0.0, Argument, "{OPERATOR}: eps is {eps}, expected zero or more");
        let (x1, x2) = (aten::to_dtype(x1, dtype)?, aten::to_dtype(x2, dtype)?);
        let unit = |x: &Tensor| {
            let length = aten::linalg_vector_norm::call(x, 2.into(), Some(&[dim]), true, None)?;
            // As in PyTorch, gradients do not see the limit, so that a vector below it also turns without growing.
            let mut limited = aten::clone(&length)?;
            no_grad(|| aten::clamp_min_(&mut limited, eps.into()).map(drop))?;
            aten::div_Tensor(x, &limited)
        };
        let sizes = infer_size(x1.sizes(), x2.sizes());
        let sizes = sizes.map_err(|error| error.context(OPERATOR))?;
        let product =
            aten::mul_Tensor(&unit(&aten::expand(&x1, &sizes)?)?, &unit(&aten::expand(&x2, &sizes)?)?)?;
        aten::sum_dim_IntList(&product, Some(&[dim]))
    }
}

/// Operators with derivatives of their own.
#[torch_impl(aten, CompositeExplicitAutograd, FuncTorchBatchedDecomposition)]
mod derived {
    use super::*;

    fn _cdist_forward(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor> {
        check_cdist(x1, x2, compute_mode)?;
        let difference = aten::sub_Tensor(&aten::unsqueeze(x1, -2)?, &aten::unsqueeze(x2, -3)?)?;
        if difference.size(-1)? == 0 {
            return aten::sum_dim_IntList(&difference, Some(&[-1]));
        }
        aten::linalg_vector_norm::with(&difference).ord(p).dim(&[-1]).call()
    }

    fn _euclidean_dist(x1: &Tensor, x2: &Tensor) -> Result<Tensor> {
        // The square of a distance is |a|² - 2 ab + |b|²: one product of rows that are extended by their squared norms
        // and by ones.
        for x in [x1, x2] {
            ensure!(
                x.dtype().is_floating_point(),
                DType,
                "{}: {} is not supported, expected a floating-point type",
                aten::_euclidean_dist::NAME,
                x.dtype()
            );
        }
        let square = |x: &Tensor| {
            aten::sum_dim_IntList::with(&aten::mul_Tensor(x, x)?, Some(&[-1])).keepdim(true).call()
        };
        let (first, second) = (square(x1)?, square(x2)?);
        let left = [aten::mul_Scalar(x1, (-2).into())?, first.clone(), aten::ones_like(&first)?];
        let right = [x2.clone(), aten::ones_like(&second)?, second];
        let [left, right] = [left, right].map(|parts| aten::cat::call(&parts, -1));
        let mut squares = aten::matmul(&left?, &aten::transpose_int(&right?, -2, -1)?)?;
        aten::clamp_min_(&mut squares, 0.into())?;
        aten::sqrt_(&mut squares)?;
        Ok(squares)
    }
}

/// Checks the arguments of `_cdist_forward`, and returns the sizes of the distances.
///
/// # Errors
/// Another mode, lists of rows that have no distances, dtypes that have no kernel.
pub(crate) fn check_cdist(x1: &Tensor, x2: &Tensor, compute_mode: Option<i64>) -> Result<Vec<i64>> {
    const OPERATOR: &str = aten::_cdist_forward::NAME;
    check_mode(OPERATOR, compute_mode)?;
    ensure!(
        x1.dtype() == x2.dtype() && matches!(x1.dtype(), DType::Float32 | DType::Float64)
            || [x1, x2].iter().any(|x| x.numel() == 0),
        DType,
        "{OPERATOR}: {} and {}, expected float32 or float64 twice",
        x1.dtype(),
        x2.dtype()
    );
    pairs::sizes_of_distances(OPERATOR, x1, x2)
}

/// Checks `compute_mode`, of which there are three.
fn check_mode(operator: &str, mode: Option<i64>) -> Result<()> {
    ensure!(
        mode.is_none_or(|mode| (0..=2).contains(&mode)),
        Argument,
        "{operator}: compute_mode {mode:?}, expected 0, 1 or 2"
    );
    Ok(())
}
