//! Computes gradients of an operator with its autograd kernel here, without running the forward pass again.
//!
//! PyTorch saves the arguments and the results of a call that formulas name. In the backward pass, the kernel at the
//! autograd key runs again, on stand-ins: its redispatch below autograd is not computed but answered with the saved
//! results ([`answer`]). So the kernel makes its node, and the node's formulas run on stand-ins as well: PyTorch
//! computes the operators that they call, on any device, and differentiates them if necessary.

use std::cell::RefCell;

use smallvec::SmallVec;
use torch_library::autograd::{self, Context, Derivative, Function, GradOptions, Positions};
use torch_library::guard::NoGradGuard;
use torch_library::schema::{Schema, Type};
use torch_library::{
    DType, Device, DispatchKey, Layout, MemoryFormat, OperatorHandle, Result, Stack, Tensor, Value, bail,
    ensure,
};

use crate::entry::Exported;
use crate::incoming::stand_in_again;
use crate::plan;

/// A call that is differentiated.
#[derive(Debug)]
pub(crate) struct Call {
    arguments: Vec<Value<'static>>,
    /// The tensors in the returns, in order; `None` for an optional one that is missing.
    results: Vec<Option<Tensor>>,
    /// For each tensor in the arguments, in order, whether its gradient is needed.
    wanted: Vec<bool>,
}

impl Call {
    /// Makes a call from the values that PyTorch passes.
    ///
    /// # Errors
    /// The values have other types.
    pub(crate) fn new(
        arguments: Stack<'static>,
        results: Value<'static>,
        wanted: Value<'static>,
    ) -> Result<Call> {
        let (Value::OptionalTensors(results), Value::Bools(wanted)) = (results, wanted) else {
            bail!(Type, "a derivative was asked for with values of other types")
        };
        let arguments = arguments.into_iter().collect();
        Ok(Call { arguments, results: results.into_owned(), wanted: wanted.into_owned() })
    }

    /// Makes a call from the tensors that formulas name; `wanted` has a bit for each tensor argument whose gradient is
    /// needed. In place of the tensors that no formula names stands a gradient, whose values are not used.
    ///
    /// # Errors
    /// A stand-in cannot be made.
    pub(crate) fn of_named(
        exported: &Exported,
        arguments: Stack<'static>,
        mut results: Vec<Option<Tensor>>,
        grads: &[Option<Tensor>],
        wanted: u64,
    ) -> Result<Call> {
        let mut arguments: Vec<_> = arguments.into_iter().collect();
        let types = exported.schema.arguments.iter().map(|argument| &argument.ty);
        let tensors = arguments.iter_mut().zip(types).enumerate().filter(|(_, (_, ty))| plan::is_tensors(ty));
        let mut flags = Vec::with_capacity(exported.schema.arguments.len());
        let some = grads.iter().flatten().next();
        for (index, (argument, _)) in tensors {
            flags.push(wanted >> flags.len() & 1 != 0);
            if let (false, Some(grad)) = (exported.named.has_argument(index), some) {
                *argument = Value::Tensor(stand_in_again(grad)?);
            }
        }
        for (index, (result, grad)) in results.iter_mut().zip(grads).enumerate() {
            if let (false, Some(grad)) = (exported.named.has_result(index), grad) {
                *result = Some(stand_in_again(grad)?);
            }
        }
        Ok(Call { arguments, results, wanted: flags })
    }
}

thread_local! {
    /// The calls that are to be answered, the innermost last; the results are taken by the first call.
    static KNOWN: RefCell<Vec<(OperatorHandle, Option<Vec<Value<'static>>>)>> = const { RefCell::new(Vec::new()) };
}

/// A guard: while it lives, a call of an operator is answered with saved results, once.
struct Known;

impl Known {
    fn new(operator: OperatorHandle, results: Vec<Value<'static>>) -> Known {
        KNOWN.with_borrow_mut(|known| known.push((operator, Some(results))));
        Known
    }
}

impl Known {
    /// Whether the call was made and answered.
    fn was_asked(&self) -> bool {
        KNOWN.with_borrow(|known| known.last().is_some_and(|(_, results)| results.is_none()))
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        KNOWN.with_borrow_mut(Vec::pop);
    }
}

/// The saved results for the redispatch of an autograd kernel, the first time that it calls the operator.
pub(crate) fn answer(operator: OperatorHandle) -> Option<Vec<Value<'static>>> {
    KNOWN.with_borrow_mut(|known| known.last_mut().filter(|(of, _)| *of == operator)?.1.take())
}

/// The tensors in values; `None` for each that is undefined.
///
/// # Errors
/// The first error among the values.
pub(crate) fn tensors(values: Vec<Result<Value<'static>>>) -> Result<Vec<Option<Tensor>>> {
    let tensor = |value: Result<Value<'static>>| {
        value.map(|value| value.as_tensor().filter(|tensor| tensor.is_defined()).cloned())
    };
    values.into_iter().map(tensor).collect()
}

/// The gradients of the tensors in the arguments; `None` for those that are not needed or do not exist.
///
/// # Errors
/// The errors of the formulas.
pub(crate) fn backward(
    exported: &Exported,
    call: Call,
    grads: &[Option<Tensor>],
) -> Result<Vec<Option<Tensor>>> {
    if grads.iter().all(Option::is_none) {
        return Ok(vec![None; call.wanted.len()]);
    }
    ensure!(
        call.results.len() == grads.len(),
        Argument,
        "the gradients of {} were asked for with {} results and {} gradients",
        exported.operator,
        call.results.len(),
        grads.len()
    );
    match exported.derivative {
        Some(derivative) => by_formulas(exported, derivative, call, grads),
        None => {
            let wanted = call.wanted.clone();
            by_engine(record(exported, call)?, &wanted, grads)
        }
    }
}

/// The gradients by the formulas of a row of `derivatives!`. The tensors that no formula names are placeholders, which
/// need not have the right sizes. So the node is called directly: the engine of this library would reduce each gradient
/// to the sizes of its input, which is left to PyTorch's engine.
fn by_formulas(
    exported: &Exported,
    derivative: &Derivative,
    call: Call,
    grads: &[Option<Tensor>],
) -> Result<Vec<Option<Tensor>>> {
    let (wanted, places) = (call.wanted.clone(), places(&call.arguments));
    let recorded = record(exported, call)?;
    let mut gradients = vec![None; wanted.len()];
    let mut node = None;
    for output in recorded.outputs.iter().flatten() {
        node = node.or(output.grad_fn()?);
    }
    let Some(node) = node else { return Ok(gradients) }; // no result has a gradient
    let outputs = recorded.returns.iter().zip(grads);
    let outputs = outputs.filter(|(index, _)| derivative.differentiable().contains(**index));
    // No graph is made here: PyTorch records the operators that formulas call, if necessary.
    let quiet = NoGradGuard::new();
    let mut along = node.call(outputs.map(|(_, grad)| grad.clone()).collect())?.into_iter();
    drop(quiet);
    let of = derivative.formulas().iter().fold(Positions::default(), |of, formula| of.union(formula.of()));
    let mut slots = gradients.iter_mut().zip(wanted);
    for (argument, is_there) in places {
        let gradient = if of.contains(argument) { along.next() } else { None };
        if is_there && let Some((slot, true)) = slots.next() {
            *slot = gradient.flatten();
        }
    }
    let operator = exported.operator;
    ensure!(along.next().is_none(), Internal, "the node of {operator} has an edge for no argument");
    Ok(gradients)
}

/// The positions of tensors in arguments, in order: the index of the argument, and whether the tensor is present.
fn places(arguments: &[Value<'_>]) -> SmallVec<[(usize, bool); 8]> {
    let mut places = SmallVec::new();
    for (index, value) in arguments.iter().enumerate() {
        match value {
            Value::OptionalTensors(list) => {
                places.extend(list.iter().map(|tensor| (index, tensor.is_some())))
            }
            Value::None => places.push((index, false)),
            value => places.extend(value.all_tensors().map(|_| (index, true))),
        }
    }
    places
}

/// The gradients by the graph that a handwritten autograd kernel has made.
fn by_engine(recorded: Recorded, wanted: &[bool], grads: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>> {
    let Recorded { inputs, outputs, .. } = recorded;
    let pairs = outputs.iter().zip(grads).filter_map(|(output, grad)| Some((output.as_ref()?, grad)));
    let pairs = pairs.filter(|(output, grad)| grad.is_some() && output.requires_grad());
    let (outputs, grads): (Vec<&Tensor>, Vec<Option<Tensor>>) =
        pairs.map(|(output, grad)| (output, grad.clone())).unzip();
    let mut gradients = if outputs.is_empty() {
        vec![None; inputs.len()].into_iter()
    } else {
        // `create_graph` keeps the engine from accumulating gradients in place: their memory belongs to PyTorch.
        let options = GradOptions::new().allow_unused(true).create_graph(true);
        autograd::grad(&outputs, &inputs.iter().collect::<Vec<_>>(), &grads, options)?.into_iter()
    };
    Ok(wanted.iter().map(|is_wanted| if *is_wanted { gradients.next().flatten() } else { None }).collect())
}

/// For each tensor in the returns, whether it has a gradient.
///
/// # Errors
/// A gradient is needed that does not exist.
pub(crate) fn differentiable(exported: &Exported, call: Call) -> Result<Vec<bool>> {
    let outputs = record(exported, call)?.outputs;
    Ok(outputs.iter().map(|output| output.as_ref().is_some_and(Tensor::requires_grad)).collect())
}

/// A call whose results have the node of the autograd kernel.
struct Recorded {
    /// The tensors whose gradients are needed.
    inputs: Vec<Tensor>,
    /// The tensors in the returns.
    outputs: Vec<Option<Tensor>>,
    /// For each of `outputs`, the index of the return that it belongs to.
    returns: Vec<usize>,
}

/// Runs the autograd kernel, for the node that it attaches to the results.
fn record(exported: &Exported, call: Call) -> Result<Recorded> {
    let Call { arguments, results, wanted } = call;
    let operator = exported.operator;
    let count: usize = arguments.iter().map(|value| value.all_tensors().count()).sum();
    ensure!(
        count == wanted.len(),
        Argument,
        "the derivative of {operator} was asked for with {count} tensors and {} flags",
        wanted.len()
    );
    let (mut inputs, mut wanted) = (Vec::new(), wanted.into_iter());
    let mut stack: Stack<'static> = Stack::new();
    for (argument, value) in exported.schema.arguments.iter().zip(arguments) {
        let mut replaced = None;
        for tensor in value.all_tensors() {
            if wanted.next() != Some(true) {
                continue;
            }
            tensor.set_requires_grad(true)?;
            inputs.push(tensor.clone());
            // A write in place changes the tensor's history; the gradient is that of the tensor before the write.
            if argument.is_mutable() {
                replaced = Some(autograd::apply(Unwritten, &[tensor])?.swap_remove(0));
            }
        }
        stack.push(replaced.map_or(value, Value::Tensor));
    }
    let key = exported.autograd.unwrap_or(DispatchKey::Autograd);
    let known = Known::new(operator, returns(exported.schema, &results));
    operator.call_boxed_for_key(key, &mut stack)?;
    ensure!(
        known.was_asked(),
        Autograd,
        "the kernel of {operator} at {key} calls it nowhere below, so it leaves no node that PyTorch could have: what is \
         made of other operators is a kernel for {}",
        DispatchKey::CompositeImplicitAutograd
    );
    drop(known);
    let (mut outputs, mut returns) = (Vec::new(), Vec::new());
    let values = stack.last(exported.schema.returns.len()).iter();
    for (index, (ret, value)) in exported.schema.returns.iter().zip(values).enumerate() {
        if plan::is_tensors(&ret.ty) {
            match value {
                Value::None => outputs.push(None),
                value => outputs.extend(value.tensors().iter().cloned().map(Some)),
            }
            returns.resize(outputs.len(), index);
        }
    }
    Ok(Recorded { inputs, outputs, returns })
}

/// The identity, which makes a non-leaf from a leaf before a write: leaves cannot be written to in place.
struct Unwritten;

impl Function for Unwritten {
    fn name(&self) -> &'static str {
        "Unwritten"
    }

    fn forward(&self, _: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        Ok(vec![stand_in_again(inputs[0])?])
    }

    fn backward(&self, _: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        Ok(grads)
    }
}

/// The returns of an operator, with these tensors in them. Returns that are not tensors get a placeholder, since no
/// formula can name them.
pub(crate) fn returns(schema: &Schema, results: &[Option<Tensor>]) -> Vec<Value<'static>> {
    let tensors = schema.returns.iter().filter(|ret| plan::is_tensors(&ret.ty)).count();
    let in_list = (results.len() + 1).saturating_sub(tensors); // there is one list at most
    let mut rest = results.iter().cloned();
    let mut next = || rest.next().flatten();
    schema.returns.iter().map(|ret| value_of(&ret.ty, &mut next, in_list)).collect()
}

fn value_of(ty: &Type, next: &mut impl FnMut() -> Option<Tensor>, in_list: usize) -> Value<'static> {
    match ty {
        Type::Tensor => next().map_or_else(|| Value::Tensor(Tensor::undefined()), Value::Tensor),
        Type::Optional(inner) if **inner == Type::Tensor => next().map_or(Value::None, Value::Tensor),
        Type::List(element) if **element == Type::Tensor => {
            Value::from((0..in_list).filter_map(|_| next()).collect::<Vec<_>>())
        }
        Type::Int | Type::SymInt => Value::Int(0),
        Type::Float => Value::Float(0.0),
        Type::Bool => Value::Bool(false),
        Type::Str => Value::from(String::new()),
        Type::ScalarType => Value::DType(DType::Float32),
        Type::Layout => Value::Layout(Layout::Strided),
        Type::MemoryFormat => Value::MemoryFormat(MemoryFormat::Contiguous),
        Type::Device => Value::Device(Device::CPU),
        Type::List(element) => match **element {
            Type::Float => Value::from(Vec::<f64>::new()),
            Type::Bool => Value::from(Vec::<bool>::new()),
            Type::Str => Value::from(Vec::<String>::new()),
            _ => Value::from(Vec::<i64>::new()),
        },
        _ => Value::None,
    }
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
        let known = Known::new(one, vec![Value::Tensor(Tensor::from([1.0]))]);
        assert!(answer(other).is_none());
        let inner = Known::new(other, Vec::new());
        assert!(answer(one).is_none(), "the innermost counts");
        drop(inner);
        assert!(!known.was_asked());
        assert_eq!(answer(one).map(|results| results.len()), Some(1));
        assert!(answer(one).is_none() && known.was_asked());
        drop(known);
    }
    #[test]
    fn tensors_find_their_places_among_the_returns() {
        let parse = |text| Schema::parse(text, torch_library::schema::Mode::Strict).unwrap();
        let tensor = |value: f64| Some(Tensor::from([value]));
        let all = [tensor(1.0), tensor(2.0), tensor(3.0), None];
        let found = returns(&parse("f(Tensor x) -> (Tensor, int, Tensor[], Tensor?)"), &all);
        assert_eq!(found.iter().map(|value| value.tensors().len()).collect::<Vec<_>>(), [1, 0, 2, 0]);
        assert!(matches!(found[1..], [Value::Int(0), _, Value::None]));
    }
}
