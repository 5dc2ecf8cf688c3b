//! Reductions of all dimensions.

use torch_library::prelude::*;

use crate::aten;

#[torch_impl(aten, CompositeExplicitAutograd)]
mod kernels {
    use super::*;

    fn sum(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
        aten::sum_dim_IntList::call(this, None, false, dtype)
    }

    fn mean(this: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
        aten::mean_dim::call(this, None, false, dtype)
    }
}
