//! Views and their bases: who looks at whose memory, and what a write through one means for the other.

use std::sync::Arc;

use super::arithmetic;
use super::meta::{AutogradMeta, set_history};
use super::node::{Backward, Call, Edge};
use super::slices::CopySlices;
use super::{Node, meta};
use crate::bail;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::{EnableGradGuard, GradMode, InferenceMode};
use crate::tensor::Tensor;

/// What a view remembers.
pub(super) struct View {
    /// Never a view itself: a view of a view is one of the base.
    pub(super) base: Tensor,
    pub(super) creation: CreationMeta,
    /// The version at which its history was true.
    pub(super) version: u64,
}

/// How a view came about, which decides whether it may be written to while gradients are recorded.
///
/// PyTorch: `torch::autograd::CreationMeta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreationMeta {
    /// As the one view that an operator returns: it may.
    Default,
    /// As one of several views of one operator, as of `split`.
    MultiOutputNode,
    /// While grad mode was off.
    NoGradMode,
    /// In inference mode.
    InferenceMode,
    /// By a [`Function`](super::Function).
    InCustomFunction,
}

impl CreationMeta {
    /// That of a view made now.
    pub(super) fn now(one_of_several: bool) -> Self {
        match (InferenceMode::is_enabled(), GradMode::is_enabled(), one_of_several) {
            (true, ..) => CreationMeta::InferenceMode,
            (_, false, _) => CreationMeta::NoGradMode,
            (_, _, true) => CreationMeta::MultiOutputNode,
            _ => CreationMeta::Default,
        }
    }

    /// Why a view like this cannot be written to; nothing where it can.
    fn objection(self) -> Option<&'static str> {
        Some(match self {
            CreationMeta::Default => return None,
            CreationMeta::MultiOutputNode => "is one of several views that one operator returned",
            CreationMeta::NoGradMode => "was made while grad mode was off",
            CreationMeta::InferenceMode => "was made in inference mode",
            CreationMeta::InCustomFunction => "was made by a custom function",
        })
    }

    fn check(self, what: &str) -> Result<()> {
        match self.objection() {
            None => Ok(()),
            Some(objection) => bail!(
                Autograd,
                "{what}, while gradients are recorded, but this view {objection}, so gradients could not follow the write\n  \
                 help: write to a copy, or write with grad mode off as well"
            ),
        }
    }
}

/// Makes `view` known as a view of `base`.
///
/// PyTorch: `torch::autograd::as_view`.
pub(super) fn track(base: &Tensor, view: &Tensor, creation: CreationMeta) {
    if base.is_inference() || view.is_same(base) {
        return;
    }
    let mut known = View { base: base.clone(), creation, version: view.version() };
    if let Some(meta) = AutogradMeta::of(base)
        && let Some(of_base) = &meta.state().view
    {
        known.base = of_base.base.clone();
        if creation == CreationMeta::Default {
            known.creation = of_base.creation;
        }
    }
    let mut state = AutogradMeta::of_or_new(view).state();
    let before = state.view.replace(known);
    drop(state);
    drop(before); // outside of the lock
    if !view.requires_grad() {
        view.ask_autograd_for_requires_grad();
    }
}

/// A tensor of its own for an argument that a kernel handed back as its result, a view of it: each has its own history.
pub(super) fn another(argument: &Tensor) -> Tensor {
    let result = argument.with_key_set(argument.key_set());
    track(argument, &result, CreationMeta::now(false));
    result
}

/// Which output of which node a tensor is. That of a view is made anew after its base has changed.
///
/// PyTorch: `VariableHooks::grad_fn`.
pub(super) fn history(tensor: &Tensor) -> Result<Option<Edge>> {
    let Some(meta) = AutogradMeta::of(tensor) else { return Ok(None) };
    let (base, creation, version) = {
        let state = meta.state();
        let Some(view) = &state.view else { return Ok(state.history.clone()) };
        let version = tensor.version();
        if view.version == version || (state.history.is_none() && !view.base.requires_grad()) {
            return Ok(state.history.clone());
        }
        (view.base.clone(), view.creation, version)
    };
    creation.check("the base of a view was written to in place")?;
    let offset = tensor.storage_offset();
    let again = {
        let _guard = EnableGradGuard::new();
        arithmetic::as_strided(&base, tensor.sizes(), tensor.strides(), offset)?
    };
    let edge = AutogradMeta::of(&again).and_then(|meta| meta.state().history.clone());
    // It was computed, even if its base no longer says from what.
    let edge = edge.unwrap_or_else(|| {
        let node = Node::new("AsStridedBackward0", [None], Arc::new(Nowhere));
        Edge { input_nr: node.add_input(super::InputMetadata::of(tensor)), node }
    });
    let mut state = meta.state();
    if let Some(view) = &mut state.view {
        view.version = version;
    }
    let before = state.history.replace(edge.clone());
    drop(state);
    drop(before); // outside of the lock
    Ok(Some(edge))
}

/// The derivative of a view whose base was detached.
struct Nowhere;

impl Backward for Nowhere {
    fn backward(&self, _: &Call<'_>, _: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        Ok(vec![None])
    }

    fn keeps_tensors(&self) -> bool {
        false
    }
}

/// Checks that a write can be recorded.
///
/// PyTorch: `check_inplace`.
pub(super) fn check_write(operator: &str, tensor: &Tensor) -> Result<()> {
    let view = AutogradMeta::of(tensor)
        .and_then(|meta| meta.state().view.as_ref().map(|view| (view.base.clone(), view.creation)));
    if let Some((base, creation)) = view {
        creation.check(&format!("{operator} writes in place"))?;
        if tensor.requires_grad() && base.is_leaf()? {
            return Err(leaf_error(operator, "a view of a leaf"));
        }
    }
    let is_known = |tensor| AutogradMeta::of(tensor).is_some_and(|meta| meta.state().history.is_some());
    if tensor.requires_grad() && !is_known(tensor) {
        // A view from before its base had a history has none either, until somebody asks for it.
        let what =
            if tensor.is_view() { "a view that was a leaf when its base was written to" } else { "a leaf" };
        return Err(leaf_error(operator, what));
    }
    Ok(())
}

fn leaf_error(operator: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::Autograd,
        format!(
            "{operator} cannot write in place to {what} that requires grad: its gradient is that of the value before\n  \
             help: write inside of `no_grad`, as optimisers do, or to a copy"
        ),
    )
}

/// Gives a tensor that was written to in place its new history. A write to a view is one to a part of its base.
///
/// PyTorch: `rebase_history`.
pub(super) fn rebase(tensor: &Tensor, node: &Node) -> Result<()> {
    let input_nr = node.add_input(super::InputMetadata::of(tensor));
    let base = tensor.base();
    let Some(base) = base else {
        set_history(tensor, Edge { node: node.clone(), input_nr });
        return Ok(());
    };
    let base_edge = meta::gradient_edge(&base)?;
    let others = node.edges().iter().skip(1).cloned();
    let slices = CopySlices::new(&base, tensor, node.clone());
    let slices = Node::new("CopySlices", std::iter::once(base_edge).chain(others), Arc::new(slices));
    let input_nr = slices.add_input(super::InputMetadata::of(&base));
    set_history(&base, Edge { node: slices, input_nr });
    history(tensor).map(drop) // the view's own follows from the base's
}
