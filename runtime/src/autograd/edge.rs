//! The edge of a tensor: where its gradient goes.

use super::accumulate;
use super::meta::AutogradMeta;
use super::node::{Edge, InputMetadata, Node};
use super::view;
use crate::error::Result;
use crate::tensor::Tensor;

/// Where the gradient of a tensor goes: to the node that computed it, or to the one that accumulates it. `None` if the
/// tensor requires no gradient.
///
/// PyTorch: `impl::gradient_edge`.
pub(super) fn gradient_edge(tensor: &Tensor) -> Result<Option<Edge>> {
    if !tensor.requires_grad() {
        return Ok(None);
    }
    if let Some(edge) = view::history(tensor)? {
        return Ok(Some(edge));
    }
    // A view made in no-grad mode requires a gradient if its base does, but no edge leads from it to the base.
    Ok(tensor.requires_grad_itself().then(|| Edge { node: accumulator(tensor), input_nr: 0 }))
}

fn accumulator(leaf: &Tensor) -> Node {
    let mut state = AutogradMeta::of_or_new(leaf).state();
    if let Some(node) = state.accumulator.upgrade() {
        return node;
    }
    let node = accumulate::node(leaf);
    node.add_input(InputMetadata::of(leaf));
    state.accumulator = node.downgrade();
    node
}
