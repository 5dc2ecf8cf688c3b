//! Derivatives of operators that rearrange elements, and of some that select them.

use torch_library::derivatives;
use torch_library::geometry::infer_size;
use torch_library::prelude::*;

use crate::aten;
use crate::prelude::*;

derivatives! {
    in aten;

    repeat(Tensor self, SymInt[] repeats) -> Tensor as RepeatBackward0 {
        self => of_copies(grad, self.sizes(), repeats),
    }
    flip(Tensor self, int[] dims) -> Tensor as FlipBackward0 {
        self => aten::flip(grad, dims),
    }
    roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor as RollBackward0 {
        self => {
            let back: Vec<i64> = shifts.iter().map(|shift| shift.wrapping_neg()).collect();
            aten::roll::call(grad, &back, dims)
        },
    }
    rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor as Rot90Backward0 {
        self => aten::rot90::call(grad, k.wrapping_neg(), dims),
    }
    diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor as DiagEmbedBackward0 {
        self => aten::diagonal::call(grad, offset, dim1, dim2),
    }
    #[in_place]
    index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor as IndexFillBackward0 {
        self => aten::index_fill_int_Scalar(grad, dim, index, Scalar::from(0)),
        index => non_differentiable,
    }
    #[in_place]
    index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor as IndexFillBackward1 {
        self => aten::index_fill_int_Scalar(grad, dim, index, Scalar::from(0)),
        index => non_differentiable,
        value => aten::index_select(grad, dim, &aten::_unique2(index)?.0)?.sum(),
    }
    #[in_place]
    masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor as MaskedScatterBackward0 {
        self => aten::masked_fill_Scalar(grad, mask, Scalar::from(0)),
        source => aten::masked_scatter_backward(grad, mask, source.sizes()),
        mask => non_differentiable,
    }
    masked_select(Tensor self, Tensor mask) -> Tensor as MaskedSelectBackward0 {
        self => {
            let zeros = aten::new_zeros(grad, &infer_size(self.sizes(), mask.sizes())?)?;
            aten::sum_to_size(&aten::masked_scatter(&zeros, mask, grad)?, self.sizes())
        },
        mask => non_differentiable,
    }
}

/// The sum of the gradients of all copies.
fn of_copies(grad: &Tensor, sizes: &[i64], repeats: &[i64]) -> Result<Tensor> {
    if repeats.contains(&0) {
        return aten::new_zeros(grad, sizes);
    }
    let own = std::iter::repeat_n(&1, repeats.len() - sizes.len()).chain(sizes);
    let split: Vec<i64> = repeats.iter().zip(own).flat_map(|(count, size)| [*count, *size]).collect();
    let copies: Vec<i64> = (0..repeats.len() as i64).map(|dim| 2 * dim).collect();
    grad.reshape(&split)?.sum_dim(&copies, false)?.reshape(sizes)
}
