//! Chains of element-wise calls of a recorded program as one shader: no tensor between them goes through memory.

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

/// A program in which chains of element-wise calls run as one: what [`fuse`] makes.
pub struct Fused {
    graph: Graph,
    steps: Vec<Step>,
    /// Why groups ran as single calls, and how often.
    refusals: Mutex<BTreeMap<String, u64>>,
}

struct Step {
    nodes: Vec<usize>,
    /// Nothing for a call that stands alone.
    group: Option<Group>,
    /// Values that nobody needs after it.
    free: Vec<Id>,
}

/// Calls that are one.
struct Group {
    /// What they take from before, each value once.
    inputs: Vec<Id>,
    /// What others need of what they make.
    outputs: HashSet<Id>,
    /// For inputs of such types and sizes.
    plans: Mutex<HashMap<Vec<Shape>, Planned>>,
}

/// What runs, or why nothing does.
type Planned = Arc<Result<Plan, String>>;

/// Of so many kinds of inputs a group keeps what runs for them.
const MOST_PLANS: usize = 32;

/// Makes a recorded program one in which chains of element-wise calls run on the device as one shader.
///
/// Which calls these are, the types of the recording say: those that have kernels here, of float32, int32, int64 and
/// bool, that return new tensors; and sums, means and extremes of float32. [`Graph::partition`] joins them, in an order that computes the same. Sizes are
/// looked at when the program runs, so it may be run with others than it was recorded with; what is of a smaller size
/// and broadcast inside of a chain is computed again for each element that needs it; a reduction is a shader of its own,
/// which computes the elements that it reduces. A function that writes in place
/// is recorded under [`functionalize`](torch_library::functionalize::functionalize), which leaves no write in a chain.
///
/// Results have the types, sizes and strides that single calls give. So do their numbers, up to what a driver does
/// with a product and a sum that stand together, which it may round once instead of twice.
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
/// A group whose inputs require a gradient, so that each call of it is recorded; or are on another device; or any layer
/// beside autograd would see the calls (`vmap`, autocast, a tracer); or where a shader would need more buffers or
/// dimensions than there are. [`Fused::refusals`] counts these, and says why. Nothing else is different then.
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

/// Whether a call has an expression for the types that were recorded.
fn fits(graph: &Graph, node: &Node) -> bool {
    let [Output::Tensor(_)] = node.outputs() else { return false };
    let Some(simple) = Simple::of(node) else { return false };
    let constants: HashMap<Id, &Tensor> = graph.constants().collect();
    let recorded = |id: Id| match (constants.get(&id), graph.tensor_type(id)) {
        (Some(constant), _) if constant.dim() == 0 && !is_here(constant) => Ok((*constant).clone()),
        (_, Some(known)) => Tensor::empty(known.sizes(), known.dtype(), Device::META),
        (_, None) => bail!(Argument, "a value that is none"),
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

    /// What runs for the inputs that are there now.
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

/// Why calls on these tensors have to be made one by one, whatever they are.
fn hindrance(inputs: &[&Tensor]) -> Option<&'static str> {
    // Those of a tensor on the device, or of one number of the host, with what autograd has to do where nothing is
    // recorded.
    const PLAIN: DispatchKeySet = DispatchKeySet::from_keys(&[
        DispatchKey::Dense,
        DispatchKey::AutogradFunctionality,
        DispatchKey::ADInplaceOrView,
        DispatchKey::BackendSelect,
    ]);
    if GradMode::is_enabled() && inputs.iter().any(|input| input.requires_grad()) {
        return Some("an input requires a gradient");
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
    /// Another number of inputs than the program has; what a call fails with, with the line of the program; what the
    /// device fails with.
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

    /// The program as it was recorded.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The calls that are one, each by its place among the [nodes](Graph::nodes).
    pub fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.steps.iter().filter(|step| step.group.is_some()).map(|step| step.nodes.as_slice())
    }

    /// Why groups ran as single calls, and how often since the program was fused.
    pub fn refusals(&self) -> Vec<(String, u64)> {
        lock(&self.refusals).iter().map(|(why, times)| (why.clone(), *times)).collect()
    }
}

/// Which calls are one, and what ran as single calls:
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
