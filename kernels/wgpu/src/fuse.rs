//! Fusing chains of element-wise calls of a recorded program into one shader: no intermediate tensor goes through memory.

mod plan;
mod simple;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use torch_library::guard::{GradMode, LocalDispatchKeySet};
use torch_library::prelude::*;
use torch_library::tracer::{Graph, Id, Interpreter, Node, Output};

use crate::call::{is_here, is_small};
use plan::{Plan, Shape};
use simple::Simple;

/// A program in which chains of element-wise calls run as one shader; made by [`fuse`].
pub struct Fused {
    graph: Graph,
    steps: Vec<Step>,
    /// The reasons for which groups ran as single calls, and how often.
    refusals: Mutex<BTreeMap<String, u64>>,
}

struct Step {
    nodes: Vec<usize>,
    /// The group that the step runs; `None` for a single call.
    group: Option<Group>,
    /// Values that are not needed after this step.
    free: Vec<Id>,
}

/// Calls that are fused.
struct Group {
    /// The values that they take from earlier steps, each once.
    inputs: Vec<Id>,
    /// The values that they compute and later steps need.
    outputs: HashSet<Id>,
    /// The plans, by the types and sizes of inputs.
    plans: Mutex<HashMap<Vec<Shape>, Planned>>,
}

/// A plan, or the reason why there is none.
type Planned = Arc<Result<Plan, String>>;

/// The most plans that a group keeps.
const MOST_PLANS: usize = 32;

/// Fuses chains of element-wise calls of a recorded program, so that each runs on the device as one shader.
///
/// The types in the recording decide which calls are fused: those with kernels here, of float32, int32, int64 and bool, that return new tensors; and
/// sums, means and extremes of float32. [`Graph::partition`] groups them, in an order that computes the same results. Sizes are only looked at when the
/// program runs, so it may be run with others than it was recorded with. A value of a smaller size that is broadcast inside of a chain is computed again
/// for each element that needs it; a reduction is a shader of its own, which also computes the elements that it reduces. A function that writes in place
/// should be recorded under [`functionalize`](torch_library::functionalize::functionalize), which leaves no writes in a chain.
///
/// Results have the same types, sizes and strides as those of single calls, and the same numbers, except that a driver may fuse a product and a sum,
/// which then round once instead of twice.
///
/// ```no_run
/// use torch_library::prelude::*;
/// use torch_library::tracer::trace;
/// use torch_library_kernels::prelude::*;
///
/// fn main() -> Result<()> {
///     let x = Tensor::from([[1f32, -2.0], [3.0, 4.0]]).to("wgpu".parse::<Device>()?)?;
///     let (_, graph) = trace(&[x.clone()], |inputs| Ok(vec![inputs[0].mul(&inputs[0])?.relu()?.exp()?]))?;
///     let fused = torch_library_wgpu::fuse(graph);
///     println!("{}", fused.run(&[x])?[0]); // one launch
///     print!("{fused}"); // which calls are one, and what ran as single calls
///     Ok(())
/// }
/// ```
///
/// # What runs as single calls
///
/// A group runs as single calls if its inputs require a gradient, so that autograd records each call; if they are on another device; if a layer other
/// than autograd would see the calls (`vmap`, autocast, a tracer); or if a shader would need more buffers or dimensions than there are.
/// [`Fused::refusals`] counts these cases, with their reasons. The results are the same.
///
/// PyTorch: `torch.compile`, with Inductor's point-wise kernels.
pub fn fuse(graph: Graph) -> Fused {
    let groups = graph.partition(|node| fits(&graph, node));
    let mut last: HashMap<Id, usize> = HashMap::new();
    for (step, nodes) in groups.iter().enumerate() {
        for node in nodes.iter().map(|node| &graph.nodes()[*node]) {
            last.extend(node.uses().chain(node.defines()).map(|id| (id, step)));
        }
    }
    for id in graph.outputs() {
        last.remove(id);
    }
    let mut free: Vec<Vec<Id>> = vec![Vec::new(); groups.len()];
    last.iter().for_each(|(id, step)| free[*step].push(*id));
    let steps = groups.into_iter().zip(free).enumerate();
    let steps = steps.map(|(at, (nodes, free))| {
        let group = (nodes.len() > 1).then(|| Group::new(&graph, &nodes, |id| last.get(&id) != Some(&at)));
        Step { nodes, group, free }
    });
    let steps = steps.collect();
    Fused { graph, steps, refusals: Mutex::default() }
}

/// Whether there is an expression for a call with the recorded types.
fn fits(graph: &Graph, node: &Node) -> bool {
    let [Output::Tensor(_)] = node.outputs() else { return false };
    let Some(simple) = Simple::of(node) else { return false };
    let constants: HashMap<Id, &Tensor> = graph.constants().collect();
    let recorded = |id: Id| match (constants.get(&id), graph.tensor_type(id)) {
        (Some(constant), _) if constant.dim() == 0 && !is_here(constant) => Ok((*constant).clone()),
        (_, Some(known)) => Tensor::empty(known.sizes(), known.dtype(), Device::META),
        (_, None) => bail!(Argument, "a value without a type"),
    };
    simple.computes(&recorded).is_ok_and(|known| known.is_some())
}

impl Group {
    fn new(graph: &Graph, nodes: &[usize], is_needed: impl Fn(Id) -> bool) -> Group {
        let nodes = || nodes.iter().map(|node| &graph.nodes()[*node]);
        let made: HashSet<Id> = nodes().flat_map(Node::defines).collect();
        let mut inputs: Vec<Id> = nodes().flat_map(Node::uses).filter(|id| !made.contains(id)).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let outputs = made.into_iter().filter(|id| is_needed(*id)).collect();
        Group { inputs, outputs, plans: Mutex::default() }
    }

    /// The plan for the present inputs.
    fn plan(&self, nodes: &[usize], run: &Interpreter<'_>) -> Result<Planned> {
        let inputs = self.inputs.iter().map(|id| run.tensor(*id)).collect::<Result<Vec<_>>>()?;
        if let Some(why) = hindrance(&inputs) {
            return Ok(Arc::new(Err(why.to_owned())));
        }
        let shapes: Vec<Shape> = inputs.iter().map(|input| Shape::of(input)).collect();
        if let Some(plan) = lock(&self.plans).get(&shapes) {
            return Ok(plan.clone());
        }
        let plan = Arc::new(Plan::new(run, nodes, &self.inputs, &self.outputs));
        let mut plans = lock(&self.plans);
        if plans.len() >= MOST_PLANS {
            plans.clear();
        }
        plans.insert(shapes, plan.clone());
        Ok(plan)
    }
}

/// The reason why calls on these tensors have to run one by one, if there is one.
fn hindrance(inputs: &[&Tensor]) -> Option<&'static str> {
    // The keys of a tensor on the device, or of a number on the host, and the keys of autograd, which does nothing if no input requires a gradient.
    const PLAIN: DispatchKeySet = DispatchKeySet::from_keys(&[
        DispatchKey::Dense,
        DispatchKey::AutogradFunctionality,
        DispatchKey::ADInplaceOrView,
        DispatchKey::BackendSelect,
    ]);
    if GradMode::is_enabled() && inputs.iter().any(|input| input.requires_grad()) {
        return Some("an input requires grad");
    }
    let thread = LocalDispatchKeySet::current();
    let keys = inputs.iter().fold(thread.included, |keys, input| keys | input.key_set());
    if (keys - thread.excluded - PLAIN).highest_functionality() != DispatchKey::Undefined {
        return Some("a layer beside autograd sees the calls");
    }
    let is_ours = |input: &&&Tensor| is_here(input) && is_small(input) || !is_here(input) && input.dim() == 0;
    let Some(first) = inputs.iter().find(|input| is_here(input)) else {
        return Some("no input is on the device");
    };
    match inputs.iter().filter(|input| is_here(input)).any(|input| input.device() != first.device()) {
        true => Some("the inputs are on several devices"),
        false if inputs.iter().filter(is_ours).count() < inputs.len() => {
            Some("an input is on another device, or larger than 2 GiB")
        }
        false => None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Fused {
    /// Runs the program, as [`Graph::run`] does.
    ///
    /// # Errors
    /// A number of inputs that is not the program's; the error of a call, with its line of the program; errors of the device.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut run = Interpreter::new(&self.graph, inputs)?;
        for step in &self.steps {
            self.step(step, &mut run)?;
            step.free.iter().for_each(|id| run.free(*id));
        }
        run.outputs()
    }

    fn step(&self, step: &Step, run: &mut Interpreter<'_>) -> Result<()> {
        if let Some(group) = &step.group {
            let plan = group.plan(&step.nodes, run)?;
            let refused = match &*plan {
                Ok(plan) => plan.run(run)?,
                Err(why) => Some(why.clone()),
            };
            let Some(why) = refused else { return Ok(()) };
            *lock(&self.refusals).entry(why).or_default() += 1;
        }
        step.nodes.iter().try_for_each(|node| run.call(*node))
    }

    /// The recorded program.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The groups of fused calls, each call as an index into the [nodes](Graph::nodes).
    pub fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.steps.iter().filter(|step| step.group.is_some()).map(|step| step.nodes.as_slice())
    }

    /// The reasons for which groups ran as single calls, and how often since the program was fused.
    pub fn refusals(&self) -> Vec<(String, u64)> {
        lock(&self.refusals).iter().map(|(why, times)| (why.clone(), *times)).collect()
    }
}

/// Lists which calls are fused, and which groups ran as single calls:
///
/// ```text
/// 3 of 5 calls fused in 1 group
///   aten::mul.Tensor aten::relu aten::exp
/// ```
impl fmt::Display for Fused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (fused, groups) = (self.groups().map(<[_]>::len).sum::<usize>(), self.groups().count());
        let plural = if groups == 1 { "" } else { "s" };
        writeln!(f, "{fused} of {} calls fused in {groups} group{plural}", self.graph.nodes().len())?;
        for group in self.groups() {
            let names = group.iter().map(|node| format!(" {}", self.graph.nodes()[*node].operator()));
            writeln!(f, " {}", names.collect::<String>())?;
        }
        for (why, times) in self.refusals() {
            writeln!(f, "{times} times as single calls: {why}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
