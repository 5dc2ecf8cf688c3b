//! Gradients through results and written arguments, compared with finite differences.

use super::arguments::{copies, map, tensors};
use super::{Check, Session};
use crate::autograd::{self, Tolerance, gradcheck, gradgradcheck};
use crate::dtype::DType;
use crate::error::Result;
use crate::guard::enable_grad;
use crate::key::DispatchKey;
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

/// The maximum number of elements in a sample: each is varied by itself, and again for the second derivative.
const MOST: i64 = 128;

/// Whether the type is precise enough for finite differences.
fn is_precise(tensor: &Tensor) -> bool {
    matches!(tensor.dtype(), DType::Float64 | DType::Complex128) && !tensor.is_wrapped_number()
}

impl Session<'_> {
    pub(super) fn gradients(&mut self, values: &[Value<'static>]) {
        let Ok(schema) = self.operator.schema() else { return };
        let takes_out = schema.arguments.iter().any(|argument| argument.is_out());
        if !self.has_kernel(DispatchKey::AutogradCPU) || takes_out {
            return;
        }
        let Ok(values) = copies(values) else { return };
        let places = tensors(self.operator, &values);
        let (names, inputs): (Vec<_>, Vec<_>) = places
            .into_iter()
            .filter(|place| is_precise(&place.tensor))
            .map(|place| (place.name, place.tensor))
            .unzip();
        if inputs.is_empty() || inputs.iter().map(Tensor::numel).sum::<i64>() > MOST {
            return;
        }
        let operator = self.operator;
        let function = |inputs: &[Tensor]| outputs(operator, &values, inputs);
        let wanted = [Check::Gradient, Check::SecondGradient].map(|check| self.wants(check));
        let first = || {
            inputs.iter().try_for_each(|input| input.set_requires_grad(true))?;
            if let Some(input) = lost(&function, &inputs)? {
                let name = &names[input];
                return Ok(Some(format!(
                    "a result changes with `{name}`, but does not require grad with it"
                )));
            }
            gradcheck(function, &inputs, Tolerance::default()).map(|()| None)
        };
        let second = || gradgradcheck(function, &inputs, Tolerance::default()).map(|()| None);
        if wanted[0] && !self.passes(Check::Gradient, || enable_grad(first)) {
            return;
        }
        if wanted[1] {
            self.passes(Check::SecondGradient, || enable_grad(second));
        }
    }
}

/// The operator's results and written arguments, as a function of the inputs that can have a gradient.
fn outputs(operator: OperatorHandle, values: &[Value<'static>], inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let arguments = &operator.schema()?.arguments;
    let mut next = inputs.iter();
    let mut written = Vec::new();
    let values = map(values, |at, tensor| {
        let input = if is_precise(tensor) { next.next().unwrap_or(tensor) } else { tensor };
        if !arguments[at].is_mutable() {
            return Ok(input.clone());
        }
        let copy = autograd::copy(input)?; // a leaf cannot be written to
        written.push(copy.clone());
        Ok(copy)
    })?;
    let mut stack: Stack<'static> = values.into_iter().collect();
    operator.call_boxed(&mut stack)?;
    let returned = stack.into_iter().flat_map(|value| value.tensors().to_vec());
    let mut outputs: Vec<Tensor> = Vec::new();
    for output in returned.chain(written).filter(is_precise) {
        if !outputs.iter().any(|known| known.is_same(&output)) {
            outputs.push(output);
        }
    }
    Ok(outputs)
}

/// The first input whose gradient is lost: results depend on it, and none requires a gradient.
fn lost(function: &impl Fn(&[Tensor]) -> Result<Vec<Tensor>>, inputs: &[Tensor]) -> Result<Option<usize>> {
    let outputs = function(inputs)?;
    if outputs.iter().any(Tensor::requires_grad) {
        return Ok(None); // for the other results, a declaration says that they have no gradient
    }
    for index in 0..inputs.len() {
        for number in 0..outputs.len() {
            if autograd::depends(function, inputs, index, number)? {
                return Ok(Some(index));
            }
        }
    }
    Ok(None)
}
