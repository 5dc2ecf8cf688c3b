//! Compiles a graph to steps: names become slot numbers, operators become handles, and each value is dropped after its
//! last use.

use std::collections::{HashMap, HashSet};

use torch_library::prelude::*;
use torch_library::{DeviceType, Dispatcher};

use crate::batch::Batching;
use crate::functional::Duplicate;
use crate::number::Function;
use crate::operand::Operand;
use crate::out_dtype::OutDtype;
use crate::print::Format;
use crate::refused;
use crate::region::{self, Region};
use crate::target::{self, Batch, Call, Own};
use crate::wire::{Argument, Graph, NamedArgument, Node, SymBoolArgument, SymFloatArgument, SymIntArgument};

/// The maximum nesting depth of graphs.
const DEPTH: usize = 32;

/// The place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// A parameter, buffer or constant, by index.
    Weight(u32),
    /// An input, or the result of a step.
    Slot(u32),
}

/// A sequence of steps, with the sources of its results.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) steps: Vec<Step>,
    pub(crate) results: Vec<Operand>,
    /// Slots that steps of the block set and no step releases, because the results need them.
    pub(crate) held: Vec<u32>,
}

/// A node of the graph.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) operands: Box<[Operand]>,
    pub(crate) targets: Box<[Target]>,
    /// Slots that are not used after this step.
    pub(crate) release: Box<[u32]>,
    pub(crate) place: Box<Origin>,
}

/// The place of a step in the model.
#[derive(Debug)]
pub(crate) struct Origin {
    /// The name of the node.
    pub(crate) node: String,
    /// The module that made the call, by its path: `features.0`; empty for the model itself.
    pub(crate) module: String,
    /// The target of the call, as in PyTorch.
    pub(crate) target: String,
}

/// The action of a step.
#[derive(Debug)]
pub(crate) enum Action {
    /// Calls an operator.
    Call(OperatorHandle),
    /// Computes a number.
    Compute(Function),
    /// Queries a size or another property of a tensor.
    Measure(Measure),
    /// Fails if its operand is not true.
    Assert(String),
    /// Fails if a number is out of a range.
    Within { least: Option<i64>, most: Option<i64> },
    /// Reads the number in a tensor.
    Item,
    /// Runs nested steps.
    Region(Box<Region>),
    /// Copies a tensor, for an operator that writes to it.
    Duplicate(Duplicate),
    /// Calls an operator in another type.
    OutDtype(OutDtype),
    /// Writes a text by an operator.
    Print { format: Format, print: OperatorHandle },
    /// Begins or ends a level of `vmap`, or wraps or unwraps a tensor.
    Batch(Batching),
    /// Does nothing, for nodes that are only informative.
    Nothing,
    /// Fails; the program's problem with this index says why.
    Missing,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Measure {
    Size,
    Stride,
    Numel,
    Offset,
}

/// The place of a result.
#[derive(Debug)]
pub(crate) enum Target {
    /// A slot.
    Slot(u32),
    /// One slot for each tensor of a list.
    Slots(Box<[u32]>),
    /// The result is dropped.
    Dropped,
}

/// The reason why steps cannot be run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The name of the operator in the archive: `torch.ops.aten.add.Tensor`.
    pub operator: String,
    /// The reason.
    pub reason: String,
    /// The nodes that need it, each with its module: `linear in features.0`.
    pub places: Vec<String>,
}

/// The names in a graph, and the data that all graphs of a program share.
pub(crate) struct Scope<'p> {
    names: HashMap<String, Source>,
    /// The slots that the present node uses.
    used: Vec<u32>,
    pub(crate) shared: &'p mut Shared,
    depth: usize,
}

/// The data that all graphs of a program share.
pub(crate) struct Shared {
    pub(crate) slots: u32,
    pub(crate) problems: Vec<Problem>,
    pub(crate) device: Device,
    /// The types of the devices that the tensors of the program were on when it was exported.
    exported_on: HashSet<DeviceType>,
    /// Operators that have a kernel for the device.
    pub(crate) with_kernels: HashSet<OperatorHandle>,
    /// The errors for operators that are not linked: finding similar names takes time.
    unknown: HashMap<String, String>,
    /// The place of each problem in the list, by target and reason.
    places: HashMap<(String, String), usize>,
}

impl Shared {
    pub(crate) fn new(device: Device, graph: &Graph) -> Shared {
        let devices = graph.tensor_values.values().filter_map(|tensor| tensor.device.as_ref());
        Shared {
            slots: 0,
            problems: Vec::new(),
            device,
            exported_on: devices.filter_map(|device| device.kind.parse().ok()).collect(),
            with_kernels: HashSet::new(),
            unknown: HashMap::new(),
            places: HashMap::new(),
        }
    }

    /// # Errors
    /// The operator is not linked.
    pub(crate) fn find(&mut self, name: &str) -> Result<OperatorHandle> {
        if let Some(text) = self.unknown.get(name) {
            return Err(Error::new(ErrorKind::UnknownOperator, text.clone()));
        }
        Dispatcher::global().find(name).inspect_err(|error| {
            if error.kind() == ErrorKind::UnknownOperator {
                self.unknown.insert(name.to_owned(), error.to_string());
            }
        })
    }

    pub(crate) fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// # Errors
    /// An operator that is only declared.
    pub(crate) fn check_kernel(&mut self, operator: OperatorHandle) -> Result<()> {
        if self.with_kernels.contains(&operator) {
            return Ok(());
        }
        let key = self.device.kind.dispatch_key();
        let table = Dispatcher::global().table(&operator.to_string())?;
        ensure!(
            table.row(key).is_some_and(|row| row.kernel.is_some()),
            MissingKernel,
            "{operator} is declared, but has no kernel for {key}"
        );
        self.with_kernels.insert(operator);
        Ok(())
    }

    fn problem(&mut self, target: &str, reason: &Error, place: String) {
        let reason = reason.to_string();
        let next = self.problems.len();
        let known = *self.places.entry((target.to_owned(), reason.clone())).or_insert(next);
        match self.problems.get_mut(known) {
            Some(known) => known.places.push(place),
            None => self.problems.push(Problem { operator: target.to_owned(), reason, places: vec![place] }),
        }
    }
}

impl Block {
    /// A block whose steps release each slot after its last use: `last` has the index of a step for each slot that
    /// belongs to the block.
    fn new(mut steps: Vec<Step>, results: Vec<Operand>, mut last: HashMap<u32, usize>) -> Block {
        let mut held = Vec::new();
        for slot in results.iter().flat_map(Operand::slots) {
            held.extend(last.remove(&slot).map(|_| slot));
        }
        let mut release: Vec<Vec<u32>> = vec![Vec::new(); steps.len()];
        for (slot, step) in last {
            if let Some(list) = release.get_mut(step) {
                list.push(slot);
            }
        }
        for (step, release) in steps.iter_mut().zip(release) {
            step.release = release.into();
        }
        Block { steps, results, held }
    }

    /// A block of calls, without regions: their slots are those of their operands and targets.
    pub(crate) fn of_calls(steps: Vec<Step>, results: Vec<Operand>) -> Block {
        let mut last: HashMap<u32, usize> = HashMap::new();
        for (number, step) in steps.iter().enumerate() {
            for slot in step.operands.iter().flat_map(Operand::slots) {
                last.entry(slot).and_modify(|step| *step = number);
            }
            last.extend(step.targets.iter().flat_map(Target::slots).map(|slot| (*slot, number)));
        }
        Block::new(steps, results, last)
    }

    /// Keeps the values in these slots until the end.
    pub(crate) fn keep(&mut self, slots: &HashSet<u32>) {
        for step in self.steps.iter_mut().filter(|step| step.release.iter().any(|slot| slots.contains(slot)))
        {
            step.release = step.release.iter().copied().filter(|slot| !slots.contains(slot)).collect();
        }
    }
}

impl<'p> Scope<'p> {
    pub(crate) fn new(shared: &'p mut Shared) -> Self {
        Scope { names: HashMap::new(), used: Vec::new(), shared, depth: 0 }
    }

    /// Defines the name of a value.
    ///
    /// # Errors
    /// The name is defined already.
    pub(crate) fn define(&mut self, name: &str, source: Source) -> Result<()> {
        let before = self.names.insert(name.to_owned(), source);
        ensure!(
            before.is_none(),
            Argument,
            "the graph has two values with the name {:?}",
            crate::shortened(name)
        );
        Ok(())
    }

    /// The value with a name.
    ///
    /// # Errors
    /// No earlier step has defined the name.
    pub(crate) fn source(&mut self, name: &str) -> Result<Source> {
        let Some(source) = self.names.get(name).copied() else {
            bail!(Argument, "the graph does not define {:?} before it is used", crate::shortened(name))
        };
        if let Source::Slot(slot) = source {
            self.used.push(slot);
        }
        Ok(source)
    }

    /// The device for an argument that names one: the program's own, or meta.
    ///
    /// # Errors
    /// The device type is unknown.
    pub(crate) fn device(&self, kind: &str) -> Result<Device> {
        match kind.parse::<DeviceType>()? {
            DeviceType::Meta => Ok(Device::META),
            _ => Ok(self.shared.device),
        }
    }

    /// The device type of a region for the tensors of this type: that of the program's device, or `None` if the program
    /// had no tensors there when it was exported, so that the region had no effect.
    ///
    /// # Errors
    /// The device type is unknown.
    pub(crate) fn device_of_region(&self, kind: &str) -> Result<Option<DeviceType>> {
        let kind: DeviceType = kind.parse()?;
        Ok(self.shared.exported_on.contains(&kind).then_some(self.shared.device.kind))
    }

    /// Compiles a subgraph with these inputs.
    ///
    /// # Errors
    /// The graph refers to undefined names, or has another number of inputs.
    pub(crate) fn inner(&mut self, graph: &Graph, inputs: &[Source]) -> Result<Block> {
        ensure!(self.depth < DEPTH, Argument, "graphs are nested deeper than {DEPTH} levels");
        ensure!(
            graph.inputs.len() == inputs.len(),
            Argument,
            "a graph with {} inputs is given {}",
            graph.inputs.len(),
            inputs.len()
        );
        let mut scope =
            Scope { names: HashMap::new(), used: Vec::new(), shared: self.shared, depth: self.depth + 1 };
        for (input, source) in graph.inputs.iter().zip(inputs) {
            let name = match input {
                Argument::AsTensor(tensor) => &tensor.name,
                Argument::AsSymInt(SymIntArgument::AsName(name))
                | Argument::AsSymFloat(SymFloatArgument::AsName(name))
                | Argument::AsSymBool(SymBoolArgument::AsName(name)) => name,
                _ => continue, // a constant of the export
            };
            scope.define(name, *source)?;
        }
        scope.block(graph)
    }

    /// Compiles a graph whose inputs are defined already.
    ///
    /// # Errors
    /// A node refers to a name that no earlier node defines. An unsupported operator is not an error, but a problem of
    /// the program.
    pub(crate) fn block(&mut self, graph: &Graph) -> Result<Block> {
        let mut steps = Vec::with_capacity(graph.nodes.len());
        // For each value that this block defines, the last step that uses it.
        let mut last: HashMap<u32, usize> = HashMap::new();
        let is_outermost = self.depth == 0;
        for source in self.names.values().filter(|_| is_outermost) {
            if let Source::Slot(slot) = source {
                last.insert(*slot, usize::MAX);
            }
        }
        for (number, node) in graph.nodes.iter().enumerate() {
            self.used.clear();
            let step = self.step(node).map_err(|error| error.context(node_name(node)))?;
            for slot in self.used.drain(..).filter(|slot| last.contains_key(slot)).collect::<Vec<_>>() {
                last.insert(slot, number);
            }
            for slot in step.targets.iter().flat_map(Target::slots) {
                last.insert(*slot, number);
            }
            steps.push(step);
        }
        let results = graph.outputs.iter().map(|output| Operand::of_any(output, self));
        let results = results.collect::<Result<Vec<_>>>().map_err(|error| error.context("outputs"))?;
        Ok(Block::new(steps, results, last))
    }

    fn step(&mut self, node: &Node) -> Result<Step> {
        let call = Call::of(node);
        let place =
            Origin { node: node_name(node).to_owned(), module: module(node), target: call.target.to_owned() };
        // Done first, so that an undefined name is an error even if the operator is missing.
        for argument in node.inputs.iter().filter(|argument| !matches!(argument.arg, Argument::AsGraph(_))) {
            if let Err(error) = Operand::of_any(&argument.arg, self)
                && error.kind() != ErrorKind::NotSupported
            {
                return Err(error);
            }
        }
        let (action, operands) = match self.action(&call) {
            Ok(found) => found,
            Err(error) if is_fault(&error) => return Err(error),
            Err(error) => {
                let at = if place.module.is_empty() {
                    place.node.clone()
                } else {
                    format!("{} in {}", place.node, place.module)
                };
                self.shared.problem(call.target, &error, at);
                (Action::Missing, Vec::new())
            }
        };
        call.token.map(|token| self.target(token)).transpose()?; // has a slot, where no value comes
        let targets = call.outputs.iter().map(|output| self.target(output)).collect::<Result<Vec<_>>>()?;
        if let Action::Region(region) = &action {
            region.check(targets.len())?; // results without a name would be lost
        }
        Ok(Step {
            action,
            operands: operands.into(),
            targets: targets.into(),
            release: Box::default(),
            place: Box::new(place),
        })
    }

    fn action(&mut self, call: &Call<'_>) -> Result<(Action, Vec<Operand>)> {
        let name = match target::Target::parse(call.target).map_err(refused)? {
            target::Target::Operator(name) => name,
            target::Target::Own(own) => return Ok((own_action(own, call), self.any_operands(call)?)),
            _ if call.token.is_some() => bail!(
                NotSupported,
                "with_effects is supported for operators only, which this is not: export without `run_decompositions`"
            ),
            target::Target::HigherOrder(name) => return region::new(name, call, self),
            target::Target::Compute(function) => {
                return Ok((Action::Compute(function), self.any_operands(call)?));
            }
            target::Target::Batch(Batch::Prepare) => return Ok((Action::Nothing, Vec::new())),
            target::Target::Batch(batch) => {
                return Ok((Action::Batch(Batching::new(batch)?), self.any_operands(call)?));
            }
        };
        let operator = match self.shared.find(&name.to_string()) {
            Ok(operator) => operator,
            Err(_) if name.is_item() => return Ok((Action::Item, self.any_operands(call)?)),
            Err(error) => return Err(error),
        };
        self.shared.check_kernel(operator)?;
        let operands = self.operands(call.inputs, operator)?;
        let returns = operator.schema()?.returns.len();
        // Next to a token, no result is written as None.
        let is_none = returns == 0 && matches!(call.outputs, [Argument::AsNone(_)]);
        ensure!(
            call.outputs.is_empty() || call.outputs.len() == returns || is_none,
            Schema,
            "the archive has {} results of the operator, but it returns {returns}",
            call.outputs.len()
        );
        Ok((Action::Call(operator), operands))
    }

    fn any_operands(&mut self, call: &Call<'_>) -> Result<Vec<Operand>> {
        call.inputs.iter().map(|argument| Operand::of_any(&argument.arg, self)).collect()
    }

    /// The arguments of an operator in the order of its schema, with its defaults.
    ///
    /// # Errors
    /// An argument that the operator does not have, that is missing, or that has another type.
    pub(crate) fn operands(
        &mut self,
        arguments: &[NamedArgument],
        operator: OperatorHandle,
    ) -> Result<Vec<Operand>> {
        let schema = operator.schema()?;
        let place = |(at, given): (usize, &NamedArgument)| match given.name.is_empty() {
            true => (at < schema.arguments.len()).then_some(at),
            false => schema.argument_index(&given.name),
        };
        let places: Vec<_> = arguments.iter().enumerate().map(place).collect();
        if let Some(unknown) = places.iter().position(Option::is_none) {
            let name = match arguments[unknown].name.as_str() {
                "" => format!("number {}", unknown + 1),
                name => format!("`{}`", crate::shortened(name)),
            };
            bail!(Schema, "the operator has no argument {name}\n  schema: {schema}")
        }
        let mut known = HashSet::new();
        if let Some(again) = places.iter().flatten().find(|place| !known.insert(**place)) {
            bail!(
                Schema,
                "the argument `{}` is given more than once\n  schema: {schema}",
                schema.arguments[*again].name
            )
        }
        let operands = schema.arguments.iter().enumerate().map(|(at, declared)| {
            match places.iter().position(|place| *place == Some(at)) {
                Some(given) => Operand::new(&arguments[given].arg, declared, self),
                None => Operand::default_of(declared),
            }
        });
        operands
            .collect::<Result<Vec<_>>>()
            .map_err(|error| Error::new(ErrorKind::Schema, format!("{error}\n  schema: {schema}")))
    }

    fn target(&mut self, output: &Argument) -> Result<Target> {
        let name = match output {
            Argument::AsTensor(tensor) => &tensor.name,
            Argument::AsOptionalTensor(crate::wire::OptionalTensor::AsTensor(tensor)) => &tensor.name,
            Argument::AsSymInt(SymIntArgument::AsName(name))
            | Argument::AsSymFloat(SymFloatArgument::AsName(name))
            | Argument::AsSymBool(SymBoolArgument::AsName(name)) => name,
            Argument::AsTensors(names) => {
                let slots = names.iter().map(|tensor| self.fresh(&tensor.name));
                return Ok(Target::Slots(slots.collect::<Result<_>>()?));
            }
            _ => return Ok(Target::Dropped),
        };
        self.fresh(name).map(Target::Slot)
    }

    fn fresh(&mut self, name: &str) -> Result<u32> {
        let slot = self.shared.slot();
        self.define(name, Source::Slot(slot))?;
        Ok(slot)
    }
}

/// Whether the archive is wrong, rather than that something is unsupported.
fn is_fault(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Argument | ErrorKind::Shape | ErrorKind::Index)
}

impl Target {
    pub(crate) fn slots(&self) -> &[u32] {
        match self {
            Target::Slot(slot) => std::slice::from_ref(slot),
            Target::Slots(slots) => slots,
            Target::Dropped => &[],
        }
    }
}

fn node_name(node: &Node) -> &str {
    crate::shortened(node.name.as_deref().unwrap_or(&node.target))
}

/// The module that made the call: the innermost entry of the stack that the exporter recorded, `key,path,class;…`.
fn module(node: &Node) -> String {
    let innermost = node.metadata.get("nn_module_stack").and_then(|stack| stack.rsplit(';').next());
    let path = innermost.and_then(|entry| entry.split(',').nth(1)).unwrap_or_default();
    if path.starts_with('_') { String::new() } else { path.to_owned() }
}

/// The action for targets that are not operators for the dispatcher: queries on tensors, and informative nodes.
fn own_action(own: Own, call: &Call<'_>) -> Action {
    let bound = |name: &str| {
        call.inputs.iter().find(|argument| argument.name == name).and_then(|argument| match &argument.arg {
            Argument::AsInt(number) => Some(*number),
            _ => None,
        })
    };
    match own {
        Own::Size => Action::Measure(Measure::Size),
        Own::Stride => Action::Measure(Measure::Stride),
        Own::Numel => Action::Measure(Measure::Numel),
        Own::StorageOffset => Action::Measure(Measure::Offset),
        Own::Assert => Action::Assert(match call.inputs.get(1).map(|argument| &argument.arg) {
            Some(Argument::AsString(text)) => text.clone(),
            _ => "an assertion of the program".to_owned(),
        }),
        Own::ConstrainRange => Action::Within { least: bound("min"), most: bound("max") },
        Own::AssertTensorMetadata => Action::Nothing,
    }
}
