//! Views and their bases: the tracking of views, and what a write through one means for the others.

use std::sync::Arc;

use super::Node;
use super::creation::CreationMeta;
use super::meta::{AutogradMeta, View, replace_history};
use super::node::{Backward, Call, Edge};
use super::regenerate::Form;
use crate::error::{Error, ErrorKind, Result};
use crate::guard::EnableGradGuard;
use crate::tensor::Tensor;

/// Records that a result is a view of `base`, unless it has memory of its own: an operator may return a view or a copy,
/// and a write to a copy changes nothing else. A result with other handles, which the operator did not just make, is
/// replaced by a separate tensor: it may be the base of other views, even of `base` itself, and the base of a view is
/// not a view.
///
/// PyTorch: `torch::autograd::as_view`.
pub(super) fn track(base: &Tensor, result: &mut Tensor, creation: CreationMeta) {
    if base.is_inference() || result.is_same(base) || !result.is_defined() {
        return;
    }
    let is_wrapper = base.is_wrapper() || result.is_wrapper();
    if !is_wrapper && !result.shares_storage_with(base) {
        return;
    }
    if !result.is_sole_handle() {
        *result = result.with_key_set(result.key_set());
    }
    mark(base, result, creation);
}

/// Records that `view`, which is nobody's base, is a view of `base`.
pub(super) fn mark(base: &Tensor, view: &Tensor, creation: CreationMeta) {
    if base.is_inference() {
        return;
    }
    let mut info = View { base: base.clone(), creation, version: view.version() };
    if let Some(meta) = AutogradMeta::of(base)
        && let Some(of_base) = &meta.state().view
    {
        info.base = of_base.base.clone();
        if creation == CreationMeta::Default {
            info.creation = of_base.creation;
        }
    }
    let mut state = AutogradMeta::of_or_new(view).state();
    let before = state.view.replace(info);
    drop(state);
    drop(before); // after the lock is released
    if !view.requires_grad() && view.dtype().is_differentiable() {
        view.ask_autograd_for_requires_grad();
    }
}

/// A separate tensor, recorded as a view of the argument, for a kernel that returned its argument: the result needs its
/// own history.
///
/// PyTorch: `aten::alias`.
pub(super) fn alias(argument: &Tensor) -> Tensor {
    let result = argument.with_key_set(argument.key_set());
    mark(argument, &result, CreationMeta::now(false));
    result
}

/// The node that computed a tensor, and the number of the output. A view's history is computed anew after its base has
/// changed.
///
/// PyTorch: `VariableHooks::grad_fn`.
pub(super) fn history(tensor: &Tensor) -> Result<Option<Edge>> {
    let Some(meta) = AutogradMeta::of(tensor) else { return Ok(None) };
    let (base, creation, version) = {
        let state = meta.state();
        let Some(view) = &state.view else { return Ok(state.history.clone()) };
        let version = tensor.version();
        let is_current = view.version == version || !tensor.dtype().is_differentiable();
        if is_current || (state.history.is_none() && !view.base.requires_grad()) {
            return Ok(state.history.clone());
        }
        (view.base.clone(), view.creation, version)
    };
    creation.check("the base of a view was written to in place")?;
    let again = {
        let _guard = EnableGradGuard::new();
        Form::of(tensor).view_of(&base, base.storage_offset())?
    };
    let edge = AutogradMeta::of(&again).and_then(|meta| meta.state().history.clone());
    // The view was computed, even if its base no longer has a history.
    let edge = edge.unwrap_or_else(|| {
        let node = Node::new("AsStridedBackward0", [None], Arc::new(Nowhere));
        Edge { input_nr: node.add_input(super::InputMetadata::of(tensor)), node }
    });
    replace_history(tensor, edge.clone(), version);
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
        if tensor.dtype().is_differentiable() {
            Form::of(tensor).check(&base)?;
        }
    }
    let has_history = |tensor| AutogradMeta::of(tensor).is_some_and(|meta| meta.state().history.is_some());
    if tensor.requires_grad() && !has_history(tensor) {
        // A view made before its base had a history has none either, until its history is queried.
        let what =
            if tensor.is_view() { "a view that was a leaf when its base was written to" } else { "a leaf" };
        return Err(leaf_error(operator, what));
    }
    Ok(())
}

#[cold]
pub(super) fn inference_error() -> Error {
    Error::new(
        ErrorKind::Autograd,
        "a tensor that was made in inference mode is not written outside of it, since its versions are not counted\n  \
         help: write to a clone, or in `inference_mode`",
    )
}

fn leaf_error(operator: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::Autograd,
        format!(
            "{operator} cannot write in place to {what} that requires grad: its gradient belongs to the value before \
             the write\n  \
             help: write inside `no_grad`, as optimisers do, or to a copy"
        ),
    )
}
