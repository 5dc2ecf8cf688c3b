//! `out_dtype`: calls an operator in a type that holds both its arguments and a result of the given type.

use torch_library::prelude::*;
use torch_library::{Dispatcher, promote_types};

use crate::operand::Operand;
use crate::plan::{Action, Scope};
use crate::target::Target;
use crate::wire::{Argument, NamedArgument};

/// An operator, and the type of its result.
#[derive(Debug)]
pub(crate) struct OutDtype {
    operator: OperatorHandle,
    dtype: DType,
    /// `aten::to.dtype`.
    to: OperatorHandle,
}

impl OutDtype {
    /// The step for a node of the operator with this name, and its arguments.
    ///
    /// # Errors
    /// The operator is not linked, or does not take these arguments.
    pub(crate) fn step(
        name: &str,
        dtype: u64,
        arguments: &[NamedArgument],
        scope: &mut Scope<'_>,
    ) -> Result<(Action, Vec<Operand>)> {
        let Target::Operator(operator) = Target::parse(name).map_err(crate::refused)? else {
            bail!(NotSupported, "out_dtype is supported for operators only, which {name:?} is not")
        };
        let operator = scope.shared.find(&operator.to_string())?;
        scope.shared.check_kernel(operator)?;
        let operands = scope.operands(arguments, operator)?;
        let (dtype, to) = (crate::kinds::dtype(dtype)?, Dispatcher::global().find("aten::to.dtype")?);
        Ok((Action::OutDtype(OutDtype { operator, dtype, to }), operands))
    }

    /// # Errors
    /// Those of the operators.
    pub(crate) fn run(&self, mut arguments: Vec<Value<'static>>) -> Result<Value<'static>> {
        let dtypes = arguments.iter().filter_map(Value::as_tensor).map(Tensor::dtype);
        let wide = dtypes.into_iter().try_fold(self.dtype, promote_types)?;
        for argument in &mut arguments {
            if let Some(tensor) = argument.as_tensor() {
                *argument = self.converted(tensor, wide)?.into();
            }
        }
        let mut stack: Stack<'_> = arguments.into_iter().collect();
        self.operator.call_boxed(&mut stack)?;
        let result: Tensor = stack.pop_as()?;
        Ok(self.converted(&result, self.dtype)?.into())
    }

    fn converted(&self, tensor: &Tensor, dtype: DType) -> Result<Tensor> {
        let rest = [Value::DType(dtype), Value::Bool(false), Value::Bool(false), Value::None];
        let mut stack: Stack<'_> = [Value::TensorRef(tensor)].into_iter().chain(rest).collect();
        self.to.call_boxed(&mut stack)?;
        stack.pop_as()
    }
}

/// The operator, the number of the type and the arguments of a node.
pub(crate) fn parts(inputs: &[NamedArgument]) -> Option<(&str, u64, &[NamedArgument])> {
    match inputs {
        [operator, dtype, rest @ ..] => match (&operator.arg, &dtype.arg) {
            (Argument::AsOperator(operator), Argument::AsScalarType(dtype)) => Some((operator, *dtype, rest)),
            _ => None,
        },
        _ => None,
    }
}
