//! A recorded program: values, each defined once, and the calls that define them.

use crate::dtype::DType;
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;

use super::argument::{Argument, Id, Output};

/// The metadata of a value, from the recorded run.
///
/// PyTorch: `torch.fx.passes.shape_prop.TensorMetadata`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType {
    pub(super) dtype: DType,
    pub(super) sizes: Vec<i64>,
}

impl TensorType {
    pub(super) fn of(tensor: &Tensor) -> Self {
        TensorType { dtype: tensor.dtype(), sizes: tensor.sizes().to_vec() }
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its sizes.
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }
}

/// The recorded operations of a function: [`trace`](super::trace) records a graph, and its text
/// [parses](std::str::FromStr) to one.
///
/// PyTorch: `torch::jit::Graph`, `torch.fx.Graph`.
#[derive(Debug, Default)]
pub struct Graph {
    pub(super) values: Vec<TensorType>,
    pub(super) inputs: Vec<Id>,
    pub(super) constants: Vec<(Id, Tensor)>,
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<Id>,
    pub(super) notes: Vec<String>,
}

/// One call of an operator.
#[derive(Debug)]
pub struct Node {
    pub(super) operator: OperatorHandle,
    pub(super) arguments: Vec<Argument>,
    pub(super) outputs: Vec<Output>,
}

impl Node {
    /// The operator.
    pub fn operator(&self) -> OperatorHandle {
        self.operator
    }

    /// The arguments, in the order of the schema.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// The returns, in the order of the schema.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The values that it uses, repeated as often as they are passed.
    pub fn uses(&self) -> impl Iterator<Item = Id> {
        self.arguments.iter().flat_map(Argument::uses)
    }

    /// The values that it defines.
    pub fn defines(&self) -> impl Iterator<Item = Id> {
        self.outputs.iter().flat_map(Output::defines)
    }
}

impl Graph {
    /// The calls, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Operations that the graph cannot repeat for other inputs, as text for people to read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[Id] {
        &self.inputs
    }

    /// The values that the program returns, in order.
    pub fn outputs(&self) -> &[Id] {
        &self.outputs
    }

    /// The tensors that are neither inputs nor results of calls: weights, and other tensors that the function brought
    /// with it.
    ///
    /// PyTorch: `get_attr` nodes of `torch.fx`.
    pub fn constants(&self) -> impl Iterator<Item = (Id, &Tensor)> {
        self.constants.iter().map(|(id, tensor)| (*id, tensor))
    }

    /// The number of values: each [`Id`] is below it.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// The metadata of a value; `None` for one that the graph does not have.
    ///
    /// PyTorch: `node.meta["tensor_meta"]`.
    pub fn tensor_type(&self, id: Id) -> Option<&TensorType> {
        self.values.get(id)
    }

    pub(super) fn add_value(&mut self, ty: TensorType) -> Id {
        self.values.push(ty);
        self.values.len() - 1
    }
}
