//! Derivatives of matrix products.

use torch_library::autograd::InputMetadata;
use torch_library::derivatives;
use torch_library::guard::GradMode;
use torch_library::prelude::*;

use super::binary::{conj, scaled};
use crate::aten;
use crate::composite::linear::pairs::{backward_of_cdist, backward_of_pdist, slope};
use crate::composite::matmul::attention::backward::differentiable_gradients;
use crate::prelude::*;

derivatives! {
    in aten;

    _trilinear(
        Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1
    ) -> Tensor as TrilinearBackward0 {
        i1 => aten::_trilinear(grad, &conj(i2)?, &conj(i3)?, sumdim, expand2, expand3, expand1),
        i2 => aten::_trilinear(&conj(i1)?, grad, &conj(i3)?, expand1, sumdim, expand3, expand2),
        i3 => aten::_trilinear(&conj(i1)?, &conj(i2)?, grad, expand1, expand2, sumdim, expand3),
    }

    mm(Tensor self, Tensor mat2) -> Tensor as MmBackward0 {
        self => left(grad, mat2, metadata(self)),
        mat2 => right(grad, self, metadata(mat2)),
    }
    #[in_place]
    addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor as AddmmBackward0 {
        self => scaled(grad, beta),
        mat1 => scaled(&left(grad, mat2, metadata(mat1))?, alpha),
        mat2 => scaled(&right(grad, mat1, metadata(mat2))?, alpha),
    }
    bmm(Tensor self, Tensor mat2) -> Tensor as BmmBackward0 {
        self => aten::bmm(grad, &conj(&mat2.transpose(1, 2)?)?),
        mat2 => aten::bmm(&conj(&self.transpose(1, 2)?)?, grad),
    }
    #[in_place]
    baddbmm(
        Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1
    ) -> Tensor as BaddbmmBackward0 {
        self => scaled(grad, beta),
        batch1 => scaled(&aten::bmm(grad, &conj(&batch2.transpose(1, 2)?)?)?, alpha),
        batch2 => scaled(&aten::bmm(&conj(&batch1.transpose(1, 2)?)?, grad)?, alpha),
    }
    #[in_place]
    addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor as AddbmmBackward0 {
        self => scaled(grad, beta),
        batch1 => scaled(&aten::bmm(&for_each(grad, batch2)?, &conj(&batch2.transpose(1, 2)?)?)?, alpha),
        batch2 => scaled(&aten::bmm(&conj(&batch1.transpose(1, 2)?)?, &for_each(grad, batch1)?)?, alpha),
    }
    #[in_place]
    addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor as AddmvBackward0 {
        self => scaled(grad, beta),
        mat => scaled(&aten::outer(grad, &conj(vec)?)?, alpha),
        vec => scaled(&aten::mv(&conj(&mat.t()?)?, grad)?, alpha),
    }
    #[in_place]
    addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor as AddrBackward0 {
        self => scaled(grad, beta),
        vec1 => scaled(&aten::mv(grad, &conj(vec2)?)?, alpha),
        vec2 => scaled(&aten::mv(&grad.t()?, &conj(vec1)?)?, alpha),
    }
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
    _scaled_dot_product_flash_attention_for_cpu(
        Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None,
        float? scale=None
    ) -> (Tensor output, Tensor logsumexp) as ScaledDotProductFlashAttentionForCpuBackward0 {
        (query, key, value) => {
            let (of_query, of_key, of_value) = match GradMode::is_enabled() {
                true => differentiable_gradients(grad, [query, key, value], is_causal, attn_mask, scale)?,
                false => aten::_scaled_dot_product_flash_attention_for_cpu_backward::call(
                    grad, query, key, value, output, logsumexp, dropout_p, is_causal, attn_mask, scale,
                )?,
            };
            (Some(of_query), Some(of_key), Some(of_value))
        },
        attn_mask => cannot_require_grad,
        logsumexp => non_differentiable,
    }
    _euclidean_dist(Tensor x1, Tensor x2) -> Tensor as EuclideanDistBackward0 {
        x1 => apart(grad, x1, x2, result),
        x2 => apart(&grad.transpose(-2, -1)?, x2, x1, &result.transpose(-2, -1)?),
    }
    mv(Tensor self, Tensor vec) -> Tensor as MvBackward0 {
        self => grad.unsqueeze(1)?.mul(&conj(&vec.unsqueeze(0)?)?),
        vec => aten::mv(&conj(&self.t()?)?, grad),
    }
    dot(Tensor self, Tensor tensor) -> Tensor as DotBackward0 {
        self => grad.mul(&conj(tensor)?),
        tensor => grad.mul(&conj(self)?),
    }
    vdot(Tensor self, Tensor other) -> Tensor as VdotBackward0 {
        self => conj(grad)?.mul(other),
        other => grad.mul(self),
    }
    linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor as LinalgCrossBackward0 {
        self => aten::linalg_cross::call(&conj(other)?, grad, dim),
        other => aten::linalg_cross::call(grad, &conj(self)?, dim),
    }
}

/// The gradient of a sum over a batch, expanded to each element of the batch.
fn for_each(grad: &Tensor, batch: &Tensor) -> Result<Tensor> {
    grad.unsqueeze(0)?.expand(&[&batch.sizes()[..1], grad.sizes()].concat())
}

/// The gradient of a product's left factor, with the memory layout of that factor: otherwise the gradient of a weight
/// would have to be copied.
///
/// PyTorch: `mm_mat1_backward`.
fn left(grad: &Tensor, right: &Tensor, factor: &InputMetadata) -> Result<Tensor> {
    match lies_in_columns(factor) {
        true => conj(right)?.mm(&grad.t()?)?.t(),
        false => grad.mm(&conj(&right.t()?)?),
    }
}

/// The gradient of a product's right factor, with the memory layout of that factor.
///
/// PyTorch: `mm_mat2_backward`.
fn right(grad: &Tensor, left: &Tensor, factor: &InputMetadata) -> Result<Tensor> {
    match lies_in_columns(factor) {
        true => grad.t()?.mm(&conj(left)?)?.t(),
        false => conj(&left.t()?)?.mm(grad),
    }
}

fn lies_in_columns(factor: &InputMetadata) -> bool {
    factor.strides() == [1, factor.sizes()[0]]
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

/// The gradient of rows, from that of their distances of any order to others, by differences.
fn along(grad: &Tensor, rows: &Tensor, others: &Tensor, distances: &Tensor, p: f64) -> Result<Tensor> {
    let difference = rows.unsqueeze(-2)?.sub(&others.unsqueeze(-3)?)?;
    let grads = grad.unsqueeze(-1)?.mul(&slope(&difference, distances, p)?)?;
    aten::sum_to_size(&grads.sum_dim(&[-2], false)?, rows.sizes())
}
