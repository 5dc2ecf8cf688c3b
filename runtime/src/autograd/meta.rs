//! What autograd knows of a tensor, and what a user asks of it.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::accumulate;
use super::hooks::{Hook, HookHandle, Hooks};
use super::node::{Edge, InputMetadata, Node, WeakNode};
use super::view::{self, View};
use crate::error::Result;
use crate::guard::GradMode;
use crate::tensor::{AutogradMetaInterface, Tensor};
use crate::{bail, ensure};

/// What autograd knows of a tensor. Most tensors have none.
///
/// PyTorch: `torch::autograd::AutogradMeta`.
#[derive(Default)]
pub(crate) struct AutogradMeta(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    pub(super) grad: Option<Tensor>,
    /// Which output of which node this is; nothing for leaves.
    pub(super) history: Option<Edge>,
    /// The node that accumulates a leaf's gradient, while a graph has it.
    pub(super) accumulator: WeakNode,
    pub(super) view: Option<View>,
    /// Those of a leaf; others have them at their node.
    pub(super) hooks: Option<Box<Hooks>>,
    retains_grad: bool,
}

impl AutogradMetaInterface for AutogradMeta {
    fn requires_grad(&self) -> bool {
        let (is_computed, base) = {
            let state = self.state();
            (state.history.is_some(), state.view.as_ref().map(|view| view.base.clone()))
        };
        is_computed || base.is_some_and(|base| base.requires_grad())
    }
}

impl AutogradMeta {
    /// That of a tensor, if it has one.
    pub(super) fn of(tensor: &Tensor) -> Option<&AutogradMeta> {
        let meta: &dyn Any = &**tensor.autograd_slot().get()?;
        meta.downcast_ref()
    }

    /// That of a tensor, made where there was none.
    pub(super) fn of_or_new(tensor: &Tensor) -> &AutogradMeta {
        let meta: &dyn Any = &**tensor.autograd_slot().get_or_init(|| Box::new(AutogradMeta::default()));
        meta.downcast_ref().unwrap_or_else(|| unreachable!("the slot holds nothing else"))
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

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

/// Makes a tensor an output of a node, whatever it was before.
pub(super) fn set_history(tensor: &Tensor, edge: Edge) {
    let mut state = AutogradMeta::of_or_new(tensor).state();
    state.history = Some(edge);
    if let Some(view) = &mut state.view {
        view.version = tensor.version();
    }
    drop(state);
    tensor.store_requires_grad(true);
}

/// Replaces the gradient, whatever its sizes: a leaf may have changed its own since.
pub(super) fn store_grad(tensor: &Tensor, grad: Option<Tensor>) {
    let before = std::mem::replace(&mut AutogradMeta::of_or_new(tensor).state().grad, grad);
    drop(before); // outside of the lock
}

/// Gradients: what a user asks of a tensor.
impl Tensor {
    /// Says whether a gradient is wanted, so that [`backward`](Tensor::backward) leaves one in [`grad`](Tensor::grad).
    ///
    /// # Errors
    /// An element type without gradients: those of integers and `bool`. Turning it off for a tensor that was computed;
    /// its `detach()` is one without a gradient.
    ///
    /// PyTorch: `Tensor.requires_grad_`.
    #[doc(alias = "requires_grad_")]
    pub fn set_requires_grad(&self, requires_grad: bool) -> Result<()> {
        ensure!(
            !requires_grad || self.dtype().is_differentiable(),
            Autograd,
            "a tensor of {} cannot require grad, only floating-point and complex tensors can",
            self.dtype()
        );
        if view::history(self)?.is_some() {
            ensure!(
                requires_grad,
                Autograd,
                "a tensor that was computed requires grad as long as it is part of the graph\n  \
                 help: `x.detach()` is the same tensor without its history"
            );
            return Ok(());
        }
        self.store_requires_grad(requires_grad);
        if !requires_grad && self.is_view() {
            self.ask_autograd_for_requires_grad();
        }
        Ok(())
    }

    /// The gradient that backward passes have accumulated, of leaves and of those that
    /// [retain](Tensor::retain_grad) theirs.
    ///
    /// PyTorch: `Tensor.grad`.
    pub fn grad(&self) -> Option<Tensor> {
        AutogradMeta::of(self)?.state().grad.clone()
    }

    /// Replaces the gradient; `None` is what optimisers start from.
    ///
    /// # Errors
    /// A gradient of other sizes, another element type or device.
    ///
    /// PyTorch: `Tensor.grad = …`.
    pub fn set_grad(&self, grad: Option<Tensor>) -> Result<()> {
        if let Some(grad) = &grad {
            ensure!(
                (grad.sizes(), grad.dtype(), grad.device()) == (self.sizes(), self.dtype(), self.device()),
                Autograd,
                "a gradient has the sizes, the type and the device of its tensor: {:?} of {} on {}, not {:?} of {} on {}",
                self.sizes(),
                self.dtype(),
                self.device(),
                grad.sizes(),
                grad.dtype(),
                grad.device()
            );
        }
        store_grad(self, grad);
        Ok(())
    }

    /// The node of the graph that made this tensor; none for leaves.
    ///
    /// # Errors
    /// It is a view whose base was written to since, in a way that gradients cannot follow.
    ///
    /// PyTorch: `Tensor.grad_fn`.
    pub fn grad_fn(&self) -> Result<Option<Node>> {
        Ok(view::history(self)?.map(|edge| edge.node))
    }

    /// Which output of its [node](Tensor::grad_fn) this tensor is; 0 for leaves.
    ///
    /// PyTorch: `Tensor.output_nr`.
    pub fn output_nr(&self) -> usize {
        let history = AutogradMeta::of(self).and_then(|meta| meta.state().history.clone());
        history.map_or(0, |edge| edge.input_nr)
    }

    /// Whether this tensor was not computed from one that requires grad: gradients end here.
    ///
    /// # Errors
    /// As [`grad_fn`](Tensor::grad_fn).
    ///
    /// PyTorch: `Tensor.is_leaf`.
    pub fn is_leaf(&self) -> Result<bool> {
        Ok(view::history(self)?.is_none())
    }

    /// Whether autograd knows this tensor as a view of another.
    ///
    /// PyTorch: `Tensor._is_view`.
    pub fn is_view(&self) -> bool {
        AutogradMeta::of(self).is_some_and(|meta| meta.state().view.is_some())
    }

    /// The tensor that this is a view of; never a view itself.
    ///
    /// PyTorch: `Tensor._base`.
    pub fn base(&self) -> Option<Tensor> {
        Some(AutogradMeta::of(self)?.state().view.as_ref()?.base.clone())
    }

    /// Makes this tensor a leaf that requires no gradient, for all its handles.
    ///
    /// # Errors
    /// A view: its base would go on to know where it comes from.
    ///
    /// PyTorch: what `Tensor.detach_` does.
    pub fn forget_history(&self) -> Result<()> {
        ensure!(
            !self.is_view(),
            Autograd,
            "a view cannot be detached in place\n  help: `x.detach()` is another tensor of the same memory, detached"
        );
        self.store_requires_grad(false);
        let history = AutogradMeta::of(self).and_then(|meta| meta.state().history.take());
        if let Some(Edge { node, input_nr }) = history {
            node.detach(input_nr);
        }
        Ok(())
    }

    /// Keeps the gradient of a tensor that is no leaf, too, in [`grad`](Tensor::grad).
    ///
    /// # Errors
    /// The tensor requires no gradient.
    ///
    /// PyTorch: `Tensor.retain_grad`.
    pub fn retain_grad(&self) -> Result<()> {
        ensure!(
            self.requires_grad(),
            Autograd,
            "the gradient of a tensor that requires none cannot be retained"
        );
        let Some(Edge { node, input_nr }) = view::history(self)? else { return Ok(()) };
        let meta = AutogradMeta::of_or_new(self);
        if !std::mem::replace(&mut meta.state().retains_grad, true) {
            let weak = self.downgrade();
            let keep: Hook = Arc::new(move |grad: &Tensor| {
                if let Some(tensor) = weak.upgrade() {
                    tensor.set_grad(Some(grad.clone()))?;
                }
                Ok(None)
            });
            Hooks::add_last(&mut node.state().hooks, input_nr, keep);
        }
        Ok(())
    }

    /// Runs a function on the gradient of this tensor whenever one is computed; what it returns replaces the gradient.
    ///
    /// # Errors
    /// The tensor requires no gradient.
    ///
    /// ```
    /// use torch_library::Tensor;
    ///
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.set_requires_grad(true)?;
    /// let hook = x.register_hook(|grad| Ok(Some(grad.clone())))?;
    /// hook.remove();
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// PyTorch: `Tensor.register_hook`.
    pub fn register_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        if !self.requires_grad() {
            bail!(Autograd, "a hook needs a gradient, and this tensor requires none");
        }
        let hook: Hook = Arc::new(hook);
        Ok(match view::history(self)? {
            Some(Edge { node, input_nr }) => Hooks::add(&mut node.state().hooks, input_nr, hook),
            None => Hooks::add(&mut AutogradMeta::of_or_new(self).state().hooks, 0, hook),
        })
    }

    /// Computes the gradients of this one number with respect to all leaves it was computed from, and adds them to
    /// their [`grad`](Tensor::grad).
    ///
    /// # Errors
    /// The tensor has not exactly one element, or requires no gradient; as [`backward`](super::backward).
    ///
    /// PyTorch: `Tensor.backward`.
    pub fn backward(&self) -> Result<()> {
        super::backward(&[self], &[], super::GradOptions::new())
    }
}

/// Whether operations on these tensors are to be recorded.
#[inline]
pub(super) fn wants_graph(mut requires_grad: impl FnMut() -> bool) -> bool {
    GradMode::is_enabled() && requires_grad()
}
