//! The methods of tensors for autograd.

use std::sync::Arc;

use super::engine::{self, GradOptions};
use super::hooks::{Hook, HookHandle, Hooks};
use super::meta::{AutogradMeta, retain, store_grad};
use super::node::{Edge, Node};
use super::view;
use crate::error::Result;
use crate::guard::InferenceMode;
use crate::tensor::Tensor;
use crate::{bail, ensure};

impl Tensor {
    /// Sets whether a gradient is wanted, so that [`backward`](Tensor::backward) accumulates one in
    /// [`grad`](Tensor::grad).
    ///
    /// # Errors
    /// An element type without gradients (integers and `bool`). Turning it off for a tensor that was computed; use its
    /// `detach()` instead.
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
        ensure!(
            !requires_grad || !self.is_inference() || InferenceMode::is_enabled(),
            Autograd,
            "a tensor that was made in inference mode cannot require grad outside of it\n  help: clone it"
        );
        if view::history(self)?.is_some() {
            ensure!(
                requires_grad,
                Autograd,
                "only a leaf can stop requiring grad, and this tensor was computed by a recorded operator\n  \
                 help: `x.detach()` returns the same tensor without its history"
            );
            return Ok(());
        }
        self.store_requires_grad(requires_grad);
        if !requires_grad && self.is_view() && self.dtype().is_differentiable() {
            self.ask_autograd_for_requires_grad();
        }
        Ok(())
    }

    /// The gradient that backward passes have accumulated, for leaves and for tensors that
    /// [retain](Tensor::retain_grad) theirs.
    ///
    /// PyTorch: `Tensor.grad`.
    pub fn grad(&self) -> Option<Tensor> {
        AutogradMeta::of(self)?.state().grad.clone()
    }

    /// Replaces the gradient; `None` clears it, as optimisers do.
    ///
    /// # Errors
    /// The gradient's sizes, element type or device differ from the tensor's, or it is the tensor itself.
    ///
    /// PyTorch: `Tensor.grad = …`.
    pub fn set_grad(&self, grad: Option<Tensor>) -> Result<()> {
        if let Some(grad) = &grad {
            ensure!(
                !grad.is_same(self),
                Autograd,
                "a tensor cannot be its own gradient, since it would own itself and never be freed\n  \
                 help: copy it, or pass `x.detach()`, which is another tensor"
            );
            ensure!(
                (grad.sizes(), grad.dtype(), grad.device()) == (self.sizes(), self.dtype(), self.device()),
                Autograd,
                "a gradient must have the sizes, the dtype and the device of its tensor: {:?} of {} on {}, not {:?} \
                 of {} on {}",
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

    /// The node of the operation that computed this tensor; `None` for leaves.
    ///
    /// # Errors
    /// The tensor is a view whose base was written to since, in a way that gradients cannot follow.
    ///
    /// PyTorch: `Tensor.grad_fn`.
    pub fn grad_fn(&self) -> Result<Option<Node>> {
        Ok(view::history(self)?.map(|edge| edge.node))
    }

    /// The number of this tensor among the outputs of its [node](Tensor::grad_fn); 0 for leaves.
    ///
    /// PyTorch: `Tensor.output_nr`.
    pub fn output_nr(&self) -> usize {
        let history = AutogradMeta::of(self).and_then(|meta| meta.state().history.clone());
        history.map_or(0, |edge| edge.input_nr)
    }

    /// Whether this tensor was not computed from one that requires a gradient, so that gradients end here.
    ///
    /// # Errors
    /// The errors of [`grad_fn`](Tensor::grad_fn).
    ///
    /// PyTorch: `Tensor.is_leaf`.
    pub fn is_leaf(&self) -> Result<bool> {
        Ok(view::history(self)?.is_none())
    }

    /// Whether autograd tracks this tensor as a view of another.
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
    /// The tensor is a view: its base would still have the history.
    ///
    /// PyTorch: what `Tensor.detach_` does.
    pub fn forget_history(&self) -> Result<()> {
        ensure!(
            !self.is_view(),
            Autograd,
            "a view cannot be detached in place\n  help: `x.detach()` returns a detached tensor that shares its memory"
        );
        self.store_requires_grad(false);
        let history = AutogradMeta::of(self).and_then(|meta| meta.state().history.take());
        if let Some(Edge { node, input_nr }) = history {
            node.detach(input_nr);
        }
        Ok(())
    }

    /// Makes backward passes store the gradient of a tensor that is not a leaf in [`grad`](Tensor::grad), too.
    ///
    /// After an in-place operation, this is the gradient of the tensor's new value.
    ///
    /// # Errors
    /// The tensor requires no gradient.
    ///
    /// PyTorch: `Tensor.retain_grad`.
    pub fn retain_grad(&self) -> Result<()> {
        ensure!(
            self.requires_grad(),
            Autograd,
            "the gradient of a tensor that does not require grad cannot be retained"
        );
        if let Some(edge) = view::history(self)? {
            retain(self, edge);
        }
        Ok(())
    }

    /// Runs a function on the gradient of this tensor whenever it is computed; what the function returns replaces the
    /// gradient.
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
            bail!(Autograd, "a gradient hook cannot be registered on a tensor that does not require grad");
        }
        let hook: Hook = Arc::new(hook);
        Ok(match view::history(self)? {
            Some(Edge { node, input_nr }) => Hooks::add(&mut node.state().hooks, input_nr, hook),
            None => Hooks::add(&mut AutogradMeta::of_or_new(self).state().hooks, 0, hook),
        })
    }

    /// Runs a function on this leaf whenever a gradient was added to its [`grad`](Tensor::grad), which is then complete
    /// for this backward pass. Work that need not wait for the other gradients, such as sending this one to other
    /// processes, can begin here.
    ///
    /// # Errors
    /// The tensor requires no gradient, or is not a leaf. An error that the function returns ends the backward pass.
    ///
    /// ```
    /// use torch_library::Tensor;
    ///
    /// let x = Tensor::from([1.0, 2.0]);
    /// x.set_requires_grad(true)?;
    /// let hook = x.register_post_accumulate_grad_hook(|leaf| leaf.set_grad(None))?; // clears each gradient
    /// hook.remove();
    /// # Ok::<(), torch_library::Error>(())
    /// ```
    ///
    /// PyTorch: `Tensor.register_post_accumulate_grad_hook`.
    pub fn register_post_accumulate_grad_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<()> + Send + Sync + 'static,
    ) -> Result<HookHandle> {
        ensure!(
            self.requires_grad() && view::history(self)?.is_none(),
            Autograd,
            "a post-accumulate-grad hook needs a leaf that requires grad: other tensors do not accumulate gradients"
        );
        let hook: Hook = Arc::new(move |leaf: &Tensor| hook(leaf).map(|()| None));
        Ok(Hooks::add(&mut AutogradMeta::of_or_new(self).state().accumulated, 0, hook))
    }

    /// Computes the gradients of this tensor, which has one element, with respect to all leaves it was computed from,
    /// and adds them to their [`grad`](Tensor::grad).
    ///
    /// # Errors
    /// The tensor does not have exactly one element, is complex, or requires no gradient; the errors of
    /// [`backward`](super::backward).
    ///
    /// PyTorch: `Tensor.backward`.
    pub fn backward(&self) -> Result<()> {
        engine::backward(&[self], &[], GradOptions::new())
    }
}
