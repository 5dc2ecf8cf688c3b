//! `AccumulateGrad`: the node that adds to the gradient of a leaf.

use std::sync::Arc;

use super::arithmetic;
use super::hooks::Hooks;
use super::meta::{AutogradMeta, store_grad};
use super::node::{Backward, Call, Edges, LEAF, Node};
use super::view;
use crate::ensure;
use crate::error::Result;
use crate::guard::GradMode;
use crate::layout::MemoryFormat;
use crate::tensor::Tensor;
use crate::tensor::geometry::Geometry;
use crate::turn::Turn;

/// A node that adds incoming gradients to the gradient of a leaf.
///
/// PyTorch: `torch::autograd::AccumulateGrad`.
struct AccumulateGrad {
    leaf: Tensor,
    /// Makes backward passes on several threads add one after the other.
    adding: Turn,
}

/// Makes the node of a leaf.
pub(super) fn node(leaf: &Tensor) -> Node {
    let body = AccumulateGrad { leaf: leaf.clone(), adding: Turn::default() };
    Node::with_sequence("AccumulateGrad", Edges::new(), Arc::new(body), LEAF)
}

impl Backward for AccumulateGrad {
    fn backward(&self, _: &Call<'_>, mut grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        if grads.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        ensure!(
            view::history(&self.leaf)?.is_none(),
            Autograd,
            "a gradient arrived at a tensor that is no longer a leaf: it was detached in place, and then a recorded \
             operator wrote to it\n  \
             help: use `x.detach()`, which returns a new tensor"
        );
        if !self.leaf.requires_grad() {
            return Ok(Vec::new()); // the leaf was detached in place after the graph was made
        }
        run_hooks(&self.leaf, &mut grads)?;
        if let Some(Some(grad)) = grads.pop() {
            let one_at_a_time = self.adding.take();
            self.add(grad)?;
            drop(one_at_a_time); // a hook may wait for other threads, which accumulate as well
            let hooks =
                AutogradMeta::of(&self.leaf).and_then(|meta| Hooks::snapshot(&meta.state().accumulated));
            if let Some(hooks) = hooks {
                hooks.run(&mut [Some(self.leaf.clone())])?;
            }
        }
        Ok(Vec::new())
    }

    fn keeps_tensors(&self) -> bool {
        false // the leaf is the target of the gradient, not a saved tensor
    }

    fn leaf(&self) -> Option<&Tensor> {
        Some(&self.leaf)
    }
}

/// Runs the hooks that were registered on a leaf, which may replace its gradient.
pub(super) fn run_hooks(leaf: &Tensor, grads: &mut [Option<Tensor>]) -> Result<()> {
    let hooks = AutogradMeta::of(leaf).and_then(|meta| Hooks::snapshot(&meta.state().hooks));
    hooks.map_or(Ok(()), |hooks| hooks.run(grads))
}

impl AccumulateGrad {
    fn add(&self, grad: Tensor) -> Result<()> {
        let sum = match self.leaf.grad() {
            None if !GradMode::is_enabled() && grad.is_sole_owner() && self.is_laid_out_like(&grad) => grad,
            // If the leaf's own sizes have changed in place since, PyTorch compares sizes like this, too.
            None if self.leaf.sizes() != grad.sizes()
                && grad.is_sole_handle()
                && self.is_laid_out_like(&grad) =>
            {
                arithmetic::clone(&grad)?
            }
            None => self.copy(&grad)?, // other code may write to this gradient
            Some(before) if GradMode::is_enabled() => arithmetic::add(&before, &grad)?,
            Some(mut sum) => return arithmetic::add_in_place(&mut sum, &grad),
        };
        store_grad(&self.leaf, Some(sum));
        Ok(())
    }

    /// Whether a gradient has the layout that optimisers expect: the leaf's strides, or contiguous if the leaf is not
    /// dense.
    fn is_laid_out_like(&self, grad: &Tensor) -> bool {
        if !self.leaf.is_non_overlapping_and_dense() {
            return grad.is_contiguous(MemoryFormat::Contiguous);
        }
        let (grad, leaf) = (grad.geometry(), self.leaf.strides());
        let mut dims = grad.sizes().iter().zip(grad.strides()).enumerate();
        // The stride of a dimension of size 1 does not matter, except that 0 hints at an expanded view.
        dims.all(
            |(dim, (size, stride))| if *size == 1 { *stride != 0 } else { leaf.get(dim) == Some(stride) },
        )
    }

    /// Copies a gradient into that layout.
    ///
    /// PyTorch: `clone_obey_contract`.
    fn copy(&self, grad: &Tensor) -> Result<Tensor> {
        let leaf = self.leaf.geometry();
        let dense = Geometry::contiguous(leaf.sizes())?;
        let strides = if self.leaf.is_non_overlapping_and_dense() { leaf.strides() } else { dense.strides() };
        let mut copy = arithmetic::new_empty_strided(grad, leaf.sizes(), strides)?;
        arithmetic::copy(&mut copy, grad)?;
        Ok(copy)
    }
}
