//! Reverse-mode differentiation: a graph of recorded operations, and the backward pass through it.
//!
//! Autograd is a layer like any other. A kernel at an autograd key runs the operator below it and, if a gradient is
//! needed, attaches a [`Node`] to the result, which computes the gradients of the inputs from those of the outputs.
//! `derivatives!` writes such kernels from formulas; [`Function`] is for derivatives that formulas cannot express.
//! Nothing here knows more of an operator than its name, and operators need not know that this layer exists.
//!
//! ```
//! use torch_library::autograd::{self, GradOptions};
//! use torch_library::prelude::*;
//!
//! torch_library! {
//!     pub mod autograd_docs {
//!         /// Multiplies every element by a number.
//!         scale(Tensor self, float by) -> Tensor;
//!     }
//! }
//!
//! #[torch_impl(autograd_docs, CPU)]
//! fn scale(this: &Tensor, by: f64) -> Result<Tensor> {
//!     Tensor::from_vec(this.to_vec::<f64>()?.iter().map(|x| by * x).collect(), this.sizes())
//! }
//!
//! derivatives! {
//!     in autograd_docs;
//!     scale(Tensor self, float by) -> Tensor { self => autograd_docs::scale(grad, by) }
//! }
//!
//! # fn main() -> Result<()> {
//! let x = Tensor::from([1.0, 2.0]);
//! x.set_requires_grad(true)?;
//! let y = autograd_docs::scale(&x, 3.0)?;
//! let grad_of_y = Tensor::from([1.0, 10.0]);
//! let grads = autograd::grad(&[&y], &[&x], &[Some(grad_of_y)], GradOptions::new())?;
//! assert_eq!(grads[0].as_ref().map(Tensor::to_vec::<f64>).transpose()?, Some(vec![3.0, 30.0]));
//! # Ok(())
//! # }
//! ```
//!
//! | to … | see |
//! |---|---|
//! | compute gradients | [`Tensor::set_requires_grad`](crate::Tensor::set_requires_grad), [`Tensor::backward`](crate::Tensor::backward), [`backward`], [`grad`] |
//! | stop recording | [`no_grad`](crate::guard::no_grad), [`NoGradGuard`](crate::guard::NoGradGuard) |
//! | look at the graph | [`Tensor::grad_fn`](crate::Tensor::grad_fn), [`Node`] |
//! | write a derivative by hand | [`Function`], [`apply`] |
//! | test a derivative | [`gradcheck`], [`gradgradcheck`] |
//!
//! # The graph
//!
//! A tensor that was computed points to the node of its operation; a node's edges point to the nodes of its inputs, or
//! to the node that [accumulates](Node) the gradient of a leaf. Values that a formula needs are kept by
//! [`SavedTensor`], with their version: an in-place write in between is an error, not a wrong gradient.
//!
//! # Views and in-place writes
//!
//! A view knows its base. A write to a view is recorded at the base, as a write to a part of it. Views made earlier
//! notice through the version counter that their history has changed.

use crate::error::Result;
use crate::key::DispatchKeySet;
use crate::operator::Operator;
use crate::operator::kernel::Kernel;
use crate::program::Program;
use crate::registry::Differentiating;
use crate::value::Stack;

mod accumulate;
mod arithmetic;
mod bookkeeping;
mod check;
mod creation;
mod default;
mod edge;
mod engine;
pub(crate) mod formula;
mod function;
mod hooks;
mod in_place;
pub(crate) mod keep;
mod meta;
mod node;
mod rebase;
pub(crate) mod record;
mod regenerate;
mod saved;
mod slices;
mod tensor;
mod view;

pub use check::{Tolerance, gradcheck, gradgradcheck};
pub use engine::{GradOptions, backward, grad};
pub use function::{Context, Function, apply};
pub use hooks::HookHandle;
pub use node::{Backward, Call, Edge, InputMetadata, Node};
pub use saved::SavedTensor;

pub use crate::operator::{Derivative, Formula, Positions};

pub(crate) use arithmetic::clone as copy;
pub(crate) use check::depends;

impl Differentiating for Program {
    fn keep_books(
        _: &'static Kernel,
        operator: &'static Operator,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()> {
        bookkeeping::bookkeeping_boxed(operator, keys, stack)
    }

    fn differentiate(
        _: &'static Kernel,
        operator: &'static Operator,
        keys: DispatchKeySet,
        stack: &mut Stack<'_>,
    ) -> Result<()> {
        default::default_boxed(operator, keys, stack)
    }
}
