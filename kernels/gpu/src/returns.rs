//! What kernels return, and how it gets to the stack.

use torch_library::prelude::*;

use crate::arguments::all_on_meta;

/// What a kernel returns.
pub trait Returns: Sized {
    /// The same, as an operator gives it for such arguments, whose kernel took others: `as_meta` makes a result what it is
    /// on `meta`. Nothing where that cannot be, or where it is no tensor that is returned.
    ///
    /// # Errors
    /// Those of the operator and of `as_meta`.
    fn as_meta(
        self,
        _operator: OperatorHandle,
        _arguments: &[Value<'_>],
        _as_meta: fn(Tensor, Tensor) -> Result<Option<Tensor>>,
    ) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Leaves it on a stack from which the arguments were taken.
    fn leave<'v>(self, arguments: Vec<Value<'v>>, stack: &mut Stack<'v>);
}

impl Returns for Tensor {
    fn as_meta(
        self,
        operator: OperatorHandle,
        arguments: &[Value<'_>],
        as_meta: fn(Tensor, Tensor) -> Result<Option<Tensor>>,
    ) -> Result<Option<Self>> {
        Ok([self].as_meta(operator, arguments, as_meta)?.map(|[result]| result))
    }

    fn leave<'v>(self, _: Vec<Value<'v>>, stack: &mut Stack<'v>) {
        stack.push(self);
    }
}

impl<const N: usize> Returns for [Tensor; N] {
    fn as_meta(
        self,
        operator: OperatorHandle,
        arguments: &[Value<'_>],
        as_meta: fn(Tensor, Tensor) -> Result<Option<Tensor>>,
    ) -> Result<Option<Self>> {
        let metas: [Tensor; N] = all_on_meta(operator, arguments)?;
        let mut results = self;
        for (result, meta) in results.iter_mut().zip(metas).filter(|(result, _)| result.is_defined()) {
            let Some(found) = as_meta(result.clone(), meta)? else { return Ok(None) };
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
