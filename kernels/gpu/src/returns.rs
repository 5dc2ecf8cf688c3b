//! The types that kernels return, and pushing them to the stack.

use torch_library::prelude::*;

use crate::arguments::all_on_meta;

/// A return type of kernels.
pub trait Returns: Sized {
    /// Converts the results of a kernel that ran with other arguments (such as wider types) to those that the operator has
    /// for `arguments`: `convert` gives a result the type and strides that it has on `meta`. `None` if that is not
    /// possible, or no new tensors are returned.
    ///
    /// # Errors
    /// Those of the operator and of `convert`.
    fn converted(
        self,
        _operator: OperatorHandle,
        _arguments: &[Value<'_>],
        _convert: fn(Tensor, Tensor) -> Result<Option<Tensor>>,
    ) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Pushes the results to a stack from which the arguments were taken.
    fn leave<'v>(self, arguments: Vec<Value<'v>>, stack: &mut Stack<'v>);
}

impl Returns for Tensor {
    fn converted(
        self,
        operator: OperatorHandle,
        arguments: &[Value<'_>],
        convert: fn(Tensor, Tensor) -> Result<Option<Tensor>>,
    ) -> Result<Option<Self>> {
        Ok([self].converted(operator, arguments, convert)?.map(|[result]| result))
    }

    fn leave<'v>(self, _: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.push(self);
    }
}

impl<const N: usize> Returns for [Tensor; N] {
    fn converted(
        self,
        operator: OperatorHandle,
        arguments: &[Value<'_>],
        convert: fn(Tensor, Tensor) -> Result<Option<Tensor>>,
    ) -> Result<Option<Self>> {
        let metas: [Tensor; N] = all_on_meta(operator, arguments)?;
        let mut results = self;
        for (result, meta) in results.iter_mut().zip(metas).filter(|(result, _)| result.is_defined()) {
            let Some(found) = convert(result.clone(), meta)? else { return Ok(None) };
            *result = found;
        }
        Ok(Some(results))
    }

    fn leave<'v>(self, _: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.extend(self.into_iter().map(Value::Tensor));
    }
}

/// The return type of an operator that writes to its first argument and returns it.
#[derive(Clone, Copy, Debug)]
pub struct First;

impl Returns for First {
    fn leave<'v>(self, arguments: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.extend(arguments.into_iter().take(1));
    }
}

/// The return type of an operator that returns nothing.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Returns for Nothing {
    fn leave<'v>(self, _: Vec<Value<'v>>, _: &mut Stack<'v>) {}
}
