//! A call of the operator, which may fail or panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::arguments::TensorArgument;
use super::{Check, Session};
use crate::error::Error;
use crate::value::{Stack, Value};

/// How a call ended.
pub(super) enum Outcome {
    Returned(Vec<Value<'static>>),
    Failed(Error),
    /// The operator panicked, which has been recorded as a fault.
    Panicked,
}

/// A call that has returned.
pub(super) struct Called {
    /// The tensors among its arguments, as they are now.
    pub(super) arguments: Vec<TensorArgument>,
    pub(super) returns: Vec<Value<'static>>,
}

impl Session<'_> {
    /// Calls the operator.
    pub(super) fn call(&mut self, values: Vec<Value<'static>>) -> Outcome {
        self.call_other(self.operator, values)
    }

    /// Calls an operator with boxed arguments.
    pub(super) fn call_other(
        &mut self,
        operator: crate::OperatorHandle,
        values: Vec<Value<'static>>,
    ) -> Outcome {
        self.calls += 1;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut stack: Stack<'static> = values.into_iter().collect();
            operator.call_boxed(&mut stack)?;
            let mut returns: Vec<_> = std::iter::from_fn(|| stack.pop()).collect();
            returns.reverse();
            Ok(returns)
        }));
        match outcome {
            Ok(Ok(returns)) => Outcome::Returned(returns),
            Ok(Err(error)) => Outcome::Failed(error),
            Err(panic) => {
                self.fault(Check::Accepts, format!("{operator} panics: {}", text_of(&*panic)));
                Outcome::Panicked
            }
        }
    }
}

/// The message of a panic.
pub(super) fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default()
}
