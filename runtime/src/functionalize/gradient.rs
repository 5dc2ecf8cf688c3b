//! Gradients that cross the border between plain and functional tensors.

use super::view::Functional;
use super::{from_functional, named, to_functional, view};
use crate::autograd::{Context, Function, Node, apply};
use crate::error::Result;
use crate::guard::GradMode;
use crate::tensor::Tensor;

/// A functional tensor that was made of a plain one; its gradient is the other's.
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

/// A plain tensor that a functional one stood for.
struct Leave;

impl Function for Leave {
    fn name(&self) -> &'static str {
        "FromFunctionalBackward"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        // The value has no history: it would keep what keeps it.
        let _below = view::below();
        inputs.iter().map(|input| named::detach(&from_functional(input)?)).collect()
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let functional = |grad: Tensor| enter(&grad, to_functional(&grad)?);
        grads.into_iter().map(|grad| grad.map(functional).transpose()).collect()
    }
}

/// The functional tensor of a plain one, linked to it.
pub(super) fn enter(plain: &Tensor, functional: Tensor) -> Result<Tensor> {
    if plain.requires_grad() && GradMode::is_enabled() {
        apply(Enter(functional), &[plain]).map(|mut outputs| outputs.remove(0))
    } else {
        functional.store_requires_grad(plain.requires_grad());
        Ok(functional)
    }
}

/// The plain tensor of a functional one, linked to it.
pub(super) fn leave(functional: &Tensor) -> Result<Tensor> {
    if functional.requires_grad() && GradMode::is_enabled() && Functional::of(functional).is_some() {
        apply(Leave, &[functional]).map(|mut outputs| outputs.remove(0))
    } else {
        from_functional(functional)
    }
}

/// Whether a tensor that [entered](enter) was written to by something that has a gradient.
pub(super) fn has_new_history(functional: &Tensor, entered: Option<&Node>) -> Result<bool> {
    let now = functional.grad_fn()?;
    Ok(now.is_some_and(|node| !entered.is_some_and(|entered| entered.is_same(&node))))
}
