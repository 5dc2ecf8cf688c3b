//! Where gradients go from a tensor.

use super::accumulate;
use super::meta::AutogradMeta;
use super::node::{Edge, InputMetadata, Node};
use super::view;
use crate::error::Result;
use crate::tensor::Tensor;

/// Where the gradient of a tensor goes: to the node that made it, or to the one that accumulates it; nowhere for a
/// tensor that requires none.
///
/// PyTorch: `impl::gradient_edge`.
pub(super) fn gradient_edge(tensor: &Tensor) -> Result<Option<Edge>> {
    if !tensor.requires_grad() {
        return Ok(None);
    }
    if let Some(edge) = view::history(tensor)? {
        return Ok(Some(edge));
    }
    // A view that was made without grad mode requires a gradient with its base, but has no way to it.
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
