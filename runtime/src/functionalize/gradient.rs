//! Gradients between plain and functional tensors.

use super::view::Functional;
use super::{from_functional, named, to_functional, view};
use crate::autograd::{Context, Function, Node, apply};
use crate::error::Result;
use crate::guard::GradMode;
use crate::tensor::Tensor;

/// Makes a functional tensor from a plain one; the gradient goes back to the plain one.
struct Enter(Tensor);

impl Function for Enter {
    fn name(&self) -> &'static str {
        "ToFunctionalBackward"
    }

    fn forward(&self, _: &mut Context, _: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![self.0.clone()])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        grads.into_iter().map(|grad| grad.as_ref().map(leave).transpose()).collect()
    }
}

/// Makes a plain tensor from a functional one.
struct Leave;

impl Function for Leave {
    fn name(&self) -> &'static str {
        "FromFunctionalBackward"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        // The value is saved without a history: with one there would be a reference cycle.
        let _below = view::below();
        inputs.iter().map(|input| named::detach(&from_functional(input)?)).collect()
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let functional = |grad: Tensor| enter(&grad, to_functional(&grad)?);
        grads.into_iter().map(|grad| grad.map(functional).transpose()).collect()
    }
}

/// The functional tensor for a plain one, linked to it in the graph.
pub(super) fn enter(plain: &Tensor, functional: Tensor) -> Result<Tensor> {
    if plain.requires_grad() && GradMode::is_enabled() {
        apply(Enter(functional), &[plain]).map(|mut outputs| outputs.remove(0))
    } else {
        functional.store_requires_grad(plain.requires_grad());
        Ok(functional)
    }
}

/// The plain tensor for a functional one, linked to it in the graph.
pub(super) fn leave(functional: &Tensor) -> Result<Tensor> {
    if functional.requires_grad() && GradMode::is_enabled() && Functional::of(functional).is_some() {
        apply(Leave, &[functional]).map(|mut outputs| outputs.remove(0))
    } else {
        from_functional(functional)
    }
}

/// Whether a functional tensor was written to by a differentiable operation since it [entered](enter).
pub(super) fn has_new_history(functional: &Tensor, entered: Option<&Node>) -> Result<bool> {
    let now = functional.grad_fn()?;
    Ok(now.is_some_and(|node| !entered.is_some_and(|entered| entered.is_same(&node))))
}
