//! The backward pass: runs each node of the graph once, when all its gradients have arrived.

mod single;

use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::accumulate;
use super::arithmetic;
use super::edge::gradient_edge;
use super::hooks::Hooks;
use super::node::{Call, Edge, InputMetadata, Node};
use crate::dtype::DType;
use crate::error::Result;
use crate::guard::{EnableGradGuard, NoGradGuard};
use crate::recursion;
use crate::tensor::Tensor;
use crate::{bail, ensure};
use single::Single;

/// Options of a backward pass.
///
/// PyTorch: the keyword arguments of `torch.autograd.grad`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GradOptions {
    retain_graph: Option<bool>,
    create_graph: bool,
    allow_unused: bool,
}

impl GradOptions {
    /// The graph is freed, gradients have no history, and every input must have a gradient.
    pub const fn new() -> Self {
        GradOptions { retain_graph: None, create_graph: false, allow_unused: false }
    }

    /// Whether saved tensors are kept for another pass. By default they are if a graph is created.
    #[must_use]
    pub const fn retain_graph(mut self, yes: bool) -> Self {
        self.retain_graph = Some(yes);
        self
    }

    /// Whether gradients are computed with a history of their own, for higher-order derivatives.
    #[must_use]
    pub const fn create_graph(mut self, yes: bool) -> Self {
        self.create_graph = yes;
        self
    }

    /// Whether [`grad`] gives `None` for an input that the outputs do not depend on, instead of an error.
    #[must_use]
    pub const fn allow_unused(mut self, yes: bool) -> Self {
        self.allow_unused = yes;
        self
    }
}

/// Computes the gradients of some outputs with respect to all leaves they were computed from, and adds them to the
/// leaves' [`grad`](Tensor::grad).
///
/// `grad_outputs` has the gradient with respect to each output; for a real output with one element it may be missing,
/// and is then 1.
///
/// # Errors
/// An output that requires no gradient; a missing gradient of an output that is complex or has several elements; a
/// gradient whose sizes differ from the output's; the error of a node's formula.
///
/// PyTorch: `torch.autograd.backward`.
pub fn backward(outputs: &[&Tensor], grad_outputs: &[Option<Tensor>], options: GradOptions) -> Result<()> {
    let roots = roots(outputs, grad_outputs, options)?;
    Pass::new(&roots, None, options).run(roots).map(drop)
}

/// Computes the gradients of some outputs with respect to some inputs, one for each input. No tensor's `grad` changes.
///
/// # Errors
/// The errors of [`backward`]; an input that requires no gradient, or, unless `options` allow it, one that the outputs
/// do not depend on.
///
/// PyTorch: `torch.autograd.grad`.
pub fn grad(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    grad_outputs: &[Option<Tensor>],
    options: GradOptions,
) -> Result<Vec<Option<Tensor>>> {
    let roots = roots(outputs, grad_outputs, options)?;
    let mut edges = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        ensure!(input.requires_grad(), Autograd, "input {index} of `grad` does not require grad");
        edges.push(gradient_edge(input)?);
    }
    let captured = match Single::of(&roots, &edges) {
        Some(single) => single.run(options)?,
        None => Pass::new(&roots, Some(&edges), options).run(roots)?,
    };
    for (index, gradient) in captured.iter().enumerate() {
        ensure!(
            gradient.is_some() || options.allow_unused,
            Autograd,
            "the outputs do not depend on input {index} of `grad`\n  \
             help: `GradOptions::new().allow_unused(true)` gives `None` for it"
        );
    }
    Ok(captured)
}

/// The edges where a pass starts, with their gradients.
fn roots(outputs: &[&Tensor], grads: &[Option<Tensor>], options: GradOptions) -> Result<Vec<(Edge, Tensor)>> {
    ensure!(
        grads.is_empty() || grads.len() == outputs.len(),
        Autograd,
        "expected a gradient for each of {} outputs, but got {}",
        outputs.len(),
        grads.len()
    );
    let mut roots = Vec::with_capacity(outputs.len());
    for (index, output) in outputs.iter().enumerate() {
        let Some(edge) = gradient_edge(output)? else {
            bail!(
                Autograd,
                "output {index} does not require grad and was not computed from a tensor that does\n  \
                 help: call `set_requires_grad(true)` on an input before it is computed, outside of `no_grad`"
            )
        };
        let gradient = match grads.get(index).cloned().flatten() {
            Some(gradient) => {
                ensure!(
                    gradient.sizes() == output.sizes(),
                    Autograd,
                    "the gradient of output {index} has sizes {:?}, but the output has {:?}",
                    gradient.sizes(),
                    output.sizes()
                );
                cast(gradient, output.dtype(), options)?
            }
            None => {
                ensure!(
                    !output.dtype().is_complex(),
                    Autograd,
                    "output {index} is of {}: a gradient can be created implicitly only for a real output\n  \
                     help: pass its gradient, or take a real number such as the absolute value first",
                    output.dtype()
                );
                ensure!(
                    output.numel() == 1,
                    Autograd,
                    "output {index} has sizes {:?}: a gradient can be created implicitly only for an output with one \
                     element\n  \
                     help: pass its gradient, or sum the output first",
                    output.sizes()
                );
                arithmetic::ones_like(output)?
            }
        };
        roots.push((edge, gradient));
    }
    Ok(roots)
}

/// Reduces a gradient to the sizes of the tensor that it belongs to, and casts it to that tensor's type.
fn fit(
    gradient: Tensor,
    metadata: &InputMetadata,
    options: GradOptions,
    mismatch: impl Fn(&[i64]) -> String,
) -> Result<Tensor> {
    let mut gradient = gradient;
    if gradient.sizes() != metadata.sizes() {
        ensure!(
            is_expandable(metadata.sizes(), gradient.sizes()),
            Autograd,
            "{}",
            mismatch(gradient.sizes())
        );
        let _grad_mode = set_grad_mode(options);
        gradient = arithmetic::sum_to_size(&gradient, metadata.sizes())?;
    }
    cast(gradient, metadata.dtype(), options)
}

fn cast(gradient: Tensor, dtype: DType, options: GradOptions) -> Result<Tensor> {
    if gradient.dtype() == dtype {
        return Ok(gradient);
    }
    let _grad_mode = set_grad_mode(options);
    arithmetic::cast(&gradient, dtype)
}

/// Whether a tensor of the first sizes broadcasts to the second.
fn is_expandable(from: &[i64], to: &[i64]) -> bool {
    from.len() <= to.len()
        && from.iter().rev().zip(to.iter().rev()).all(|(from, to)| from == to || *from == 1)
}

/// The grad mode during a pass; dropping this restores the old one.
enum GradModeGuard {
    #[expect(dead_code, reason = "dropped, never read")]
    On(EnableGradGuard),
    #[expect(dead_code, reason = "dropped, never read")]
    Off(NoGradGuard),
}

fn set_grad_mode(options: GradOptions) -> GradModeGuard {
    if options.create_graph {
        GradModeGuard::On(EnableGradGuard::new())
    } else {
        GradModeGuard::Off(NoGradGuard::new())
    }
}

/// The gradients that have arrived at a node, by input.
type Buffer = SmallVec<[Option<Tensor>; 1]>;

/// A node that has not run yet.
#[derive(Default)]
struct Pending {
    /// The number of edges to this node that no gradient has come through yet.
    waiting: usize,
    arrived: Buffer,
}

/// One backward pass.
///
/// PyTorch: `GraphTask`.
struct Pass {
    options: GradOptions,
    /// The reachable nodes that have not run, by [`Node::id`].
    pending: FxHashMap<usize, Pending>,
    ready: BinaryHeap<Ready>,
    /// The gradients that `grad` returns; `None` if all leaves accumulate theirs.
    captures: Option<Captures>,
}

/// The inputs that `grad` computes gradients for.
///
/// PyTorch: `GraphTask::exec_info_`, `GraphTask::captured_vars_`.
struct Captures {
    /// For each node with such inputs: their numbers, each with its index in `gradients`.
    inputs: FxHashMap<usize, Vec<(usize, usize)>>,
    /// The nodes from which one of these inputs can be reached.
    needed: FxHashSet<usize>,
    gradients: Vec<Option<Tensor>>,
}

/// A node whose gradients have all arrived. The most recent operation runs first.
struct Ready(Node);

impl Pass {
    fn new(roots: &[(Edge, Tensor)], inputs: Option<&[Option<Edge>]>, options: GradOptions) -> Self {
        let starts = || roots.iter().map(|(edge, _)| edge.node.clone());
        Pass {
            options,
            pending: reachable(starts()),
            ready: BinaryHeap::new(),
            captures: inputs.map(|inputs| Captures::new(inputs, starts())),
        }
    }

    fn run(mut self, roots: Vec<(Edge, Tensor)>) -> Result<Vec<Option<Tensor>>> {
        // A hook may begin another backward pass without calling an operator in between, so nothing else checks the
        // depth.
        if recursion::is_exhausted() {
            return Err(recursion::error(&"a backward pass"));
        }
        let grad_mode = set_grad_mode(self.options);
        let mut starts = FxHashMap::default();
        for (edge, gradient) in roots {
            starts.insert(edge.node.id(), edge.node.clone());
            if self.is_needed(&edge) {
                self.arrive(&edge, gradient)?;
            }
        }
        let waits = |node: &Node| self.pending.get(&node.id()).is_some_and(|pending| pending.waiting > 0);
        let first: Vec<Node> = starts.into_values().filter(|node| !waits(node)).collect();
        self.ready.extend(first.into_iter().map(Ready));
        while let Some(Ready(node)) = self.ready.pop() {
            self.visit(&node)?;
        }
        drop(grad_mode);
        Ok(self.captures.map_or_else(Vec::new, |captures| captures.gradients))
    }

    /// Adds a gradient to those that have arrived at a node.
    fn arrive(&mut self, edge: &Edge, gradient: Tensor) -> Result<()> {
        let pending = self.pending.entry(edge.node.id()).or_default();
        pending.accumulate(edge.input_nr, gradient, self.options.create_graph)
    }

    /// Whether a gradient along an edge contributes to the results; if not, no hook may see it.
    fn is_needed(&self, edge: &Edge) -> bool {
        self.captures.as_ref().is_none_or(|captures| captures.is_reachable_from(&edge.node))
    }

    /// Runs a node, and sends its gradients along its edges.
    fn visit(&mut self, node: &Node) -> Result<()> {
        let mut grads = self.pending.remove(&node.id()).unwrap_or_default().arrived;
        let (expected, hooks) = {
            let state = node.state();
            (state.inputs.len(), Hooks::snapshot(&state.hooks))
        };
        if grads.len() < expected {
            grads.resize(expected, None);
        }
        if let Some(hooks) = hooks {
            hooks.run(&mut grads)?;
        }
        if let Some(captures) = &self.captures
            && let Some(leaf) = node.leaf()
            && captures.inputs.contains_key(&node.id())
        {
            accumulate::run_hooks(&leaf, &mut grads)?; // the node itself, which would run them, does not run
        }
        let Some(wanted) = self.capture(node, &grads) else { return self.send(node, Vec::new()) };
        if grads.iter().all(Option::is_none) {
            return self.send(node, Vec::new()); // the gradients of zeros are zeros
        }
        let call = Call { node, wanted };
        let outputs = node.run(&call, grads.into_vec())?;
        if !self.options.retain_graph.unwrap_or(self.options.create_graph) {
            node.release();
        }
        self.send(node, outputs)
    }

    /// Stores the gradients that `grad` wants. Returns the mask of edges whose gradients are needed, or `None` if none
    /// is.
    fn capture(&mut self, node: &Node, grads: &[Option<Tensor>]) -> Option<u64> {
        let Some(captures) = &mut self.captures else { return Some(u64::MAX) };
        for (input_nr, index) in captures.inputs.get(&node.id()).into_iter().flatten() {
            captures.gradients[*index] = grads.get(*input_nr).cloned().flatten();
        }
        if !captures.needed.contains(&node.id()) {
            return None;
        }
        let is_needed = |edge: &Edge| captures.is_reachable_from(&edge.node);
        let edges = node.edges().iter().take(64).enumerate();
        Some(edges.fold(0, |wanted, (index, edge)| {
            wanted | u64::from(edge.as_ref().is_some_and(is_needed)) << index
        }))
    }

    /// Sends gradients along the edges of a node. Where one is missing, the next node still counts the edge as visited.
    fn send(&mut self, node: &Node, grads: Vec<Option<Tensor>>) -> Result<()> {
        check_count(node, &grads)?;
        let mut grads = grads.into_iter();
        for (index, edge) in node.edges().iter().enumerate() {
            let gradient = grads.next().flatten();
            let Some(edge) = edge else { continue };
            let gradient = gradient
                .map(|gradient| validate_output(self.options, node, index, edge, gradient))
                .transpose()?;
            let gradient = gradient.filter(|_| self.is_needed(edge));
            let pending = self.pending.entry(edge.node.id()).or_default();
            if let Some(gradient) = gradient {
                pending.accumulate(edge.input_nr, gradient, self.options.create_graph)?;
            }
            pending.waiting = pending.waiting.saturating_sub(1);
            if pending.waiting == 0 {
                self.ready.push(Ready(edge.node.clone()));
            }
        }
        Ok(())
    }
}

/// Checks that a node has not returned more gradients than it has inputs.
fn check_count(node: &Node, grads: &[Option<Tensor>]) -> Result<()> {
    ensure!(
        grads.len() <= node.edges().len() || grads[node.edges().len()..].iter().all(Option::is_none),
        Autograd,
        "{} has {} inputs, but returned {} gradients",
        node.name(),
        node.edges().len(),
        grads.len()
    );
    Ok(())
}

/// Brings a gradient to the sizes and type that the next node expects.
///
/// PyTorch: `validate_outputs`.
fn validate_output(
    options: GradOptions,
    node: &Node,
    index: usize,
    edge: &Edge,
    gradient: Tensor,
) -> Result<Tensor> {
    let state = edge.node.state();
    let Some(metadata) = state.inputs.get(edge.input_nr) else { return Ok(gradient) };
    let is_on_device = metadata.device() == gradient.device();
    if is_on_device && metadata.sizes() == gradient.sizes() && metadata.dtype() == gradient.dtype() {
        return Ok(gradient);
    }
    let metadata = metadata.clone();
    drop(state);
    let gradient = fit(gradient, &metadata, options, |sizes| {
        format!(
            "{} returned a gradient of sizes {sizes:?} for its input {index}, but the input has {:?}",
            node.name(),
            metadata.sizes()
        )
    })?;
    if is_on_device {
        return Ok(gradient);
    }
    // A number may be on any device as an operand, and then so may its gradient.
    ensure!(
        gradient.dim() == 0,
        Device,
        "{} returned a gradient on {} for its input {index}, which is on {}",
        node.name(),
        gradient.device(),
        metadata.device()
    );
    let _grad_mode = set_grad_mode(options);
    arithmetic::moved(&gradient, metadata.device())
}

impl Captures {
    fn new(inputs: &[Option<Edge>], starts: impl Iterator<Item = Node>) -> Self {
        let gradients = vec![None; inputs.len()];
        let mut by_node: FxHashMap<usize, Vec<(usize, usize)>> = FxHashMap::default();
        for (index, edge) in inputs.iter().enumerate() {
            if let Some(edge) = edge {
                by_node.entry(edge.node.id()).or_default().push((edge.input_nr, index));
            }
        }
        let mut captures = Captures { inputs: by_node, needed: FxHashSet::default(), gradients };
        captures.find_needed(starts);
        captures
    }

    /// Whether one of the inputs is at a node, or can be reached from it.
    fn is_reachable_from(&self, node: &Node) -> bool {
        self.inputs.contains_key(&node.id()) || self.needed.contains(&node.id())
    }

    /// Marks every node that leads to one of the inputs, in depth-first post-order.
    fn find_needed(&mut self, starts: impl Iterator<Item = Node>) {
        let mut seen = FxHashSet::default();
        let mut path: Vec<(Node, usize)> = Vec::new();
        for start in starts {
            if seen.insert(start.id()) {
                path.push((start, 0));
            }
            while let Some((node, next)) = path.last_mut() {
                let Some(edge) = node.edges().get(*next) else {
                    let (node, _) = path.pop().unwrap_or_else(|| unreachable!("the path is not empty"));
                    if node.edges().iter().flatten().any(|edge| self.is_reachable_from(&edge.node)) {
                        self.needed.insert(node.id());
                    }
                    continue;
                };
                *next += 1;
                if let Some(edge) = edge {
                    let child = edge.node.clone();
                    if seen.insert(child.id()) {
                        path.push((child, 0));
                    }
                }
            }
        }
    }
}

/// All reachable nodes, each with the number of edges that lead to it.
fn reachable(starts: impl Iterator<Item = Node>) -> FxHashMap<usize, Pending> {
    let mut nodes: FxHashMap<usize, Pending> = FxHashMap::default();
    let mut open: Vec<Node> =
        starts.filter(|node| nodes.insert(node.id(), Pending::default()).is_none()).collect();
    while let Some(node) = open.pop() {
        for edge in node.edges().iter().flatten() {
            let pending = nodes.entry(edge.node.id()).or_insert_with(|| {
                open.push(edge.node.clone());
                Pending::default()
            });
            pending.waiting += 1;
        }
    }
    nodes
}

impl Pending {
    /// Adds a gradient to those that have arrived at the same input.
    fn accumulate(&mut self, input_nr: usize, gradient: Tensor, create_graph: bool) -> Result<()> {
        if self.arrived.len() <= input_nr {
            self.arrived.resize(input_nr + 1, None);
        }
        let slot = &mut self.arrived[input_nr];
        *slot = Some(match slot.take() {
            None => gradient,
            Some(mut sum) if !create_graph && can_hold_sum(&sum, &gradient) => {
                arithmetic::add_in_place(&mut sum, &gradient)?;
                sum
            }
            Some(sum) => arithmetic::add(&sum, &gradient)?,
        });
        Ok(())
    }
}

/// Whether a gradient can be accumulated in the memory of another.
fn can_hold_sum(sum: &Tensor, gradient: &Tensor) -> bool {
    sum.is_sole_owner()
        && sum.is_non_overlapping_and_dense()
        && (sum.sizes(), sum.dtype()) == (gradient.sizes(), gradient.dtype())
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.0.sequence() == other.0.sequence()
    }
}

impl Eq for Ready {}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.sequence().cmp(&other.0.sequence())
    }
}
