//! Joining and picking by other operators.

use torch_library::geometry::wrap_dim;
use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn stack(tensors: &[Tensor], dim: i64) -> Result<Tensor> {
        let Some(first) = tensors.first() else {
            bail!(Argument, "aten::stack: there are no tensors to join")
        };
        if let Some(other) = tensors.iter().find(|tensor| tensor.sizes() != first.sizes()) {
            bail!(Shape, "aten::stack: sizes {:?} and {:?} differ", first.sizes(), other.sizes());
        }
        let dim = wrap_dim(dim, first.dim() + 1).map_err(|error| error.context("aten::stack"))?;
        if dim == first.dim() {
            let columns: Result<Vec<_>> = tensors.iter().map(|tensor| aten::unsqueeze(tensor, -1)).collect();
            return aten::cat::call(&columns?, dim as i64);
        }
        // One behind the other along an old dimension, which is split afterwards.
        let mut sizes = first.sizes().to_vec();
        sizes.insert(dim, tensors.len() as i64);
        aten::view(&aten::cat::call(tensors, dim as i64)?, &sizes)
    }

    fn embedding(
        weight: &Tensor,
        indices: &Tensor,
        _padding_idx: i64,
        _scale_grad_by_freq: bool,
        _sparse: bool,
    ) -> Result<Tensor> {
        ensure!(
            weight.dim() == 2,
            Shape,
            "aten::embedding: the weight has sizes {:?}, expected a matrix",
            weight.sizes()
        );
        if indices.dim() == 1 {
            return aten::index_select(weight, 0, indices);
        }
        let rows = aten::index_select(weight, 0, &aten::reshape(indices, &[indices.numel()])?)?;
        aten::view(&rows, &[indices.sizes(), &weight.sizes()[1..]].concat())
    }
}
