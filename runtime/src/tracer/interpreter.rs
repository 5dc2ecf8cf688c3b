//! Running a graph, as a whole or call by call.

use crate::error::{Error, ErrorKind, Result};
use crate::tensor::Tensor;
use crate::value::{Stack, Value};
use crate::{bail, ensure};

use super::argument::{Id, Output};
use super::graph::{Graph, Node};

impl Graph {
    /// Runs the program on other inputs: each call goes through the dispatcher, so other keys lead to other kernels.
    /// With tensors without elements (`meta`) this computes the sizes of everything; with tensors that require a
    /// gradient it is differentiated. A value is dropped after the last call that uses it.
    ///
    /// # Errors
    /// The number of inputs differs from the program's; the error of a call, with the line of the program.
    ///
    /// PyTorch: `torch.fx.Interpreter.run`.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut interpreter = Interpreter::new(self, inputs)?;
        let mut last = vec![usize::MAX; self.values.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            node.uses().chain(node.defines()).for_each(|id| last[id] = at);
        }
        self.outputs.iter().for_each(|id| last[*id] = usize::MAX);
        for (at, node) in self.nodes.iter().enumerate() {
            interpreter.call(at)?;
            node.uses()
                .chain(node.defines())
                .filter(|id| last[*id] == at)
                .for_each(|id| interpreter.free(id));
        }
        interpreter.outputs()
    }
}

/// A run of a graph under the control of its user, who decides which calls are made, in which order, and which results
/// are supplied instead.
///
/// A backend that [fuses calls](Graph::partition) computes them in one step of its own, and supplies the results with
/// [`set`](Self::set).
///
/// ```
/// use torch_library::prelude::*;
/// use torch_library::tracer::{self, Interpreter};
///
/// torch_library! {
///     pub mod interpreter_docs {
///         /// Adds a number to each element.
///         shift(Tensor self, float by) -> Tensor;
///     }
/// }
///
/// #[torch_impl(interpreter_docs, CPU)]
/// fn shift(this: &Tensor, by: f64) -> Result<Tensor> {
///     Tensor::from_vec(this.to_vec::<f64>()?.into_iter().map(|x| x + by).collect(), this.sizes())
/// }
///
/// # fn main() -> Result<()> {
/// let x = Tensor::from([1.0, 2.0]);
/// let (_, graph) = tracer::trace(&[x.clone()], |inputs| {
///     Ok(vec![interpreter_docs::shift(&interpreter_docs::shift(&inputs[0], 1.0)?, 2.0)?])
/// })?;
/// let mut run = Interpreter::new(&graph, &[x])?;
/// run.call(0)?;
/// let [result] = graph.outputs() else { unreachable!("it returns one tensor") };
/// run.set(*result, Tensor::from([0.5, 0.5]))?; // instead of the second call
/// assert_eq!(run.outputs()?[0].to_vec::<f64>()?, [0.5, 0.5]);
/// # Ok(())
/// # }
/// ```
///
/// PyTorch: `torch.fx.Interpreter`, with its `env`.
#[derive(Debug)]
pub struct Interpreter<'g> {
    graph: &'g Graph,
    tensors: Vec<Option<Tensor>>,
}

impl<'g> Interpreter<'g> {
    /// A run that has made no call yet.
    ///
    /// # Errors
    /// The number of inputs differs from the graph's.
    pub fn new(graph: &'g Graph, inputs: &[Tensor]) -> Result<Self> {
        ensure!(
            inputs.len() == graph.inputs.len(),
            Argument,
            "{} inputs were given to a graph that takes {}",
            inputs.len(),
            graph.inputs.len()
        );
        let mut tensors: Vec<Option<Tensor>> = vec![None; graph.values.len()];
        for (id, input) in graph.inputs.iter().zip(inputs) {
            tensors[*id] = Some(input.clone());
        }
        for (id, constant) in &graph.constants {
            tensors[*id] = Some(constant.clone());
        }
        Ok(Interpreter { graph, tensors })
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The present tensor of a value.
    ///
    /// # Errors
    /// No call has computed it yet, or it was [freed](Self::free).
    pub fn tensor(&self, id: Id) -> Result<&Tensor> {
        let undefined = || Error::new(ErrorKind::Argument, format!("%{id} is used before it is defined"));
        self.tensors.get(id).and_then(Option::as_ref).ok_or_else(undefined)
    }

    /// Sets a value.
    ///
    /// # Errors
    /// The graph has no such value.
    pub fn set(&mut self, id: Id, tensor: Tensor) -> Result<()> {
        let count = self.tensors.len();
        match self.tensors.get_mut(id) {
            Some(place) => *place = Some(tensor),
            None => bail!(Argument, "a graph of {count} values has no %{id}"),
        }
        Ok(())
    }

    /// Drops a value that no further call uses.
    pub fn free(&mut self, id: Id) {
        if let Some(place) = self.tensors.get_mut(id) {
            *place = None;
        }
    }

    /// Makes one of the calls, by its index among the [nodes](Graph::nodes), through the dispatcher.
    ///
    /// # Errors
    /// The error of the call, with the line of the program; a value is not available yet; there is no such node.
    pub fn call(&mut self, node: usize) -> Result<()> {
        let Some(called) = self.graph.nodes.get(node) else {
            bail!(Argument, "a graph of {} calls has no call {node}", self.graph.nodes.len())
        };
        self.make(called).map_err(|error| error.context(self.graph.line(called)))
    }

    fn make(&mut self, node: &Node) -> Result<()> {
        let tensor = |id| self.tensor(id).cloned();
        let arguments = node.arguments.iter().map(|argument| argument.value(&tensor));
        let mut stack = Stack::from_iter(arguments.collect::<Result<Vec<_>>>()?);
        node.operator.call_boxed(&mut stack)?;
        let returns: Vec<Value<'_>> = stack.into_iter().collect();
        for (output, value) in node.outputs.iter().zip(returns) {
            self.store(output, value.into_owned())?;
        }
        Ok(())
    }

    fn store(&mut self, output: &Output, value: Value<'static>) -> Result<()> {
        match (output, value) {
            (Output::Tensor(id), Value::Tensor(tensor)) => self.tensors[*id] = Some(tensor),
            (Output::Tensors(ids), Value::Tensors(list)) => {
                ensure!(
                    ids.len() == list.len(),
                    Argument,
                    "returned {} tensors, but {} when it was recorded",
                    list.len(),
                    ids.len()
                );
                ids.iter().zip(list.iter()).for_each(|(id, tensor)| self.tensors[*id] = Some(tensor.clone()));
            }
            (Output::None, _) => {}
            (_, other) => {
                bail!(Type, "returned a {}, but another type when it was recorded", other.type_name())
            }
        }
        Ok(())
    }

    /// The results of the program, once all calls are made.
    ///
    /// # Errors
    /// An output that was not computed.
    pub fn outputs(&self) -> Result<Vec<Tensor>> {
        self.graph.outputs.iter().map(|id| self.tensor(*id).cloned()).collect()
    }
}
