//! The operator in a program without writes, compared with the operator itself.

use super::arguments::{copies, map, tensors};
use super::call::Called;
use super::compare::{after_call, difference};
use super::{Check, Session};
use crate::error::{ErrorKind, Result};
use crate::functionalize::{functional_variant, functionalize};
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};

impl Session<'_> {
    pub(super) fn functional(&mut self, values: &[Value<'static>], expected: &Called) {
        if !self.wants(Check::Functionalize) {
            return;
        }
        let operator = self.operator;
        self.passes(Check::Functionalize, || {
            let found = match functionalized(operator, values) {
                // Operators may say that they are not supported. Without `aten`, no written argument can be.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotSupported | ErrorKind::UnknownOperator) =>
                {
                    return Ok(None);
                }
                found => found?,
            };
            let what = difference(&found.returns, &expected.returns)
                .or_else(|| after_call(&found.arguments, &expected.arguments));
            let variant = if operator.schema()?.is_mutable() { functional_variant(operator)? } else { None };
            let instead =
                variant.map(|variant| format!(", where {variant} runs instead")).unwrap_or_default();
            Ok(what.map(|what| format!("in a program without writes{instead}: {what}")))
        });
    }
}

/// Calls the operator in a functionalized program, which writes to its inputs when it is done.
fn functionalized(operator: OperatorHandle, values: &[Value<'static>]) -> Result<Called> {
    let values = copies(values)?;
    let arguments = tensors(operator, &values);
    let all = arguments.iter().map(|argument| argument.tensor.clone());
    let inputs: Vec<Tensor> = all.filter(|tensor| !tensor.is_wrapped_number()).collect();
    let mut returns = Vec::new();
    let outputs = functionalize(&inputs, |entered| {
        let mut entered = entered.iter().cloned();
        let values = map(&values, |_, tensor| {
            let functional = if tensor.is_wrapped_number() { None } else { entered.next() };
            Ok(functional.unwrap_or_else(|| tensor.clone()))
        })?;
        let mut stack: Stack<'static> = values.into_iter().collect();
        operator.call_boxed(&mut stack)?;
        returns = stack.into_iter().collect();
        Ok(returns.iter().flat_map(Value::all_tensors).cloned().collect())
    })?;
    let mut outputs = outputs.into_iter();
    let plain = returns.iter().map(|value| {
        let plain = value.map_tensors(|tensor| Ok(outputs.next().unwrap_or_else(|| tensor.clone())))?;
        Ok(plain.into_owned())
    });
    Ok(Called { returns: plain.collect::<Result<_>>()?, arguments })
}
