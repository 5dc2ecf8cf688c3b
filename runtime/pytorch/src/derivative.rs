//! Gradients of an operator by the kernel here that knows them, without running the operator again.
//!
//! PyTorch keeps the arguments and the results of a call. To differentiate it, the kernel at the autograd key runs once
//! more, on stand-ins: what it calls below itself is not computed but answered with the results that are known
//! ([`answer`]). So it leaves its node, and the node's formulas run on stand-ins as well: PyTorch computes what they
//! call, on whatever device, and differentiates it if somebody asks.

use std::cell::RefCell;

use torch_library::autograd::{self, GradOptions};
use torch_library::{DispatchKey, Error, ErrorKind, OperatorHandle, Result, Stack, Tensor, Value, ensure};

use crate::entry::Exported;

/// What is asked of a derivative.
#[derive(Debug)]
pub(crate) struct Request {
    arguments: Vec<Value<'static>>,
    results: Vec<Tensor>,
    /// One for each result; a missing one stands for zeros.
    grads: Vec<Option<Tensor>>,
    /// For each tensor in the arguments, in order, whether its gradient is of use.
    wanted: Vec<bool>,
}

impl Request {
    /// From the values of PyTorch's call.
    ///
    /// # Errors
    /// Values of other types.
    pub(crate) fn new(
        arguments: Vec<Value<'static>>,
        results: Value<'static>,
        grads: Value<'static>,
        wanted: Value<'static>,
    ) -> Result<Request> {
        match (results, grads, wanted) {
            (Value::Tensors(results), Value::OptionalTensors(grads), Value::Bools(wanted)) => Ok(Request {
                arguments,
                results: results.into_owned(),
                grads: grads.into_owned(),
                wanted: wanted.into_owned(),
            }),
            _ => Err(Error::new(ErrorKind::Type, "a backward pass was asked for with values of other types")),
        }
    }
}

thread_local! {
    /// The calls that are answered, the innermost last.
    static KNOWN: RefCell<Vec<(OperatorHandle, Option<Vec<Tensor>>)>> = const { RefCell::new(Vec::new()) };
}

/// A call that is answered while this lives.
struct Known;

impl Known {
    fn new(operator: OperatorHandle, results: Vec<Tensor>) -> Known {
        KNOWN.with_borrow_mut(|known| known.push((operator, Some(results))));
        Known
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        KNOWN.with_borrow_mut(Vec::pop);
    }
}

/// The results of a call that a derivative makes below itself, once.
pub(crate) fn answer(operator: OperatorHandle) -> Option<Vec<Tensor>> {
    KNOWN.with_borrow_mut(|known| known.last_mut().filter(|(of, _)| *of == operator)?.1.take())
}

/// The gradients of the tensors in the arguments, nothing for those that are not wanted or depend on nothing.
///
/// # Errors
/// What the formulas fail with.
pub(crate) fn backward(exported: &Exported, request: Request) -> Result<Vec<Option<Tensor>>> {
    let Request { arguments, results, grads, wanted } = request;
    let operator = exported.operator;
    let tensors: Vec<Tensor> = arguments.iter().flat_map(|value| value.all_tensors().cloned()).collect();
    ensure!(
        tensors.len() == wanted.len() && results.len() == grads.len(),
        Argument,
        "the gradients of {operator} were asked for with {} tensors and {} flags, {} results and {} gradients",
        tensors.len(),
        wanted.len(),
        results.len(),
        grads.len()
    );
    let mut inputs = Vec::new();
    for (tensor, _) in tensors.iter().zip(&wanted).filter(|(_, is_wanted)| **is_wanted) {
        tensor.set_requires_grad(true)?;
        inputs.push(tensor);
    }
    let outputs = record(exported, arguments, results)?;
    let pairs = outputs.iter().zip(grads).filter(|(output, grad)| grad.is_some() && output.requires_grad());
    let (outputs, grads): (Vec<&Tensor>, Vec<Option<Tensor>>) = pairs.unzip();
    let mut gradients = if outputs.is_empty() {
        vec![None; inputs.len()].into_iter()
    } else {
        // With a graph, so that no gradient is added to another in its own memory: that is PyTorch's.
        let options = GradOptions::new().allow_unused(true).create_graph(true);
        autograd::grad(&outputs, &inputs, &grads, options)?.into_iter()
    };
    Ok(wanted.iter().map(|is_wanted| if *is_wanted { gradients.next().flatten() } else { None }).collect())
}

/// Runs the kernel that knows the derivative, for the node that it leaves with the results.
fn record(exported: &Exported, arguments: Vec<Value<'static>>, results: Vec<Tensor>) -> Result<Vec<Tensor>> {
    let key = exported.autograd.unwrap_or(DispatchKey::Autograd);
    let known = Known::new(exported.operator, results);
    let mut stack: Stack<'static> = Stack::new();
    stack.extend(arguments);
    exported.operator.call_boxed_for_key(key, &mut stack)?;
    drop(known);
    Ok(stack.last(exported.schema.returns.len()).iter().flat_map(|value| value.tensors().to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use torch_library::prelude::*;

    use super::*;

    torch_library! {
        /// Operators whose calls are answered.
        mod answered {
            one(Tensor self) -> Tensor;
            other(Tensor self) -> Tensor;
        }
    }

    #[test]
    fn a_call_is_answered_once_and_no_other() {
        let (one, other) = (answered::one::handle(), answered::other::handle());
        assert!(answer(one).is_none());
        let known = Known::new(one, vec![Tensor::from([1.0])]);
        assert!(answer(other).is_none());
        let inner = Known::new(other, Vec::new());
        assert!(answer(one).is_none(), "the innermost counts");
        drop(inner);
        assert_eq!(answer(one).map(|results| results.len()), Some(1));
        assert!(answer(one).is_none());
        drop(known);
    }
}
