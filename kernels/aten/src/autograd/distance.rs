//! Derivatives of distances.

use torch_library::derivatives;
use torch_library::prelude::*;

use crate::aten;
use crate::composite::distance::pairs::{backward_of_cdist, backward_of_pdist};
use crate::prelude::*;

derivatives! {
    in aten;

    _cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor as CdistBackward0 {
        x1 => along(grad, x1, x2, result, p),
        x2 => along(&grad.transpose(-2, -1)?, x2, x1, &result.transpose(-2, -1)?, p),
    }
    _pdist_forward(Tensor self, float p=2.) -> Tensor as PdistBackward0 {
        self => aten::_pdist_backward(grad, self, p, result),
    }
    _pdist_backward(Tensor grad_output, Tensor self, float p, Tensor pdist) -> Tensor as PdistBackwardBackward0 {
        (grad_output, self, pdist) => {
            let [of_grad, of_rows, of_distances] = backward_of_pdist(grad, grad_output, self, p, pdist)?;
            (Some(of_grad), Some(of_rows), Some(of_distances))
        },
    }
    _cdist_backward(Tensor grad_output, Tensor x1, Tensor x2, float p,
        Tensor cdist) -> Tensor as CdistBackwardBackward0 {
        (grad_output, x1, x2, cdist) => {
            let [of_grad, of_x1, of_x2, of_distances] = backward_of_cdist(grad, grad_output, [x1, x2], p, cdist)?;
            (Some(of_grad), Some(of_x1), Some(of_x2), Some(of_distances))
        },
    }
    _euclidean_dist(Tensor x1, Tensor x2) -> Tensor as EuclideanDistBackward0 {
        x1 => apart(grad, x1, x2, result),
        x2 => apart(&grad.transpose(-2, -1)?, x2, x1, &result.transpose(-2, -1)?),
    }
}

/// The gradient of rows, from that of their Euclidean distances to others: along each difference, and zero where the
/// distance is zero.
fn apart(grad: &Tensor, rows: &Tensor, others: &Tensor, distances: &Tensor) -> Result<Tensor> {
    let share = aten::div_Tensor(grad, distances)?;
    let share = aten::masked_fill_Scalar(&share, &aten::eq_Scalar(distances, 0.into())?, 0.into())?;
    let own =
        aten::mul_Tensor(rows, &aten::sum_dim_IntList::with(&share, Some(&[-1])).keepdim(true).call()?)?;
    let whole = aten::sub_Tensor(&own, &aten::matmul(&share, others)?)?;
    aten::sum_to_size(&whole, rows.sizes())
}

/// The gradient of rows, from that of their distances of any order to others.
fn along(grad: &Tensor, rows: &Tensor, others: &Tensor, distances: &Tensor, p: f64) -> Result<Tensor> {
    aten::sum_to_size(&aten::_cdist_backward(grad, rows, others, p, distances)?, rows.sizes())
}
