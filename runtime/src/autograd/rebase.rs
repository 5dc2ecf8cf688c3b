//! The new history of a tensor after an in-place write.

use std::sync::Arc;

use super::edge::gradient_edge;
use super::meta::set_history;
use super::node::{Edge, InputMetadata, Node};
use super::slices::CopySlices;
use super::view::history;
use crate::error::Result;
use crate::tensor::Tensor;

/// Gives a tensor that was written to in place its new history. A write to a view is recorded as one to a part of its
/// base.
///
/// PyTorch: `rebase_history`.
pub(super) fn rebase_history(tensor: &Tensor, node: &Node) -> Result<()> {
    let input_nr = node.add_input(InputMetadata::of(tensor));
    let base = tensor.base();
    let Some(base) = base else {
        set_history(tensor, Edge { node: node.clone(), input_nr });
        return Ok(());
    };
    let base_edge = gradient_edge(&base)?;
    let others = node.edges().iter().skip(1).cloned();
    let slices = CopySlices::new(&base, tensor, node.clone());
    let slices = Node::new("CopySlices", std::iter::once(base_edge).chain(others), Arc::new(slices));
    let input_nr = slices.add_input(InputMetadata::of(&base));
    set_history(&base, Edge { node: slices, input_nr });
    history(tensor).map(drop) // the view's own history follows from the base's
}
