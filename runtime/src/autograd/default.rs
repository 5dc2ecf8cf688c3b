//! The kernel at an autograd key for operators that register none.
//!
//! It must not cost anything where no gradient is needed, and it must not lose one where it is. So each operator has a
//! typed default that looks at its arguments and goes on to the next key, without boxing. If a tensor requires a
//! gradient, the call is boxed, and the tensors that it computes or writes to get a node that fails in the backward
//! pass, with an error that names the operator and its crate. Only a backward pass that reaches the node fails.
//!
//! PyTorch: `autogradNotImplementedFallback`.

use std::sync::Arc;

use smallvec::SmallVec;
use torch_library_schema::Return;

use super::bookkeeping::{each_result, written};
use super::edge::gradient_edge;
use super::in_place;
use super::node::{Backward, Call, Edge, NOT_IMPLEMENTED, Node};
use super::record::{Results, check_write, rebase};
use super::view;
use crate::argument::Argument;
use crate::bail;
use crate::error::Result;
use crate::guard::{AutoDispatchBelowAutograd, below_autograd, needs_derivative};
use crate::key::{DispatchKey, DispatchKeySet};
use crate::operator::Operator;
use crate::registry::{self, KernelInfo};
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// The boxed form of the default.
pub(super) fn default_boxed(
    operator: &'static Operator,
    keys: DispatchKeySet,
    stack: &mut Stack<'_>,
) -> Result<()> {
    let handle = operator.handle();
    if needs_derivative(handle.arguments(stack)?.iter().any(Argument::requires_grad)) {
        if in_place::compute(operator, keys, stack)? {
            return Ok(());
        }
        return record(operator, below_autograd(keys), stack);
    }
    handle.redispatch_boxed(below_autograd(keys), stack)
}

/// Runs the operator below, and gives its results a node that has no derivative.
#[cold]
#[inline(never)]
fn record(operator: &'static Operator, keys: DispatchKeySet, stack: &mut Stack<'_>) -> Result<()> {
    let handle = operator.handle();
    let schema = operator.schema()?;
    let arguments = handle.arguments(stack)?;
    if schema.arguments.iter().any(|argument| argument.is_out()) {
        bail!(
            Autograd,
            "{operator} writes to `out`, and autograd does not track such writes\n  \
             help: use the form that returns its result, or call it inside `no_grad`"
        );
    }
    let below = stack.len() - arguments.len();
    let inputs: SmallVec<[Tensor; 4]> = arguments.iter().flat_map(Value::all_tensors).cloned().collect();
    let edges = inputs.iter().map(gradient_edge).collect::<Result<Edges>>()?;
    let written: SmallVec<[Tensor; 1]> = written(schema, arguments).filter(has_gradient).cloned().collect();
    let name = operator.to_string();
    written.iter().try_for_each(|tensor| check_write(&name, tensor))?;
    {
        let _guard = AutoDispatchBelowAutograd::new();
        handle.redispatch_boxed(keys, stack)?;
    }
    for tensor in &written {
        // The first edge of a write leads to the previous history of the written tensor.
        let before = inputs.iter().position(|input| input.is_same(tensor)).and_then(|at| edges[at].clone());
        rebase(tensor, &node(operator, std::iter::once(before).chain(edges.clone())))?;
    }
    let node = node(operator, edges);
    let returns = stack.last_mut(stack.len() - below).iter_mut().enumerate();
    for (_, value) in returns.filter(|(index, _)| !is_written(schema.returns.get(*index))) {
        own(value, &inputs);
        value.all_tensors().filter(has_gradient).try_for_each(|result| result.record(&node))?;
    }
    Ok(())
}

type Edges = SmallVec<[Option<Edge>; 4]>;

fn has_gradient(tensor: &&Tensor) -> bool {
    tensor.dtype().is_differentiable()
}

fn is_written(ret: Option<&Return>) -> bool {
    ret.and_then(|ret| ret.alias.as_ref()).is_some_and(|alias| alias.is_write)
}

/// Replaces a result that is one of the inputs by a separate tensor, recorded as a view of it.
fn own(value: &mut Value<'_>, inputs: &[Tensor]) {
    each_result(value, |tensor| {
        if let Some(input) = inputs.iter().find(|input| input.is_same(tensor)) {
            *tensor = view::alias(input);
        }
    });
}

fn node(operator: &'static Operator, edges: impl IntoIterator<Item = Option<Edge>>) -> Node {
    Node::new(NOT_IMPLEMENTED, edges, Arc::new(NotImplemented(operator)))
}

/// The derivative of an operator that has none.
///
/// PyTorch: `torch::autograd::NotImplemented`.
struct NotImplemented(&'static Operator);

/// Whether an operator has a composite kernel, which is not what the call ran: another one came before it.
fn is_hidden_composite(operator: &Operator) -> bool {
    let info = registry::of(operator).operator(&operator.to_string());
    let is_composite = |kernel: &KernelInfo| kernel.key == DispatchKey::CompositeImplicitAutograd;
    info.is_ok_and(|info| info.kernels.iter().any(is_composite))
}

impl Backward for NotImplemented {
    fn backward(&self, _: &Call<'_>, _: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        bail!(
            Autograd,
            "{} has no derivative, but a backward pass reached one of its results\n  declared at {}\n  help: {}",
            self.0,
            self.0.spec().place,
            if cfg!(feature = "inference") {
                "the feature `inference` leaves derivatives out of this program"
            } else if is_hidden_composite(self.0) {
                "its kernel for CompositeImplicitAutograd, through which gradients would flow, does not serve tensors of \
                 a backend with a kernel of its own: register one for `Autograd`, too, or only the composite one"
            } else {
                "register a kernel for `Autograd`, or call it inside `no_grad` or on `x.detach()`"
            }
        )
    }

    fn keeps_tensors(&self) -> bool {
        false
    }
}
