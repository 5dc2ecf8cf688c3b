//! What a call of a graph takes and gives.

use crate::error::Result;
use crate::tensor::Tensor;
use crate::value::Value;

/// A tensor of a graph, by its place among the values: 3 for what prints as `%3`.
///
/// PyTorch: `torch::jit::Value::unique`, `torch.fx.Node.name`.
pub type Id = usize;

/// An argument of a call.
#[derive(Debug)]
pub enum Argument {
    /// A tensor of the graph.
    Tensor(Id),
    /// A list of tensors.
    Tensors(Vec<Id>),
    /// A list in which tensors may be missing.
    OptionalTensors(Vec<Option<Id>>),
    /// No tensor: a number, a type, nothing.
    Constant(Value<'static>),
}

/// A return of a call.
#[derive(Clone, Debug)]
pub enum Output {
    /// A tensor of the graph.
    Tensor(Id),
    /// A list of tensors.
    Tensors(Vec<Id>),
    /// Nothing, or nothing that a graph has values for.
    None,
}

impl Argument {
    /// That of a value, whose tensors `id` knows.
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

    /// The value that a call is handed, with the tensors that the graph's values are now.
    ///
    /// # Errors
    /// What `tensor` fails with.
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

    /// The tensors of the graph that it names.
    pub fn uses(&self) -> Vec<Id> {
        match self {
            Argument::Tensor(id) => vec![*id],
            Argument::Tensors(ids) => ids.clone(),
            Argument::OptionalTensors(ids) => ids.iter().copied().flatten().collect(),
            Argument::Constant(_) => Vec::new(),
        }
    }

    /// Replaces uses of values.
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
    /// The tensors of the graph that it is.
    pub fn defines(&self) -> Vec<Id> {
        match self {
            Output::Tensor(id) => vec![*id],
            Output::Tensors(ids) => ids.clone(),
            Output::None => Vec::new(),
        }
    }
}
