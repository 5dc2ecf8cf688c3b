//! The derivative of an in-place operation on a view, for the view's base.

use super::arithmetic;
use super::node::{Backward, Call, Node};
use super::regenerate::Form;
use crate::error::Result;
use crate::tensor::Tensor;

/// The derivative of an in-place operation on a view, with respect to the view's base.
///
/// PyTorch: `torch::autograd::CopySlices`.
pub(super) struct CopySlices {
    base: Form,
    view: Form,
    /// The derivative of the operation itself.
    operation: Node,
}

impl CopySlices {
    pub(super) fn new(base: &Tensor, view: &Tensor, operation: Node) -> Self {
        CopySlices { base: Form::of(base), view: Form::of(view), operation }
    }
}

impl Backward for CopySlices {
    fn backward(&self, call: &Call<'_>, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let count = self.operation.edges().len();
        let Some(Some(grad)) = grads.first() else { return Ok(vec![None; count]) };
        let mut result = self.base.empty(grad)?;
        arithmetic::copy(&mut result, grad)?;
        let mut part = self.view.view_of(&result, self.base.offset())?;

        let inner = Call { node: &self.operation, wanted: call.wanted };
        // A copy, because the part is overwritten below.
        let mut grads = self.operation.run(&inner, vec![Some(arithmetic::clone(&part)?)])?;
        if let Some(first) = grads.first_mut()
            && let Some(grad) = first.take()
        {
            arithmetic::copy(&mut part, &grad)?;
            *first = Some(result);
        }
        Ok(grads)
    }
}
