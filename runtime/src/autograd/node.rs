//! A node of the graph: how the gradients of some outputs give those of the inputs.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use smallvec::SmallVec;

use super::hooks::Hooks;
use crate::device::Device;
use crate::dropping::{self, Queue};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::tensor::Tensor;
use crate::tensor::geometry::Geometry;

/// The backward half of an operation.
///
/// PyTorch: `torch::autograd::Node::apply`.
pub trait Backward: Send + Sync {
    /// The gradients of the inputs, one for each edge of the node, from those of the outputs.
    ///
    /// A gradient that is missing stands for zeros. What nobody [wants](Call::wants) may be left out.
    ///
    /// # Errors
    /// A [saved tensor](super::SavedTensor) was written to since, or an operator fails.
    fn backward(&self, call: &Call<'_>, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>>;

    /// Whether it keeps tensors, which are dropped after the first backward pass unless the graph is retained.
    fn keeps_tensors(&self) -> bool {
        true
    }
}

/// One run of a node.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub(super) node: &'a Node,
    /// A bit per edge; edges beyond the last bit are always wanted.
    pub(super) wanted: u64,
}

impl Call<'_> {
    /// The node itself.
    pub fn node(&self) -> &Node {
        self.node
    }

    /// Whether the gradient of an input is of any use.
    ///
    /// PyTorch: `Node::task_should_compute_output`.
    pub fn wants(&self, input: usize) -> bool {
        let asked = input >= 64 || self.wanted >> input & 1 == 1;
        asked && self.node.edges().get(input).is_some_and(Option::is_some)
    }
}

/// Where a gradient goes: to one of the inputs of a node, which is one of the outputs of the operation.
///
/// PyTorch: `torch::autograd::Edge`.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The node.
    pub node: Node,
    /// Which of its inputs.
    pub input_nr: usize,
}

/// One for each input of a node; nothing for those that need no gradient.
pub(super) type Edges = SmallVec<[Option<Edge>; 2]>;

/// What a gradient must look like: as the output that it is the gradient of.
///
/// PyTorch: `torch::autograd::InputMetadata`.
#[derive(Clone, Debug, PartialEq)]
pub struct InputMetadata {
    geometry: Geometry,
    dtype: DType,
    device: Device,
}

impl InputMetadata {
    /// That of a tensor.
    pub fn of(tensor: &Tensor) -> Self {
        InputMetadata { geometry: tensor.geometry().clone(), dtype: tensor.dtype(), device: tensor.device() }
    }

    /// Sizes, strides and offset.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The extent of each dimension.
    pub fn sizes(&self) -> &[i64] {
        self.geometry.sizes()
    }

    /// How many elements apart neighbours lie, per dimension.
    pub fn strides(&self) -> &[i64] {
        self.geometry.strides()
    }

    /// Where in the storage the first element lies.
    pub fn storage_offset(&self) -> i64 {
        self.geometry.offset()
    }

    /// The number of dimensions.
    pub fn dim(&self) -> usize {
        self.geometry.dim()
    }

    /// The number of elements.
    pub fn numel(&self) -> i64 {
        self.geometry.numel()
    }

    /// The size of one dimension, counted from the back if negative.
    ///
    /// # Errors
    /// A dimension out of range.
    pub fn size(&self, dim: i64) -> Result<i64> {
        Ok(self.sizes()[crate::geometry::wrap_dim(dim, self.dim())?])
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where the elements are.
    pub fn device(&self) -> Device {
        self.device
    }
}

/// A node of the graph: an operation to differentiate, or the end of the way at a leaf.
///
/// PyTorch: `torch::autograd::Node`, `grad_fn`.
#[derive(Clone)]
pub struct Node(Arc<NodeImpl>);

/// A node that is not kept alive.
#[derive(Clone, Debug, Default)]
pub(super) struct WeakNode(Weak<NodeImpl>);

pub(super) struct NodeImpl {
    name: &'static str,
    /// Later operations have higher numbers, and go first in the backward pass.
    sequence: u64,
    edges: Edges,
    /// A bit for each output that forgot in place that it was one; those beyond the last bit share it.
    detached: AtomicU64,
    state: Mutex<NodeState>,
}

pub(super) struct NodeState {
    /// One for each output of the operation.
    pub(super) inputs: SmallVec<[InputMetadata; 1]>,
    /// What to do; nothing once it was released.
    backward: Option<Arc<dyn Backward>>,
    pub(super) hooks: Option<Box<Hooks>>,
}

/// The name of the nodes of operators without a derivative.
pub(super) const NOT_IMPLEMENTED: &str = "NotImplemented";
/// Leaves go first: whoever waits for a gradient gets it as soon as it is complete.
pub(super) const LEAF: u64 = u64::MAX;

impl Node {
    /// A node for an operation that was just done. `name` is what [`name`](Node::name) tells, as `MulBackward0`.
    pub fn new(
        name: &'static str,
        edges: impl IntoIterator<Item = Option<Edge>>,
        backward: Arc<dyn Backward>,
    ) -> Self {
        Node::of_edges(name, edges.into_iter().collect(), backward)
    }

    pub(super) fn of_edges(name: &'static str, edges: Edges, backward: Arc<dyn Backward>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Node::with_sequence(name, edges, backward, NEXT.fetch_add(1, Ordering::Relaxed)) // only a number
    }

    pub(super) fn with_sequence(
        name: &'static str,
        edges: Edges,
        backward: Arc<dyn Backward>,
        sequence: u64,
    ) -> Self {
        let state = NodeState { inputs: SmallVec::new(), backward: Some(backward), hooks: None };
        let (detached, state) = (AtomicU64::new(0), Mutex::new(state));
        Node(Arc::new(NodeImpl { name, sequence, edges, detached, state }))
    }

    /// The name of the operation's derivative: `MulBackward0`; `AccumulateGrad` at a leaf.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Where the gradients of the inputs go; nowhere for those that need none.
    ///
    /// PyTorch: `next_functions`.
    pub fn edges(&self) -> &[Option<Edge>] {
        &self.0.edges
    }

    /// Runs it alone: the gradients of the operation's inputs, one for each edge, from those of its outputs.
    ///
    /// No hook runs, nothing goes on along the edges, and what the node saved stays. The gradients are as the formulas
    /// leave them: those of arguments that were broadcast are not summed.
    ///
    /// ```
    /// use torch_library::{derivatives, prelude::*};
    ///
    /// torch_library! {
    ///     pub mod copies {
    ///         copied(Tensor self) -> Tensor;
    ///     }
    /// }
    ///
    /// #[torch_impl(copies, CPU)]
    /// fn copied(this: &Tensor) -> Result<Tensor> {
    ///     Tensor::from_vec(this.to_vec::<f64>()?, this.sizes())
    /// }
    ///
    /// derivatives! {
    ///     in copies;
    ///     copied(Tensor self) -> Tensor { self => grad.clone() }
    /// }
    ///
    /// let x = Tensor::from([2.0, 3.0]);
    /// x.set_requires_grad(true)?;
    /// let node = copies::copied(&x)?.grad_fn()?.unwrap();
    /// let grads = node.call(vec![Some(Tensor::from([4.0, 5.0]))])?;
    /// assert_eq!(grads[0].as_ref().unwrap().to_vec::<f64>()?, [4.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// What it saved is gone, or was written to since; what the formulas fail with.
    ///
    /// PyTorch: `y.grad_fn(grad)`.
    pub fn call(&self, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        self.body()?.backward(&Call { node: self, wanted: u64::MAX }, grads)
    }

    /// What the gradients that come in must look like.
    pub fn input_metadata(&self) -> SmallVec<[InputMetadata; 1]> {
        self.state().inputs.clone()
    }

    /// Whether both are the same node.
    pub fn is_same(&self, other: &Node) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Adds an output of the operation, and tells its number.
    pub(super) fn add_input(&self, metadata: InputMetadata) -> usize {
        let mut state = self.state();
        state.inputs.push(metadata);
        state.inputs.len() - 1
    }

    /// Notes that an output was detached in place.
    pub(super) fn detach(&self, output_nr: usize) {
        self.0.detached.fetch_or(1 << output_nr.min(63), Ordering::Relaxed); // says nothing of other memory
    }

    /// Whether an output was detached in place.
    pub(super) fn is_detached(&self, output_nr: usize) -> bool {
        self.0.detached.load(Ordering::Relaxed) >> output_nr.min(63) & 1 == 1
    }

    /// What to do.
    pub(super) fn body(&self) -> Result<Arc<dyn Backward>> {
        self.state().backward.clone().ok_or_else(|| {
            Error::new(
                ErrorKind::Autograd,
                format!(
                    "{} was asked for a second backward pass, but what it had saved is gone since the first\n  \
                     help: retain the graph in the first pass (`GradOptions::new().retain_graph(true)`)",
                    self.name()
                ),
            )
        })
    }

    /// Drops what it keeps.
    pub(super) fn release(&self) {
        let mut state = self.state();
        let dropped = state.backward.take_if(|backward| backward.keeps_tensors());
        drop(state); // first the lock: tensors may hold other nodes
        drop(dropped);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, NodeState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sequence(&self) -> u64 {
        self.0.sequence
    }

    /// Tells nodes apart, as long as they live.
    pub(super) fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(super) fn downgrade(&self) -> WeakNode {
        WeakNode(Arc::downgrade(&self.0))
    }
}

impl WeakNode {
    pub(super) fn upgrade(&self) -> Option<Node> {
        self.0.upgrade().map(Node)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.name())
    }
}

impl fmt::Debug for NodeImpl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.name)
    }
}

thread_local! {
    /// What nodes that are dropped held.
    static HELD: Queue<Held> = const { Queue::new() };
}

/// What a node keeps alive.
struct Held {
    #[expect(dead_code, reason = "dropped, never read")]
    edges: Edges,
    #[expect(dead_code, reason = "dropped, never read")]
    backward: Option<Arc<dyn Backward>>,
    #[expect(dead_code, reason = "dropped, never read")]
    hooks: Option<Box<Hooks>>,
}

/// Of a chain of nodes, each may be the last to hold the next.
impl Drop for NodeImpl {
    fn drop(&mut self) {
        let edges = std::mem::take(&mut self.edges);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let held = Held { edges, backward: state.backward.take(), hooks: state.hooks.take() };
        dropping::in_turn(&HELD, held);
    }
}
