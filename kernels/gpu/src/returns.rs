//! What kernels return, and how it gets to the stack.

use torch_library::prelude::*;

use crate::arguments::all_on_meta;

/// What a kernel returns.
pub trait Returns: Sized {
    /// The same, as an operator gives it for such arguments, whose kernel took others: `convert` makes a result what it is
    /// on `meta`. Nothing where that cannot be, or where it is no tensor that is returned.
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

    /// Leaves it on a stack from which the arguments were taken.
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

/// Of an operator that writes to its first argument and returns it.
#[derive(Clone, Copy, Debug)]
pub struct First;

impl Returns for First {
    fn leave<'v>(self, arguments: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.extend(arguments.into_iter().take(1));
    }
}

/// Of an operator that returns nothing.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Returns for Nothing {
    fn leave<'v>(self, _: Vec<Value<'v>>, _: &mut Stack<'v>) {}
}
