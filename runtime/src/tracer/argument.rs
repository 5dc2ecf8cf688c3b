//! The arguments and returns of a call in a graph.

use crate::error::Result;
use crate::tensor::Tensor;
use crate::value::Value;

/// A tensor of a graph, as the number of its value: 3 for the one that is printed as `%3`.
///
/// PyTorch: `torch::jit::Value::unique`, `torch.fx.Node.name`.
pub type Id = usize;

/// An argument of a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Argument {
    /// A tensor of the graph.
    Tensor(Id),
    /// A list of tensors.
    Tensors(Vec<Id>),
    /// A list in which tensors may be missing.
    OptionalTensors(Vec<Option<Id>>),
    /// A value that is not a tensor: a number, a type, `None`.
    Constant(Value<'static>),
}

/// A return of a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Output {
    /// A tensor of the graph.
    Tensor(Id),
    /// A list of tensors.
    Tensors(Vec<Id>),
    /// `None`, or a value of a type that graphs do not represent.
    None,
}

impl Argument {
    /// The argument for a value; `id` returns the number of each tensor.
    pub(super) fn of(value: &Value<'_>, mut id: impl FnMut(&Tensor) -> Id) -> Self {
        match value {
            Value::Tensors(_) | Value::TensorsMut(_) => {
                Argument::Tensors(value.tensors().iter().map(id).collect())
            }
            Value::OptionalTensors(list) => {
                Argument::OptionalTensors(list.iter().map(|tensor| tensor.as_ref().map(&mut id)).collect())
            }
            value => match value.as_tensor() {
                Some(tensor) => Argument::Tensor(id(tensor)),
                None => Argument::Constant(value.borrowed().into_owned()),
            },
        }
    }

    /// The value to call the operator with; `tensor` returns the present tensor of each number.
    ///
    /// # Errors
    /// The errors of `tensor`.
    pub fn value(&self, tensor: &dyn Fn(Id) -> Result<Tensor>) -> Result<Value<'_>> {
        Ok(match self {
            Argument::Tensor(id) => tensor(*id)?.into(),
            Argument::Tensors(ids) => ids.iter().map(|id| tensor(*id)).collect::<Result<Vec<_>>>()?.into(),
            Argument::OptionalTensors(ids) => {
                ids.iter().map(|id| id.map(tensor).transpose()).collect::<Result<Vec<_>>>()?.into()
            }
            Argument::Constant(value) => value.borrowed(),
        })
    }

    /// The tensors of the graph that the argument refers to.
    pub fn uses(&self) -> Vec<Id> {
        match self {
            Argument::Tensor(id) => vec![*id],
            Argument::Tensors(ids) => ids.clone(),
            Argument::OptionalTensors(ids) => ids.iter().copied().flatten().collect(),
            Argument::Constant(_) => Vec::new(),
        }
    }

    /// Renames the values that are used.
    pub(super) fn rename(&mut self, name: &dyn Fn(Id) -> Id) {
        match self {
            Argument::Tensor(id) => *id = name(*id),
            Argument::Tensors(ids) => ids.iter_mut().for_each(|id| *id = name(*id)),
            Argument::OptionalTensors(ids) => ids.iter_mut().flatten().for_each(|id| *id = name(*id)),
            Argument::Constant(_) => {}
        }
    }
}

impl Output {
    /// The tensors of the graph that the return defines.
    pub fn defines(&self) -> Vec<Id> {
        match self {
            Output::Tensor(id) => vec![*id],
            Output::Tensors(ids) => ids.clone(),
            Output::None => Vec::new(),
        }
    }
}
