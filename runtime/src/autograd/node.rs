//! A node of the graph, which computes the gradients of an operation's inputs from those of its outputs.

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
    /// Computes the gradients of the inputs, one for each edge of the node, from those of the outputs.
    ///
    /// A missing gradient stands for zeros. Gradients that are not [wanted](Call::wants) may be left out.
    ///
    /// # Errors
    /// A [saved tensor](super::SavedTensor) was modified in place, or an operator fails.
    fn backward(&self, call: &Call<'_>, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>>;

    /// Whether the node keeps tensors, which are dropped after the first backward pass unless the graph is retained.
    fn keeps_tensors(&self) -> bool {
        true
    }

    /// The leaf whose gradient the node accumulates.
    #[doc(hidden)]
    fn leaf(&self) -> Option<&Tensor> {
        None
    }
}

/// One run of a node.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub(super) node: &'a Node,
    /// The output mask, a bit per edge; edges beyond the last bit are always wanted.
    pub(super) wanted: u64,
}

impl Call<'_> {
    /// The node itself.
    pub fn node(&self) -> &Node {
        self.node
    }

    /// Whether the gradient of an input is needed.
    ///
    /// PyTorch: `Node::task_should_compute_output`.
    pub fn wants(&self, input: usize) -> bool {
        let asked = input >= 64 || self.wanted >> input & 1 == 1;
        asked && self.node.edges().get(input).is_some_and(Option::is_some)
    }
}

/// Where a gradient goes: an input of a node, which is an output of the node's operation.
///
/// PyTorch: `torch::autograd::Edge`.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The node.
    pub node: Node,
    /// The number of the input.
    pub input_nr: usize,
}

/// The edges of a node, one for each input of its operation; `None` for an input that needs no gradient.
pub(super) type Edges = SmallVec<[Option<Edge>; 2]>;

/// The geometry, type and device that a gradient must have: those of the output that it belongs to.
///
/// PyTorch: `torch::autograd::InputMetadata`.
#[derive(Clone, Debug, PartialEq)]
pub struct InputMetadata {
    geometry: Geometry,
    dtype: DType,
    device: Device,
}

impl InputMetadata {
    /// The metadata of a tensor.
    pub fn of(tensor: &Tensor) -> Self {
        InputMetadata { geometry: tensor.geometry().clone(), dtype: tensor.dtype(), device: tensor.device() }
    }

    /// Sizes, strides and offset.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The size of each dimension.
    pub fn sizes(&self) -> &[i64] {
        self.geometry.sizes()
    }

    /// The stride of each dimension, in elements.
    pub fn strides(&self) -> &[i64] {
        self.geometry.strides()
    }

    /// The index of the first element in the storage.
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
    /// A dimension out of range, such as any dimension of a tensor that has none.
    pub fn size(&self, dim: i64) -> Result<i64> {
        self.geometry.size(dim)
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The device of the tensor.
    pub fn device(&self) -> Device {
        self.device
    }
}

/// A node of the graph: a recorded operation, or the accumulation of a leaf's gradient.
///
/// PyTorch: `torch::autograd::Node`, `grad_fn`.
#[derive(Clone)]
pub struct Node(Arc<NodeImpl>);

/// A reference to a node that does not keep it alive.
#[derive(Clone, Debug, Default)]
pub(super) struct WeakNode(Weak<NodeImpl>);

pub(super) struct NodeImpl {
    name: &'static str,
    /// Later operations have higher numbers, and go first in the backward pass.
    sequence: u64,
    edges: Edges,
    /// A bit for each output that was detached in place; outputs beyond the last bit share it.
    detached: AtomicU64,
    state: Mutex<NodeState>,
}

pub(super) struct NodeState {
    /// The metadata of the outputs of the operation, which are the inputs of the node.
    pub(super) inputs: SmallVec<[InputMetadata; 1]>,
    /// The backward function; `None` once it was released.
    backward: Option<Arc<dyn Backward>>,
    pub(super) hooks: Option<Box<Hooks>>,
}

/// The name of the nodes of operators without a derivative.
pub(super) const NOT_IMPLEMENTED: &str = "NotImplemented";
/// Leaves go first, so that a leaf's hooks run as soon as its gradient is complete.
pub(super) const LEAF: u64 = u64::MAX;

impl Node {
    /// A node for an operation that was just done. `name` is the [`name`](Node::name), such as `MulBackward0`.
    pub fn new(
        name: &'static str,
        edges: impl IntoIterator<Item = Option<Edge>>,
        backward: Arc<dyn Backward>,
    ) -> Self {
        Node::of_edges(name, edges.into_iter().collect(), backward)
    }

    pub(super) fn of_edges(name: &'static str, edges: Edges, backward: Arc<dyn Backward>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Node::with_sequence(name, edges, backward, NEXT.fetch_add(1, Ordering::Relaxed)) // only a counter
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

    /// Where the gradients of the inputs go; `None` for inputs that need none.
    ///
    /// PyTorch: `next_functions`.
    pub fn edges(&self) -> &[Option<Edge>] {
        &self.0.edges
    }

    /// Runs this node alone: computes the gradients of the operation's inputs, one for each edge, from those of its
    /// outputs.
    ///
    /// No hook runs, no gradient is sent along the edges, and what the node saved is kept. The gradients are returned
    /// as the formulas compute them: those of arguments that were broadcast are not summed.
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
    /// The saved tensors were released or modified in place; the formulas fail.
    ///
    /// PyTorch: `y.grad_fn(grad)`.
    pub fn call(&self, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        self.run(&Call { node: self, wanted: u64::MAX }, grads)
    }

    /// The metadata that incoming gradients must have.
    pub fn input_metadata(&self) -> Vec<InputMetadata> {
        self.state().inputs.to_vec()
    }

    /// Whether both are the same node.
    pub fn is_same(&self, other: &Node) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Adds an output of the operation, and returns its number.
    pub(super) fn add_input(&self, metadata: InputMetadata) -> usize {
        let mut state = self.state();
        state.inputs.push(metadata);
        state.inputs.len() - 1
    }

    /// Records that an output was detached in place.
    pub(super) fn detach(&self, output_nr: usize) {
        self.0.detached.fetch_or(1 << output_nr.min(63), Ordering::Relaxed); // guards no other memory
    }

    /// Whether an output was detached in place.
    pub(super) fn is_detached(&self, output_nr: usize) -> bool {
        self.0.detached.load(Ordering::Relaxed) >> output_nr.min(63) & 1 == 1
    }

    /// Runs the backward function on the gradients of the outputs; an error says whose gradient failed.
    pub(super) fn run(&self, call: &Call<'_>, grads: Vec<Option<Tensor>>) -> Result<Vec<Option<Tensor>>> {
        self.body()?.backward(call, grads).map_err(|error| {
            let is_named = self.name() == NOT_IMPLEMENTED || error.to_string().contains(self.name());
            if is_named { error } else { error.context(self.name()) }
        })
    }

    /// The backward function.
    fn body(&self) -> Result<Arc<dyn Backward>> {
        self.state().backward.clone().ok_or_else(|| {
            Error::new(
                ErrorKind::Autograd,
                format!(
                    "{} was asked for a second backward pass, but what it had saved is gone since the first\n  \
                     help: retain the graph in the first pass: `autograd::backward(&[&loss], &[None], \
                     GradOptions::new().retain_graph(true))`",
                    self.name()
                ),
            )
        })
    }

    /// The leaf whose gradient this node accumulates.
    pub(super) fn leaf(&self) -> Option<Tensor> {
        match self.0.sequence {
            LEAF => self.state().backward.as_ref().and_then(|backward| backward.leaf().cloned()),
            _ => None,
        }
    }

    /// Drops the backward function with what it saved.
    pub(super) fn release(&self) {
        let mut state = self.state();
        let dropped = state.backward.take_if(|backward| backward.keeps_tensors());
        drop(state); // release the lock first: the tensors may hold other nodes
        drop(dropped);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, NodeState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sequence(&self) -> u64 {
        self.0.sequence
    }

    /// Identifies the node while it lives.
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
    /// What dropped nodes held and is still to be dropped.
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

/// Queues what the node held, because recursion could overflow the stack: in a chain of nodes, each may be the last
/// owner of the next.
impl Drop for NodeImpl {
    fn drop(&mut self) {
        let edges = std::mem::take(&mut self.edges);
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let held = Held { edges, backward: state.backward.take(), hooks: state.hooks.take() };
        dropping::in_turn(&HELD, held);
    }
}
