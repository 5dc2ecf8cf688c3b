//! Derivatives of matrix products.

use torch_library::autograd::InputMetadata;
use torch_library::derivatives;
use torch_library::guard::GradMode;
use torch_library::prelude::*;

use super::binary::{conj, scaled};
use crate::aten;
use crate::composite::matmul::attention::backward::differentiable_gradients;
use crate::prelude::*;

derivatives! {
    in aten;

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
    mv(Tensor self, Tensor vec) -> Tensor as MvBackward0 {
        self => grad.unsqueeze(1)?.mul(&conj(&vec.unsqueeze(0)?)?),
        vec => aten::mv(&conj(&self.t()?)?, grad),
    }
    dot(Tensor self, Tensor tensor) -> Tensor as DotBackward0 {
        self => grad.mul(&conj(tensor)?),
        tensor => grad.mul(&conj(self)?),
    }
    trace(Tensor self) -> Tensor as TraceBackward0 {
        self => aten::trace_backward(grad, self.sizes()),
    }
    _grouped_mm(
        Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? out_dtype=None
    ) -> Tensor as GroupedMmBackward0 {
        self =>
            aten::_grouped_mm::with(&aten::contiguous(grad)?, &aten::transpose_int(mat2, -2, -1)?).offs(offs).call(),
        mat2 =>
            aten::_grouped_mm::with(&aten::transpose_int(self, -2, -1)?, &aten::contiguous(grad)?).offs(offs).call(),
        offs => non_differentiable,
        bias => cannot_require_grad,
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
