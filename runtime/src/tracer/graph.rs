//! A recorded program: values, each defined once, and the calls that define them.

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::operator::OperatorHandle;
use crate::tensor::Tensor;
use crate::value::{Stack, Value};
use crate::{bail, ensure};

use super::argument::{Argument, Id, Output};

/// What is known of a value: that of the run that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TensorType {
    pub(super) dtype: DType,
    pub(super) sizes: Vec<i64>,
}

impl TensorType {
    pub(super) fn of(tensor: &Tensor) -> Self {
        TensorType { dtype: tensor.dtype(), sizes: tensor.sizes().to_vec() }
    }
}

/// What a function did with tensors: [`trace`](super::trace) records one, its text [parses](std::str::FromStr) to one.
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

    pub(super) fn uses(&self) -> impl Iterator<Item = Id> {
        self.arguments.iter().flat_map(Argument::uses)
    }

    pub(super) fn defines(&self) -> impl Iterator<Item = Id> {
        self.outputs.iter().flat_map(Output::defines)
    }
}

impl Graph {
    /// The calls, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What the function did that the graph cannot do again for other inputs: for people to read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Runs the program on other inputs: each call goes through the dispatcher, so other keys lead it elsewhere. On
    /// tensors without elements (`meta`) this computes the sizes of everything; on tensors that require a gradient it
    /// is differentiated.
    ///
    /// # Errors
    /// Another number of inputs than the program has; what a call fails with, with the line of the program.
    ///
    /// PyTorch: `torch.fx.Interpreter`.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        ensure!(
            inputs.len() == self.inputs.len(),
            Argument,
            "{} inputs for a graph that has {}",
            inputs.len(),
            self.inputs.len()
        );
        let mut tensors: Vec<Option<Tensor>> = vec![None; self.values.len()];
        for (id, input) in self.inputs.iter().zip(inputs) {
            tensors[*id] = Some(input.clone());
        }
        for (id, constant) in &self.constants {
            tensors[*id] = Some(constant.clone());
        }
        for node in &self.nodes {
            run(node, &mut tensors).map_err(|error| error.context(self.line(node)))?;
        }
        self.outputs.iter().map(|id| tensor(&tensors, *id)).collect()
    }

    pub(super) fn add_value(&mut self, ty: TensorType) -> Id {
        self.values.push(ty);
        self.values.len() - 1
    }
}

fn tensor(tensors: &[Option<Tensor>], id: Id) -> Result<Tensor> {
    let undefined = || Error::new(ErrorKind::Argument, format!("%{id} is used before it is defined"));
    tensors.get(id).cloned().flatten().ok_or_else(undefined)
}

fn run(node: &Node, tensors: &mut [Option<Tensor>]) -> Result<()> {
    let arguments = node.arguments.iter().map(|argument| argument.value(&|id| tensor(tensors, id)));
    let mut stack = Stack::from_iter(arguments.collect::<Result<Vec<_>>>()?);
    node.operator.call_boxed(&mut stack)?;
    let returns: Vec<Value<'_>> = stack.into_iter().collect();
    for (output, value) in node.outputs.iter().zip(returns) {
        match (output, value.into_owned()) {
            (Output::Tensor(id), Value::Tensor(tensor)) => tensors[*id] = Some(tensor),
            (Output::Tensors(ids), Value::Tensors(list)) => {
                ensure!(
                    ids.len() == list.len(),
                    Argument,
                    "returned {} tensors, {} when it was recorded",
                    list.len(),
                    ids.len()
                );
                ids.iter().zip(list.iter()).for_each(|(id, tensor)| tensors[*id] = Some(tensor.clone()));
            }
            (Output::None, _) => {}
            (_, other) => bail!(Type, "returned a {}, another type when it was recorded", other.type_name()),
        }
    }
    Ok(())
}
