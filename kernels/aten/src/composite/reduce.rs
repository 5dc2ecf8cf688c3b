//! Reductions over all dimensions, and `sum_to_size`.

use torch_library::geometry::infer_size;
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

#[torch_impl(aten, CompositeImplicitAutograd)]
fn sum_to_size(this: &Tensor, size: &[i64]) -> Result<Tensor> {
    let fits = infer_size(this.sizes(), size).is_ok_and(|sizes| sizes.as_slice() == this.sizes());
    ensure!(
        fits,
        Shape,
        "{}: sizes {size:?} do not broadcast to {:?}, so a sum cannot have them",
        aten::sum_to_size::NAME,
        this.sizes()
    );
    if size.is_empty() {
        return aten::sum(this); // a new tensor, even where there is nothing to sum
    }
    if this.sizes() == size {
        return Ok(this.clone());
    }
    let added = this.dim() - size.len();
    let is_summed = |dim: &usize| match dim.checked_sub(added) {
        None => true,
        Some(own) => size[own] == 1 && this.sizes()[*dim] != 1,
    };
    let dims: Vec<i64> = (0..this.dim()).filter(is_summed).map(|dim| dim as i64).collect();
    let sum = aten::sum_dim_IntList::call(this, Some(&dims), true, None)?;
    if added == 0 { Ok(sum) } else { aten::view(&sum, size) }
}
