//! Gradients of operators that read elements by position.

use torch_library::geometry::infer_size;
use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeImplicitAutograd)]
mod kernels {
    use super::*;

    fn gather_backward(
        grad: &Tensor,
        this: &Tensor,
        dim: i64,
        index: &Tensor,
        sparse_grad: bool,
    ) -> Result<Tensor> {
        gathered(grad, this.sizes(), dim, index, sparse_grad)
    }

    fn index_select_backward(grad: &Tensor, self_sizes: &[i64], dim: i64, index: &Tensor) -> Result<Tensor> {
        aten::index_add(&aten::new_zeros(grad, self_sizes)?, dim, index, grad)
    }

    fn masked_select_backward(grad: &Tensor, input: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let sizes = infer_size(input.sizes(), mask.sizes());
        let sizes = sizes.map_err(|error| error.context(aten::masked_select_backward::NAME))?;
        aten::masked_scatter(&aten::zeros_like(&aten::expand(input, &sizes)?)?, mask, grad)
    }

    fn embedding_backward(
        grad: &Tensor,
        indices: &Tensor,
        num_weights: i64,
        padding_idx: i64,
        scale_grad_by_freq: bool,
        sparse: bool,
    ) -> Result<Tensor> {
        dense(aten::embedding_backward::NAME, "sparse", sparse)?;
        aten::embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)
    }

    fn value_selecting_reduction_backward(
        grad: &Tensor,
        dim: i64,
        indices: &Tensor,
        sizes: &[i64],
        keepdim: bool,
    ) -> Result<Tensor> {
        if keepdim || sizes.is_empty() {
            return at_indices(grad, dim, indices, sizes);
        }
        at_indices(&aten::unsqueeze(grad, dim)?, dim, &aten::unsqueeze(indices, dim)?, sizes)
    }

    fn cummaxmin_backward(grad: &Tensor, input: &Tensor, indices: &Tensor, dim: i64) -> Result<Tensor> {
        if input.numel() == 0 {
            return Ok(input.clone());
        }
        aten::scatter_add(&aten::zeros_like(input)?, dim, indices, grad)
    }

    fn trace_backward(grad: &Tensor, sizes: &[i64]) -> Result<Tensor> {
        const OPERATOR: &str = aten::trace_backward::NAME;
        let [rows, columns] = *sizes else {
            bail!(Shape, "{OPERATOR}: sizes {sizes:?}, expected those of a matrix")
        };
        ensure!(
            grad.dim() == 0,
            Shape,
            "{OPERATOR}: a gradient of sizes {:?}, expected a number",
            grad.sizes()
        );
        let diagonal = aten::expand(grad, &[rows.min(columns)])?;
        aten::diagonal_scatter(&aten::new_zeros(grad, sizes)?, &diagonal)
    }
}

/// The gradient of the input of `gather`, of which nothing but its sizes has to be kept for it.
pub(crate) fn gathered(
    grad: &Tensor,
    sizes: &[i64],
    dim: i64,
    index: &Tensor,
    sparse_grad: bool,
) -> Result<Tensor> {
    dense(aten::gather_backward::NAME, "sparse_grad", sparse_grad)?;
    aten::scatter_add(&aten::new_zeros(grad, sizes)?, dim, index, grad)
}

/// Zeros of these sizes, with the elements of `grad` at the indices along dimension `dim`.
fn at_indices(grad: &Tensor, dim: i64, indices: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    aten::scatter_src(&aten::new_zeros(grad, sizes)?, dim, indices, grad)
}

/// Rejects a sparse gradient.
fn dense(operator: &str, argument: &str, is_sparse: bool) -> Result<()> {
    ensure!(
        !is_sparse,
        Argument,
        "{operator}: {argument}=True needs sparse tensors; the gradients here are dense"
    );
    Ok(())
}
