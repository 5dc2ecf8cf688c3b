//! The autograd state of a tensor.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::arithmetic;
use super::creation::CreationMeta;
use super::hooks::{Hook, HookHandle, Hooks};
use super::node::{Edge, WeakNode};
use crate::dropping::{self, Queue};
use crate::guard::GradMode;
use crate::tensor::{AutogradMetaInterface, Tensor};

/// The state of a view.
pub(super) struct View {
    /// The base, which is never a view itself: a view of a view has the same base.
    pub(super) base: Tensor,
    pub(super) creation: CreationMeta,
    /// The version for which the view's history was computed.
    pub(super) version: u64,
}

/// The autograd state of a tensor. Most tensors have none.
///
/// PyTorch: `torch::autograd::AutogradMeta`.
#[derive(Default)]
pub(crate) struct AutogradMeta(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    pub(super) grad: Option<Tensor>,
    /// The node of the operation that computed the tensor, and the number of the output; `None` for leaves.
    pub(super) history: Option<Edge>,
    /// The node that accumulates a leaf's gradient, while a graph holds it.
    pub(super) accumulator: WeakNode,
    pub(super) view: Option<View>,
    /// The hooks of a leaf; those of other tensors are at their node.
    pub(super) hooks: Option<Box<Hooks>>,
    /// The hooks that run after a leaf's gradient was accumulated.
    pub(super) accumulated: Option<Box<Hooks>>,
    /// The hook that stores the gradient of a tensor that is not a leaf.
    pub(super) retained: Option<HookHandle>,
}

thread_local! {
    /// What dropped tensors held and is still to be dropped.
    static HELD: Queue<Held> = const { Queue::new() };
}

/// What the autograd state of a tensor keeps alive, except the history, whose nodes have a queue of their own.
struct Held {
    #[expect(dead_code, reason = "dropped, never read")]
    grad: Option<Tensor>,
    #[expect(dead_code, reason = "dropped, never read")]
    view: Option<View>,
    #[expect(dead_code, reason = "dropped, never read")]
    hooks: [Option<Box<Hooks>>; 2],
}

/// Queues what the state held, because recursion could overflow the stack: a gradient may have a gradient, and so on; a
/// base may have one as well; and a hook may hold anything.
impl Drop for AutogradMeta {
    fn drop(&mut self) {
        let State { grad, view, hooks, accumulated, .. } =
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if grad.is_some() || view.is_some() || hooks.is_some() || accumulated.is_some() {
            let hooks = [hooks.take(), accumulated.take()];
            dropping::in_turn(&HELD, Held { grad: grad.take(), view: view.take(), hooks });
        }
    }
}

impl AutogradMetaInterface for AutogradMeta {
    fn requires_grad(&self) -> bool {
        self.is_recorded()
    }

    fn is_recorded(&self) -> bool {
        let (is_computed, base) = {
            let state = self.state();
            (state.history.is_some(), state.view.as_ref().map(|view| view.base.clone()))
        };
        is_computed || base.is_some_and(|base| base.requires_grad())
    }
}

impl AutogradMeta {
    /// The state of a tensor, if it has one.
    pub(super) fn of(tensor: &Tensor) -> Option<&AutogradMeta> {
        let meta: &dyn Any = &**tensor.autograd_slot().get()?;
        meta.downcast_ref()
    }

    /// The state of a tensor, created if it has none.
    pub(super) fn of_or_new(tensor: &Tensor) -> &AutogradMeta {
        let meta: &dyn Any = &**tensor.autograd_slot().get_or_init(|| Box::new(AutogradMeta::default()));
        meta.downcast_ref().unwrap_or_else(|| unreachable!("only autograd fills the slot"))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a tensor an output of a node, whatever its history was before.
pub(super) fn set_history(tensor: &Tensor, edge: Edge) {
    replace_history(tensor, edge, tensor.version());
    tensor.store_requires_grad(true);
}

/// Replaces the history of a tensor; if it is a view, by that for a version.
pub(super) fn replace_history(tensor: &Tensor, edge: Edge, version: u64) {
    let mut state = AutogradMeta::of_or_new(tensor).state();
    let retained = state.retained.take().map(|handle| (handle, edge.clone()));
    let before = state.history.replace(edge);
    if let Some(view) = &mut state.view {
        view.version = version;
    }
    drop(state);
    if let Some((handle, edge)) = retained {
        handle.remove(); // the gradient at the node before is that of the value before
        retain(tensor, edge);
    }
    drop(before); // after the lock is released
}

/// Makes backward passes store the gradient that arrives at a node as that of a tensor, unless they do so already.
///
/// PyTorch: `Node::retains_grad_hooks`.
pub(super) fn retain(tensor: &Tensor, Edge { node, input_nr }: Edge) {
    let weak = tensor.downgrade();
    let keep: Hook = Arc::new(move |grad: &Tensor| {
        if let Some(tensor) = weak.upgrade() {
            let sum = match tensor.grad() {
                Some(before) => arithmetic::add(&before, grad)?,
                None if grad.is_same(&tensor) => arithmetic::clone(grad)?, // no tensor is its own gradient
                None => grad.clone(),
            };
            tensor.set_grad(Some(sum))?;
        }
        Ok(None)
    });
    let mut state = AutogradMeta::of_or_new(tensor).state();
    if state.retained.is_none() {
        state.retained = Some(Hooks::add_last(&mut node.state().hooks, input_nr, keep));
    }
}

/// Replaces the gradient, whatever its sizes: the leaf's own sizes may have changed since.
pub(super) fn store_grad(tensor: &Tensor, grad: Option<Tensor>) {
    let before = std::mem::replace(&mut AutogradMeta::of_or_new(tensor).state().grad, grad);
    drop(before); // after the lock is released
}

/// Whether an operation is recorded: grad mode is on, and one of its inputs requires a gradient.
#[inline]
pub(super) fn wants_graph(mut requires_grad: impl FnMut() -> bool) -> bool {
    GradMode::is_enabled() && requires_grad()
}
