//! Batching rules for activations with two results, or whose result has other sizes than the input.

use torch_library::prelude::*;
use torch_library::vmap::Level;

use super::boxed::{expanded, rules};
use super::pointwise::broadcasting;
use crate::aten;

rules! {
    one_tensor: broadcasting => log_sigmoid_forward;
}

#[torch_impl(aten, FuncTorchBatched)]
fn glu_backward(grad_output: &Tensor, this: &Tensor, dim: i64) -> Result<Tensor> {
    let level = Level::current()?;
    ensure!(this.dim() > 0, Shape, "{}: a tensor without dimensions has no halves", aten::glu_backward::NAME);
    let (grad, value) = (expanded(level, grad_output)?, expanded(level, this)?);
    level.wrap(aten::glu_backward(&grad, &value, if dim < 0 { dim } else { dim.saturating_add(1) })?, 0)
}
