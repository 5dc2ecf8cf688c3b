//! Operators that a Rust crate exports: this adds the parts that PyTorch gets through Python.
//!
//! `torch_library_pytorch::export!` defines further operators besides those that are exported: a *flat* one, in which
//! each `Scalar` is three integers, one that computes gradients, and others for PyTorch's own layers. PyTorch learns
//! their purpose from the Python code in such a library; here it follows from their names and their last argument.

use torch_library::autograd::{self, Context, Function};
use torch_library::guard::GradMode;
use torch_library::schema::{Schema, Type};
use torch_library::{
    DispatchKey, DispatchKeySet, Error, ErrorKind, Library, OperatorHandle, Result, RuntimeKernel, Stack,
    Tensor, Value,
};

/// The name of the last argument of operators that serve others.
const ENTRY: &str = "_entry";
/// The values of that argument: a call with flat numbers, and one for gradients.
const FLAT: i64 = 1;
const BACKWARD: i64 = 2;

/// Registers kernels for operators with `Scalar`s, and derivatives, if a library has operators that serve for them.
///
/// # Errors
/// The errors of the registrations.
pub(crate) fn complete(operators: &[OperatorHandle]) -> Result<Vec<Library>> {
    let mut libraries = Vec::new();
    for operator in operators {
        let schema = operator.schema()?;
        let (flat, backward) =
            (serving(operators, *operator, "flat")?, serving(operators, *operator, "backward")?);
        if let Some(flat) = flat {
            let mut library = Library::fragment(operator.namespace())?;
            let kernel =
                RuntimeKernel::boxed(move |operator, _, stack| flatten(schema, operator, flat, stack));
            library.implement(&full_name(*operator), DispatchKey::CompositeImplicitAutograd, kernel)?;
            libraries.push(library);
        }
        // The derivatives of in-place operators, and of operators with returns other than tensors, only work in
        // PyTorch; here a backward pass reports that.
        let are_tensors = |ret: &torch_library::schema::Return| ret.ty == Type::Tensor;
        let is_list = matches!(&schema.returns[..], [ret] if matches!(ret.ty, Type::List(_)));
        let is_known = !schema.is_mutable() && (is_list || schema.returns.iter().all(are_tensors));
        if let Some(backward) = backward.filter(|_| is_known) {
            let called = flat.unwrap_or(*operator);
            let name: &'static str = Box::leak(format!("{operator}Backward").into_boxed_str());
            let mut library = Library::fragment(operator.namespace())?;
            let kernel = RuntimeKernel::boxed(move |called, keys, stack: &mut Stack<'_>| {
                let differentiable = Differentiable { called, keys, backward, name, is_list };
                differentiable.call(stack)
            });
            library.implement(&full_name(called), DispatchKey::Autograd, kernel)?;
            libraries.push(library);
        }
    }
    Ok(libraries)
}

fn full_name(operator: OperatorHandle) -> String {
    let separator = if operator.overload().is_empty() { "" } else { "." };
    format!("{}{separator}{}", operator.name(), operator.overload())
}

/// The operator that serves another one, found by its name and its last argument.
fn serving(
    operators: &[OperatorHandle],
    operator: OperatorHandle,
    what: &str,
) -> Result<Option<OperatorHandle>> {
    let separator = if operator.overload().is_empty() { "" } else { "_" };
    let name = format!("_{}{separator}{}_{what}", operator.name(), operator.overload());
    let of_name = |other: &&OperatorHandle| other.namespace() == operator.namespace() && other.name() == name;
    let Some(found) = operators.iter().find(of_name) else { return Ok(None) };
    let last = found.schema()?.arguments.last();
    Ok(last.filter(|argument| argument.name == ENTRY).map(|_| *found))
}

/// Calls the flat operator.
fn flatten<'v>(
    schema: &Schema,
    operator: OperatorHandle,
    flat: OperatorHandle,
    stack: &mut Stack<'v>,
) -> Result<()> {
    let arguments = operator.take_arguments(stack)?;
    let mut flattened: Stack<'v> = Stack::new();
    for (argument, value) in schema.arguments.iter().zip(arguments) {
        match argument.ty.without_optional() {
            Type::Scalar | Type::Complex => flattened.extend(three(&value)?.map(Value::Int)),
            _ => flattened.push(value),
        }
    }
    flattened.push(FLAT);
    flat.call_boxed(&mut flattened)?;
    flattened.into_iter().for_each(|value| stack.push(value));
    Ok(())
}

/// A number as three integers: its kind, and the bits of one or two numbers.
fn three(value: &Value<'_>) -> Result<[i64; 3]> {
    let bits = |value: f64| value.to_bits() as i64;
    Ok(match value {
        Value::None => [0, 0, 0],
        Value::Int(value) => [1, *value, 0],
        Value::Float(value) => [2, bits(*value), 0],
        Value::Bool(value) => [3, i64::from(*value), 0],
        Value::Complex(value) => [4, bits(value.re), bits(value.im)],
        other => {
            let message = format!("a value of type {} where the schema says Scalar", other.type_name());
            return Err(Error::new(ErrorKind::Type, message));
        }
    })
}

/// An operator, with the one that computes its gradients.
#[derive(Clone, Copy)]
struct Differentiable {
    called: OperatorHandle,
    keys: DispatchKeySet,
    backward: OperatorHandle,
    name: &'static str,
    is_list: bool,
}

impl Differentiable {
    /// Calls the operator below the autograd keys, and records the call if a gradient is needed.
    fn call(self, stack: &mut Stack<'_>) -> Result<()> {
        let below = self.keys & DispatchKeySet::AFTER_AUTOGRAD;
        let is_wanted = GradMode::is_enabled() && {
            let mut tensors = self.called.arguments(stack)?.iter().flat_map(Value::all_tensors);
            tensors.any(Tensor::requires_grad)
        };
        if !is_wanted {
            return self.called.redispatch_boxed(below, stack);
        }
        let arguments: Vec<Value<'static>> =
            self.called.take_arguments(stack)?.into_iter().map(Value::into_owned).collect();
        let inputs: Vec<Tensor> = arguments.iter().flat_map(Value::all_tensors).cloned().collect();
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        let outputs = autograd::apply(Recorded { operator: self, below, arguments }, &inputs)?;
        match self.is_list {
            true => stack.push(outputs),
            false => stack.extend(outputs.into_iter().map(Value::Tensor)),
        }
        Ok(())
    }
}

/// A recorded call.
struct Recorded {
    operator: Differentiable,
    below: DispatchKeySet,
    arguments: Vec<Value<'static>>,
}

impl Function for Recorded {
    fn name(&self) -> &'static str {
        self.operator.name
    }

    fn forward(&self, context: &mut Context, inputs: &[&Tensor]) -> Result<Vec<Tensor>> {
        let mut stack: Stack<'_> = self.arguments.iter().map(Value::borrowed).collect();
        self.operator.called.redispatch_boxed(self.below, &mut stack)?;
        let outputs: Vec<Tensor> =
            stack.into_iter().flat_map(|value| value.all_tensors().cloned().collect::<Vec<_>>()).collect();
        let kept: Vec<&Tensor> = inputs.iter().copied().chain(&outputs).collect();
        context.save_for_backward(&kept);
        Ok(outputs)
    }

    fn backward(&self, context: &Context, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        let schema = self.operator.called.schema()?;
        let mut saved = context.saved().iter();
        let missing = || Error::new(ErrorKind::Internal, "fewer tensors were saved than there were");
        let mut stack = Stack::new();
        let (mut wanted, mut inputs) = (Vec::new(), 0);
        for (argument, value) in schema.arguments.iter().zip(&self.arguments) {
            let value = value.map_tensors(|tensor| {
                let kind = tensor.dtype();
                wanted.push(
                    context.needs_input_grad(inputs) && (kind.is_floating_point() || kind.is_complex()),
                );
                inputs += 1;
                saved.next().cloned().ok_or_else(missing)
            });
            if argument.name != ENTRY {
                stack.push(value?.into_owned());
            }
        }
        stack.push(saved.cloned().collect::<Vec<Tensor>>());
        stack.push(grads);
        stack.push(wanted);
        stack.push(BACKWARD);
        self.operator.backward.call_boxed(&mut stack)?;
        stack.pop_as()
    }
}
